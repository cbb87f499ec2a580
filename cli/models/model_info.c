/* assay model info: prints the settings, tensors and memory of a model, and the operations and
 * FLOPs of one forward pass. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/flops.h"
#include "base/grow.h"
#include "cli/common/message.h"
#include "cli/models/model_job.h"

/* The operations of a pass, kept until they are shown. */
typedef struct operation_list {
    assay_term *items; /* components are owned */
    size_t count, capacity;
    bool failed;
} operation_list;

static void keep(void *context, const assay_term *operation)
{
    operation_list *list = context;
    if (list->failed)
        return;
    assay_term copy = *operation;
    copy.component = strdup(operation->component);
    list->failed = copy.component == NULL || !assay__grow(&list->items, &list->capacity,
                                                          list->count + 1, sizeof *list->items);
    if (!list->failed)
        list->items[list->count++] = copy;
    else
        free((char *)copy.component);
}

static void release(operation_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->items[i].component);
    free(list->items);
}

/* Collect the operations of a forward pass. A model that cannot describe its operations leaves the
 * list empty. Returns EX_OK, or the exit code after a message. */
static int describe(model_job *job, operation_list *list)
{
    const assay_model_class *class_ = job->class_;
    if (class_->describe == NULL ||
        (class_->example == NULL && job->settings->input == NULL && job->settings->graph == NULL))
        return EX_OK;
    int code = model_setup_inputs(job, true);
    if (code != EX_OK)
        return code;
    assay_error error = {0};
    assay_status status =
        assay_model_describe(job->model, job->inputs, class_->input_count, keep, list, &error);
    if (status == ASSAY_OK && list->failed)
        status = ASSAY_E_MEMORY;
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

/* Compute the FLOPs under all conventions. Returns false if a figure does not fit into 64 bits. */
static bool count_flops(const operation_list *list, assay_flops flops[ASSAY_FLOP_CONVENTIONS])
{
    memset(flops, 0, ASSAY_FLOP_CONVENTIONS * sizeof *flops);
    for (size_t i = 0; i < list->count; i++)
        for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++) {
            assay_flops one;
            if (assay_term_flops(&list->items[i], (assay_flop_convention)c, &one) != ASSAY_OK ||
                __builtin_add_overflow(flops[c].forward, one.forward, &flops[c].forward) ||
                __builtin_add_overflow(flops[c].backward, one.backward, &flops[c].backward))
                return false;
        }
    return true;
}

static void print_settings(const model_job *job)
{
    const assay_model_class *class_ = job->class_;
    printf("%s: %s\n\nsettings:\n", class_->name, class_->summary);
    for (size_t i = 0; i < class_->option_count; i++) {
        const assay_model_option *setting = &class_->options[i];
        double value = assay_model_settings(job->model)[i];
        if (setting->words != NULL)
            printf("  %-20s%-12s%s\n", setting->name, setting->words[(size_t)value], setting->help);
        else
            printf("  %-20s%-12.10g%s\n", setting->name, value, setting->help);
    }
    printf("\ninputs:\n");
    for (size_t i = 0; i < class_->input_count; i++)
        printf("  %-20s%s%s\n", class_->inputs[i].name, class_->inputs[i].help,
               class_->inputs[i].optional ? " (optional)" : "");
}

static void print_tensors(const model_job *job)
{
    size_t count = 0;
    const assay_model_parameter *list = assay_model_parameters(job->model, &count);
    printf("\n%-43s %-24s %11s\n", "tensor", "shape", "parameters");
    for (size_t i = 0; i < count; i++) {
        char shape[MODEL_SHAPE_TEXT];
        printf("%-43s %-24s %11" PRId64 "\n", list[i].value.name,
               model_shape_text(&list[i].value, shape), assay_tensor_count(&list[i].value));
    }
    printf("%-68s %11" PRIu64 "\n", "all", assay_model_parameter_count(job->model));
}

static void print_inputs(const model_job *job)
{
    printf("\narithmetic of one forward pass%s, inputs", job->example ? " on made-up data" : "");
    for (size_t i = 0; i < job->class_->input_count; i++) {
        char shape[MODEL_SHAPE_TEXT];
        if (job->inputs[i].data != NULL)
            printf(" %s %s", job->inputs[i].name, model_shape_text(&job->inputs[i], shape));
    }
    printf("\n%-35s %-12s %7s %7s %7s %7s\n", "component", "operation", "count", "m", "k", "n");
}

static void print_operations(const model_job *job, const operation_list *list)
{
    if (list->count == 0)
        return;
    print_inputs(job);
    for (size_t i = 0; i < list->count; i++) {
        const assay_term *it = &list->items[i];
        printf("%-35s %-12s %7" PRId64 " %7" PRId64 " %7" PRId64 " %7" PRId64 "\n", it->component,
               assay_term_kind_name(it->kind), it->count, it->m, it->k, it->n);
    }
    assay_flops flops[ASSAY_FLOP_CONVENTIONS];
    if (!count_flops(list, flops))
        return;
    printf("\n%-20s %19s %19s\n", "FLOPs, counted as by", "forward", "backward");
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
        printf("%-20s %19" PRIu64 " %19" PRIu64 "\n",
               assay_flop_convention_name((assay_flop_convention)c), flops[c].forward,
               flops[c].backward);
}

static void print_figure(void *context, const char *name, double value, const char *remark)
{
    (void)context;
    printf("%s: %.6g%s%s\n", name, value, remark != NULL ? ", " : "", remark != NULL ? remark : "");
}

static void add_figure(void *context, const char *name, double value, const char *remark)
{
    json_object_set_new(context, name, json_pack("{sf, ss?}", "value", value, "remark", remark));
}

/* Print the figures that only this model has. If the model fails to compute them, print the reason
 * instead. */
static void show_figures(model_job *job, assay_figure_sink sink, void *context)
{
    assay_error error = {0};
    if (job->class_->figures != NULL &&
        assay_model_figures(job->model, sink, context, &error) != ASSAY_OK)
        message_note("%s", error.message);
}

static json_t *tensors_json(const model_job *job)
{
    size_t count = 0;
    const assay_model_parameter *list = assay_model_parameters(job->model, &count);
    json_t *tensors = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            tensors, json_pack("{ss, so, sI, ss}", "name", list[i].value.name, "shape",
                               model_shape_json(&list[i].value), "parameters",
                               (json_int_t)assay_tensor_count(&list[i].value), "element",
                               list[i].value.element == ASSAY_F64 ? "float64" : "float32"));
    return tensors;
}

static json_t *operations_json(const operation_list *list)
{
    json_t *operations = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const assay_term *it = &list->items[i];
        json_array_append_new(operations,
                              json_pack("{ss, ss, sI, sI, sI, sI, si}", "component", it->component,
                                        "kind", assay_term_kind_name(it->kind), "count",
                                        (json_int_t)it->count, "m", (json_int_t)it->m, "k",
                                        (json_int_t)it->k, "n", (json_int_t)it->n,
                                        "operand_gradients", it->operand_gradients));
    }
    return operations;
}

static json_t *flops_json(const operation_list *list)
{
    assay_flops flops[ASSAY_FLOP_CONVENTIONS];
    if (list->count == 0 || !count_flops(list, flops))
        return json_null();
    json_t *shown = json_object();
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
        json_object_set_new(shown, assay_flop_convention_name((assay_flop_convention)c),
                            json_pack("{sI, sI}", "forward", (json_int_t)flops[c].forward,
                                      "backward", (json_int_t)flops[c].backward));
    return shown;
}

static int write_json(model_job *job, const operation_list *list, const assay_model_memory *memory)
{
    json_t *root = model_json(job);
    json_object_set_new(root, "class", model_class_json(job->class_));
    json_object_set_new(root, "tensors", tensors_json(job));
    json_object_set_new(root, "bytes", memory != NULL ? model_memory_json(memory) : json_null());
    json_t *figures = json_object();
    show_figures(job, add_figure, figures);
    json_object_set_new(root, "figures", figures);
    json_object_set_new(root, "operations", operations_json(list));
    json_object_set_new(root, "flops", flops_json(list));
    return model_write_json(job, root);
}

int model_info(model_job *job)
{
    operation_list list = {0};
    assay_model_memory memory;
    int code = model_setup_create(job);
    if (code != EX_OK)
        return code;
    /* Read the memory now: data that is made up later would be counted as the model's. */
    bool accounted = assay_model_memory_now(job->model, NULL, &memory) == ASSAY_OK;
    code = describe(job, &list);
    if (code == EX_OK && job->settings->json != NULL)
        code = write_json(job, &list, accounted ? &memory : NULL);
    else if (code == EX_OK) {
        print_settings(job);
        print_tensors(job);
        if (accounted)
            model_print_memory(&memory, stdout);
        show_figures(job, print_figure, NULL);
        print_operations(job, &list);
    }
    release(&list);
    return code;
}
