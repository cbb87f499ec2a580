/* Counts the FLOPs and bytes of a pass, and computes its point in the roofline model. */
#include "studies/profile/roofline.h"

#include <math.h>

#include "assay/flops.h"

/* The number of arrays of the result's size that an operation reads and writes. */
static double arrays_moved(assay_term_kind kind, bool backward)
{
    switch (kind) {
    case ASSAY_TERM_ADD:
    case ASSAY_TERM_MULTIPLY:
    case ASSAY_TERM_GATHER_ADD:
        return 3; /* two operands, one result; backward: their gradients */
    case ASSAY_TERM_LSTM_CELL:
        return backward ? 12 : 11; /* two products of 4 gates, old state, new state, output */
    case ASSAY_TERM_DROPOUT:
        return 0;
    default:
        return backward ? 3 : 2; /* backward reads the result's gradient and the result */
    }
}

static double elements_moved(const assay_term *operation, bool backward)
{
    double m = (double)operation->m, k = (double)operation->k, n = (double)operation->n;
    if (operation->kind == ASSAY_TERM_MATMUL)
        return (m * k + k * n + m * n) * (backward ? operation->operand_gradients : 1);
    return m * n * arrays_moved(operation->kind, backward);
}

void assay__work_add(void *context, const assay_term *operation)
{
    assay__work_account *account = context;
    assay_flops flops;
    if (assay_term_flops(operation, ASSAY_FLOPS_ASSAY, &flops) != ASSAY_OK)
        flops = (assay_flops){0};
    double times = (double)operation->count * account->element_bytes;
    account->forward.flops += (double)flops.forward;
    account->forward.bytes += times * elements_moved(operation, false);
    account->backward.flops += (double)flops.backward;
    account->backward.bytes += times * elements_moved(operation, true);
}

assay__work assay__work_of_update(double parameter_bytes)
{
    return (assay__work){.bytes = 7 * parameter_bytes};
}

double assay__roofline_ridge(const assay__peak *peak)
{
    return peak->gflops / peak->gigabytes_per_second;
}

assay__roofline_point assay__roofline(assay__work work, double seconds, const assay__peak *peak)
{
    assay__roofline_point point = {.gflops_per_second = work.flops / seconds * 1e-9,
                                   .intensity = work.flops / work.bytes,
                                   .share_of_peak = NAN,
                                   .roof = NAN};
    if (peak != NULL) {
        point.share_of_peak = point.gflops_per_second / peak->gflops;
        point.roof = fmin(peak->gflops, point.intensity * peak->gigabytes_per_second);
        point.compute_bound = point.intensity >= assay__roofline_ridge(peak);
    }
    return point;
}
