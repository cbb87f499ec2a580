/* The common frame of the commands that work on one model: it parses the command line, calls the
 * work of the command and releases everything. */
#include "cli/models/model_job.h"

#include <string.h>
#include <sysexits.h>

#include "cli/common/complete.h"
#include "cli/common/message.h"

/* Set the number of threads for the arithmetic, if it was given. */
static int set_threads(const command *self, size_t threads)
{
    if (threads > ASSAY_MODELS_MAX_THREADS) {
        message_error("assay %s: at most %d threads, not %zu", self->name, ASSAY_MODELS_MAX_THREADS,
                      threads);
        return EX_USAGE;
    }
    if (threads > 0)
        assay_models_set_threads((int)threads);
    return EX_OK;
}

static int parse_and_work(model_job *job, const command *self, int argc, char **argv,
                          int (*work)(model_job *job, char **operands, int count))
{
    char **operands;
    int count, code;
    command adapted = *self;
    adapted.options = job->options;
    adapted.option_count = job->option_count;
    if (!options_parse(&adapted, argc, argv, job->settings, &operands, &count, &code))
        return code;
    code = set_threads(self, job->settings->threads);
    return code == EX_OK ? work(job, operands, count) : code;
}

int model_job_run(const command *self, int argc, char **argv,
                  int (*work)(model_job *job, char **operands, int count))
{
    model_job job = {0};
    int code = model_options_prepare(&job, self, argc, argv);
    if (code == EX_OK)
        code = parse_and_work(&job, self, argc, argv, work);
    model_setup_release(&job);
    model_options_release(&job);
    return code;
}

const char *model_job_choice(const model_job *job, const option *of, size_t index,
                             const char **help)
{
    size_t count = 0;
    const assay_model_class *const *classes = assay_model_classes(&count);
    if (strcmp(of->name, "model") == 0) {
        *help = index < count ? classes[index]->summary : NULL;
        return index < count ? classes[index]->name : NULL;
    }
    if (job->class_ == NULL || of < job->options + job->static_count)
        return NULL;
    size_t place = (size_t)(of - job->options) - job->static_count;
    if (place >= job->class_->option_count || job->class_->options[place].words == NULL)
        return NULL;
    return job->class_->options[place].words[index];
}

/* If the typed model is not known, only the options of the command are offered. */
void model_job_complete(const command *self, int argc, char **argv)
{
    model_job job = {0};
    command adapted = *self;
    if (model_options_prepare(&job, self, argc, argv) == EX_OK) {
        adapted.options = job.options;
        adapted.option_count = job.option_count;
    }
    complete_command(&adapted, &job, argc, argv);
    model_options_release(&job);
}
