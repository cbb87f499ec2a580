/* Prints one measured run as a page of text: the command, its result, and its costs. Lines keep to
 * 80 columns, except that the command and the name are shown in full, and on a terminal up to its
 * edge. A figure that could not be measured is shown with its reason. A line for a figure that
 * nobody tried to measure is left out. */
#include "assay/record.h"
#include "base/shell_word.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { LABEL_WIDTH = 18 };

static void label(FILE *stream, const char *text)
{
    assay__format_left(stream, text, LABEL_WIDTH);
}

/* The usual name of a signal. sigabbrev_np() is newer than the systems that we support. */
static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{1, "SIGHUP"},   {2, "SIGINT"},   {3, "SIGQUIT"},  {4, "SIGILL"},
                 {5, "SIGTRAP"},  {6, "SIGABRT"},  {7, "SIGBUS"},   {8, "SIGFPE"},
                 {9, "SIGKILL"},  {10, "SIGUSR1"}, {11, "SIGSEGV"}, {12, "SIGUSR2"},
                 {13, "SIGPIPE"}, {14, "SIGALRM"}, {15, "SIGTERM"}, {24, "SIGXCPU"},
                 {25, "SIGXFSZ"}, {31, "SIGSYS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "signal";
}

static void print_command(const assay_record_process *process, FILE *stream)
{
    assay__buffer line;
    assay__buffer_init(&line, ASSAY__TABLE_MAX_BYTES);
    assay__shell_words(&line, process->command, process->command_count);
    label(stream, "command");
    if (line.status != ASSAY_OK)
        fputs(assay_status_message(line.status), stream);
    else if (line.length > 0)
        assay__format_line(stream, line.data, LABEL_WIDTH);
    fputc('\n', stream);
    assay__buffer_release(&line);
}

static void print_result(const assay_record_process *process, FILE *stream)
{
    char text[64] = "still running";
    bool failed = process->finished && (process->signal != 0 || process->exit_status != 0);
    if (process->finished && process->signal != 0)
        snprintf(text, sizeof text, "killed by signal %d (%s)", (int)process->signal,
                 signal_name(process->signal));
    else if (process->finished)
        snprintf(text, sizeof text, "exit status %d", (int)process->exit_status);
    label(stream, "result");
    assay__format_shaded(stream, failed ? ASSAY__SHADE_BAD : ASSAY__SHADE_PLAIN, text);
    fputc('\n', stream);
}

static void print_time(const assay_record_process *process, FILE *stream)
{
    char first[ASSAY__FORMAT_SIZE], second[ASSAY__FORMAT_SIZE];
    label(stream, "wall time");
    fprintf(stream, "%s\n", assay__format_reading_seconds(process->wall_seconds, first));
    label(stream, "processor time");
    fprintf(stream, "%s user, %s system",
            assay__format_reading_seconds(process->user_seconds, first),
            assay__format_reading_seconds(process->sys_seconds, second));
    if (process->wall_seconds.validity == ASSAY_VALID && process->wall_seconds.value > 0 &&
        process->user_seconds.validity == ASSAY_VALID &&
        process->sys_seconds.validity == ASSAY_VALID)
        fprintf(stream, " (%s cores busy)",
                assay__cell_fixed(first,
                                  (process->user_seconds.value + process->sys_seconds.value) /
                                      process->wall_seconds.value,
                                  2));
    fputc('\n', stream);
}

static void print_memory(const assay_record_process *process, FILE *stream)
{
    char text[ASSAY__FORMAT_SIZE];
    bool weighed = process->tree_peak_pss_bytes.validity == ASSAY_VALID;
    bool summed = !weighed && process->tree_peak_rss_bytes.validity == ASSAY_VALID;
    label(stream, "peak memory");
    fprintf(stream, "%s, largest process\n",
            assay__format_reading_bytes(process->peak_rss_bytes, text));
    if (!weighed && process->tree_peak_rss_bytes.validity == ASSAY_NOT_MEASURED)
        return;
    label(stream, "");
    fprintf(stream, "%s, whole tree at once (sampled%s)\n",
            assay__format_reading_bytes(
                weighed ? process->tree_peak_pss_bytes : process->tree_peak_rss_bytes, text),
            summed ? "; shared pages in each" : "");
}

static void print_heap(const assay_record_process *process, FILE *stream)
{
    char text[ASSAY__FORMAT_SIZE];
    if (process->heap_peak_bytes.validity == ASSAY_NOT_MEASURED)
        return;
    label(stream, "heap");
    if (process->heap_peak_bytes.validity != ASSAY_VALID) {
        fprintf(stream, "%s\n", assay_validity_text(process->heap_peak_bytes.validity));
        return;
    }
    const char *bound = process->heap_unseen_processes > 0 ? "≥ " : "";
    fprintf(stream, "%s%s peak", bound,
            assay__format_reading_bytes(process->heap_peak_bytes, text));
    fprintf(stream, ", %s%s allocations", bound,
            assay__format_reading_count(process->heap_allocations, text));
    if (process->heap_leaked_bytes.validity == ASSAY_VALID)
        fprintf(stream, ", %s%s never freed", bound,
                assay__format_reading_bytes(process->heap_leaked_bytes, text));
    fputc('\n', stream);
}

static void print_energy(const assay_record *record, FILE *stream)
{
    const assay_reading joules = record->energy_joules;
    const bool bounded = record->energy_joules_high.validity == ASSAY_VALID;
    char of[ASSAY__LABEL_BYTES];
    if (joules.validity == ASSAY_NOT_MEASURED)
        return;
    label(stream, "energy");
    if (!bounded)
        fprintf(stream, "%s\n", assay_validity_text(joules.validity));
    else if (joules.validity == ASSAY_VALID)
        fprintf(stream, "%.4g J (%.4g to %.4g) of the %s\n", joules.value,
                record->energy_joules_low.value, record->energy_joules_high.value,
                assay__cell_energy_of(of, record));
    else
        fprintf(stream, "%.4g to %.4g J of the %s; the run is too short for a figure\n",
                record->energy_joules_low.value, record->energy_joules_high.value,
                assay__cell_energy_of(of, record));
}

static void print_pair(FILE *stream, const char *title, const char *first, const char *first_kind,
                       const char *second, const char *second_kind)
{
    label(stream, title);
    fprintf(stream, "%s %s, %s %s\n", first, first_kind, second, second_kind);
}

/* Sampling misses processes that live only between two samples. */
static void print_processes(const assay_record_process *process, FILE *stream)
{
    char text[ASSAY__FORMAT_SIZE];
    bool known = process->process_count.validity == ASSAY_VALID;
    if (process->process_count.validity == ASSAY_NOT_MEASURED && process->running_processes == 0)
        return;
    label(stream, "processes");
    fprintf(stream, "%s%s", known ? "≥ " : "",
            assay__format_reading_count(process->process_count, text));
    if (process->running_processes > 0)
        fprintf(stream, ", %llu of them still running",
                (unsigned long long)process->running_processes);
    fputc('\n', stream);
}

static void print_system(const assay_record_process *process, FILE *stream)
{
    char a[ASSAY__FORMAT_SIZE], b[ASSAY__FORMAT_SIZE];
    print_pair(stream, "context switches",
               assay__format_reading_count(process->voluntary_switches, a), "voluntary",
               assay__format_reading_count(process->involuntary_switches, b), "involuntary");
    print_pair(stream, "page faults", assay__format_reading_count(process->minor_faults, a),
               "minor", assay__format_reading_count(process->major_faults, b), "major");
    print_pair(stream, "storage", assay__format_reading_bytes(process->read_bytes, a), "read",
               assay__format_reading_bytes(process->written_bytes, b), "written");
    print_processes(process, stream);
    if (process->steal_seconds.validity != ASSAY_NOT_MEASURED) {
        label(stream, "stolen time");
        fprintf(stream, "%s (machine-wide, by other guests)\n",
                assay__format_reading_seconds(process->steal_seconds, a));
    }
    if (process->observer_seconds.validity == ASSAY_VALID) {
        label(stream, "cost of measuring");
        fprintf(stream, "%s of processor time\n",
                assay__format_reading_seconds(process->observer_seconds, a));
    }
}

assay_status assay__report_run(const assay_record *record, FILE *stream, assay_error *error)
{
    if (record->has_process) {
        const assay_record_process *process = &record->process;
        if (record->name != NULL) {
            label(stream, "name");
            assay__format_line(stream, record->name, LABEL_WIDTH);
            fputc('\n', stream);
        }
        print_command(process, stream);
        print_result(process, stream);
        print_time(process, stream);
        print_memory(process, stream);
        print_heap(process, stream);
        print_energy(record, stream);
        assay_status status = assay__report_unseen(record, LABEL_WIDTH, stream, error);
        print_system(process, stream);
        if (status == ASSAY_OK)
            status = assay__report_processes(record, stream, error);
        if (status == ASSAY_OK)
            status = assay__report_python(record, stream, error);
        if (status == ASSAY_OK)
            status = assay__report_gpu(record, stream, error);
        if (status != ASSAY_OK)
            return status;
    }
    if (record->operation_count == 0 && record->open_span_count == 0 && record->has_process)
        return ASSAY_OK;
    if (record->has_process)
        fputc('\n', stream);
    return assay__report_tree(record, stream, error);
}
