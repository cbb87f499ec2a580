/* Telling the operations of a forward pass to a sink, part by part. */
#ifndef ASSAY_MODELS_KERNEL_DESCRIBE_H
#define ASSAY_MODELS_KERNEL_DESCRIBE_H

#include "assay/model.h"

typedef struct assay__teller {
    assay_term_sink sink;
    void *context;
    char prefix[64]; /* of the names of components, such as "layers.0." */
} assay__teller;

/* `count` operations of the component "PREFIXPART", of m rows by n columns. */
void assay__tell(const assay__teller *to, const char *part, assay_term_kind kind, int64_t count,
                 int64_t m, int64_t n);

/* `count` products (m, k) by (k, n); `gradients` as operand_gradients of assay_term. */
void assay__tell_product(const assay__teller *to, const char *part, int gradients, int64_t count,
                         int64_t m, int64_t k, int64_t n);

/* A product and its bias. */
void assay__tell_linear(const assay__teller *to, const char *part, int gradients, int64_t rows,
                        int64_t in, int64_t out);

#endif
