/* assay journal: shows what a running, ended or killed process measured. The operand is a file, a
 * folder or a process id. For a process id, the journals are found among the files that the process
 * has mapped into its memory. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "assay/record.h"
#include "assay/report.h"
#include "assay/snapshot.h"
#include "base/text.h"
#include "cli/common/commands.h"
#include "cli/common/message.h"
#include "cli/common/output.h"

static const char journal_suffix[] = ".assay";

typedef struct journal_settings {
    const char *json, *trace;
} journal_settings;

static const option journal_options[] = {
    {"json", 'j', OPTION_TEXT, "FILE", "Write a record as JSON instead; '-' is standard output.",
     offsetof(journal_settings, json)},
    {"trace", 't', OPTION_TEXT, "FILE",
     "Write its events as a Chrome trace, for ui.perfetto.dev; '-' is standard output.",
     offsetof(journal_settings, trace)},
};

/* The journals of a process, which has one for each monitor. */
typedef struct path_list {
    char **paths;
    size_t count, capacity;
} path_list;

static void path_list_release(path_list *list)
{
    while (list->count > 0)
        free(list->paths[--list->count]);
    free(list->paths);
}

static bool path_list_has(const path_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->paths[i], path) == 0)
            return true;
    return false;
}

/* Returns false when out of memory. */
static bool path_list_add(path_list *list, const char *path)
{
    if (list->count == list->capacity) {
        size_t larger = list->capacity == 0 ? 16 : 2 * list->capacity;
        char **grown = reallocarray(list->paths, larger, sizeof *grown);
        if (grown == NULL)
            return false;
        list->paths = grown;
        list->capacity = larger;
    }
    char *copy = strdup(path);
    if (copy != NULL)
        list->paths[list->count++] = copy;
    return copy != NULL;
}

static void cut_suffix(char *text, const char *suffix)
{
    size_t length = strlen(text), cut = strlen(suffix);
    if (length >= cut && strcmp(text + length - cut, suffix) == 0)
        text[length - cut] = '\0';
}

static bool leads_to(const char *path, unsigned long long inode)
{
    struct stat file;
    return stat(path, &file) == 0 && file.st_ino == inode;
}

/* Add the journal that a line of /proc/PID/maps names. Such a line ends in the inode and the path
 * of the mapped file. A process in a container may have the file under a path that leads elsewhere
 * here. A path that now leads to another file is left out. Returns false when out of memory. */
static bool take_mapping(path_list *list, const char *pid, char *line)
{
    unsigned long long inode = 0;
    int path_at = 0;
    char inside[PATH_MAX];
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%*s %*s %*s %*s %llu %n", &inode, &path_at) != 1 || path_at == 0)
        return true;
    const char *path = line + path_at;
    cut_suffix(line + path_at, " (deleted)");
    size_t length = strlen(path), suffix = sizeof journal_suffix - 1;
    if (length <= suffix || strcmp(path + length - suffix, journal_suffix) != 0)
        return true;
    if (!leads_to(path, inode)) {
        int used = snprintf(inside, sizeof inside, "/proc/%s/root%s", pid, path);
        if (used < 0 || (size_t)used >= sizeof inside || !leads_to(inside, inode))
            return true;
        path = inside;
    }
    if (path_list_has(list, path))
        return true;
    return path_list_add(list, path);
}

/* List the journals of a process. Returns EX_OK, or the exit code after a message. */
static int find_journals(const char *pid, path_list *list)
{
    char maps[64];
    snprintf(maps, sizeof maps, "/proc/%s/maps", pid);
    FILE *file = fopen(maps, "re");
    char *line = NULL;
    size_t capacity = 0;
    bool readable = file != NULL, complete = true;
    while (file != NULL && complete && getline(&line, &capacity, file) > 0)
        complete = take_mapping(list, pid, line);
    int failure = errno;
    free(line);
    if (file != NULL)
        fclose(file);
    if (!complete) {
        message_error("assay journal: out of memory");
        return EX_OSERR;
    }
    if (!readable && failure == ENOENT)
        message_error("assay journal: no process %s and no such file; give a journal, a directory "
                      "of journals or the id of a running process",
                      pid);
    else if (!readable)
        message_error("assay journal: process %s: %s; it belongs to someone else", pid,
                      strerror(failure));
    else if (list->count == 0)
        message_error("assay journal: process %s has no journal file; start it with "
                      "ASSAY_JOURNAL_DIR=DIR or under assay run",
                      pid);
    if (list->count > 0)
        return EX_OK;
    return !readable && failure != ENOENT ? EX_NOPERM : EX_NOINPUT;
}

/* Whether there is such a process. If there is, a number means the process; write ./123 for a file
 * of that name. */
static bool is_running(const char *pid)
{
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%s", pid);
    return access(folder, F_OK) == 0;
}

/* Read the journals of a file, folder or process. Returns EX_OK, or the exit code after a message.
 */
static int read_subject(const char *subject, assay_record **record)
{
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    path_list list = {.count = 0};
    if (assay__text_is_number(subject) && (is_running(subject) || access(subject, F_OK) != 0)) {
        int code = find_journals(subject, &list);
        if (code == EX_OK)
            status = assay_snapshot_files((const char *const *)list.paths, list.count, NULL, &error,
                                          record);
        path_list_release(&list);
        if (code != EX_OK)
            return code;
    } else {
        status = assay_snapshot_files(&subject, 1, NULL, &error, record);
    }
    if (status == ASSAY_OK && error.status != ASSAY_OK)
        message_note("%s", error.message);
    if (status != ASSAY_OK)
        message_error("assay journal: %s", error.message);
    return message_input_exit(status);
}

static int show(const journal_settings *settings, assay_record *record)
{
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    if (settings->json == NULL && settings->trace == NULL)
        status = assay_report_save(record, "journal", "-", &error);
    if (settings->json != NULL)
        status = assay_record_save(record, settings->json,
                                   settings->trace != NULL ? ASSAY_RECORD_EVENTS : 0, &error);
    if (status == ASSAY_OK && settings->trace != NULL)
        status = assay_report_save(record, "trace", settings->trace, &error);
    if (!output_check("journal", status, &error))
        return message_output_exit(status);
    if (settings->trace != NULL)
        output_note_no_events(record, "set ASSAY_TRACE_EVENTS, or trace_events of the monitor");
    return EX_OK;
}

static int journal_main(const command *self, int argc, char **argv)
{
    journal_settings settings = {0};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count != 1) {
        message_error("assay journal: give one journal, directory of journals or process id");
        return EX_USAGE;
    }
    const char *outputs[] = {settings.json, settings.trace};
    code = output_refuse("journal", outputs, sizeof outputs / sizeof *outputs);
    assay_record *record = NULL;
    if (code == EX_OK)
        code = read_subject(operands[0], &record);
    if (code == EX_OK)
        code = show(&settings, record);
    assay_record_free(record);
    return code;
}

const command command_journal = {
    .name = "journal",
    .summary = "show what a running, ended or killed process measured",
    .operands = "FILE|DIRECTORY|PID",
    .description =
        "Reads the journal that a program linked with libassay writes (ASSAY_JOURNAL_DIR\n"
        "or journal_path), without stopping it: the call tree with count, total, self,\n"
        "mean, p50 and p99, spans still open, counters, and what could not be recorded.\n"
        "All journals of a directory, or of a process, are shown as one.",
    COMMAND_OPTIONS(journal_options),
    .main = journal_main,
};
