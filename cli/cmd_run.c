/* assay run: measures a program from outside, and from inside if it links libassay.
 *
 * The order of the steps matters. Invalid options and paths are refused before the program starts.
 * The program is started before we allocate anything large (launch.c says why). Results are written
 * only after the program has ended and the private directories are gone. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "assay/meter.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/report.h"
#include "cli/common/commands.h"
#include "cli/common/history.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/launch.h"
#include "cli/run_gpu.h"
#include "cli/run_python.h"
#include "cli/run_record.h"
#include "cli/scratch_dir.h"
#include "cli/watch_program.h"

/* The exit statuses that env(1) and timeout(1) use. */
enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static const size_t default_trace_events = 65536;
static const double default_interval_seconds = 0.010;
static const double max_rate_hz = 10000;

typedef struct run_settings {
    const char *json, *trace, *output, *name, *python;
    double interval_seconds, rate_hz;
    size_t trace_events;
    bool heap, quiet, save, allocations, energy, gpu, gpu_range;
} run_settings;

static const option run_options[] = {
    {"allocations", 'a', OPTION_FLAG, NULL, "With --python: Python's allocations by line too.",
     offsetof(run_settings, allocations)},
    {"energy", 0, OPTION_FLAG, NULL,
     "Measure the energy of processor and GPUs while it runs; it is that of the whole machine.",
     offsetof(run_settings, energy)},
    {"gpu", 'g', OPTION_FLAG, NULL,
     "Measure kernels, copies and idle time of NVIDIA GPUs, through the injected "
     "libassay_cupti.so.",
     offsetof(run_settings, gpu)},
    {"gpu-range", 0, OPTION_FLAG, NULL,
     "Like --gpu, but record kernels and copies only in the ranges that the program marks with "
     "cudaProfilerStart() and cudaProfilerStop().",
     offsetof(run_settings, gpu_range)},
    {"heap", 'H', OPTION_FLAG, NULL,
     "Measure the heap exactly, through the preloaded libassay_heap.so.",
     offsetof(run_settings, heap)},
    {"interval", 'i', OPTION_PERIOD, "TIME",
     "Time between samples of the process tree (default 10ms); lengthened when sampling would take "
     "more than 2 % of one processor.",
     offsetof(run_settings, interval_seconds)},
    {"json", 'j', OPTION_TEXT, "FILE", "Write the run record as JSON; '-' is standard output.",
     offsetof(run_settings, json)},
    {"name", 'n', OPTION_TEXT, "TEXT", "Name of the run, kept in the record.",
     offsetof(run_settings, name)},
    {"output", 'o', OPTION_TEXT, "FILE",
     "Write the text summary to FILE instead of standard error.", offsetof(run_settings, output)},
    {"python", 0, OPTION_TEXT, "DIR",
     "Profile its Python programs by function and line; DIR is the folder of the Python package. "
     "`python3 -m assay run SCRIPT.py` gives it.",
     offsetof(run_settings, python)},
    {"quiet", 'q', OPTION_FLAG, NULL, "Print no summary.", offsetof(run_settings, quiet)},
    {"rate", 'r', OPTION_REAL, "HZ",
     "With --python: samples in a second (default: 1000 at first, falling to 100 in a long run).",
     offsetof(run_settings, rate_hz)},
    HISTORY_SAVE_OPTION(run_settings, save),
    {"trace", 't', OPTION_TEXT, "FILE",
     "Write a Chrome trace of its processes, spans and memory, for ui.perfetto.dev; '-' is "
     "standard "
     "output.",
     offsetof(run_settings, trace)},
    {"trace-events", 0, OPTION_COUNT, "N",
     "Most recent spans of each thread, and GPU activities of each process, kept for --trace "
     "(default 65536).",
     offsetof(run_settings, trace_events)},
};

/* Everything that one run needs, in the order in which it is made. */
typedef struct run {
    const run_settings *settings;
    char *const *command;
    char journal_dir[SCRATCH_PATH_SIZE];
    char heap_dir[SCRATCH_PATH_SIZE];
    char link_dir[SCRATCH_PATH_SIZE]; /* links to libraries, or an empty path */
    char *preload;                    /* value of LD_PRELOAD, or NULL */
    char *asan_options; /* value of ASAN_OPTIONS that lets sanitized programs accept a preload */
    run_python python;
    run_gpu gpu;
    sigset_t signal_mask; /* our mask before we blocked signals */
    launch_result launch;
    watch_result watch;
    assay_meter *meter; /* NULL if energy is not measured */
    uint64_t begin_ns;
} run;

static bool make_scratch(run *r)
{
    scratch_dir_sweep();
    if (scratch_dir_make(SCRATCH_JOURNAL_BYTES, r->journal_dir) &&
        (!r->settings->heap || scratch_dir_make(SCRATCH_HEAP_BYTES, r->heap_dir)))
        return true;
    message_error("assay run: cannot make a private directory in '%s': %s; set TMPDIR",
                  scratch_dir_parent(SCRATCH_JOURNAL_BYTES), strerror(errno));
    return false;
}

/* "first:second", or "first" alone. Caller frees. */
static char *joined(const char *first, const char *second)
{
    char *both = NULL;
    bool is_alone = second == NULL || *second == '\0';
    return asprintf(&both, "%s%s%s", first, is_alone ? "" : ":", is_alone ? "" : second) < 0 ? NULL
                                                                                             : both;
}

/* The dynamic linker ends the paths of LD_PRELOAD at blanks and colons. A library whose path has
 * one is preloaded by the path of a link in a private directory. */
static bool link_library(run *r, const char *library, char link[SCRATCH_PATH_SIZE])
{
    static const char ends[] = " :";
    const char *name = strrchr(library, '/');
    link[0] = '\0';
    if (r->link_dir[0] != '\0' || scratch_dir_make(0, r->link_dir))
        snprintf(link, SCRATCH_PATH_SIZE, "%s%s", r->link_dir, name != NULL ? name : "");
    if (link[0] != '\0' && strpbrk(link, ends) == NULL && symlink(library, link) == 0)
        return true;
    message_error("assay run: '%s' cannot be preloaded, because its path has a blank or a colon; "
                  "install assay in another folder",
                  library);
    return false;
}

/* Add a library in front of the libraries that are preloaded already. */
static bool preload(run *r, const char *library)
{
    char link[SCRATCH_PATH_SIZE];
    if (strpbrk(library, " :") != NULL) {
        if (!link_library(r, library, link))
            return false;
        library = link;
    }
    char *all = joined(library, r->preload != NULL ? r->preload : getenv("LD_PRELOAD"));
    free(r->preload);
    r->preload = all;
    if (r->asan_options == NULL)
        r->asan_options = joined("verify_asan_link_order=0", getenv("ASAN_OPTIONS"));
    if (r->preload == NULL || r->asan_options == NULL)
        message_error("assay run: out of memory");
    return r->preload != NULL && r->asan_options != NULL;
}

static bool find_libraries(run *r)
{
    char library[SCRATCH_PATH_SIZE];
    if (r->settings->heap && !scratch_find_interposer(library)) {
        message_error("assay run: --heap needs libassay_heap.so in lib/ beside the assay command "
                      "or in ../lib/, and it is in neither; reinstall assay");
        return false;
    }
    if (r->settings->heap && !preload(r, library))
        return false;
    if (!run_gpu_prepare(&r->gpu))
        return false;
    return r->gpu.directory[0] == '\0' || preload(r, r->gpu.library);
}

static void start(run *r)
{
    char events[32];
    launch_variable variables[5 + RUN_PYTHON_VARIABLES + RUN_GPU_VARIABLES];
    size_t count = 0;
    variables[count++] = (launch_variable){"ASSAY_JOURNAL_DIR", r->journal_dir};
    if (r->settings->trace != NULL) {
        snprintf(events, sizeof events, "%zu", r->settings->trace_events);
        variables[count++] = (launch_variable){"ASSAY_TRACE_EVENTS", events};
    }
    if (r->settings->heap)
        variables[count++] = (launch_variable){"ASSAY_HEAP_DIR", r->heap_dir};
    if (r->preload != NULL) {
        variables[count++] = (launch_variable){"LD_PRELOAD", r->preload};
        variables[count++] = (launch_variable){"ASAN_OPTIONS", r->asan_options};
    }
    count += run_python_variables(&r->python, variables + count);
    count += run_gpu_variables(&r->gpu, variables + count);
    watch_begin(&r->watch);
    launch_block_signals(&r->signal_mask);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* orphaned descendants become our children */
    r->launch = launch_start(r->command, variables, count, &r->signal_mask);
}

/* Start the meter of --energy. On a machine without energy counters a note is printed, and the run
 * goes on. */
static void start_meter(run *r)
{
    assay_error error = {0};
    assay_meter_options options = ASSAY_METER_OPTIONS_INIT;
    options.parts = ASSAY_DEVICE_ENERGY;
    if (r->settings->energy && assay_meter_new(&options, &error, &r->meter) != ASSAY_OK)
        message_note("assay run: energy: %s", error.message);
    r->begin_ns = assay_meter_now_ns();
}

static assay_status enter_energy(const run *r, uint64_t end_ns, assay_record *record)
{
    assay_energy energy = ASSAY_INIT(assay_energy);
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    if (!r->settings->energy)
        return ASSAY_OK;
    if (r->meter == NULL ||
        assay_meter_read(r->meter, r->begin_ns, end_ns, NULL, &energy) != ASSAY_OK)
        energy.joules = energy.joules_low = energy.joules_high = none;
    record->energy_joules = energy.joules;
    record->energy_joules_low = energy.joules_low;
    record->energy_joules_high = energy.joules_high;
    return r->meter == NULL ? ASSAY_OK
                            : assay_record_add_machine(record, "energy_of",
                                                       assay_meter_covers(r->meter), ASSAY_VALID);
}

static int exit_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Write all results. Returns false, after a message, if any of them could not be written. */
static bool write_results(const run_settings *settings, const assay_record *record)
{
    assay_error error = {0};
    bool good = true;
    if (!settings->quiet) {
        assay_status status = settings->output != NULL
                                  ? assay_report_save(record, "run", settings->output, &error)
                                  : assay_report_print(record, "run", stderr, &error);
        good &= output_check("run", status, &error) && !ferror(stderr);
    }
    if (settings->json != NULL)
        good &= output_check("run",
                             assay_record_save(record, settings->json,
                                               settings->trace != NULL ? ASSAY_RECORD_EVENTS : 0,
                                               &error),
                             &error);
    if (settings->trace != NULL)
        good &= output_check("run", assay_report_save(record, "trace", settings->trace, &error),
                             &error);
    good &= history_save("run", settings->save, record) == EX_OK;
    return good;
}

static int measure(run *r)
{
    assay_reading steal = assay_machine_steal_seconds();
    start_meter(r);
    start(r);
    if (r->launch.failure != 0) {
        launch_explain("run", &r->launch, r->command[0]);
        if (!r->launch.found)
            return EXIT_NOT_FOUND;
        return r->launch.is_ours ? EXIT_OWN_FAILURE : EXIT_NOT_EXECUTABLE;
    }
    /* If nobody reads our messages any more, the directories must still be removed and the files
     * written. The program has its own disposition by now. */
    signal(SIGPIPE, SIG_IGN);
    watch_until_end(r->launch.pid, r->settings->interval_seconds,
                    r->settings->heap ? r->heap_dir : NULL, &r->watch);
    const uint64_t end_ns = assay_meter_now_ns();
    run_facts facts = {.name = r->settings->name,
                       .command = r->command,
                       .launch = &r->launch,
                       .watch = &r->watch,
                       .journal_dir = r->journal_dir,
                       .heap_dir = r->settings->heap ? r->heap_dir : NULL,
                       .python_dir = r->python.package != NULL ? r->python.directory : NULL,
                       .gpu_dir = r->gpu.directory[0] != '\0' ? r->gpu.directory : NULL,
                       .events = r->settings->trace != NULL ? r->settings->trace_events : 0,
                       .steal_before = steal};
    assay_record *record = NULL;
    assay_error error = {0};
    assay_status status = run_record_make(&facts, &error, &record);
    if (status == ASSAY_OK)
        status = enter_energy(r, end_ns, record);
    scratch_dir_remove(r->journal_dir);
    scratch_dir_remove(r->heap_dir);
    r->journal_dir[0] = r->heap_dir[0] = '\0';
    run_python_release(&r->python);
    run_gpu_release(&r->gpu);
    launch_restore_signals(&r->signal_mask); /* Ctrl-C must work if the writing waits for a pipe */
    int code = exit_of(r->watch.wait_status);
    if (status != ASSAY_OK) {
        message_error("assay run: %s", error.message);
        code = EXIT_OWN_FAILURE;
    } else if (!write_results(r->settings, record)) {
        code = EXIT_OWN_FAILURE;
    }
    assay_record_free(record);
    return code;
}

static int run_main(const command *self, int argc, char **argv)
{
    run_settings settings = {.interval_seconds = default_interval_seconds,
                             .trace_events = default_trace_events};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count == 0) {
        message_error("assay run: no command to measure; write: assay run -- COMMAND ARGUMENT...");
        return EX_USAGE;
    }
    if (settings.rate_hz > max_rate_hz) {
        message_error("assay run: --rate: at most %.0f samples in a second", max_rate_hz);
        return EX_USAGE;
    }
    const char *outputs[] = {settings.json, settings.trace, settings.output};
    int refused = output_refuse("run", outputs, sizeof outputs / sizeof *outputs);
    if (refused == EX_OK)
        refused = history_refuse("run", settings.save);
    if (refused != EX_OK)
        return refused;
    run r = {.settings = &settings, .command = operands};
    r.python = (run_python){.package = settings.python,
                            .rate_hz = settings.rate_hz,
                            .allocations = settings.allocations,
                            .events = settings.trace != NULL ? settings.trace_events : 0};
    r.gpu.asked = settings.gpu || settings.gpu_range;
    r.gpu.ranged = settings.gpu_range;
    code = find_libraries(&r) && make_scratch(&r) && run_python_prepare(&r.python)
               ? measure(&r)
               : EXIT_OWN_FAILURE;
    watch_release(&r.watch);
    run_python_release(&r.python);
    run_gpu_release(&r.gpu);
    scratch_dir_remove(r.journal_dir);
    scratch_dir_remove(r.heap_dir);
    scratch_dir_remove(r.link_dir);
    assay_meter_free(r.meter);
    free(r.preload);
    free(r.asan_options);
    return code;
}

const command command_run = {
    .name = "run",
    .summary = "measure any program: time, memory, input and output, spans",
    .operands = "[--] COMMAND [ARGUMENT...]",
    .description =
        "Runs COMMAND (no shell) and measures it with all the processes it starts: wall\n"
        "and processor time, peak memory of the largest process and of the whole tree,\n"
        "context switches, page faults, storage input and output, time stolen by other\n"
        "virtual machines. If it links libassay, its spans are in the record too, also\n"
        "when it was killed. The summary goes to standard error; COMMAND keeps standard\n"
        "input and output. The exit status is that of COMMAND, 128 + N if signal N killed\n"
        "it, 125 if assay itself failed, 126 if COMMAND cannot be executed, 127 if it was\n"
        "not found; 64 and 73 for options and output paths refused before the start.",
    COMMAND_OPTIONS(run_options),
    .first_operand_ends_options = true,
    .main = run_main,
};
