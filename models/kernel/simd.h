/* Loops for wide vectors.
 *
 * The kernels that are compiled for each level (level/) are mostly plain loops, and the compiler
 * vectorises them. A sum is not reassociated by itself, as that changes its rounding; where the
 * order does not matter, ASSAY__SUM(s) before the loop permits it (`#pragma omp simd reduction`,
 * which needs no OpenMP runtime). ASSAY__MAX(m) does so for a maximum of integers; of floats clang
 * refuses it, because of NaN: see assay__largest() in elementary.h. ASSAY__LANES says that
 * iterations do not depend on each other. */
#ifndef ASSAY_MODELS_KERNEL_SIMD_H
#define ASSAY_MODELS_KERNEL_SIMD_H

#define ASSAY__PRAGMA(text) _Pragma(#text)
#define ASSAY__SUM(...)     ASSAY__PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define ASSAY__MAX(...)     ASSAY__PRAGMA(omp simd reduction(max : __VA_ARGS__))
#define ASSAY__LANES        ASSAY__PRAGMA(omp simd)

/* A function of one element or one tile, inlined into every loop that calls it. */
#define ASSAY__ELEMENT      static inline __attribute__((always_inline, unused))

#endif
