/* Scores of the roads that can follow the current one. The candidates are scored one after the
 * other; the compiler vectorises over the units of the scorer. */
#include "models/kernel/level/level.h"

void ASSAY__AT(road_score)(int64_t positions, int64_t trajectories, const int64_t *first,
                           int64_t scorer, const float *bias, const float *context,
                           const float *goal_score, const float *out, float *hidden, float *logits)
{
    for (int64_t p = 0; p < positions; p++) {
        const float *here = context + p * scorer, *goal = goal_score + p % trajectories * scorer;
        for (int64_t c = first[p]; c < first[p + 1]; c++) {
            float *row = hidden + c * scorer, sum = 0;
            ASSAY__SUM(sum)
            for (int64_t j = 0; j < scorer; j++) {
                float a = row[j] + here[j] + goal[j] + bias[j];
                a = a > 0 ? a : 0;
                row[j] = a;
                sum += a * out[j];
            }
            logits[c] = sum;
        }
    }
}

void ASSAY__AT(road_score_backward)(int64_t positions, int64_t trajectories, const int64_t *first,
                                    int64_t scorer, const float *dlogits, const float *hidden,
                                    const float *out, float *dhidden, float *dcontext,
                                    float *dgoal_score, float *dout, float *dbias)
{
    for (int64_t p = 0; p < positions; p++) {
        float *here = dcontext + p * scorer, *goal = dgoal_score + p % trajectories * scorer;
        for (int64_t c = first[p]; c < first[p + 1]; c++) {
            const float *row = hidden + c * scorer;
            float *drow = dhidden + c * scorer, slope = dlogits[c];
            ASSAY__LANES
            for (int64_t j = 0; j < scorer; j++) {
                float d = row[j] > 0 ? slope * out[j] : 0;
                dout[j] += slope * row[j];
                drow[j] = d;
                here[j] += d;
                goal[j] += d;
                dbias[j] += d;
            }
        }
    }
}

void ASSAY__AT(road_score_routes)(int64_t routes, const int64_t *first, int64_t scorer,
                                  const int32_t *choice, const float *features,
                                  const float *road_score, const float *context,
                                  int64_t context_stride, const float *goal,
                                  const float *feature_weight, const float *out, float *logits)
{
    const float *w0 = feature_weight, *w1 = w0 + scorer, *w2 = w1 + scorer, *w3 = w2 + scorer;
    for (int64_t i = 0; i < routes; i++, context += context_stride) {
        for (int64_t c = first[i]; c < first[i + 1]; c++) {
            const float *row = road_score + (int64_t)choice[c] * scorer;
            const float *f = features + c * 4;
            float f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], sum = 0;
            ASSAY__SUM(sum)
            for (int64_t j = 0; j < scorer; j++) {
                float a = row[j] + context[j] + goal[j] + f0 * w0[j] + f1 * w1[j] + f2 * w2[j] +
                          f3 * w3[j];
                sum += (a > 0 ? a : 0) * out[j];
            }
            logits[c] = sum;
        }
    }
}
