/* Clones of a function for wider vectors.
 *
 * ASSAY__SIMD before a function's definition makes gcc on x86-64 compile it three times (AVX-512,
 * AVX2 with FMA, and the baseline the build asked for) and lets the loader pick the one this
 * processor has. Write the function as plain loops: the compiler vectorises them. Elsewhere (clang,
 * ARM, sanitizer builds, whose runtime is not up yet when the loader chooses) it means nothing and
 * the function is compiled once.
 *
 * A sum is not reassociated by itself, as that changes its rounding; where the order does not
 * matter, ASSAY__SUM(s) before the loop permits it (`#pragma omp simd reduction`, which needs no
 * OpenMP runtime). ASSAY__MAX(m) does so for a maximum of integers; of floats clang refuses it,
 * because of NaN: see assay__largest() in elementary.h. ASSAY__LANES says that iterations do not
 * depend on each other. */
#ifndef ASSAY_MODELS_KERNEL_SIMD_H
#define ASSAY_MODELS_KERNEL_SIMD_H

#include <stdint.h> /* defines __GLIBC__, where there is one */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY__SANITIZED 1
#else
#define ASSAY__SANITIZED 0
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12 &&          \
    !ASSAY__SANITIZED
#define ASSAY__SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY__SIMD
#endif

#define ASSAY__PRAGMA(text) _Pragma(#text)
#define ASSAY__SUM(...)     ASSAY__PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define ASSAY__MAX(...)     ASSAY__PRAGMA(omp simd reduction(max : __VA_ARGS__))
#define ASSAY__LANES        ASSAY__PRAGMA(omp simd)

/* A function of one element, inlined into every clone. */
#define ASSAY__ELEMENT      static inline __attribute__((always_inline, unused))

#endif
