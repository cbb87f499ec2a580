/* Every source in this folder is compiled once for each level and includes this header. The
 * compiler's own macros say what the level has; ASSAY__LEVEL is the suffix of the level's symbols
 * (CMakeLists.txt).
 *
 * Most kernels are plain loops that the compiler vectorises for the level. Kernels that keep a tile
 * of sums in registers use the vectors below, and choose the size of the tile by what the level
 * has. */
#ifndef ASSAY_MODELS_KERNEL_LEVEL_LEVEL_H
#define ASSAY_MODELS_KERNEL_LEVEL_LEVEL_H

#include "models/kernel/kernels.h"
#include "models/kernel/simd.h"

#define ASSAY__PASTE(name, level)                   assay__##name##_##level
#define ASSAY__EXPAND(name, level)                  ASSAY__PASTE(name, level)
/* The name of a kernel at this level. */
#define ASSAY__AT(name)                             ASSAY__EXPAND(name, ASSAY__LEVEL)

#define KERNEL(result, name, parameters, arguments) result ASSAY__AT(name) parameters;
#include "models/kernel/kernels.def"
#undef KERNEL

/* The widest vectors of the level. Vector types are a GNU extension that gcc and clang share. */
#if defined(__AVX512F__)
#define ASSAY__VECTOR_BYTES 64
#elif defined(__AVX__)
#define ASSAY__VECTOR_BYTES 32
#else
#define ASSAY__VECTOR_BYTES 16
#endif

/* Whether there are 32 vector registers; else there are 16. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define ASSAY__MANY_REGISTERS 1
#else
#define ASSAY__MANY_REGISTERS 0
#endif

enum { ASSAY__FLOATS = ASSAY__VECTOR_BYTES / 4, ASSAY__DOUBLES = ASSAY__VECTOR_BYTES / 8 };

typedef float assay__floats __attribute__((vector_size(ASSAY__VECTOR_BYTES)));
typedef int32_t assay__ints __attribute__((vector_size(ASSAY__VECTOR_BYTES)));
typedef double assay__doubles __attribute__((vector_size(ASSAY__VECTOR_BYTES)));
/* The same vectors at any address that is aligned for one element. */
typedef float assay__floats_at
    __attribute__((vector_size(ASSAY__VECTOR_BYTES), aligned(4), may_alias));
typedef double assay__doubles_at
    __attribute__((vector_size(ASSAY__VECTOR_BYTES), aligned(8), may_alias));

/* Stands before a loop whose bounds are small constants where its function is inlined. The loop is
 * unrolled, so that arrays of vectors become registers. */
#ifdef __clang__
#define ASSAY__UNROLL ASSAY__PRAGMA(clang loop unroll(full))
#else
#define ASSAY__UNROLL ASSAY__PRAGMA(GCC unroll 16)
#endif

/* Hides from the compiler how a pointer relates to other pointers. If the compiler knew, it would
 * spend further registers on the relation. */
#define ASSAY__OPAQUE(pointer) __asm__("" : "+r"(pointer))

#endif
