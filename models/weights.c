/* Loads weights from a safetensors file into a model, saves them, and derives settings from them.
 *
 * A saved file also has the model's name and its settings ("assay.model": "lstm",
 * "assay.num-layers": "2"), because shapes alone do not tell heads, activations or frequencies.
 * Where both the stored settings and the shapes tell a setting, the shapes count, because the
 * weights have to fit them. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "models/file/safetensors.h"
#include "models/model.h"
#include "models/problems.h"
#include "models/registry.h"

#define MODEL_KEY "assay.model"

enum { KEY_BYTES = 96 };

static void option_key(const assay_model_option *option, char key[KEY_BYTES])
{
    snprintf(key, KEY_BYTES, "assay.%s", option->name);
}

static void option_value(const assay_model_option *option, double value, char text[KEY_BYTES])
{
    if (option->words != NULL)
        snprintf(text, KEY_BYTES, "%s", option->words[(size_t)value]);
    else
        assay__json_format_number(text, value);
}

static bool parse_value(const assay_model_option *option, const char *text, double *value)
{
    for (size_t i = 0; option->words != NULL && option->words[i] != NULL; i++) {
        if (strcmp(option->words[i], text) == 0) {
            *value = (double)i;
            return true;
        }
    }
    /* jansson reads numbers independently of the locale. */
    json_t *number = option->words == NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    double parsed = json_is_number(number) ? json_number_value(number) : NAN;
    json_decref(number);
    if (!(parsed >= option->minimum && parsed <= option->maximum) ||
        (option->integer && parsed != floor(parsed)))
        return false;
    *value = parsed;
    return true;
}

static assay_status read_settings(const assay__safetensors *file, const assay_model_class *class_,
                                  const char *path, double *settings, assay_error *error)
{
    const char *model = assay__safetensors_metadata(file, MODEL_KEY);
    if (model != NULL && strcmp(model, class_->name) != 0) {
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' holds weights of model '%.63s', not '%s'",
                           path, model, class_->name);
    }
    for (size_t i = 0; i < class_->option_count; i++) {
        char key[KEY_BYTES];
        option_key(&class_->options[i], key);
        const char *text = assay__safetensors_metadata(file, key);
        if (text != NULL && !parse_value(&class_->options[i], text, &settings[i])) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "'%s': '%.60s' stored for '%s' is not within its limits", path, text,
                               key);
        }
    }
    return ASSAY_OK;
}

assay_status assay_model_infer(const assay_model_class *class_, const char *path,
                               assay_error *error, double *settings)
{
    assay__safetensors file;
    assay_tensor *shapes = NULL;
    assay_status status = assay__class_check(class_, "the model", error);
    if (status != ASSAY_OK)
        return status;
    status = assay__safetensors_open(path, error, &file);
    if (status != ASSAY_OK)
        return status;
    status = read_settings(&file, class_, path, settings, error);
    if (status != ASSAY_OK || class_->infer == NULL)
        goto cleanup;
    shapes = calloc(file.count + 1, sizeof *shapes);
    if (shapes == NULL) {
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", path);
        goto cleanup;
    }
    for (size_t i = 0; i < file.count; i++) {
        const assay__safetensor *tensor = &file.tensors[i];
        shapes[i] =
            (assay_tensor){.name = tensor->name,
                           .element = tensor->stored == ASSAY__STORED_F64 ? ASSAY_F64 : ASSAY_F32,
                           .rank = tensor->rank};
        memcpy(shapes[i].shape, tensor->shape, sizeof shapes[i].shape);
    }
    status = class_->infer(shapes, file.count, settings, error);
    status = assay__model_status(class_, status, error, "infer");

cleanup:
    free(shapes);
    assay__safetensors_release(&file);
    return status;
}

static bool same_shape(const assay_tensor *wanted, const assay__safetensor *found)
{
    return wanted->rank == found->rank &&
           memcmp(wanted->shape, found->shape, wanted->rank * sizeof *wanted->shape) == 0;
}

static void compare_parameter(const assay__safetensors *file, const assay_tensor *wanted,
                              assay__problems *problems)
{
    char text[ASSAY__SHAPE_TEXT], other[ASSAY__SHAPE_TEXT];
    const assay__safetensor *found = assay__safetensors_find(file, wanted->name);
    if (found == NULL) {
        assay__problems_add(problems, "'%s' %s is missing", wanted->name,
                            assay__shape_text(wanted->rank, wanted->shape, text));
    } else if (!same_shape(wanted, found)) {
        assay__problems_add(problems, "'%s' has shape %s, not %s", wanted->name,
                            assay__shape_text(found->rank, found->shape, other),
                            assay__shape_text(wanted->rank, wanted->shape, text));
    } else if (!assay__stored_is_float(found->stored)) {
        assay__problems_add(problems, "'%s' has dtype %s, not F32, F64, F16 or BF16", wanted->name,
                            found->dtype);
    }
}

static assay_status compare(assay_model *model, const assay__safetensors *file, const char *path,
                            assay_problem_sink sink, void *context, assay_error *error)
{
    assay__problems problems = {.sink = sink, .context = context};
    size_t count = 0;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    const char *stored_for = assay__safetensors_metadata(file, MODEL_KEY);
    if (stored_for != NULL && strcmp(stored_for, model->class_->name) != 0)
        assay__problems_add(&problems, "they are weights of model '%.63s'", stored_for);
    for (size_t i = 0; i < count; i++)
        compare_parameter(file, &list[i].value, &problems);
    for (size_t i = 0; i < file->count; i++) {
        bool known = false;
        for (size_t j = 0; j < count && !known; j++)
            known = strcmp(list[j].value.name, file->tensors[i].name) == 0;
        if (!known) {
            assay__problems_add(&problems, "'%.200s' is not a tensor of the model",
                                file->tensors[i].name);
        }
    }
    return problems.count == 0 ? ASSAY_OK
                               : assay__problems_fail(&problems, ASSAY_E_FORMAT, error,
                                                      "weights '%.60s' do not fit model '%s'", path,
                                                      model->class_->name);
}

/* Converts one tensor into `target`, a block apart from the model: a value that does not fit must
 * leave the model as it was. */
static assay_status read_tensor(const assay__safetensor *stored, const assay_tensor *wanted,
                                const char *path, assay_error *error, void *target)
{
    int64_t done = assay__convert(stored->stored, false, stored->bytes, stored->count,
                                  wanted->element, target);
    if (done < stored->count) {
        return assay__fail(error, ASSAY_E_DATA,
                           "'%s': value %" PRId64 " of tensor '%s' is too large for a float32",
                           path, done, wanted->name);
    }
    assay_tensor read = *wanted;
    read.data = target;
    char name[300];
    snprintf(name, sizeof name, "'%.80s': tensor '%.200s'", path, wanted->name);
    return assay__tensor_check_finite(&read, name, error);
}

static size_t tensor_bytes(const assay_tensor *tensor)
{
    return (size_t)assay_tensor_count(tensor) * assay__element_size(tensor->element);
}

static assay_status read_all(assay_model *model, const assay__safetensors *file, const char *path,
                             assay_error *error)
{
    size_t count = 0, total = 0, at = 0;
    assay_status status = assay__model_fetch(model, error);
    if (status != ASSAY_OK)
        return status;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    for (size_t i = 0; i < count; i++)
        total += tensor_bytes(&list[i].value);
    char *block = malloc(total > 0 ? total : 1);
    if (block == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", path);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        const assay_tensor *wanted = &list[i].value;
        status = read_tensor(assay__safetensors_find(file, wanted->name), wanted, path, error,
                             block + at);
        at += tensor_bytes(wanted);
    }
    at = 0;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        memcpy(list[i].value.data, block + at, tensor_bytes(&list[i].value));
        at += tensor_bytes(&list[i].value);
    }
    free(block);
    return status;
}

assay_status assay_model_check_weights(assay_model *model, const char *path,
                                       assay_problem_sink sink, void *context, assay_error *error)
{
    assay__safetensors file;
    assay_status status = assay__safetensors_open(path, error, &file);
    if (status == ASSAY_OK) {
        status = compare(model, &file, path, sink, context, error);
        assay__safetensors_release(&file);
    }
    return status;
}

assay_status assay_model_load_weights(assay_model *model, const char *path, assay_error *error)
{
    assay__safetensors file;
    assay_status status = assay__safetensors_open(path, error, &file);
    if (status != ASSAY_OK)
        return status;
    status = compare(model, &file, path, NULL, NULL, error);
    if (status == ASSAY_OK)
        status = read_all(model, &file, path, error);
    assay__safetensors_release(&file);
    return status;
}

static assay_status save(assay_model *model, const char *path,
                         const assay__safetensors_pair *metadata, size_t metadata_count,
                         bool gradients, assay_error *error)
{
    size_t count = 0;
    assay_status status = assay__model_fetch(model, error);
    if (status != ASSAY_OK)
        return status;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    assay_tensor *tensors = calloc(count + 1, sizeof *tensors);
    if (tensors == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while writing '%s'", path);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = list[i].value;
        if (gradients)
            tensors[i].data = list[i].gradient;
        if (tensors[i].data == NULL) {
            free(tensors);
            return assay__fail(error, ASSAY_E_UNSUPPORTED, "model '%s' has no gradients",
                               model->class_->name);
        }
    }
    status = assay__safetensors_write(path, tensors, count, metadata, metadata_count, error);
    free(tensors);
    return status;
}

assay_status assay_model_save_weights(assay_model *model, const char *path, assay_error *error)
{
    const assay_model_class *class_ = model->class_;
    size_t count = class_->option_count + 1;
    char(*texts)[2][KEY_BYTES] = calloc(count, sizeof *texts);
    assay__safetensors_pair *pairs = calloc(count, sizeof *pairs);
    assay_status status = ASSAY_OK;
    if (texts == NULL || pairs == NULL) {
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory while writing '%s'", path);
        goto cleanup;
    }
    pairs[0] = (assay__safetensors_pair){MODEL_KEY, class_->name};
    for (size_t i = 0; i < class_->option_count; i++) {
        option_key(&class_->options[i], texts[i][0]);
        option_value(&class_->options[i], model->settings[i], texts[i][1]);
        pairs[i + 1] = (assay__safetensors_pair){texts[i][0], texts[i][1]};
    }
    status = save(model, path, pairs, count, false, error);

cleanup:
    free(texts);
    free(pairs);
    return status;
}

assay_status assay_model_save_gradients(assay_model *model, const char *path, assay_error *error)
{
    return save(model, path, NULL, 0, true, error);
}
