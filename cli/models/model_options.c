/* Makes the table of options of a command: the options of the command itself, then one option for
 * each setting and each input of the model. If a setting has the name of an option of the command,
 * its option is --model-NAME; for an input it is --input-NAME. The first input may always be given
 * as --input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cli/common/message.h"
#include "cli/models/model_job.h"

/* The value of --model anywhere on the command line. It is searched here because the parser needs
 * the table, and the table depends on the model. */
static const char *typed_model(int argc, char **argv)
{
    const char *found = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--model") == 0 || strcmp(word, "-m") == 0)
            found = i + 1 < argc ? argv[i + 1] : found;
        else if (strncmp(word, "--model=", 8) == 0)
            found = word + 8;
        else if (strncmp(word, "-m", 2) == 0)
            found = word + 2;
    }
    return found;
}

static int find_class(model_job *job, const char *name)
{
    assay_error error = {0};
    assay_status status = assay_model_find(name, &error, &job->class_);
    if (status == ASSAY_OK)
        return EX_OK;
    int code = model_fail(job, status, &error);
    return status == ASSAY_E_NOT_FOUND && strchr(name, '/') == NULL ? EX_USAGE : code;
}

static bool taken(const option *options, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    return false;
}

/* The name of an option, spelled with '-'. If the name is taken already, the prefix is put in front
 * of it. The caller frees it. NULL when out of memory. */
static char *spell(const char *prefix, const char *name, const option *options, size_t count)
{
    size_t size = strlen(prefix) + strlen(name) + 1;
    char *spelled = malloc(size);
    if (spelled == NULL)
        return NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        snprintf(spelled, size, "%s%s", attempt == 0 ? "" : prefix, name);
        for (char *at = spelled; *at != '\0'; at++)
            *at = *at == '_' ? '-' : *at;
        if (!taken(options, count, spelled))
            break;
    }
    return spelled;
}

/* The help of a setting, such as "hidden units (default: 64)."; a setting with words lists them.
 * The caller frees it. NULL when out of memory. */
static char *setting_help(const assay_model_option *setting)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "%s (", setting->help);
    for (size_t i = 0; setting->words != NULL && setting->words[i] != NULL; i++)
        fprintf(stream, "%s%s", setting->words[i], setting->words[i + 1] != NULL ? ", " : "; ");
    if (setting->words != NULL)
        fprintf(stream, "default: %s).", setting->words[(size_t)setting->initial]);
    else
        fprintf(stream, "default: %.15g).", setting->initial);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Append an option of the model to the table. `index` is its place in `values` of the settings. The
 * job takes the name, and the help too if `own_help` is set. Returns false if either is NULL. */
static bool add(model_job *job, size_t index, char *name, char *help, const char *argument,
                bool own_help)
{
    job->names[2 * index] = name;
    job->names[2 * index + 1] = own_help ? help : NULL;
    job->options[job->option_count++] =
        (option){.name = name,
                 .type = OPTION_TEXT,
                 .argument = argument,
                 .help = help,
                 .offset = offsetof(model_settings, values) + index * sizeof(const char *)};
    return name != NULL && help != NULL;
}

static bool add_class(model_job *job)
{
    const assay_model_class *class_ = job->class_;
    bool good = true;
    for (size_t i = 0; i < class_->option_count && good; i++)
        good =
            add(job, i, spell("model-", class_->options[i].name, job->options, job->option_count),
                setting_help(&class_->options[i]), class_->options[i].words != NULL ? "WORD" : "N",
                true);
    for (size_t i = 0; i < class_->input_count && good; i++)
        if (i > 0 || strcmp(class_->inputs[i].name, "input") != 0) /* that is --input already */
            good = add(job, class_->option_count + i,
                       spell("input-", class_->inputs[i].name, job->options, job->option_count),
                       (char *)class_->inputs[i].help, "FILE", false);
    return good;
}

int model_options_prepare(model_job *job, const command *self, int argc, char **argv)
{
    job->command = self->name;
    const char *name = typed_model(argc, argv);
    int code = name != NULL && *name != '\0' ? find_class(job, name) : EX_OK;
    if (code != EX_OK)
        return code;
    size_t added = job->class_ == NULL ? 0 : job->class_->option_count + job->class_->input_count;
    job->added_count = added;
    job->static_count = job->option_count = self->option_count;
    job->settings = calloc(1, sizeof *job->settings + added * sizeof *job->settings->values);
    job->options = calloc(self->option_count + added, sizeof *job->options);
    job->names = calloc(2 * added + 1, sizeof *job->names);
    if (job->settings == NULL || job->options == NULL || job->names == NULL)
        goto memory;
    memcpy(job->options, self->options, self->option_count * sizeof *job->options);
    if (job->class_ != NULL && !add_class(job))
        goto memory;
    return EX_OK;

memory:
    message_error("assay %s: out of memory", job->command);
    return EX_OSERR;
}

const char *model_options_setting(const model_job *job, size_t index)
{
    return job->settings->values[index];
}

const char *model_options_input(const model_job *job, size_t index)
{
    return job->settings->values[job->class_->option_count + index];
}

void model_options_release(model_job *job)
{
    for (size_t i = 0; job->names != NULL && i < 2 * job->added_count; i++)
        free(job->names[i]);
    free(job->names);
    free(job->options);
    free(job->settings);
}
