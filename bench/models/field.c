/* MLP, SIREN and KAN beside PyTorch, with one thread each: training steps on 1000 samples of a
 * function of two variables, and evaluations. The bar is 2 at the usual shapes for such functions
 * (MLP and SIREN 2-64-64-64-1, KAN 2-5-1 with 5 intervals of cubic splines), and "not slower"
 * elsewhere. */
#include "bench/models/peer.h"
#include "models/field/kan.h"
#include "models/field/siren.h"

typedef struct subject {
    const assay_model_class *class_;
    void *model;
    assay_tensor input, target;
} subject;

static void must(assay_status status, const char *what)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "field: %s: %s\n", what, assay_status_message(status));
        exit(70);
    }
}

static subject make(const assay_model_class *class_, const double *settings)
{
    subject made = {.class_ = class_};
    must(class_->create(settings, 1, NULL, &made.model), "create");
    must(class_->example(made.model, 2, NULL, &made.input, &made.target), "example");
    return made;
}

static void training_step(void *context)
{
    subject *of = context;
    double loss;
    must(of->class_->gradient(of->model, &of->input, 1, &of->target, NULL, &loss), "gradient");
    must(of->class_->update(of->model, 1e-3, NULL), "update");
}

static void evaluation(void *context)
{
    subject *of = context;
    assay_tensor output;
    must(of->class_->forward(of->model, &of->input, 1, NULL, &output), "forward");
}

static void compare(peer_server *server, const char *name, const char *task, double bar,
                    const assay_model_class *class_, const double *settings)
{
    subject of = make(class_, settings);
    peer_compare(server, name, "PyTorch", task, bar,
                 strncmp(task, "train", 5) == 0 ? training_step : evaluation, &of);
    class_->destroy(of.model);
}

/* The values of the option "activation", in their order. */
static const char *const activations[] = {"relu", "tanh", "gelu", "silu", "sigmoid"};

static void compare_perceptrons(peer_server *server)
{
    char name[64], task[64];
    static const int widths[] = {32, 64, 128, 256};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        int width = widths[w];
        double bar = width == 64 ? 2.2 : 1.05;
        for (int a = 0; a < (width == 64 ? 5 : 2); a++) {
            snprintf(name, sizeof name, "mlp %s hidden %d training step", activations[a], width);
            snprintf(task, sizeof task, "train %s %d", activations[a], width);
            compare(server, name, task, bar, &assay__mlp_class,
                    (double[]){2, width, 3, 1, a, 1000});
        }
        snprintf(name, sizeof name, "siren hidden %d training step", width);
        snprintf(task, sizeof task, "train sine %d", width);
        compare(server, name, task, bar, &assay__siren_class,
                (double[]){2, width, 3, 1, 30, 30, 1000});
    }
    for (int rows = 1; rows <= 1000; rows *= 1000) {
        snprintf(name, sizeof name, "mlp tanh hidden 64 forward of %d", rows);
        snprintf(task, sizeof task, "forward tanh 64 %d", rows);
        compare(server, name, task, 1.05, &assay__mlp_class, (double[]){2, 64, 3, 1, 1, rows});
        snprintf(name, sizeof name, "siren hidden 64 forward of %d", rows);
        snprintf(task, sizeof task, "forward sine 64 %d", rows);
        compare(server, name, task, 1.05, &assay__siren_class,
                (double[]){2, 64, 3, 1, 30, 30, rows});
    }
}

static void compare_kans(peer_server *server)
{
    char name[64], task[64];
    static const int widths[] = {5, 16, 64};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        snprintf(name, sizeof name, "kan hidden %d training step", widths[w]);
        snprintf(task, sizeof task, "train kan %d", widths[w]);
        compare(server, name, task, 25, &assay__kan_class,
                (double[]){2, widths[w], 1, 1, 5, 3, 1, 1000});
    }
    for (int rows = 1; rows <= 1000; rows *= 1000) {
        snprintf(name, sizeof name, "kan hidden 5 forward of %d", rows);
        snprintf(task, sizeof task, "forward kan 5 %d", rows);
        compare(server, name, task, 25, &assay__kan_class, (double[]){2, 5, 1, 1, 5, 3, 1, rows});
    }
}

int main(void)
{
    peer_server server;
    peer_start(&server, "field.py");
    compare_perceptrons(&server);
    compare_kans(&server);
    return peer_stop(&server);
}
