/* Reproducible random numbers: the same seed gives the same sequence on every machine.
 *
 * The generator is xoshiro256++ (Blackman and Vigna 2021, "Scrambled linear pseudorandom number
 * generators"), seeded by splitmix64 as its authors advise. Do not use it for secrets. A generator
 * belongs to one thread. */
#ifndef ASSAY_BASE_RANDOM_H
#define ASSAY_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay__random {
    uint64_t state[4];
} assay__random;

/* Every seed is allowed, 0 included. */
void assay__random_init(assay__random *random, uint64_t seed);

uint64_t assay__random_next(assay__random *random);

/* Uniform in (0, 1): neither end is ever returned. */
double assay__random_uniform(assay__random *random);

/* Uniform in 0 … bound − 1, without the bias of a remainder; bound must not be 0. */
uint64_t assay__random_below(assay__random *random, uint64_t bound);

/* Put `count` items of `size` bytes each, at most 8, in random order (the shuffle of Fisher and
 * Yates). */
void assay__random_shuffle(assay__random *random, void *items, size_t count, size_t size);

/* A number from the standard normal distribution. */
double assay__random_normal(assay__random *random);

#endif
