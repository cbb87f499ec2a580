/* A command as a subject of sampling. The wall time runs from just before the exec to the end of
 * the process as wait4() reports it. The time to make the process is our own and does not count
 * (launch.c). Processor time, memory and disturbances are the figures that the kernel keeps for the
 * process and for the processes that it waited for. */
#include "cli/bench_command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/common/message.h"
#include "cli/launch.h"

enum { EXIT_UNUSABLE = 2 };

/* A message shows at most this many bytes of a command, so that the end of the message still fits.
 */
enum { NAME_SHOWN = 400 };

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* Print the reason for the end of the benchmark, which then exits with `code`. */
ASSAY_PRINTF(3, 4)
static void complain(bench_terms *terms, int code, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bench_progress_clear(terms->progress);
    message_error("assay bench: %s", text);
    terms->exit_code = code;
}

/* Open a file. The descriptor is above 2, even if standard streams of our own process are closed.
 * Opening a FIFO waits for its other end, so during that time the signals are not blocked and can
 * end us. */
static int open_above(const bench_terms *terms, const char *path, int flags)
{
    struct stat file;
    sigset_t blocked;
    bool waits = stat(path, &file) == 0 &&
                 S_ISFIFO(file.st_mode); /* open() waits for the other end of a FIFO */
    if (waits)
        sigprocmask(SIG_SETMASK, &terms->signal_mask, &blocked);
    int opened = open(path, flags | O_CLOEXEC, 0666);
    if (waits)
        sigprocmask(SIG_SETMASK, &blocked, NULL);
    if (opened < 0 || opened > 2)
        return opened;
    int moved = fcntl(opened, F_DUPFD_CLOEXEC, 3);
    close(opened);
    return moved;
}

static bool open_streams(bench_terms *terms, bool quiet, launch_streams *streams)
{
    const char *input = quiet || terms->input == NULL ? "/dev/null" : terms->input;
    bool inherit = strcmp(terms->output, "inherit") == 0;
    bool null = quiet || strcmp(terms->output, "null") == 0;
    const char *output = null ? "/dev/null" : terms->output;
    *streams = (launch_streams){-1, -1, -1};
    streams->input = open_above(terms, input, O_RDONLY);
    const char *failed = streams->input < 0 ? input : NULL;
    if (failed == NULL && (!inherit || quiet)) {
        streams->output = open_above(terms, output, O_WRONLY | O_CREAT | O_TRUNC);
        failed = streams->output < 0 ? output : NULL;
    }
    if (failed == NULL && !inherit && !quiet) {
        streams->error = open_above(terms, "/dev/null", O_WRONLY);
        failed = streams->error < 0 ? "/dev/null" : NULL;
    }
    if (failed == NULL)
        return true;
    complain(terms, failed == input ? EX_NOINPUT : EX_CANTCREAT, "cannot open '%s': %s", failed,
             strerror(errno));
    return false;
}

static void close_streams(const launch_streams *streams)
{
    const int all[] = {streams->input, streams->output, streams->error};
    for (size_t i = 0; i < 3; i++)
        if (all[i] >= 0)
            close(all[i]);
}

static assay_status complain_start(bench_terms *terms, const launch_result *launch,
                                   const char *program)
{
    bench_progress_clear(terms->progress);
    launch_explain("bench", launch, program);
    terms->exit_code = EX_UNAVAILABLE;
    return launch->found ? ASSAY_E_PERMISSION : ASSAY_E_NOT_FOUND;
}

void bench_terms_take_signal(bench_terms *terms, int number)
{
    terms->insisted = terms->insisted || terms->signal != 0;
    terms->signal = number;
    terms->exit_code = 128 + number;
}

/* Start a command, wait for its end and time it. `quiet` is set for --prepare and --cleanup: their
 * standard input and output are /dev/null. */
static assay_status run_once(bench_terms *terms, const words *line, bool quiet, launch_end *end,
                             double *seconds)
{
    launch_streams streams;
    if (!open_streams(terms, quiet, &streams)) {
        close_streams(&streams);
        return ASSAY_E_IO;
    }
    launch_result launch = launch_run(line->items, &terms->signal_mask, &streams, end);
    close_streams(&streams);
    if (end->signal != 0) {
        bench_terms_take_signal(terms, end->signal);
        terms->insisted = terms->insisted || end->insisted;
        return ASSAY_E_INTERRUPTED;
    }
    *seconds = (double)(end->end_ns - launch.start_ns) * 1e-9;
    return launch.failure == 0 ? ASSAY_OK : complain_start(terms, &launch, line->items[0]);
}

static bool succeeded(int wait_status)
{
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

static const char *describe_end(int wait_status, char text[64])
{
    if (WIFSIGNALED(wait_status))
        snprintf(text, 64, "killed by signal %d", WTERMSIG(wait_status));
    else
        snprintf(text, 64, "exit status %d", WEXITSTATUS(wait_status));
    return text;
}

static assay_status measure(void *context, uint64_t iterations, assay_sample *sample)
{
    bench_command *self = context;
    bench_terms *terms = self->terms;
    launch_end result = {0};
    (void)iterations; /* always 1, because the subject sets max_iterations to 1 */
    assay_status status = run_once(terms, &self->entry->command, false, &result, &sample->seconds);
    if (status != ASSAY_OK)
        return status;
    self->runs++;
    bool failed = !succeeded(result.wait_status);
    sample->failed = failed;
    if (failed && !terms->ignore_failure) {
        char text[64];
        complain(terms, EXIT_UNUSABLE,
                 "'%.*s' failed in run %zu: %s; see its messages with --output inherit, or accept "
                 "it with --ignore-failure",
                 NAME_SHOWN, self->entry->name, self->runs, describe_end(result.wait_status, text));
        return ASSAY_E_DATA;
    }
    sample->user_seconds = assay_reading_of(seconds_of(result.usage.ru_utime));
    sample->sys_seconds = assay_reading_of(seconds_of(result.usage.ru_stime));
    sample->peak_rss_bytes = assay_reading_of((double)result.usage.ru_maxrss * 1024);
    /* The exec itself may move the process to another processor, which the kernel counts as an
     * involuntary switch. So one switch is not counted as a disturbance. */
    long switches = result.usage.ru_nivcsw > 1 ? result.usage.ru_nivcsw - 1 : 0;
    sample->involuntary_switches = assay_reading_of((double)switches);
    sample->major_faults = assay_reading_of((double)result.usage.ru_majflt);
    if (!isnan(result.waited_seconds))
        sample->waited_seconds = assay_reading_of(result.waited_seconds);
    return ASSAY_OK;
}

/* Run the command of --prepare or --cleanup; `name` is the name of the option. */
static assay_status run_beside(bench_command *self, const words *beside, const char *name)
{
    launch_end result = {0};
    double seconds = 0;
    assay_status status = run_once(self->terms, beside, true, &result, &seconds);
    if (status != ASSAY_OK || succeeded(result.wait_status))
        return status;
    char text[64], *line = words_join(beside);
    complain(self->terms, EXIT_UNUSABLE, "--%s '%.*s' of '%.*s' failed: %s", name, NAME_SHOWN,
             line != NULL ? line : beside->items[0], NAME_SHOWN, self->entry->name,
             describe_end(result.wait_status, text));
    free(line);
    return ASSAY_E_DATA;
}

static assay_status prepare(void *context)
{
    bench_command *self = context;
    return run_beside(self, &self->entry->prepare, "prepare");
}

void bench_command_subject(bench_command *self, assay_subject *subject)
{
    const bench_entry *entry = self->entry;
    *subject = (assay_subject){.struct_size = sizeof *subject,
                               .name = entry->name,
                               .context = self,
                               .set_up = entry->prepare.count > 0 ? prepare : NULL,
                               .measure = measure,
                               .max_iterations = 1,
                               .time_failures = self->terms->ignore_failure,
                               .command = (const char *const *)entry->command.items,
                               .command_count = entry->command.count,
                               .parameters = entry->parameters,
                               .parameter_count = entry->parameter_count};
}

bool bench_command_clean_up(bench_command *self)
{
    return self->entry->cleanup.count == 0 ||
           run_beside(self, &self->entry->cleanup, "cleanup") == ASSAY_OK;
}
