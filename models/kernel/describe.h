/* Reports the operations of a forward pass to a sink, one term after the other. The describe()
 * functions of the classes use it, and the counts of FLOPs are derived from these terms (assay_term
 * in assay/model.h). */
#ifndef ASSAY_MODELS_KERNEL_DESCRIBE_H
#define ASSAY_MODELS_KERNEL_DESCRIBE_H

#include "assay/model.h"

typedef struct assay__teller {
    assay_term_sink sink;
    void *context;
    char prefix[64]; /* prepended to each component's name, such as "layers.0." */
} assay__teller;

/* Reports `count` operations of this kind, of m rows by n columns each, for the component
 * "PREFIXPART". */
void assay__tell(const assay__teller *to, const char *part, assay_term_kind kind, int64_t count,
                 int64_t m, int64_t n);

/* Reports `count` products of (m, k) by (k, n). `gradients` is the field operand_gradients of
 * assay_term. */
void assay__tell_product(const assay__teller *to, const char *part, int gradients, int64_t count,
                         int64_t m, int64_t k, int64_t n);

/* Reports a product of (rows, in) by (in, out) and the addition of its bias. */
void assay__tell_linear(const assay__teller *to, const char *part, int gradients, int64_t rows,
                        int64_t in, int64_t out);

#endif
