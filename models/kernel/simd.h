/* Macros for loops that the compiler vectorises.
 *
 * The kernels that are compiled for each level (level/) are mostly plain loops. By itself the
 * compiler does not reorder a sum, since that changes the rounding. Where the order does not
 * matter, ASSAY__SUM(s) before the loop permits it (`#pragma omp simd reduction`, which needs no
 * OpenMP runtime). ASSAY__MAX(m) does the same for a maximum of integers. For a maximum of floats
 * clang refuses, because of NaN: see assay__largest() in elementary.h. ASSAY__LANES says that the
 * iterations of the loop do not depend on each other. */
#ifndef ASSAY_MODELS_KERNEL_SIMD_H
#define ASSAY_MODELS_KERNEL_SIMD_H

#define ASSAY__PRAGMA(text) _Pragma(#text)
#define ASSAY__SUM(...)     ASSAY__PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define ASSAY__MAX(...)     ASSAY__PRAGMA(omp simd reduction(max : __VA_ARGS__))
#define ASSAY__LANES        ASSAY__PRAGMA(omp simd)

/* A function of one element or one tile, inlined into every loop that calls it. */
#define ASSAY__ELEMENT      static inline __attribute__((always_inline, unused))

#endif
