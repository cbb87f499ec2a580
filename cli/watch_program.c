/* One thread does it all: sigtimedwait() sleeps until a signal arrives or the next sample is due,
 * so there are no handlers and no races between ending and sampling. The end is stamped at the
 * first look after SIGCHLD; a sample in progress can delay that by its own length, which the 2 %
 * rule keeps short. */
#include "cli/watch_program.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static const double max_duty = 0.02;
static const double first_interval_seconds = 0.001; /* short programs get samples too */

typedef struct watch {
    pid_t pid;
    assay_tree_sampler *sampler; /* NULL: the tree cannot be sampled */
    double interval_seconds, asked_seconds;
    uint64_t due_ns; /* the next sample; signals that come before do not bring it forward */
    size_t stride, in_stretch; /* samples per point kept; samples in the last point */
    bool ended;
    watch_result *result;
} watch;

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double own_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Halve the resolution of the series: the maximum of each pair, at the time of its first. */
static void thin_out(watch *w)
{
    watch_result *result = w->result;
    for (size_t i = 0; i + 1 < result->point_count; i += 2) {
        watch_point first = result->points[i], second = result->points[i + 1];
        if (second.rss_bytes > first.rss_bytes)
            first.rss_bytes = second.rss_bytes;
        result->points[i / 2] = first;
    }
    result->point_count /= 2;
    w->stride *= 2;
}

static void keep_point(watch *w, uint64_t time_ns, double rss_bytes)
{
    watch_result *result = w->result;
    if (w->in_stretch > 0 && w->in_stretch < w->stride) {
        watch_point *last = &result->points[result->point_count - 1];
        if (rss_bytes > last->rss_bytes)
            last->rss_bytes = rss_bytes;
        w->in_stretch++;
        return;
    }
    if (result->point_count == WATCH_MAX_POINTS)
        thin_out(w);
    result->points[result->point_count++] = (watch_point){time_ns, rss_bytes};
    w->in_stretch = 1;
}

static void sample(watch *w)
{
    if (w->sampler == NULL)
        return;
    uint64_t time_ns = monotonic_ns();
    double cpu_before = own_cpu_seconds();
    assay_tree_figures figures = {.struct_size = sizeof figures};
    if (assay_tree_sampler_sample(w->sampler) != ASSAY_OK ||
        assay_tree_sampler_read(w->sampler, &figures) != ASSAY_OK)
        return;
    if (figures.rss_bytes.validity == ASSAY_VALID)
        keep_point(w, time_ns, figures.rss_bytes.value);
    double took_seconds = own_cpu_seconds() - cpu_before;
    double wanted = w->interval_seconds * 2; /* from the first interval up to the asked one */
    if (wanted > w->asked_seconds)
        wanted = w->asked_seconds;
    w->interval_seconds = wanted > took_seconds / max_duty ? wanted : took_seconds / max_duty;
}

static void add_time(struct timeval *sum, struct timeval added)
{
    timeradd(sum, &added, sum);
}

static void add_usage(struct rusage *sum, const struct rusage *added)
{
    add_time(&sum->ru_utime, added->ru_utime);
    add_time(&sum->ru_stime, added->ru_stime);
    if (added->ru_maxrss > sum->ru_maxrss)
        sum->ru_maxrss = added->ru_maxrss;
    sum->ru_minflt += added->ru_minflt;
    sum->ru_majflt += added->ru_majflt;
    sum->ru_inblock += added->ru_inblock;
    sum->ru_oublock += added->ru_oublock;
    sum->ru_nvcsw += added->ru_nvcsw;
    sum->ru_nivcsw += added->ru_nivcsw;
}

/* Collect everything that has ended. WNOWAIT leaves the program in the process table long enough
 * for a last sample. */
static void reap(watch *w)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return;
        if (info.si_pid == w->pid) {
            w->result->end_ns = monotonic_ns();
            w->ended = true;
            sample(w);
        }
        int status = 0;
        struct rusage usage;
        if (wait4(info.si_pid, &status, 0, &usage) != info.si_pid)
            return;
        add_usage(&w->result->usage, &usage);
        if (info.si_pid == w->pid)
            w->result->wait_status = status;
    }
}

static void pass_on(const watch *w, const siginfo_t *signal)
{
    if (signal->si_code <= 0) /* from a process; the terminal's own have si_code > 0 */
        kill(w->pid, signal->si_signo);
}

static void sample_if_due(watch *w)
{
    if (monotonic_ns() < w->due_ns)
        return;
    sample(w);
    w->due_ns = monotonic_ns() + (uint64_t)(w->interval_seconds * 1e9);
}

static void sleep_until_due(const watch *w, const sigset_t *signals)
{
    uint64_t now_ns = monotonic_ns();
    uint64_t left_ns = w->due_ns > now_ns ? w->due_ns - now_ns : 0;
    struct timespec timeout = {.tv_sec = (time_t)(left_ns / 1000000000u),
                               .tv_nsec = (long)(left_ns % 1000000000u)};
    siginfo_t signal = {0};
    int number = sigtimedwait(signals, &signal, w->sampler != NULL ? &timeout : NULL);
    if (number > 0 && number != SIGCHLD)
        pass_on(w, &signal);
}

void watch_until_end(pid_t pid, double interval_seconds, watch_result *result)
{
    *result = (watch_result){.tree = {.struct_size = sizeof result->tree}};
    watch w = {.pid = pid, .asked_seconds = interval_seconds, .stride = 1, .result = result};
    w.interval_seconds =
        interval_seconds < first_interval_seconds ? interval_seconds : first_interval_seconds;
    double cost_before = own_cpu_seconds();
    result->points = malloc(WATCH_MAX_POINTS * sizeof *result->points);
    if (result->points != NULL && assay_tree_sampler_new(pid, NULL, &w.sampler) != ASSAY_OK)
        w.sampler = NULL;
    sigset_t signals;
    sigprocmask(SIG_BLOCK, NULL, &signals);
    for (reap(&w); !w.ended; reap(&w)) {
        sample_if_due(&w);
        sleep_until_due(&w, &signals);
    }
    result->interval_seconds = w.interval_seconds;
    result->cost_seconds = own_cpu_seconds() - cost_before;
    result->sampled =
        w.sampler != NULL && assay_tree_sampler_read(w.sampler, &result->tree) == ASSAY_OK;
    assay_tree_sampler_free(w.sampler);
}

void watch_release(watch_result *result)
{
    free(result->points);
    result->points = NULL;
    result->point_count = 0;
}
