/* Loads models from shared objects that export one function, assay_model_plugin(). The plugin's
 * table is checked before any of its functions is called. What these functions then do cannot be
 * checked, because a plugin runs in our process. */
#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "models/registry.h"

enum { MAX_OPTIONS = 64, MAX_INPUTS = 16, MAX_WORDS = 64, MAX_NAME = 63 };

/* A valid name is a small letter, then small letters, digits, '-' and '_'. It can be used as
 * --name, as a JSON key and in messages. */
static bool valid_name(const char *name)
{
    if (name == NULL || !islower((unsigned char)*name))
        return false;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    return name[length] == '\0' && length <= MAX_NAME;
}

static bool valid_words(const assay_model_option *option)
{
    int count = 0;
    while (count < MAX_WORDS && option->words[count] != NULL) {
        if (!valid_name(option->words[count]))
            return false;
        count++;
    }
    return count > 0 && count < MAX_WORDS && option->integer && option->minimum == 0 &&
           option->maximum == count - 1;
}

/* Returns what is wrong with the option, or NULL if nothing is. */
static const char *option_problem(const assay_model_option *option)
{
    if (option->help == NULL)
        return "has no help";
    if (!isfinite(option->minimum) || !isfinite(option->maximum) ||
        !(option->minimum <= option->initial && option->initial <= option->maximum))
        return "has a default outside its limits, or limits that are not finite";
    if (option->integer && option->initial != floor(option->initial))
        return "takes whole numbers, but its default is none";
    if (option->words != NULL && !valid_words(option))
        return "is a choice, but its limits are not 0 and the number of words less 1";
    return NULL;
}

static assay_status check_options(const assay_model_class *class_, const char *where,
                                  assay_error *error)
{
    if (class_->option_count > MAX_OPTIONS ||
        (class_->option_count > 0 && class_->options == NULL)) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s: its table of options is missing or too long",
                           where);
    }
    for (size_t i = 0; i < class_->option_count; i++) {
        const assay_model_option *option = &class_->options[i];
        if (!valid_name(option->name)) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "%s: option %zu has no valid name (small letters, digits, '-', '_')",
                               where, i + 1);
        }
        const char *problem = option_problem(option);
        for (size_t j = 0; j < i && problem == NULL; j++)
            problem = strcmp(class_->options[j].name, option->name) == 0 ? "occurs twice" : NULL;
        if (problem != NULL) {
            return assay__fail(error, ASSAY_E_FORMAT, "%s: option '%s' %s", where, option->name,
                               problem);
        }
    }
    return ASSAY_OK;
}

static const char *input_problem(const assay_model_input *input)
{
    if (input->help == NULL)
        return "has no help";
    if (input->element != ASSAY_F32 && input->element != ASSAY_F64 && input->element != ASSAY_I64)
        return "has elements of no known type";
    return input->rank > ASSAY_TENSOR_MAX_RANK ? "has too many axes" : NULL;
}

static assay_status check_inputs(const assay_model_class *class_, const char *where,
                                 assay_error *error)
{
    if (class_->input_count == 0 || class_->input_count > MAX_INPUTS || class_->inputs == NULL) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s: its table of inputs is empty or too long",
                           where);
    }
    for (size_t i = 0; i < class_->input_count; i++) {
        const assay_model_input *input = &class_->inputs[i];
        if (!valid_name(input->name)) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "%s: input %zu has no valid name (small letters, digits, '-', '_')",
                               where, i + 1);
        }
        const char *problem = input_problem(input);
        for (size_t j = 0; j < i && problem == NULL; j++)
            problem = strcmp(class_->inputs[j].name, input->name) == 0 ? "occurs twice" : NULL;
        if (problem != NULL) {
            return assay__fail(error, ASSAY_E_FORMAT, "%s: input '%s' %s", where, input->name,
                               problem);
        }
    }
    return ASSAY_OK;
}

static const char *missing_function(const assay_model_class *class_)
{
    return class_->create == NULL       ? "create"
           : class_->destroy == NULL    ? "destroy"
           : class_->parameters == NULL ? "parameters"
           : class_->forward == NULL    ? "forward"
                                        : NULL;
}

assay_status assay__class_check(const assay_model_class *class_, const char *where,
                                assay_error *error)
{
    if (class_ == NULL)
        return assay__fail(error, ASSAY_E_FORMAT, "%s gives no class", where);
    if (class_->abi != ASSAY_MODEL_ABI) {
        return assay__fail(error, ASSAY_E_VERSION,
                           "%s has version %u of the model interface, not %u; rebuild it with the "
                           "assay/model.h of this assay",
                           where, class_->abi, ASSAY_MODEL_ABI);
    }
    if (assay__struct_check(class_, class_->struct_size, sizeof *class_, where, NULL) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_VERSION,
                           "%s has a class of %u bytes, of which this assay knows %zu; set "
                           "struct_size to sizeof(assay_model_class), and rebuild it with the "
                           "assay/model.h of this assay",
                           where, class_->struct_size, sizeof *class_);
    }
    if (!valid_name(class_->name) || class_->summary == NULL) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "%s: its class has no valid name (small letters, digits, '-', '_') or "
                           "no summary",
                           where);
    }
    const char *missing = missing_function(class_);
    if (missing != NULL) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s: its class '%s' has no function '%s'", where,
                           class_->name, missing);
    }
    assay_status status = check_options(class_, where, error);
    return status == ASSAY_OK ? check_inputs(class_, where, error) : status;
}

assay_status assay__plugin_load(const char *path, assay_error *error,
                                const assay_model_class **class_)
{
    /* dlopen() would search the system's folders for a name without a slash. It also says less
     * about a file that is missing. */
    if (access(path, R_OK) != 0)
        return assay__fail_errno(error, "cannot read plugin '%s'", path);
    char local[4096], where[300];
    snprintf(local, sizeof local, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    snprintf(where, sizeof where, "plugin '%.280s'", path);
    void *handle = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return assay__fail(error, ASSAY_E_FORMAT, "%s cannot be loaded: %s", where, dlerror());
    assay_model_plugin_function plugin;
    *(void **)&plugin = dlsym(handle, "assay_model_plugin");
    assay_status status = plugin == NULL
                              ? assay__fail(error, ASSAY_E_FORMAT,
                                            "%s exports no function 'assay_model_plugin'", where)
                              : ASSAY_OK;
    const assay_model_class *found = NULL;
    if (status == ASSAY_OK) {
        found = plugin();
        status = assay__class_check(found, where, error);
    }
    if (status != ASSAY_OK) {
        dlclose(handle);
        return status;
    }
    *class_ = found;
    return ASSAY_OK;
}
