/* Builds one assay_term for each report, with the prefix before the component's name, and passes it
 * to the sink. The name lives only during the call of the sink. */
#include "models/kernel/describe.h"

#include <stdio.h>

static void tell(const assay__teller *to, const char *part, assay_term operation)
{
    char component[128];
    snprintf(component, sizeof component, "%s%s", to->prefix, part);
    operation.component = component;
    to->sink(to->context, &operation);
}

void assay__tell(const assay__teller *to, const char *part, assay_term_kind kind, int64_t count,
                 int64_t m, int64_t n)
{
    tell(to, part, (assay_term){"", kind, count, m, 0, n, 0});
}

void assay__tell_product(const assay__teller *to, const char *part, int gradients, int64_t count,
                         int64_t m, int64_t k, int64_t n)
{
    tell(to, part, (assay_term){"", ASSAY_TERM_MATMUL, count, m, k, n, gradients});
}

void assay__tell_linear(const assay__teller *to, const char *part, int gradients, int64_t rows,
                        int64_t in, int64_t out)
{
    assay__tell_product(to, part, gradients, 1, rows, in, out);
    assay__tell(to, part, ASSAY_TERM_BIAS, 1, rows, out);
}
