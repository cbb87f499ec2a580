/* A model that predicts which road a driver takes next. From the roads driven so far and the
 * destination it computes a probability for each successor of the current road. It is trained on
 * trajectories.
 *
 *     h_t     = GRU(E[road_t], h_{t-1})                                the way so far
 *     score_c = v . relu(W [h_t ; E[c] ; D[destination] ; features_c] + b)   of successor c
 *     p       = softmax of the scores over the successors of road_t
 *
 * where road/features.h defines the features. Only successors are scored, so the cost of a step
 * does not depend on the size of the network. The parameters have the names of a PyTorch module
 * made of nn.Embedding, nn.GRU and nn.Sequential(Linear, ReLU, Linear without bias):
 *
 *   road_embedding.weight         (roads, embedding)             E
 *   destination_embedding.weight  (roads, embedding)             D
 *   gru.weight_ih_l0              (3 hidden, embedding)
 *   gru.weight_hh_l0              (3 hidden, hidden)
 *   gru.bias_ih_l0, bias_hh_l0    (3 hidden)
 *   score.0.weight                (scorer, hidden + 2 embedding + 6)
 *                                 with the columns h, E[c], D[destination], features
 *   score.0.bias                  (scorer)
 *   score.2.weight                (1, scorer)                    v
 *
 * HOSER is a larger model of the same kind (Cao et al. 2025, "Holistic semantic representation for
 * navigational trajectory generation"). */
#ifndef ASSAY_MODELS_ROAD_NEXT_ROAD_H
#define ASSAY_MODELS_ROAD_NEXT_ROAD_H

#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"
#include "models/road/features.h"

typedef struct assay__next_road_shape {
    int64_t roads, embedding, hidden, scorer;
} assay__next_road_shape;

/* Two ready-made sizes (embedding, hidden, scorer): "vanilla" has 32, 64 and 64; "distilled" has
 * 16, 32 and 32 and is meant to be trained by a larger teacher. */
typedef enum assay__next_road_size {
    ASSAY__NEXT_ROAD_VANILLA,
    ASSAY__NEXT_ROAD_DISTILLED
} assay__next_road_size;

assay__next_road_shape assay__next_road_shape_of(assay__next_road_size size, int64_t roads);

/* The number of columns of score.0.weight. */
int64_t assay__next_road_score_columns(const assay__next_road_shape *shape);

/* The index of each parameter. */
typedef struct assay__next_road_weights {
    size_t road, destination, input, recurrent, input_bias, recurrent_bias, score, score_bias, out;
} assay__next_road_weights;

/* The arrays of a pass. There is a row for each position (P), candidate (C) or trajectory (B). gi
 * and gh are the GRU's products with its input and with its previous state. */
typedef struct assay__next_road_activations {
    float *driven;      /* (P, embedding) */
    float *gates;       /* (P, 3 hidden); gi until the step computes the gates in its place */
    float *recurrent;   /* (P, 3 hidden) gh */
    float *state;       /* (P + B, hidden): h_{-1} = 0, then h_t */
    float *context;     /* (P, scorer) */
    float *choice;      /* (C, embedding) */
    float *goal;        /* (B, embedding) */
    float *goal_score;  /* (B, scorer) */
    float *hidden;      /* (C, scorer) first layer of the scorer, after relu */
    float *logits;      /* (C) */
    float *probability; /* (C) */
    float *dlogits;     /* (C) from here on: gradients */
    float *dhidden, *dcontext, *dgoal_score, *dgoal, *dchoice, *dstate, *dgi, *dgh, *ddriven;
    float *carry; /* (B, hidden) */
} assay__next_road_activations;

/* An array and its number of floats. */
typedef struct assay__next_road_array {
    int64_t count;
    float **block;
} assay__next_road_array;

enum { ASSAY__NEXT_ROAD_FORWARD_ARRAYS = 11 };

/* List the arrays of `act` that a forward pass over the batch fills. */
void assay__next_road_forward_arrays(
    const assay__next_road_shape *shape, const assay__road_batch *batch,
    assay__next_road_activations *act,
    assay__next_road_array arrays[ASSAY__NEXT_ROAD_FORWARD_ARRAYS]);

typedef struct assay__next_road {
    assay__next_road_shape shape;
    assay__memory *memory;
    assay__parameters parameters;
    assay__next_road_weights at;
    assay__adam adam;
    assay__next_road_activations act;
} assay__next_road;

/* Make a model with weights drawn from `seed`; assay__next_road_free() frees it. ASSAY_E_ARGUMENT
 * if a size is below 1 or there are too many roads; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__next_road_new(const assay__next_road_shape *shape, uint64_t seed,
                                                 assay_error *error, assay__next_road **model);
void assay__next_road_free(assay__next_road *model);

/* Compute the logit and the probability of each candidate of the batch, in model->act. The roads of
 * the batch must be below shape.roads. The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__next_road_forward(assay__next_road *model,
                                                     const assay__road_batch *batch);

/* Run a forward pass and compute the loss and its gradient by the parameters, which is overwritten.
 * The loss is the mean over decisions of the cross-entropy, - sum of target x log probability.
 * ASSAY_E_DATA if the batch has no decision; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__next_road_gradient(assay__next_road *model,
                                                      const assay__road_batch *batch, double *loss);

/* The same for a student that learns from a teacher. The loss is the mean over decisions of
 *     (1 - share) x cross-entropy with the targets
 *     + share x temperature^2 x KL(teacher's probabilities || student's probabilities)
 * where both probabilities are those of logits / temperature (Hinton, Vinyals and Dean 2015,
 * "Distilling the knowledge in a neural network"). The teacher's parameters do not change. The
 * call overwrites the student's logits and the teacher's probabilities in `act`. ASSAY_E_ARGUMENT
 * unless 0 <= share <= 1, temperature > 0, and teacher and student have the same number of roads.
 */
ASSAY_MUST_USE assay_status assay__next_road_distill(assay__next_road *student,
                                                     assay__next_road *teacher,
                                                     const assay__road_batch *batch, double share,
                                                     double temperature, double *loss);

/* Make one step of Adam with the present gradients. */
ASSAY_MUST_USE assay_status assay__next_road_update(assay__next_road *model, double learning_rate);

/* The model class "next_road", and the model in a state that its create() made. */
extern const assay_model_class assay__next_road_class;
assay__next_road *assay__next_road_of(void *state);

/* The index of the candidates among the inputs of that class. */
enum { ASSAY__NEXT_ROAD_CANDIDATES = 2 };
/* For models/cuda: check the inputs of an instance of that class, and the target unless it is NULL,
 * and make a batch of them. The batch belongs to the instance and is valid until its next call.
 * Fails as a pass of the class does. */
ASSAY_MUST_USE assay_status assay__next_road_take_inputs(void *state, const assay_tensor *inputs,
                                                         const assay_tensor *target,
                                                         assay_error *error,
                                                         const assay__road_batch **batch);

#endif
