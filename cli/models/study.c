/* The functions that the commands of all studies share: they parse the common options, handle
 * Ctrl-C, and choose exit codes. Ctrl-C sets a flag that the study checks while it works; an
 * interrupted study can be resumed. */
#include "cli/models/study.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "assay/model.h"
#include "cli/common/bench_progress.h"
#include "cli/common/message.h"
#include "cli/common/output.h"

static volatile sig_atomic_t interrupted;

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Handle Ctrl-C: the first one asks the study to stop, and a second one ends it at once. A second
 * one within half a second does not count, because timeout(1) sends its signal to the command and
 * to the group at once. */
static void interrupt(int signal_number)
{
    static double asked_at;
    if (!interrupted) {
        asked_at = now_seconds();
        interrupted = 1;
    } else if (now_seconds() - asked_at > 0.5) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

bool study_parse(const command *self, int argc, char **argv, void *settings,
                 const study_common *common, int *code)
{
    if (!options_parse(self, argc, argv, settings, NULL, NULL, code))
        return false;
    *code = output_refuse(self->name, &common->json, 1);
    if (*code == EX_OK)
        *code = history_refuse(self->name, common->save);
    return *code == EX_OK;
}

assay__study_plan study_plan(const study_common *common, const char *study, const char *experiment,
                             const char *folder)
{
    struct sigaction action = {.sa_handler = interrupt};
    bool on_stdout = common->json != NULL && strcmp(common->json, "-") == 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that a pipe or a file shows progress line by line */
    return (assay__study_plan){.study = study,
                               .experiment = experiment,
                               .folder = common->out != NULL ? common->out : folder,
                               .seed = common->seed.given ? common->seed.value : 42,
                               .quick = common->quick,
                               .restart = common->restart,
                               .settings = "",
                               .output = on_stdout ? stderr : stdout,
                               .progress = bench_progress_wanted() ? stderr : NULL,
                               .stop = &interrupted};
}

int study_check_device(const char *study, const char *model, const char *device)
{
    const assay_model_class *class_ = NULL;
    assay_error error = {0};
    assay_status status = assay_model_find(model, &error, &class_);
    if (status == ASSAY_OK)
        status = assay_model_class_on(class_, device, &error, &class_);
    if (status == ASSAY_OK)
        return EX_OK;
    message_error("assay %s: %s", study, error.message);
    return message_input_exit(status);
}

int study_exit(const char *study, assay_status status, const assay_error *error)
{
    if (status == ASSAY_OK)
        return EX_OK;
    message_error("assay %s: %s", study,
                  error->message[0] != '\0' ? error->message : assay_status_message(status));
    if (interrupted)
        return 128 + SIGINT;
    return status == ASSAY_E_STATE /* no results can be written into the folder */
               ? EX_CANTCREAT
               : message_input_exit(status);
}

int study_end(const char *study, const study_common *common, const assay__study_plan *plan,
              assay_status status, const assay_error *error)
{
    char path[4096];
    assay_error reading = {0};
    assay_record *record = NULL;
    int code = study_exit(study, status, error);
    if (code != EX_OK || !history_wanted(common->save))
        return code;
    snprintf(path, sizeof path, "%s/record.json", plan->folder);
    status = assay_record_read(path, &reading, &record);
    if (status == ASSAY_OK) {
        code = history_save(study, common->save, record);
    } else {
        message_error("assay %s: the record was not saved in the history: %s", study,
                      reading.message);
        code = message_input_exit(status);
    }
    assay_record_free(record);
    return code;
}
