/* Reads one process from /proc. Field numbers are those of proc(5). */
#include "instrument/process_stat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "instrument/proc.h"

enum { PATH_BYTES = 64 };

assay_status assay__process_stat_parse(const char *text, assay__process_stat *stat)
{
    enum {
        STATE = 3,
        PARENT = 4,
        UTIME = 14,
        STIME = 15,
        CUTIME = 16,
        CSTIME = 17,
        THREADS = 20,
        START = 22,
        RSS = 24
    };
    const char *name_end = strrchr(text, ')'); /* the name may contain ')'; later fields do not */
    char state = '\0';
    if (name_end == NULL || sscanf(name_end + 1, " %c", &state) != 1)
        return ASSAY_E_FORMAT;
    long long fields[RSS + 1] = {0};
    const char *cursor = strchr(name_end, state) + 1;
    for (int i = STATE + 1; i <= RSS; i++) {
        char *end = NULL;
        fields[i] = strtoll(cursor, &end, 10);
        if (end == cursor)
            return ASSAY_E_FORMAT;
        cursor = end;
    }
    const char *name = strchr(text, '(');
    if (name == NULL || name > name_end)
        return ASSAY_E_FORMAT;
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    *stat = (assay__process_stat){
        .process = (pid_t)strtol(text, NULL, 10),
        .parent = (pid_t)fields[PARENT],
        .start_ticks = (uint64_t)fields[START],
        .zombie = state == 'Z' || state == 'X',
        .threads = (uint64_t)fields[THREADS],
        .user_seconds = (double)fields[UTIME] * tick,
        .sys_seconds = (double)fields[STIME] * tick,
        .waited = {(double)fields[CUTIME] * tick, (double)fields[CSTIME] * tick},
        .rss_bytes = fields[RSS] > 0 ? (uint64_t)fields[RSS] * (uint64_t)sysconf(_SC_PAGESIZE) : 0,
    };
    snprintf(stat->name, sizeof stat->name, "%.*s", (int)(name_end - name - 1), name + 1);
    return ASSAY_OK;
}

assay_status assay__process_stat_read(pid_t process, assay__process_stat *stat)
{
    char path[PATH_BYTES], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    assay_status status = assay__proc_read(path, text, sizeof text);
    return status == ASSAY_OK ? assay__process_stat_parse(text, stat) : status;
}

double assay__process_run_seconds(pid_t process)
{
    char path[PATH_BYTES], text[128];
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    return assay__proc_read(path, text, sizeof text) == ASSAY_OK
               ? (double)strtoull(text, NULL, 10) / 1e9
               : 0;
}

/* A field of /proc/PID/FILE. */
static assay_reading read_field(pid_t process, const char *file, const char *field)
{
    char path[PATH_BYTES], text[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, file);
    assay_status status = assay__proc_read(path, text, sizeof text);
    uint64_t bytes = 0;
    if (status != ASSAY_OK)
        return assay_reading_missing(assay__proc_validity(status));
    if (!assay__proc_field(text, field, &bytes))
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    return assay_reading_of((double)bytes);
}

assay_reading assay__process_peak_rss(pid_t process)
{
    return read_field(process, "status", "VmHWM");
}

assay_reading assay__process_pss(pid_t process)
{
    return read_field(process, "smaps_rollup", "Pss");
}

void assay__process_io(pid_t process, assay_reading *read_bytes, assay_reading *written_bytes)
{
    char path[PATH_BYTES], text[1024];
    snprintf(path, sizeof path, "/proc/%d/io", (int)process);
    assay_status status = assay__proc_read(path, text, sizeof text);
    *read_bytes = *written_bytes = assay_reading_missing(assay__proc_validity(status));
    uint64_t bytes = 0;
    if (assay__proc_field(text, "read_bytes", &bytes))
        *read_bytes = assay_reading_of((double)bytes);
    if (assay__proc_field(text, "write_bytes", &bytes))
        *written_bytes = assay_reading_of((double)bytes);
}

/* Visit the process ids in an open `children` file. The file may be longer than the buffer, so it
 * is read in parts. */
static bool visit_ids(int descriptor, assay__process_visitor visit, void *context)
{
    char chunk[4096];
    long id = 0;
    for (;;) {
        ssize_t got = read(descriptor, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return id == 0 || visit(context, (pid_t)id);
        for (ssize_t i = 0; i < got; i++) {
            if (isdigit((unsigned char)chunk[i])) {
                id = id * 10 + (chunk[i] - '0');
            } else if (id != 0) {
                if (!visit(context, (pid_t)id))
                    return false;
                id = 0;
            }
        }
    }
}

/* Call `act` with each numeric name in a directory. */
static assay_status each_number(const char *directory, bool (*act)(void *context, pid_t number),
                                void *context)
{
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return assay__fail_errno(NULL, "%s", directory);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (!act(context, (pid_t)strtol(entry->d_name, NULL, 10)))
            break;
    }
    closedir(entries);
    return ASSAY_OK;
}

typedef struct thread_walk {
    pid_t process;
    assay__process_visitor visit;
    void *context;
    bool opened; /* at least one children file is there */
} thread_walk;

static bool visit_thread(void *context, pid_t thread)
{
    thread_walk *walk = context;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)walk->process, (int)thread);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return true;
    walk->opened = true;
    bool go_on = visit_ids(descriptor, walk->visit, walk->context);
    close(descriptor);
    return go_on;
}

assay_status assay__process_children(pid_t process, assay__process_visitor visit, void *context)
{
    char path[PATH_BYTES];
    thread_walk walk = {.process = process, .visit = visit, .context = context};
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    assay_status status = each_number(path, visit_thread, &walk);
    if (status != ASSAY_OK || walk.opened)
        return status;
    snprintf(path, sizeof path, "/proc/%d", (int)process);
    return access(path, F_OK) == 0 ? ASSAY_E_UNSUPPORTED : ASSAY_E_NOT_FOUND;
}

assay_status assay__process_all(assay__process_visitor visit, void *context)
{
    return each_number("/proc", visit, context);
}
