/* A model is made, its weights are saved, its shape is inferred from them and they are loaded into
 * another; arrays and a graph are written and read. */
#include "tests/fault/fault.h"

#include <stdio.h>
#include <string.h>

#include "assay/model.h"

enum { MAX_OPTIONS = 64 };

/* A failure has to come with a message. */
static assay_status judged(assay_status status, const assay_error *error)
{
    return status != ASSAY_OK && error->message[0] == '\0' ? (assay_status)-1000 : status;
}

static assay_status weights(const assay_model_class *class_)
{
    assay_error error = {0};
    assay_model *first = NULL, *second = NULL;
    double settings[MAX_OPTIONS];
    for (size_t i = 0; i < class_->option_count; i++) /* small: every request is refused in turn */
        settings[i] =
            strcmp(class_->options[i].name, "num-layers") == 0 ? 1 : class_->options[i].initial;
    assay_status status = assay_model_new(class_, settings, 1, &error, &first);
    if (status == ASSAY_OK)
        status = assay_model_save_weights(first, "w.safetensors", &error);
    if (status == ASSAY_OK)
        status = assay_model_save_gradients(first, "g.safetensors", &error);
    if (status == ASSAY_OK)
        status = assay_model_infer(class_, "w.safetensors", &error, settings);
    if (status == ASSAY_OK)
        status = assay_model_new(class_, settings, 2, &error, &second);
    if (status == ASSAY_OK)
        status = assay_model_load_weights(second, "w.safetensors", &error);
    assay_model_free(first);
    assay_model_free(second);
    return judged(status, &error);
}

static assay_status arrays(void)
{
    assay_error error = {0};
    float values[] = {1, 2, 3, 4, 5, 6};
    assay_tensor array = {"x", ASSAY_F32, 2, {2, 3}, values}, read = {0};
    assay_status status = assay_tensor_save_npy(&array, "x.npy", &error);
    if (status == ASSAY_OK)
        status = assay_tensor_load_npy("x.npy", ASSAY_F64, &error, &read);
    assay_tensor_release(&read);
    return judged(status, &error);
}

static bool write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        return false;
    fputs(text, stream);
    return fclose(stream) == 0;
}

static assay_status graphs(void)
{
    assay_error error = {0};
    assay_tensor tensors[3] = {0}, labels = {0};
    if (!write_text("num-node-list.csv", "2\n3\n") || !write_text("num-edge-list.csv", "1\n2\n") ||
        !write_text("edge.csv", "0,1\n0,1\n2,0\n") ||
        !write_text("node-feat.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n") ||
        !write_text("graph-label.csv", "0\n1\n"))
        return ASSAY_E_MEMORY;
    assay_status status = assay_tensor_load_graph(".", &error, tensors);
    if (status == ASSAY_OK)
        status = assay_tensor_load_graph_labels(".", &error, &labels);
    for (int i = 0; i < 3; i++)
        assay_tensor_release(&tensors[i]);
    assay_tensor_release(&labels);
    return judged(status, &error);
}

static assay_status run(void)
{
    assay_error error = {0};
    const assay_model_class *class_ = NULL;
    assay_status status = assay_model_find("mlp", &error, &class_);
    if (status == ASSAY_OK)
        status = weights(class_);
    if (status == ASSAY_OK)
        status = arrays();
    return status == ASSAY_OK ? graphs() : status;
}

static bool verify(void)
{
    assay_error error = {0};
    assay_tensor read = {0};
    bool good = assay_tensor_load_npy("x.npy", ASSAY_F32, &error, &read) == ASSAY_OK &&
                assay_tensor_count(&read) == 6;
    assay_tensor_release(&read);
    return good;
}

const fault_scenario fault_models = {"models", run, verify};
