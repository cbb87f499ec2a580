/* assay fit: says how a time grows with a size. The input is a table of sizes and times from any
 * source, or the record of a sweep. assay_growth_fit() (growth.h) does the fit itself. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "assay/growth.h"
#include "assay/report.h"
#include "base/file.h"
#include "cli/common/commands.h"
#include "cli/common/input.h"
#include "cli/common/message.h"
#include "cli/common/output.h"

enum { EXIT_UNUSABLE = 2 };

typedef struct fit_settings {
    const char *json, *size_column, *seconds_column;
    size_t max_input;
} fit_settings;

static const option fit_options[] = {
    {"json", 'j', OPTION_TEXT, "FILE", "Write the result as JSON; '-' is standard output.",
     offsetof(fit_settings, json)},
    {"max-input", 0, OPTION_BYTES, "SIZE",
     "Largest file to read (default 64M, of tables 256M); a record of 300 MB can take 6 GB of "
     "memory.",
     offsetof(fit_settings, max_input)},
    {"size-column", 'n', OPTION_TEXT, "COLUMN",
     "Name, or number from 1, of the column of sizes (default: n); of a record, the parameter.",
     offsetof(fit_settings, size_column)},
    {"seconds-column", 's', OPTION_TEXT, "COLUMN",
     "Name, or number from 1, of the column of times (default: seconds); of a record, a measure "
     "such as cpu_seconds.",
     offsetof(fit_settings, seconds_column)},
};

static assay_status print_text(const void *context, FILE *stream, assay_error *error)
{
    const assay_growth_sweep *fits = context;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < fits->count && status == ASSAY_OK; i++) {
        if (i > 0)
            fputc('\n', stream);
        status = assay_growth_print(fits->series[i], stream, error);
    }
    return status;
}

/* One fit is printed as one object. Several fits are printed as a list of such objects. */
static assay_status print_json(const void *context, FILE *stream, assay_error *error)
{
    const assay_growth_sweep *fits = context;
    assay_status status = ASSAY_OK;
    if (fits->count > 1)
        fputs("{\"fits\": [\n", stream);
    for (size_t i = 0; i < fits->count && status == ASSAY_OK; i++) {
        if (i > 0)
            fputs(",\n", stream);
        status = assay_growth_print_json(fits->series[i], stream, error);
    }
    if (fits->count > 1)
        fputs("]}\n", stream);
    return status;
}

static int show(const fit_settings *settings, const assay_growth_sweep *fits)
{
    assay_error error = {0};
    assay_status status = settings->json == NULL
                              ? assay_file_save("-", print_text, fits, &error)
                              : assay_file_save(settings->json, print_json, fits, &error);
    if (!output_check("fit", status, &error))
        return message_output_exit(status);
    for (size_t i = 0; i < fits->count; i++)
        if (fits->series[i]->growth_class == ASSAY_GROWTH_UNKNOWN) {
            message_error("assay fit: %s", fits->series[i]->reason);
            return EXIT_UNUSABLE;
        }
    return EX_OK;
}

/* Whether the file is JSON: it begins with a brace, which no table does. A byte order mark may
 * stand before it. The file must be a regular one. Its position does not change. */
static bool is_json(int file)
{
    char chunk[4096];
    off_t at = lseek(file, 0, SEEK_CUR);
    if (pread(file, chunk, 3, at) == 3 && memcmp(chunk, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    for (ssize_t got; (got = pread(file, chunk, sizeof chunk, at)) > 0; at += got)
        for (ssize_t i = 0; i < got; i++)
            if (!isspace((unsigned char)chunk[i]))
                return chunk[i] == '{';
    return false;
}

/* Write all bytes to the end of a file of `length` bytes. Beyond the limit of a file's size the
 * kernel would end the process. False with errno set. */
static bool append(int file, size_t length, const char *bytes, size_t count)
{
    struct rlimit most;
    errno = EFBIG;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < length + count)
        return false;
    for (ssize_t put; count > 0; count -= (size_t)put, bytes += put)
        if ((put = write(file, bytes, count)) <= 0)
            return false;
    return true;
}

/* Copy all that can be read into a file in memory, and go back to its start. A file that is larger
 * than any input may be is not copied to its end: the reader refuses it. Returns -1 with errno set.
 */
static int copy_to_memory(int source)
{
    static char chunk[65536];
    const size_t most = assay__file_maximum(ASSAY_GROWTH_TABLE_MAX_BYTES);
    int copy = memfd_create("input", MFD_CLOEXEC);
    ssize_t got = copy >= 0 ? 1 : -1;
    for (size_t all = 0; got > 0 && all <= most; all += (size_t)got) {
        do
            got = read(source, chunk, sizeof chunk);
        while (got < 0 && errno == EINTR);
        if (got > 0 && !append(copy, all, chunk, (size_t)got))
            got = -1;
    }
    if (got >= 0 && lseek(copy, 0, SEEK_SET) == 0)
        return copy;
    if (copy >= 0)
        close(copy);
    return -1;
}

/* Find out whether the input is the record of a sweep or a table. What comes through a pipe can be
 * read only once, so it is copied to memory, and the copy becomes standard input: `*path` is then
 * "-". */
static assay_status examine(const char **path, assay_error *error, bool *is_record)
{
    const bool standard = strcmp(*path, "-") == 0;
    struct stat info;
    int file = standard ? STDIN_FILENO : open(*path, O_RDONLY | O_CLOEXEC), copy = -1;
    *is_record = false;
    if (file < 0 || fstat(file, &info) != 0 || S_ISDIR(info.st_mode)) {
        if (file > STDIN_FILENO)
            close(file);
        return ASSAY_OK; /* the reader of tables says what is wrong */
    }
    if (S_ISREG(info.st_mode)) {
        *is_record = is_json(file);
    } else {
        copy = copy_to_memory(file);
        if (copy < 0 || dup2(copy, STDIN_FILENO) < 0) {
            snprintf(error->message, sizeof error->message, "cannot read '%s': %s",
                     standard ? "standard input" : *path, strerror(errno));
            error->status = ASSAY_E_IO;
        }
        *is_record = copy >= 0 && is_json(copy);
        *path = "-";
    }
    if (copy >= 0)
        close(copy);
    if (file > STDIN_FILENO)
        close(file);
    return error->status;
}

/* Read a table; it counts as a sweep with one series. */
static assay_status fit_table(const fit_settings *settings, const char *path, assay_error *error,
                              assay_growth_sweep *fits)
{
    assay_growth_table table = {0};
    assay_status status = assay_growth_table_read(path, settings->size_column,
                                                  settings->seconds_column, error, &table);
    fits->series = calloc(1, sizeof *fits->series);
    if (status == ASSAY_OK && fits->series == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        status = ASSAY_E_MEMORY;
    }
    if (status == ASSAY_OK)
        status = assay_growth_fit(table.sizes, table.seconds, table.count, error, fits->series);
    fits->count = status == ASSAY_OK;
    assay_growth_table_release(&table);
    return status;
}

static assay_status fit_record(const fit_settings *settings, const char *path, assay_error *error,
                               assay_growth_sweep *fits)
{
    assay_record *record = NULL;
    assay_status status = assay_record_load(path, error, &record);
    if (status == ASSAY_OK)
        status = assay_growth_sweep_fit(record, settings->size_column, settings->seconds_column,
                                        error, fits);
    fits->parameter = NULL; /* the text belongs to the record, which is freed now */
    assay_record_free(record);
    return status;
}

static int fit_file(const fit_settings *settings, const char *path)
{
    assay_error error = {0};
    assay_growth_sweep fits = {0};
    bool is_record = false;
    assay_status status = examine(&path, &error, &is_record);
    if (status == ASSAY_OK)
        status = is_record ? fit_record(settings, path, &error, &fits)
                           : fit_table(settings, path, &error, &fits);
    int code;
    if (status != ASSAY_OK) {
        message_error("assay fit: %s", error.message);
        code = message_input_exit(status);
    } else {
        code = show(settings, &fits);
    }
    assay_growth_sweep_release(&fits);
    return code;
}

static int fit_main(const command *self, int argc, char **argv)
{
    fit_settings settings = {0};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count != 1) {
        message_error("assay fit: give one file of sizes and times; write: assay fit data.csv or "
                      "assay fit sweep.json");
        return EX_USAGE;
    }
    const char *outputs[] = {settings.json};
    input_set_maximum(settings.max_input);
    code = output_refuse("fit", outputs, 1);
    return code == EX_OK ? fit_file(&settings, operands[0]) : code;
}

const command command_fit = {
    .name = "fit",
    .summary = "tell how a time grows with a size",
    .operands = "DATA.csv|RECORD.json",
    .description =
        "Reads sizes and times (columns n and seconds; several times for one n make the\n"
        "answer sharper), or the record of a sweep ('assay bench --param n=1..1024*2\n"
        "--json'), and finds the class of each command's growth; '-' is standard input.\n"
        "Classes: 1, log n, n, n log n, n^2, n^3, or power, a free power of n, if all\n"
        "others are rejected at 1 %. A fixed overhead is allowed for. Shows the formula,\n"
        "the exponent with a 95 % interval, every size against the curve, and says when\n"
        "the data cannot tell two classes apart. Exit status: 0 a class is given, certain\n"
        "or not; 2 there are too few sizes for any answer; 64 to 74 for errors.",
    COMMAND_OPTIONS(fit_options),
    .main = fit_main,
};
