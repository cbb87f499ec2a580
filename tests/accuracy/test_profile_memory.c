/* The memory breakdown of models, compared with two independent counts: the heap, counted by the
 * interposer, and the resident memory, counted by the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/model.h"
#include "assay/profile.h"
#include "tests/accuracy/preloaded.h"

enum { MB = 1 << 20 };

typedef struct setting {
    const char *name;
    double value;
} setting;

typedef struct figures {
    double breakdown, heap, resident; /* bytes */
} figures;

static double live_bytes(void)
{
    assay_heap_figures heap = {.struct_size = sizeof heap};
    assert_int_equal(assay_heap_read(&heap), ASSAY_OK);
    return (double)heap.live_bytes;
}

static double resident_bytes(void)
{
    assay_memory memory = {.struct_size = sizeof memory};
    assert_int_equal(assay_memory_read(&memory), ASSAY_OK);
    assert_int_equal(memory.rss_bytes.validity, ASSAY_VALID);
    return memory.rss_bytes.value;
}

static double accounted_bytes(assay_model *model)
{
    assay_model_memory memory;
    assert_int_equal(assay_model_memory_now(model, NULL, &memory), ASSAY_OK);
    return (double)(memory.parameters + memory.gradients + memory.optimizer + memory.activations +
                    memory.workspace);
}

/* Growth from nothing to a model after a training step. Its made-up data are left out: some models
 * keep them in their workspace, others apart. */
static figures measure(const char *name, const setting *changes)
{
    const assay_model_class *class_ = NULL;
    assert_int_equal(assay_model_find(name, NULL, &class_), ASSAY_OK);
    double settings[64];
    for (size_t i = 0; i < class_->option_count; i++) {
        settings[i] = class_->options[i].initial;
        for (const setting *change = changes; change->name != NULL; change++)
            if (strcmp(change->name, class_->options[i].name) == 0)
                settings[i] = change->value;
    }
    double heap[4], resident[4];
    assay_tensor inputs[8] = {0}, wanted = {0};
    assay_model *model = NULL;
    heap[0] = live_bytes(), resident[0] = resident_bytes();
    assert_int_equal(assay_model_new(class_, settings, 42, NULL, &model), ASSAY_OK);
    heap[1] = live_bytes(), resident[1] = resident_bytes();
    double example = -accounted_bytes(model);
    assert_int_equal(assay_model_example(model, 42, NULL, inputs, &wanted), ASSAY_OK);
    heap[2] = live_bytes(), resident[2] = resident_bytes();
    example += accounted_bytes(model);
    const assay_profile_target target = {
        .struct_size = sizeof target, .model = model, .inputs = inputs, .target = &wanted};
    assay_model_memory breakdown;
    assert_int_equal(assay_get_memory_breakdown(&target, NULL, &breakdown), ASSAY_OK);
    heap[3] = live_bytes(), resident[3] = resident_bytes();
    double total = (double)(breakdown.parameters + breakdown.gradients + breakdown.optimizer +
                            breakdown.activations + breakdown.workspace);
    assert_true(breakdown.parameters >= 4 * assay_model_parameter_count(model));
    assay_model_free(model);
    figures found = {total - example, heap[1] - heap[0] + heap[3] - heap[2],
                     resident[1] - resident[0] + resident[3] - resident[2]};
    printf("%-18s breakdown %8.2f MB, heap %8.2f MB, resident %8.2f MB\n", name,
           found.breakdown / MB, found.heap / MB, found.resident / MB);
    return found;
}

static void assert_within(double value, double truth, double share)
{
    if (!(value >= truth * (1 - share) && value <= truth * (1 + share)))
        fail_msg("%.0f bytes are not within %.0f %% of %.0f", value, 100 * share, truth);
}

/* First, while nothing freed can be used again. */
static void a_large_transformer(void **state)
{
    (void)state;
    (void)measure("mlp", (const setting[]){{NULL, 0}}); /* whatever is allocated only once */
    figures found = measure(
        "graph_transformer",
        (const setting[]){{"num-nodes", 1000}, {"num-edges", 5000}, {"num-layers", 3}, {NULL, 0}});
    assert_true(found.breakdown > 50.0 * MB);
    assert_within(found.breakdown, found.heap, 0.05);
    assert_within(found.breakdown, found.resident, 0.05);
}

static void every_kind_of_model(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        setting changes[5];
    } models[] = {
        {"lstm", {{"hidden-dim", 256}, {"num-layers", 2}, {"batch-size", 16}}},
        {"mlp", {{"hidden-dim", 256}, {"batch-size", 2000}}},
        {"siren", {{"hidden-dim", 256}, {"batch-size", 2000}}},
        {"kan", {{"hidden-dim", 256}, {"batch-size", 2000}}},
        {"burgers_surrogate", {{"hidden-dim", 512}, {"batch-size", 500}}},
        {"next_road", {{"num-nodes", 20000}, {"batch-size", 64}}},
        {"mvar", {{"input-dim", 200}, {"order", 5}, {"seq-len", 1200}}},
        {"graph_transformer",
         {{"num-nodes", 200}, {"num-edges", 1000}, {"num-layers", 2}, {"lap-dim", 8}}},
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        figures found = measure(models[i].name, models[i].changes);
        assert_true(found.breakdown > 0.5 * MB);
        assert_within(found.breakdown, found.heap, 0.05);
    }
}

int main(int count, char **arguments)
{
    (void)count;
    int done = run_preloaded(arguments);
    if (done >= 0)
        return done;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_transformer),
        cmocka_unit_test(every_kind_of_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
