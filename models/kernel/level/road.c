/* Scores of the roads that can follow the current one. The candidates are scored one after the
 * other; the compiler vectorises over the units of the scorer. */
#include <math.h>
#include <string.h>

#include "models/kernel/elementary.h"
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

/* What a candidate's score is computed from. */
typedef struct candidate {
    const float *row, *context, *features;
} candidate;

/* relu(row + context + features . weights), from unit j on */
ASSAY__ELEMENT assay__floats units_of(const candidate *c, int64_t j, const assay__floats weights[4])
{
    const assay__floats zero = {0};
    assay__floats a =
        *(const assay__floats_at *)(c->row + j) + *(const assay__floats_at *)(c->context + j);
    ASSAY__UNROLL
    for (int f = 0; f < 4; f++)
        a += c->features[f] * weights[f];
    return (assay__floats)((assay__ints)a & (a > zero));
}

/* The sum of the lanes, by halves. */
ASSAY__ELEMENT float sum_of(assay__floats x)
{
    float lane[ASSAY__FLOATS];
    memcpy(lane, &x, sizeof x);
    ASSAY__UNROLL
    for (int half = ASSAY__FLOATS / 2; half > 0; half /= 2) {
        ASSAY__UNROLL
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    }
    return lane[0];
}

/* The units past the last whole vector. */
static float rest_of(const candidate *c, int64_t j, int64_t scorer, const float *feature_weight,
                     const float *out)
{
    float sum = 0;
    for (; j < scorer; j++) {
        float a = c->row[j] + c->context[j];
        for (int f = 0; f < 4; f++)
            a += c->features[f] * feature_weight[f * scorer + j];
        sum += (a > 0 ? a : 0) * out[j];
    }
    return sum;
}

/* Two candidates are scored at a time, so that each weight is loaded once for both. */
void ASSAY__AT(road_score_routes)(int64_t count, const int32_t *route, int64_t scorer,
                                  const int32_t *choice, const float *features,
                                  const float *road_score, const float *context,
                                  const float *feature_weight, const float *out, float *logits)
{
    const int64_t whole = scorer / ASSAY__FLOATS * ASSAY__FLOATS;
    for (int64_t c = 0; c < count; c += 2) {
        const int64_t d = c + 1 < count ? c + 1 : c;
        const candidate a = {road_score + choice[c] * scorer, context + route[c] * scorer,
                             features + 4 * c};
        const candidate b = {road_score + choice[d] * scorer, context + route[d] * scorer,
                             features + 4 * d};
        assay__floats sums[2] = {{0}, {0}};
        for (int64_t j = 0; j < whole; j += ASSAY__FLOATS) {
            assay__floats weights[4];
            ASSAY__UNROLL
            for (int f = 0; f < 4; f++)
                weights[f] = *(const assay__floats_at *)(feature_weight + f * scorer + j);
            const assay__floats by = *(const assay__floats_at *)(out + j);
            sums[0] += by * units_of(&a, j, weights);
            sums[1] += by * units_of(&b, j, weights);
        }
        logits[c] = sum_of(sums[0]) + rest_of(&a, whole, scorer, feature_weight, out);
        logits[d] = sum_of(sums[1]) + rest_of(&b, whole, scorer, feature_weight, out);
    }
}

void ASSAY__AT(road_features_of)(int64_t count, const int32_t *from, const int32_t *to,
                                 int32_t destination, const float *x, const float *y,
                                 const float *heading_x, const float *heading_y,
                                 const double *length_m, float *restrict features)
{
    const float goal_x = x[destination], goal_y = y[destination];
    for (int64_t block = 0; block < count; block += ASSAY__ROAD_BLOCK) {
        ASSAY__LANES
        for (int64_t c = block; c < block + ASSAY__ROAD_BLOCK; c++) {
            const int32_t f = from[c], t = to[c];
            float ahead_x = goal_x - x[f], ahead_y = goal_y - y[f];
            float left_x = goal_x - x[t], left_y = goal_y - y[t];
            float before = __builtin_sqrtf(ahead_x * ahead_x + ahead_y * ahead_y);
            float after = __builtin_sqrtf(left_x * left_x + left_y * left_y);
            float progress = (before - after) / (float)length_m[t];
            float along = heading_x[t] * ahead_x + heading_y[t] * ahead_y;
            progress = progress > -2 ? progress : -2;
            features[4 * c] = assay__log_beyond_one(after / 1000);
            features[4 * c + 1] = progress < 2 ? progress : 2;
            features[4 * c + 2] = before > 0 ? along / before : 0;
            features[4 * c + 3] = heading_x[f] * heading_x[t] + heading_y[f] * heading_y[t];
        }
    }
}

/* A position has too few candidates to fill a vector, so the exponentials of all candidates are one
 * loop. */
void ASSAY__AT(road_log_softmax)(int64_t positions, const int64_t *first, float *logits,
                                 float *powers)
{
    for (int64_t p = 0; p < positions; p++) {
        float largest = -INFINITY;
        for (int64_t c = first[p]; c < first[p + 1]; c++)
            largest = logits[c] > largest ? logits[c] : largest;
        for (int64_t c = first[p]; c < first[p + 1]; c++)
            logits[c] -= largest;
    }
    for (int64_t block = 0; block < first[positions]; block += ASSAY__ROAD_BLOCK) {
        ASSAY__LANES
        for (int64_t c = block; c < block + ASSAY__ROAD_BLOCK; c++)
            powers[c] = assay__exp1(logits[c]);
    }
    for (int64_t p = 0; p < positions; p++) {
        float sum = 0;
        for (int64_t c = first[p]; c < first[p + 1]; c++)
            sum += powers[c];
        const float whole = assay__log_beyond_one(sum - 1);
        for (int64_t c = first[p]; c < first[p + 1]; c++)
            logits[c] -= whole;
    }
}
