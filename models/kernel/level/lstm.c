/* One step of one sequence, or of a few, over weights that are laid out in the order of their use
 * (sequence/lstm_stream.c). The sums stay in registers. A stream alone takes as many vectors of a
 * block's units at a time as there are registers for. Several streams take one vector of units at a
 * time, and share each vector of weights. */
#include <string.h>

#include "models/kernel/elementary.h"
#include "models/kernel/level/level.h"

enum { UNITS = ASSAY__LSTM_UNITS, GATES = 4, ROW = GATES * UNITS };

#if ASSAY__MANY_REGISTERS
enum { TILE = 4, ALONE = UNITS / ASSAY__FLOATS }; /* streams of a tile; vectors of one stream */
#else
enum { TILE = 3, ALONE = 2 };
#endif

typedef struct layer {
    int64_t hidden, input;
    const float *packed; /* weights of the present block */
    const float *x;
    int64_t x_stride;
    const float *before;
    float *cell, *after;
    int64_t stride;
    float bound; /* assay__exp_bound() */
} layer;

/* sums += x (rows, count; row stride `stride`) weights (count, 4 gates, 16 units), for `vectors`
 * vectors of units. `rows` and `vectors` are constants where this is inlined. */
ASSAY__ELEMENT void accumulate(const int rows, const int vectors, int64_t count, const float *x,
                               int64_t stride, const float *weights,
                               assay__floats (*sums)[GATES][ALONE])
{
    for (int64_t k = 0; k < count; k++, weights += ROW) {
        ASSAY__UNROLL
        for (int gate = 0; gate < GATES; gate++) {
            ASSAY__UNROLL
            for (int v = 0; v < vectors; v++) {
                const assay__floats w =
                    *(const assay__floats_at *)(weights + gate * UNITS + v * ASSAY__FLOATS);
                ASSAY__UNROLL
                for (int r = 0; r < rows; r++)
                    sums[r][gate][v] += x[r * stride + k] * w;
            }
        }
    }
}

/* Applies the activations to one block: gates (64) are overwritten, cell (16) is read and
 * overwritten, hidden (16) is written. */
ASSAY__ELEMENT void activate(float bound, float *restrict gates, float *restrict cell,
                             float *restrict hidden)
{
    ASSAY__LANES
    for (int j = 0; j < 2 * UNITS; j++)
        gates[j] = assay__gate1(gates[j], bound);
    ASSAY__LANES
    for (int j = 0; j < UNITS; j++) {
        float g = assay__tanh1(gates[2 * UNITS + j]), o = assay__gate1(gates[3 * UNITS + j], bound);
        float c = gates[UNITS + j] * cell[j] + gates[j] * g;
        cell[j] = c;
        hidden[j] = o * assay__tanh1(c);
    }
}

ASSAY__ELEMENT void step_block(const int rows, const int vectors, const layer *l, int64_t block)
{
    float gates[TILE][ROW];
    for (int first = 0; first < UNITS; first += vectors * ASSAY__FLOATS) {
        assay__floats sums[TILE][GATES][ALONE];
        const float *packed = l->packed + first;
        ASSAY__UNROLL
        for (int r = 0; r < rows; r++) {
            ASSAY__UNROLL
            for (int at = 0; at < GATES * vectors; at++)
                sums[r][at / vectors][at % vectors] =
                    *(const assay__floats_at *)(packed + at / vectors * UNITS +
                                                at % vectors * ASSAY__FLOATS);
        }
        accumulate(rows, vectors, l->input, l->x, l->x_stride, packed + ROW, sums);
        accumulate(rows, vectors, l->hidden, l->before, l->stride, packed + (1 + l->input) * ROW,
                   sums);
        ASSAY__UNROLL
        for (int r = 0; r < rows; r++) {
            ASSAY__UNROLL
            for (int at = 0; at < GATES * vectors; at++)
                *(assay__floats_at *)(gates[r] + at / vectors * UNITS + first +
                                      at % vectors * ASSAY__FLOATS) =
                    sums[r][at / vectors][at % vectors];
        }
    }
    for (int r = 0; r < rows; r++) {
        activate(l->bound, gates[r], l->cell + r * l->stride + block * UNITS,
                 l->after + r * l->stride + block * UNITS);
    }
}

ASSAY__ELEMENT void step_rows(const int rows, const int vectors, layer l)
{
    for (int64_t block = 0; block * UNITS < l.hidden; block++) {
        step_block(rows, vectors, &l, block);
        l.packed += (1 + l.input + l.hidden) * ROW;
    }
}

void ASSAY__AT(lstm_step_packed)(int64_t rows, int64_t hidden, int64_t input, const float *packed,
                                 const float *x, int64_t x_stride, const float *before, float *cell,
                                 float *after, int64_t stride)
{
    layer l = {hidden, input, packed, x, x_stride, before, cell, after, stride, assay__exp_bound()};
    for (int64_t done = 0; done < rows;) {
        int64_t taken = rows - done >= TILE ? TILE : 1;
        if (taken == TILE)
            step_rows(TILE, 1, l);
        else
            step_rows(1, ALONE, l);
        l.x += taken * x_stride;
        l.before += taken * stride;
        l.cell += taken * stride;
        l.after += taken * stride;
        done += taken;
    }
}

void ASSAY__AT(lstm_head_packed)(int64_t hidden, int64_t output, const float *packed,
                                 const float *state, float *y)
{
    enum { VECTORS = UNITS / ASSAY__FLOATS };
    for (int64_t block = 0; block * UNITS < output; block++) {
        assay__floats even[VECTORS], odd[VECTORS];
        const float *w = packed + block * (1 + hidden) * UNITS;
        ASSAY__UNROLL
        for (int v = 0; v < VECTORS; v++) {
            even[v] = *(const assay__floats_at *)(w + v * ASSAY__FLOATS);
            odd[v] = (assay__floats){0};
        }
        int64_t k = 0;
        for (; k + 1 < hidden; k += 2) {
            ASSAY__UNROLL
            for (int v = 0; v < VECTORS; v++) {
                const float *at = w + (1 + k) * UNITS + v * ASSAY__FLOATS;
                even[v] += state[k] * *(const assay__floats_at *)at;
                odd[v] += state[k + 1] * *(const assay__floats_at *)(at + UNITS);
            }
        }
        float sums[UNITS];
        ASSAY__UNROLL
        for (int v = 0; v < VECTORS; v++) {
            if (k < hidden)
                even[v] +=
                    state[k] * *(const assay__floats_at *)(w + (1 + k) * UNITS + v * ASSAY__FLOATS);
            *(assay__floats_at *)(sums + v * ASSAY__FLOATS) = even[v] + odd[v];
        }
        int64_t left = output - block * UNITS;
        memcpy(y + block * UNITS, sums, (size_t)(left < UNITS ? left : UNITS) * sizeof *y);
    }
}
