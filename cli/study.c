#include "study.h"

#include <signal.h>
#include <string.h>
#include <sysexits.h>

#include "bench_progress.h"
#include "message.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

assay__study_plan study_plan(const study_common *common, const char *study, const char *experiment,
                             const char *folder)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return (assay__study_plan){.study = study,
                               .experiment = experiment,
                               .folder = common->out != NULL ? common->out : folder,
                               .seed = common->seed.given ? common->seed.value : 42,
                               .quick = common->quick,
                               .restart = common->restart,
                               .settings = "",
                               .output = stdout,
                               .progress = bench_progress_wanted() ? stderr : NULL,
                               .stop = &interrupted};
}

int study_exit(const char *study, assay_status status, const assay_error *error)
{
    if (status == ASSAY_OK)
        return EX_OK;
    message_error("assay %s: %s", study,
                  error->message[0] != '\0' ? error->message : assay_status_message(status));
    if (interrupted)
        return 128 + SIGINT;
    return status == ASSAY_E_STATE ? EX_CANTCREAT /* the folder belongs to something else */
                                   : message_input_exit(status);
}
