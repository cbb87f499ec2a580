/* A fake libcublas with the call that the models use: single products, computed in double. */
#define EXPORT __attribute__((visibility("default")))

#define CALL(name, ...)                                                                            \
    EXPORT int name(__VA_ARGS__);                                                                  \
    int name(__VA_ARGS__)

static int handle;

CALL(cublasCreate_v2, void **made)
{
    *made = &handle;
    return 0;
}

CALL(cublasSetStream_v2, void *of, void *stream)
{
    return of == &handle && stream != (void *)0 ? 0 : 1;
}

CALL(cublasSetMathMode, void *of, int mode)
{
    return of == &handle && mode == 0 ? 0 : 1;
}

/* Column-major: c (m, n) = alpha op(a) (m, k) op(b) (k, n) + beta c. */
CALL(cublasSgemm_v2, void *of, int transpose_a, int transpose_b, int m, int n, int k,
     const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta,
     float *c, int ldc)
{
    if (of != &handle || m <= 0 || n <= 0 || k <= 0 || ldc < m || lda < (transpose_a ? k : m) ||
        ldb < (transpose_b ? n : k))
        return 7;
    for (long column = 0; column < n; column++)
        for (long row = 0; row < m; row++) {
            double sum = 0;
            for (long i = 0; i < k; i++)
                sum += (double)a[transpose_a ? row * lda + i : i * lda + row] *
                       b[transpose_b ? i * ldb + column : column * ldb + i];
            float *to = &c[column * ldc + row];
            *to = (float)(*alpha * sum + (*beta != 0 ? *beta * *to : 0));
        }
    return 0;
}
