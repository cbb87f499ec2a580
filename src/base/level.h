/* Levels of the processor. A level is a set of instructions that code is compiled for; each level
 * includes the ones before it. On x86-64 they are the levels of its psABI (x86-64-v2: SSE4.2,
 * x86-64-v3: AVX2 and fused multiply-add, x86-64-v4: AVX-512). On other processors there is one
 * level, which the build chooses.
 *
 *     ASSAY_CPU=x86-64-v3 assay profile --model lstm
 *
 * The environment variable ASSAY_CPU makes the process use a lower level, to test and time that
 * level on a machine that has a higher one. If the name is no level of this machine, the library
 * ignores it and the machine description says so; the command refuses it. */
#ifndef ASSAY_BASE_LEVEL_H
#define ASSAY_BASE_LEVEL_H

#include <stddef.h>

/* LEVEL(name, suffix of symbols), lowest first. */
#if defined(__x86_64__)
#define ASSAY__LEVELS(LEVEL)                                                                       \
    LEVEL("x86-64-v2", v2)                                                                         \
    LEVEL("x86-64-v3", v3)                                                                         \
    LEVEL("x86-64-v4", v4)
#elif defined(__aarch64__)
#define ASSAY__LEVELS(LEVEL) LEVEL("neon", neon)
#else
#define ASSAY__LEVELS(LEVEL) LEVEL("baseline", baseline)
#endif

/* The highest level of this machine, counted from 0. */
int assay__level_highest(void);

/* The name of a level, or NULL beyond the highest that this build knows. */
const char *assay__level_name(int level);

/* The level in use: the one that ASSAY_CPU names, or else the highest. If ASSAY_CPU names no level
 * of this machine, *refused receives its value, otherwise NULL. `refused` may be NULL. */
int assay__level_now(const char **refused);

/* The names of this machine's levels, lowest first, with ", " between them. */
void assay__level_list(char *text, size_t size);

#endif
