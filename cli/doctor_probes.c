/* The probes of `assay doctor`. A probe tries the thing itself instead of guessing from versions:
 * it opens the counter, maps the page or loads the library. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/clock.h"
#include "assay/device.h"
#include "assay/instrument.h"
#include "assay/memory.h"
#include "assay/meter.h"
#include "base/level.h"
#include "cli/doctor_probes.h"
#include "cli/page.h"
#include "cli/run_gpu.h"
#include "cli/scratch_dir.h"
#include "store/store.h"
#include "studies/common/peak.h"

/* The space in bytes that the journals of programs with many threads need. */
static const double journal_bytes = 64.0 * 1024 * 1024;

static void __attribute__((format(printf, 3, 4)))
conclude(doctor_finding *f, doctor_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    f->level = level;
    vsnprintf(f->finding, sizeof f->finding, format, arguments);
    va_end(arguments);
}

static void __attribute__((format(printf, 2, 3))) advise(doctor_finding *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->remedy, sizeof f->remedy, format, arguments);
    va_end(arguments);
}

/* Read the first line of a small file. Returns false if it cannot be read. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool got = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

typedef struct fact_query {
    const char *key;
    char *value;
    size_t size;
    bool found;
} fact_query;

static void answer(void *context, const char *key, const char *value, assay_validity validity)
{
    fact_query *query = context;
    if (strcmp(key, query->key) != 0 || validity != ASSAY_VALID || value == NULL)
        return;
    snprintf(query->value, query->size, "%s", value);
    query->found = true;
}

static bool machine_fact(const char *key, char *value, size_t size)
{
    fact_query query = {.key = key, .value = value, .size = size};
    assay_machine_describe(answer, &query);
    return query.found;
}

static void examine_clock(doctor_finding *f)
{
    assay_clock_info info = {.struct_size = sizeof info};
    if (assay_clock_describe(assay_clock_default(), &info) != ASSAY_OK) {
        conclude(f, DOCTOR_NO, "the clock cannot be described");
        return;
    }
    char cost[32] = "unknown", step[32] = "unknown";
    if (info.cost_ns.validity == ASSAY_VALID)
        snprintf(cost, sizeof cost, "%.1f ns", info.cost_ns.value);
    if (info.resolution_ns.validity == ASSAY_VALID)
        snprintf(step, sizeof step, "%.1f ns", info.resolution_ns.value);
    bool counter = strcmp(info.source, "clock-monotonic") != 0;
    conclude(f, counter ? DOCTOR_OK : DOCTOR_LIMITED,
             "%s at %.0f MHz, smallest step %s, %s a reading; %s", info.source,
             info.frequency_hz / 1e6, step, cost, info.reason);
    if (!counter)
        advise(f, "spans cost more with the system clock; on x86 boot with a stable TSC "
                  "(tsc=reliable)");
}

static void examine_frequency(doctor_finding *f)
{
    char governor[64], turbo[64];
    bool has_governor = machine_fact("governor", governor, sizeof governor);
    bool has_turbo = machine_fact("turbo", turbo, sizeof turbo);
    if (!has_governor) {
        conclude(f, DOCTOR_LIMITED,
                 "the kernel does not say how the processor's frequency is governed%s%s",
                 has_turbo ? "; turbo is " : "", has_turbo ? turbo : "");
        advise(f, "on a virtual machine this is up to its host");
        return;
    }
    bool steady = strcmp(governor, "performance") == 0;
    conclude(f, steady ? DOCTOR_OK : DOCTOR_LIMITED, "governor %s%s%s", governor,
             has_turbo ? ", turbo " : "", has_turbo ? turbo : "");
    if (!steady)
        advise(f, "cpupower frequency-set -g performance");
}

static void examine_virtualization(doctor_finding *f)
{
    char kind[64];
    assay_reading steal = assay_machine_steal_seconds();
    bool found = machine_fact("virtualization", kind, sizeof kind);
    if (found && strcmp(kind, "none") == 0) {
        conclude(f, DOCTOR_OK, "bare metal: no time is stolen");
    } else if (steal.validity == ASSAY_VALID) {
        conclude(f, DOCTOR_LIMITED,
                 "%s: other guests can take processor time (%.2f s stolen since boot); it is "
                 "measured and stands in every run",
                 found ? kind : "virtualization unknown", steal.value);
    } else {
        conclude(f, DOCTOR_LIMITED, "%s; stolen time: %s", found ? kind : "virtualization unknown",
                 assay_validity_text(steal.validity));
    }
}

static void examine_load(doctor_finding *f)
{
    double loads[1];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(loads, 1) != 1) {
        conclude(f, DOCTOR_LIMITED, "the load of the machine is unknown");
        return;
    }
    bool quiet = loads[0] < 0.25 * (double)processors;
    conclude(f, quiet ? DOCTOR_OK : DOCTOR_LIMITED, "load %.2f on %ld processors", loads[0],
             processors);
    if (!quiet)
        advise(f, "other work disturbs timings; wait until it is done");
}

static void examine_smt(doctor_finding *f)
{
    char smt[64];
    if (!machine_fact("smt", smt, sizeof smt)) {
        conclude(f, DOCTOR_LIMITED, "the kernel does not say whether cores are shared by threads");
        return;
    }
    bool off = strcmp(smt, "off") == 0 || strcmp(smt, "notsupported") == 0 ||
               strcmp(smt, "notimplemented") == 0;
    conclude(f, off ? DOCTOR_OK : DOCTOR_LIMITED, "hardware threads: %s", smt);
    if (!off)
        advise(f, "a busy sibling thread slows its core: pin to one thread of each core (taskset) "
                  "for steadier timings");
}

static void examine_rss(doctor_finding *f)
{
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK || memory.rss_bytes.validity != ASSAY_VALID ||
        memory.peak_rss_bytes.validity != ASSAY_VALID) {
        conclude(f, DOCTOR_NO, "resident memory cannot be read from /proc/self");
        advise(f, "mount /proc");
        return;
    }
    conclude(f, DOCTOR_OK, "resident memory now and at its peak");
}

static void examine_peak_reset(doctor_finding *f)
{
    assay_status status = assay_memory_reset_peak();
    if (status == ASSAY_OK)
        conclude(f, DOCTOR_OK,
                 "the kernel's peak can be reset, so peaks of single spans are exact");
    else
        conclude(f, DOCTOR_LIMITED, "peaks are those of the whole run: resetting is %s",
                 assay_status_message(status));
}

static void examine_tree(doctor_finding *f)
{
    assay_tree_sampler *sampler = NULL;
    assay_error error = {0};
    assay_tree_figures figures = {.struct_size = sizeof figures};
    if (assay_tree_sampler_new(getpid(), &error, &sampler) == ASSAY_OK &&
        assay_tree_sampler_sample(sampler) == ASSAY_OK &&
        assay_tree_sampler_read(sampler, &figures) == ASSAY_OK &&
        figures.tree_peak_rss_bytes.validity == ASSAY_VALID) {
        bool io = figures.read_bytes.validity == ASSAY_VALID;
        conclude(f, DOCTOR_OK, "memory of process trees is sampled%s",
                 io ? "" : "; per-process storage I/O is not readable");
    } else {
        conclude(f, DOCTOR_NO, "process trees cannot be sampled: %s",
                 error.status != ASSAY_OK ? error.message : "/proc is incomplete");
        advise(f, "mount /proc without hidepid");
    }
    assay_tree_sampler_free(sampler);
}

static void examine_heap(doctor_finding *f)
{
    char path[SCRATCH_PATH_SIZE];
    if (scratch_find_interposer(path)) {
        conclude(f, DOCTOR_OK, "exact, with 'assay run --heap': libassay_heap.so is in place");
    } else {
        conclude(f, DOCTOR_NO, "libassay_heap.so is neither in lib/ beside assay nor in ../lib/");
        advise(f, "reinstall assay");
    }
}

static void examine_journal(doctor_finding *f)
{
    const char *chosen = getenv("ASSAY_JOURNAL_DIR");
    const char *folder =
        chosen != NULL && *chosen != '\0' ? chosen : scratch_dir_parent(SCRATCH_JOURNAL_BYTES);
    struct statvfs space;
    if (access(folder, W_OK | X_OK) != 0 || statvfs(folder, &space) != 0) {
        conclude(f, DOCTOR_NO, "'%.150s' cannot be written: %s", folder, strerror(errno));
        advise(f, "set ASSAY_JOURNAL_DIR or TMPDIR to a writable directory");
        return;
    }
    double room = (double)space.f_bavail * (double)space.f_frsize;
    bool enough = room > journal_bytes;
    conclude(f, enough ? DOCTOR_OK : DOCTOR_LIMITED, "'%.150s' is writable, %.0f MiB free", folder,
             floor(room / 1024 / 1024));
    if (!enough)
        advise(f, "journals of many threads take 64 MiB; free some room or set ASSAY_JOURNAL_DIR");
}

/* Whether MADV_WIPEONFORK works. A forked child reads the page, because emulators of user programs
 * accept the advice and ignore it. */
static bool fork_wipes(unsigned char *page, size_t bytes)
{
    int status = -1;
    *page = 1;
    if (madvise(page, bytes, MADV_WIPEONFORK) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(*page == 0 ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void examine_fork(doctor_finding *f)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        conclude(f, DOCTOR_NO, "no memory to try it");
        return;
    }
    bool works = fork_wipes(page, bytes);
    munmap(page, bytes);
    if (works) {
        conclude(f, DOCTOR_OK, "a forked child gets a journal of its own (MADV_WIPEONFORK)");
    } else {
        conclude(f, DOCTOR_LIMITED,
                 "MADV_WIPEONFORK has no effect here: a forked child writes into the journal of "
                 "its parent");
        advise(f, "Linux 4.14 or later, and no emulator of user programs (qemu-user)");
    }
}

static void examine_counters(doctor_finding *f)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1,
                                         .disabled = 1};
    long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    int failure = errno;
    char level[32] = "unknown";
    read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
    if (descriptor >= 0) {
        close((int)descriptor);
        conclude(f, DOCTOR_NO, "this version does not read them; the machine would allow it");
    } else if (failure == EACCES || failure == EPERM) {
        conclude(f, DOCTOR_NO, "not permitted (kernel.perf_event_paranoid is %.16s)", level);
        advise(f, "sysctl kernel.perf_event_paranoid=2");
    } else {
        conclude(f, DOCTOR_NO, "the processor offers none here (%s)", strerror(failure));
    }
}

/* Try the energy counters of the processor. The line of the GPU reports the GPU's counters. */
static void examine_energy(doctor_finding *f)
{
    assay_error error = {0};
    assay_meter *meter = NULL;
    assay_meter_options options = ASSAY_METER_OPTIONS_INIT;
    options.no_devices = true;
    assay_status status = assay_meter_new(&options, &error, &meter);
    if (status == ASSAY_OK) {
        conclude(f, DOCTOR_OK, "%s: `assay run --energy`, joules of operations",
                 assay_meter_describe(meter));
    } else if (status == ASSAY_E_PERMISSION) {
        conclude(f, DOCTOR_NO, "%s", error.message);
        advise(f, "run as root, or chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj");
    } else {
        conclude(f, DOCTOR_NO, "%s", error.message);
    }
    assay_meter_free(meter);
}

/* List the figures that a device gives, ", memory, load", and those that it does not give, with the
 * reason: "; no energy (not permitted)". */
static void list_figures(const assay_device_state *state, char *given, size_t given_bytes,
                         char *missing, size_t missing_bytes)
{
    const struct {
        const char *name;
        assay_reading reading;
    } figures[] = {{"memory", state->used_bytes},
                   {"load", state->utilisation},
                   {"power", state->power_watts},
                   {"energy", state->energy_joules}};
    given[0] = missing[0] = '\0';
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const assay_validity validity = figures[i].reading.validity;
        const size_t used = strlen(given), lost = strlen(missing);
        if (validity == ASSAY_VALID)
            snprintf(given + used, given_bytes - used, ", %s", figures[i].name);
        else
            snprintf(missing + lost, missing_bytes - lost, "; no %s (%s)", figures[i].name,
                     assay_validity_text(validity));
    }
}

/* Describe the first device that can be read. False if there is none. `trouble` receives the reason
 * why a device cannot be read, if there is one that cannot. */
static bool find_readable(size_t count, assay_device *device, assay_device_state *state,
                          assay_error *trouble)
{
    const unsigned parts = (unsigned)ASSAY_DEVICE_MEMORY | ASSAY_DEVICE_LOAD | ASSAY_DEVICE_POWER |
                           ASSAY_DEVICE_ENERGY;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        assay_error error = {0};
        assay_device one = ASSAY_INIT(assay_device);
        assay_device_state now = ASSAY_INIT(assay_device_state);
        if (assay_device_describe(i, &error, &one) != ASSAY_OK ||
            assay_device_read(i, parts, &error, &now) != ASSAY_OK) {
            if (trouble->status == ASSAY_OK)
                *trouble = error;
        } else if (!found) {
            *device = one;
            *state = now;
            found = true;
        }
    }
    return found;
}

static void examine_gpu(doctor_finding *f)
{
    assay_error error = {0};
    size_t count = 0;
    if (assay_device_count(&error, &count) != ASSAY_OK) {
        conclude(f, DOCTOR_NO, "%s", error.message);
        return;
    }
    assay_device device = ASSAY_INIT(assay_device);
    assay_device_state state = ASSAY_INIT(assay_device_state);
    if (!find_readable(count, &device, &state, &error)) {
        conclude(f, DOCTOR_NO, "%s", count == 0 ? "a driver, but no device" : error.message);
        return;
    }
    char others[48] = "", memory[32] = "", slowed[64] = "", given[96], missing[160];
    const bool trouble = error.status != ASSAY_OK;
    if (count > 1)
        snprintf(others, sizeof others, " and %zu more", count - 1);
    if (device.memory_bytes.validity == ASSAY_VALID)
        snprintf(memory, sizeof memory, ", %.0f GiB", device.memory_bytes.value / (1 << 30));
    if (state.throttle.validity == ASSAY_VALID && state.throttle.value > 0)
        snprintf(slowed, sizeof slowed, "; slowed down now: %s",
                 assay_device_throttle_text((unsigned)state.throttle.value));
    list_figures(&state, given, sizeof given, missing, sizeof missing);
    conclude(f, slowed[0] != '\0' || missing[0] != '\0' || trouble ? DOCTOR_LIMITED : DOCTOR_OK,
             "%s%s, driver %s%s: spans on its streams%s%s%s%s%s%s", device.name, memory,
             device.driver, others, given, missing,
             device.partitioned ? "; it is partitioned, figures are of the whole board" : "",
             slowed, trouble ? "; " : "", trouble ? error.message : "");
}

/* Whether `assay run --gpu` can measure. It needs our library, a GPU, and CUPTI in a place where
 * the program finds it. */
static void examine_gpu_activity(doctor_finding *f)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    char path[SCRATCH_PATH_SIZE];
    size_t devices = 0;
    assay_error error = {0};
    if (!run_gpu_find_library(path)) {
        conclude(f, DOCTOR_NO, "libassay_cupti.so is neither in lib/ beside assay nor in ../lib/");
        advise(f, "reinstall assay");
        return;
    }
    if (assay_device_count(&error, &devices) != ASSAY_OK || devices == 0) {
        conclude(f, DOCTOR_NO, "no GPU: nothing for `assay run --gpu` to measure");
        return;
    }
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_LAZY);
    if (library != NULL) {
        conclude(f, DOCTOR_OK, "kernels, copies and idle time with `assay run --gpu`");
    } else {
        conclude(f, DOCTOR_LIMITED,
                 "`assay run --gpu` works for programs that bring CUPTI, as PyTorch does");
        advise(f, "install CUPTI (a part of the CUDA toolkit), or set ASSAY_CUPTI to its path");
    }
    if (library != NULL)
        dlclose(library);
}

static void examine_peak(doctor_finding *f)
{
    assay__peak peak;
    assay_error error = {0};
    if (assay__peak_load(&peak, &error) == ASSAY_OK) {
        conclude(f, DOCTOR_OK,
                 "%.1f GFLOP/s of float32 products, %.1f GB/s of memory, one thread (%s)",
                 peak.gflops, peak.gigabytes_per_second, peak.measured_at);
        return;
    }
    conclude(f, DOCTOR_LIMITED, "%s",
             error.status == ASSAY_E_FORMAT ? "what was kept is damaged"
                                            : "not measured yet, so no share of it can be given");
    advise(f, "assay doctor --measure");
}

static void examine_level(doctor_finding *f)
{
    char levels[128];
    assay__level_list(levels, sizeof levels);
    int now = assay__level_now(NULL);
    conclude(f, DOCTOR_OK, "the models use %s%s; this machine has %s", assay__level_name(now),
             now < assay__level_highest() ? ", as ASSAY_CPU says" : "", levels);
}

static void examine_store(doctor_finding *f, bool server, const char *offers)
{
    assay_error error = {0};
    if (assay__store_probe(server, &error) == ASSAY_OK)
        conclude(f, DOCTOR_OK, "%s", offers);
    else
        conclude(f, DOCTOR_NO, "%s", error.message);
}

static void examine_sqlite(doctor_finding *f)
{
    examine_store(f, false, "SQLite is there: --save keeps runs, and assay history shows them");
}

static void examine_postgresql(doctor_finding *f)
{
    examine_store(f, true, "libpq is there: ASSAY_HISTORY=postgresql://... keeps a team's runs");
}

static void examine_page(doctor_finding *f)
{
    if (page_available()) {
        conclude(f, DOCTOR_OK, "assay report --html writes them");
        return;
    }
    conclude(f, DOCTOR_NO, "this assay was built without npm's packages for them");
    advise(f, "npm ci in web/, then build again");
}

const doctor_probe doctor_probes[] = {
    {"time", "clock", "clock", examine_clock},
    {"time", "cpu_frequency", "processor speed", examine_frequency},
    {"time", "cpu_level", "processor level", examine_level},
    {"time", "smt", "core sharing", examine_smt},
    {"time", "virtualization", "virtual machine", examine_virtualization},
    {"time", "load", "other work", examine_load},
    {"memory", "rss", "resident memory", examine_rss},
    {"memory", "peak_reset", "peak of a span", examine_peak_reset},
    {"memory", "process_tree", "process trees", examine_tree},
    {"memory", "heap", "heap", examine_heap},
    {"journal", "journal_directory", "journal directory", examine_journal},
    {"journal", "fork", "fork", examine_fork},
    {"more", "peak", "peak", examine_peak},
    {"more", "hardware_counters", "hardware counters", examine_counters},
    {"more", "energy", "energy", examine_energy},
    {"more", "gpu", "gpu", examine_gpu},
    {"more", "gpu_activity", "gpu activity", examine_gpu_activity},
    {"more", "pages", "pages", examine_page},
    {"more", "sqlite", "history", examine_sqlite},
    {"more", "postgresql", "team history", examine_postgresql},
};
const size_t doctor_probe_count = sizeof doctor_probes / sizeof *doctor_probes;
