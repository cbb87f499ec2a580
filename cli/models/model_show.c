/* Prints classes and models as text and as JSON. The actions of `assay model` share these
 * functions; `assay model list` is here too. */
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>

#include "assay/report.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/models/model_job.h"

const char *model_shape_text(const assay_tensor *tensor, char text[MODEL_SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(text, MODEL_SHAPE_TEXT, "(");
    for (uint32_t axis = 0; axis < tensor->rank && used < MODEL_SHAPE_TEXT; axis++)
        used += (size_t)snprintf(text + used, MODEL_SHAPE_TEXT - used, "%s%" PRId64,
                                 axis > 0 ? ", " : "", tensor->shape[axis]);
    if (used < MODEL_SHAPE_TEXT)
        snprintf(text + used, MODEL_SHAPE_TEXT - used, ")");
    return text;
}

json_t *model_shape_json(const assay_tensor *tensor)
{
    json_t *shape = json_array();
    for (uint32_t axis = 0; axis < tensor->rank; axis++)
        json_array_append_new(shape, json_integer(tensor->shape[axis]));
    return shape;
}

static json_t *value_json(const assay_model_option *setting, double value)
{
    if (setting->words != NULL)
        return json_string(setting->words[(size_t)value]);
    return setting->integer ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *words_json(const assay_model_option *setting)
{
    json_t *words = json_array();
    for (size_t i = 0; setting->words[i] != NULL; i++)
        json_array_append_new(words, json_string(setting->words[i]));
    return words;
}

static json_t *setting_json(const assay_model_option *setting)
{
    json_t *shown = json_pack("{ss, ss, so}", "name", setting->name, "help", setting->help,
                              "default", value_json(setting, setting->initial));
    if (setting->words != NULL) {
        json_object_set_new(shown, "words", words_json(setting));
    } else {
        json_object_set_new(shown, "minimum", value_json(setting, setting->minimum));
        json_object_set_new(shown, "maximum", value_json(setting, setting->maximum));
    }
    return shown;
}

static const char *element_name(assay_element element)
{
    return element == ASSAY_F32 ? "float32" : element == ASSAY_F64 ? "float64" : "int64";
}

json_t *model_class_json(const assay_model_class *class_)
{
    json_t *options = json_array(), *inputs = json_array();
    for (size_t i = 0; i < class_->option_count; i++)
        json_array_append_new(options, setting_json(&class_->options[i]));
    for (size_t i = 0; i < class_->input_count; i++) {
        const assay_model_input *input = &class_->inputs[i];
        json_array_append_new(inputs,
                              json_pack("{ss, ss, ss, si, sb}", "name", input->name, "help",
                                        input->help, "element", element_name(input->element),
                                        "rank", (int)input->rank, "optional", input->optional));
    }
    json_t *can =
        json_pack("{sb, sb, sb, sb, sb, sb}", "forecast", class_->forecast != NULL, "gradient",
                  class_->gradient != NULL, "train",
                  class_->gradient != NULL && class_->update != NULL, "fit", class_->fit != NULL,
                  "example", class_->example != NULL, "describe", class_->describe != NULL);
    return json_pack("{ss, ss, so, so, so}", "name", class_->name, "summary", class_->summary,
                     "options", options, "inputs", inputs, "can", can);
}

json_t *model_json(const model_job *job)
{
    json_t *settings = json_object();
    for (size_t i = 0; i < job->class_->option_count; i++)
        json_object_set_new(
            settings, job->class_->options[i].name,
            value_json(&job->class_->options[i], assay_model_settings(job->model)[i]));
    return json_pack("{ss, ss, so, sI}", "kind", "model", "model", job->class_->name, "settings",
                     settings, "parameters", (json_int_t)assay_model_parameter_count(job->model));
}

json_t *model_memory_json(const assay_model_memory *memory)
{
    return json_pack("{sI, sI, sI, sI, sI}", "parameters", (json_int_t)memory->parameters,
                     "gradients", (json_int_t)memory->gradients, "optimizer",
                     (json_int_t)memory->optimizer, "activations", (json_int_t)memory->activations,
                     "workspace", (json_int_t)memory->workspace);
}

static assay_status dump(const void *subject, FILE *stream, assay_error *error)
{
    (void)error;
    return json_dumpf(subject, stream, JSON_INDENT(2)) == 0 && fputc('\n', stream) != EOF
               ? ASSAY_OK
               : ASSAY_E_IO;
}

int model_write_json(const model_job *job, json_t *root)
{
    assay_error error = {0};
    if (root == NULL) {
        message_error("assay model: out of memory");
        return EX_OSERR;
    }
    assay_status status = assay_file_save(job->settings->json, dump, root, &error);
    json_decref(root);
    return output_check("model", status, &error) ? EX_OK : message_output_exit(status);
}

void model_print_classes(FILE *stream)
{
    size_t count = 0;
    const assay_model_class *const *classes = assay_model_classes(&count);
    fputs("models:\n", stream);
    for (size_t i = 0; i < count; i++) {
        char label[64];
        snprintf(label, sizeof label, "  %s", classes[i]->name);
        options_print_entry(label, classes[i]->summary, 22, stream);
    }
}

void model_print_memory(const assay_model_memory *memory, FILE *stream)
{
    fprintf(stream,
            "bytes: parameters %" PRIu64 ", gradients %" PRIu64 ", optimizer %" PRIu64
            ", activations %" PRIu64 ", workspace %" PRIu64 "\n",
            memory->parameters, memory->gradients, memory->optimizer, memory->activations,
            memory->workspace);
}

int model_list(model_job *job)
{
    size_t count = 0;
    const assay_model_class *const *classes = assay_model_classes(&count);
    if (job->settings->json != NULL) {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, model_class_json(classes[i]));
        return model_write_json(job, json_pack("{ss, so}", "kind", "models", "models", list));
    }
    for (size_t i = 0; i < count; i++)
        options_print_entry(classes[i]->name, classes[i]->summary, 20, stdout);
    return EX_OK;
}
