/* Watches a program in one thread. sigtimedwait() sleeps until a signal arrives or the next sample
 * is due, so there are no signal handlers and no races between the end of the program and a sample.
 * The end time is taken at the first check after SIGCHLD. A sample in progress can delay that check
 * by its own length, which the 2 % rule keeps short. */
#include "cli/watch_program.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double max_duty = 0.02;                /* share of one processor for the samples */
static const double max_weigh_duty = 0.01;          /* the same for proportional set sizes */
static const double first_interval_seconds = 0.001; /* so that short programs get samples too */

typedef struct watch {
    pid_t pid;
    assay_tree_sampler *sampler; /* NULL if the tree cannot be sampled */
    const char *heap_dir;        /* or NULL */
    double interval_seconds, asked_seconds;
    uint64_t weigh_due_ns;     /* proportional set sizes are not read before this time */
    uint64_t due_ns;           /* the time of the next sample; signals do not change it */
    size_t stride, in_stretch; /* samples in each kept point; samples in the last point so far */
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

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Replace the figures of `kept` by those of `seen` that are larger. */
static void raise_to(watch_point *kept, const watch_point *seen)
{
    kept->rss_bytes = larger(kept->rss_bytes, seen->rss_bytes);
    kept->heap_bytes = larger(kept->heap_bytes, seen->heap_bytes);
}

/* Halve the resolution of the series: keep the maximum of each pair of points, at the time of the
 * first. */
static void thin_out(watch *w)
{
    watch_result *result = w->result;
    for (size_t i = 0; i + 1 < result->point_count; i += 2) {
        watch_point first = result->points[i];
        raise_to(&first, &result->points[i + 1]);
        result->points[i / 2] = first;
    }
    result->point_count /= 2;
    w->stride *= 2;
}

static void keep_point(watch *w, watch_point point)
{
    watch_result *result = w->result;
    if (w->in_stretch > 0 && w->in_stretch < w->stride) {
        raise_to(&result->points[result->point_count - 1], &point);
        w->in_stretch++;
        return;
    }
    if (result->point_count == WATCH_MAX_POINTS)
        thin_out(w);
    result->points[result->point_count++] = point;
    w->in_stretch = 1;
}

typedef struct heap_sum {
    const char *directory;
    double bytes;
} heap_sum;

/* An assay_tree_visitor that sums the heap of living processes: the bytes that each allocated and
 * did not free, without the bytes that it inherited from the process that forked it. */
static void add_heap(void *context, const assay_tree_process *process)
{
    heap_sum *sum = context;
    assay_heap_figures figures = {.struct_size = sizeof figures};
    if (process->alive &&
        assay_heap_process_read(sum->directory, process->process_id, NULL, &figures) == ASSAY_OK)
        sum->bytes += larger(0, (double)(figures.live_bytes - figures.inherited_bytes));
}

static double heap_now(const watch *w)
{
    heap_sum sum = {.directory = w->heap_dir};
    if (w->heap_dir == NULL || assay_tree_sampler_visit(w->sampler, true, add_heap, &sum) != 0)
        return 0;
    return sum.bytes;
}

/* Read the proportional set sizes, which count pages that several processes share only once. The
 * kernel takes long to compute them, so they are read only if the peak could rise, and not often.
 */
static void weigh_if_due(watch *w, const assay_tree_figures *figures)
{
    bool is_higher = figures->tree_peak_pss_bytes.validity != ASSAY_VALID ||
                     figures->rss_bytes.value > figures->tree_peak_pss_bytes.value;
    if (figures->live_process_count.value < 2 || !is_higher || monotonic_ns() < w->weigh_due_ns)
        return;
    double cpu_before = own_cpu_seconds();
    assay_status status = assay_tree_sampler_weigh(w->sampler);
    double took_seconds = own_cpu_seconds() - cpu_before;
    w->weigh_due_ns = status == ASSAY_OK
                          ? monotonic_ns() + (uint64_t)(took_seconds / max_weigh_duty * 1e9)
                          : UINT64_MAX;
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
        keep_point(w, (watch_point){time_ns, figures.rss_bytes.value, heap_now(w)});
    double took_seconds = own_cpu_seconds() - cpu_before;
    double wanted = w->interval_seconds * 2; /* grows from the first interval to the asked one */
    if (wanted > w->asked_seconds)
        wanted = w->asked_seconds;
    w->interval_seconds = larger(wanted, took_seconds / max_duty);
    weigh_if_due(w, &figures);
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

void watch_begin(watch_result *result)
{
    *result = (watch_result){.tree = {.struct_size = sizeof result->tree}};
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re"); /* some kernels lack this file */
    for (int child; file != NULL && fscanf(file, "%d", &child) == 1;) {
        size_t count = result->stranger_count + 1;
        pid_t *all = realloc(result->strangers, count * sizeof *all);
        if (all == NULL)
            break;
        all[count - 1] = child;
        result->strangers = all;
        result->stranger_count = count;
    }
    if (file != NULL)
        fclose(file);
}

/* Whether a process that has ended was our child before the program was started. It is then
 * forgotten, because its id may be used again. */
static bool was_stranger(watch_result *result, pid_t pid)
{
    for (size_t i = 0; i < result->stranger_count; i++)
        if (result->strangers[i] == pid) {
            result->strangers[i] = 0;
            return true;
        }
    return false;
}

/* Reap everything that has ended. WNOWAIT leaves the program in the process table long enough for a
 * last sample. */
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
        if (!was_stranger(w->result, info.si_pid))
            add_usage(&w->result->usage, &usage);
        if (info.si_pid == w->pid)
            w->result->wait_status = status;
    }
}

static void pass_on(const watch *w, const siginfo_t *signal)
{
    if (signal->si_code <= 0) /* a process sent it; signals of the terminal have si_code > 0 */
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

void watch_until_end(pid_t pid, double interval_seconds, const char *heap_dir, watch_result *result)
{
    watch w = {.pid = pid,
               .heap_dir = heap_dir,
               .asked_seconds = interval_seconds,
               .stride = 1,
               .result = result};
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
    result->sampler = w.sampler;
}

void watch_release(watch_result *result)
{
    free(result->points);
    free(result->strangers);
    result->strangers = NULL;
    result->stranger_count = 0;
    assay_tree_sampler_free(result->sampler);
    result->sampler = NULL;
    result->points = NULL;
    result->point_count = 0;
}
