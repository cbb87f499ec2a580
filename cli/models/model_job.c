/* The frame of the commands that work on one model. */
#include "cli/models/model_job.h"

#include <sysexits.h>

enum { MAX_THREADS = 1024 };

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
    return work(job, operands, count);
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

void model_job_set_threads(const model_job *job)
{
    size_t threads = job->settings->threads;
    if (threads > 0)
        assay_models_set_threads(threads > MAX_THREADS ? MAX_THREADS : (int)threads);
}
