/* Read the operands of `assay compare` into sides. Each operand is a file, a folder of runs, the
 * folder of a study, or runs of the history. */
#include "cli/compare_sides.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cli/common/history.h"
#include "cli/common/message.h"
#include "cli/history_command.h"
#include "cli/study_folder.h"
#include "store/figures.h"

enum { MAX_PATH = 4096, MAX_RUNS = 4096, LAST_RUNS = 20 };

/* A side while it is read. */
typedef struct runs {
    const assay_record **records;
    size_t count;
} runs;

static int out_of_memory(void)
{
    message_error("assay compare: out of memory");
    return EX_OSERR;
}

static int read_file(runs *side, const char *path)
{
    assay_error error = {0};
    assay_record *record = NULL;
    if (side->count == MAX_RUNS) {
        message_error("assay compare: more than %d runs on one side", MAX_RUNS);
        return EX_DATAERR;
    }
    assay_status status = assay_record_load(path, &error, &record);
    if (status != ASSAY_OK) {
        bool is_option = status == ASSAY_E_NOT_FOUND && path[0] == '-';
        message_error("assay compare: %s%s", error.message,
                      is_option ? "; behind '--' stand records: write options before it" : "");
        return message_input_exit(status);
    }
    if (error.status != ASSAY_OK)
        message_note("%s", error.message);
    side->records[side->count++] = record;
    return EX_OK;
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int read_runs(runs *side, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_json, alphasort), code = EX_OK;
    if (count <= 0) {
        message_error("assay compare: '%s' has no records (a study's record.json, or *.json)",
                      folder);
        free(entries);
        return EX_NOINPUT;
    }
    for (int i = 0; i < count; i++) {
        char path[MAX_PATH];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (code == EX_OK)
            code = read_file(side, path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int read_operand(runs *side, const char *path)
{
    char study[STUDY_PATH_SIZE];
    if (!study_folder_is(path))
        return read_file(side, path);
    return study_folder_find(path, study) ? read_file(side, study) : read_runs(side, path);
}

/* Add a side with these operands. The side is named after the first operand. */
static int add_side(compare_sides *sides, char **operands, size_t count)
{
    runs side = {calloc(MAX_RUNS, sizeof *side.records), 0};
    int code = side.records != NULL ? EX_OK : out_of_memory();
    for (size_t i = 0; i < count && code == EX_OK; i++)
        code = read_operand(&side, operands[i]);
    assay_compare_side *made = &sides->sides[sides->count++];
    *made = (assay_compare_side)ASSAY_COMPARE_SIDE_INIT;
    made->origin = operands[0];
    made->records = side.records;
    made->count = side.count;
    return code;
}

static int make_room(compare_sides *sides, size_t count)
{
    *sides = (compare_sides){calloc(count, sizeof *sides->sides), 0};
    return sides->sides != NULL ? EX_OK : out_of_memory();
}

int compare_sides_read(compare_sides *sides, char **operands, size_t count)
{
    int code = make_room(sides, count);
    for (size_t i = 0; i < count && code == EX_OK; i++)
        code = add_side(sides, &operands[i], 1);
    return code;
}

int compare_sides_read_two(compare_sides *sides, char **baseline, size_t baseline_count,
                           char **candidate, size_t candidate_count)
{
    int code = make_room(sides, 2);
    if (code == EX_OK)
        code = add_side(sides, baseline, baseline_count);
    return code == EX_OK ? add_side(sides, candidate, candidate_count) : code;
}

/* Choose the runs of the history with which the candidate is compared. The query asks for as many
 * additional runs as the candidate has, because some of the runs found may be the candidate's own
 * and are left out. */
static int read_baseline(const assay_compare_side *candidate, const char *branch, size_t last,
                         assay_compare_side *baseline)
{
    const assay_record *first = candidate->records[0];
    assay__store *store;
    assay__store_figures figures;
    if (assay__store_figures_of(first, &figures) != ASSAY_OK) {
        assay__store_figures_release(&figures);
        return out_of_memory();
    }
    assay__store_filter filter = {.benchmark = figures.count > 0 ? figures.items[0].benchmark : "",
                                  .machine = assay__store_machine(first, history_machine()),
                                  .branch = branch,
                                  .last = (last > 0 ? last : LAST_RUNS) + candidate->count};
    int code = history_open("compare", false, &store);
    if (code == EX_OK)
        code = history_read_side("compare", store, &filter, candidate, "history", baseline);
    assay__store_close(store);
    if (code == EX_OK) {
        size_t most = last > 0 ? last : LAST_RUNS;
        size_t spare = baseline->count > most ? baseline->count - most : 0;
        const assay_record **records = (const assay_record **)(uintptr_t)baseline->records;
        for (size_t i = 0; i < spare; i++) /* leave out the earliest runs */
            assay_record_free((assay_record *)(uintptr_t)records[i]);
        memmove(records, records + spare, (baseline->count - spare) * sizeof *records);
        baseline->count -= spare;
    }
    if (code == EX_OK && baseline->count == 0) {
        message_error("assay compare: the history has no run of '%.200s' on '%.200s'%s%.100s yet",
                      filter.benchmark, filter.machine, branch != NULL ? " and branch " : "",
                      branch != NULL ? branch : "");
        code = EX_NOINPUT;
    }
    assay__store_figures_release(&figures);
    return code;
}

int compare_sides_read_history(compare_sides *sides, char **candidate, size_t count,
                               const char *branch, size_t last)
{
    int code = make_room(sides, 2);
    if (code != EX_OK)
        return code;
    sides->sides[0] = (assay_compare_side)ASSAY_COMPARE_SIDE_INIT;
    sides->count = 1;
    code = add_side(sides, candidate, count);
    return code == EX_OK ? read_baseline(&sides->sides[1], branch, last, &sides->sides[0]) : code;
}

void compare_sides_release(compare_sides *sides)
{
    for (size_t i = 0; i < sides->count; i++) {
        for (size_t k = 0; k < sides->sides[i].count; k++)
            assay_record_free((assay_record *)(uintptr_t)sides->sides[i].records[k]);
        free((void *)(uintptr_t)sides->sides[i].records);
    }
    free(sides->sides);
    *sides = (compare_sides){0};
}
