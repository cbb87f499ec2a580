/* Imports runs into the history and exports them. The format has one line of JSON for each run
 * (store/line.h). Import also reads single records and results of other tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/report.h"
#include "cli/common/ascii.h"
#include "cli/common/history.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/history_command.h"
#include "store/line.h"

/* ---- import --------------------------------------------------------------------------------- */

typedef struct tally {
    size_t added, known;
} tally;

static assay_status save_line(const history_call *call, const assay__store_line *line,
                              assay_error *error, tally *counted)
{
    assay__store_saved saved;
    const char *machine = line->machine != NULL ? line->machine : call->settings->machine;
    assay_status status = assay__store_save(call->store, line->record, machine, error, &saved);
    if (status != ASSAY_OK)
        return status;
    counted->added += !saved.was_there;
    counted->known += saved.was_there;
    if (line->tag_count == 0)
        return ASSAY_OK;
    assay__store_runs runs;
    assay__store_filter filter = {.run = saved.run};
    status = assay__store_find_runs(call->store, &filter, error, &runs);
    for (size_t i = 0; i < line->tag_count && status == ASSAY_OK; i++)
        status = assay__store_tag(call->store, &runs, line->tags[i], false, error);
    assay__store_runs_release(&runs);
    return status;
}

/* Print why a run could not be imported. `number` is the number of its line, or 0 if the file is
 * one record. Returns the exit code. */
static int refuse(const char *path, size_t number, assay_status status, const assay_error *error)
{
    const char *message = error->message[0] != '\0' ? error->message : assay_status_message(status);
    if (number > 0)
        message_error("assay history import: %.200s, line %zu: %s", path, number, message);
    else
        message_error("assay history import: %s", message);
    return history_exit(status);
}

static int import_lines(const history_call *call, const char *path, FILE *stream, tally *counted)
{
    char *text = NULL;
    size_t capacity = 0, number = 0;
    int code = EX_OK;
    ssize_t length;
    while (code == EX_OK && (length = getline(&text, &capacity, stream)) >= 0) {
        assay__store_line line;
        assay_error error = {0};
        number++;
        if (strspn(text, " \t\r\n") == (size_t)length)
            continue;
        assay_status status = assay__store_line_read(text, (size_t)length, &error, &line);
        if (status == ASSAY_OK) {
            status = save_line(call, &line, &error, counted);
            assay__store_line_release(&line);
        }
        if (status != ASSAY_OK)
            code = refuse(path, number, status, &error);
    }
    if (code == EX_OK && ferror(stream)) {
        message_error("assay history import: cannot read '%s': %s", path, strerror(errno));
        code = EX_IOERR;
    }
    free(text);
    return code;
}

static int import_record(const history_call *call, const char *path, tally *counted)
{
    assay__store_line line = {0};
    assay_error error = {0};
    assay_status status = assay_record_load(path, &error, &line.record);
    if (status == ASSAY_OK)
        status = save_line(call, &line, &error, counted);
    assay__store_line_release(&line);
    return status == ASSAY_OK ? EX_OK : refuse(path, 0, status, &error);
}

/* Whether the file has one JSON document per line: its first line is then a complete object. */
static bool has_lines(FILE *stream)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&text, &capacity, stream);
    bool whole = length > 0 && text[0] == '{' &&
                 (strstr(text, "}\n") != NULL || text[length - 1] == '}') && length > 3;
    rewind(stream);
    free(text);
    return whole;
}

static int import_file(const history_call *call, const char *path, tally *counted)
{
    if (strcmp(path, "-") == 0)
        return import_lines(call, "standard input", stdin, counted);
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        message_error("assay history import: cannot read '%s': %s", path, strerror(errno));
        return errno == EACCES ? EX_NOPERM : EX_NOINPUT;
    }
    int code = has_lines(stream) ? import_lines(call, path, stream, counted)
                                 : import_record(call, path, counted);
    fclose(stream);
    return code;
}

int history_import(const history_call *call)
{
    tally counted = {0};
    int code = EX_OK;
    if (call->count == 0) {
        message_error("assay history import: which file? Write: assay history import runs.jsonl");
        return EX_USAGE;
    }
    for (int i = 0; i < call->count && code == EX_OK; i++)
        code = import_file(call, call->operands[i], &counted);
    printf("imported %zu run%s", counted.added, counted.added == 1 ? "" : "s");
    if (counted.known > 0)
        printf(", %zu %s there already", counted.known, counted.known == 1 ? "was" : "were");
    putchar('\n');
    return code;
}

/* ---- export --------------------------------------------------------------------------------- */

typedef struct exported {
    const history_call *call;
    const assay__store_runs *runs;
} exported;

static assay_status print_lines(const void *subject, FILE *stream, assay_error *error)
{
    const exported *what = subject;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < what->runs->count && status == ASSAY_OK && !ferror(stream); i++)
        status = assay__store_line_write(what->call->store, &what->runs->items[i], stream, error);
    return status;
}

int history_export(const history_call *call)
{
    const char *path = call->count > 0 ? call->operands[0] : "-";
    assay__store_runs runs;
    assay_error error = {0};
    if (call->count > 1) {
        message_error("assay history export: one file, got %d", call->count);
        return EX_USAGE;
    }
    int code = output_refuse("history", &path, 1);
    if (code != EX_OK)
        return code;
    assay_status status = assay__store_find_runs(call->store, &call->filter, &error, &runs);
    exported what = {call, &runs};
    if (status != ASSAY_OK) {
        code = history_fail(status, &error);
    } else {
        status = assay_file_save(path, print_lines, &what, &error);
        code = output_check("history", status, &error) ? EX_OK : message_output_exit(status);
    }
    assay__store_runs_release(&runs);
    return code;
}
