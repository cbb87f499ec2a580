/* The driver for PostgreSQL. It loads libpq at run time, because libpq loads the libraries of TLS,
 * Kerberos and LDAP as well.
 *
 * Transactions that write take an advisory lock first. Without it, two transactions that enter the
 * same new series in a different order would wait for each other, and two that make the schema
 * would collide. A run takes milliseconds to save, so no writer waits long. */
#include "store/driver.h"

#include "base/error.h"

#ifdef ASSAY_HAVE_POSTGRESQL

#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "store/library.h"

static const char library_name[] = "libpq.so.5";

#define CALLS(X)                                                                                   \
    X(connectdbParams)                                                                             \
    X(finish)                                                                                      \
    X(status)                                                                                      \
    X(errorMessage)                                                                                \
    X(exec)                                                                                        \
    X(execParams)                                                                                  \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(ntuples)                                                                                     \
    X(nfields)                                                                                     \
    X(ftype)                                                                                       \
    X(getisnull)                                                                                   \
    X(getvalue)                                                                                    \
    X(clear)                                                                                       \
    X(setNoticeProcessor)

static struct {
    pthread_once_t once;
    const char *missing; /* the name of what could not be found, or NULL */
#define MEMBER(name) __typeof__(PQ##name) *name;
    CALLS(MEMBER)
#undef MEMBER
} library = {.once = PTHREAD_ONCE_INIT};

static void open_library(void)
{
#define SYMBOL(name) {"PQ" #name, &library.name},
    const assay__store_symbol symbols[] = {CALLS(SYMBOL)};
#undef SYMBOL
    library.missing = assay__store_load(library_name, symbols, sizeof symbols / sizeof *symbols);
}

static const char *postgresql_load(void)
{
    pthread_once(&library.once, open_library);
    return library.missing;
}

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* Copy the first line of a message of the library. */
static void first_line(const char *message, char *line, size_t size)
{
    snprintf(line, size, "%.*s", (int)strcspn(message, "\n"), message);
}

static assay_status postgresql_open(const char *location, bool create, assay_error *error,
                                    void **connection)
{
    (void)create;
    *connection = NULL;
    /* libpq takes the last value of a key, so values in the location override those before it. */
    const char *const keys[] = {"connect_timeout", "tcp_user_timeout", "application_name",
                                "dbname",          "client_encoding",  NULL};
    const char *const values[] = {"10", "30000", "assay", location, "UTF8", NULL};
    PGconn *made = library.connectdbParams(keys, values, 1);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    if (library.status(made) != CONNECTION_OK) {
        char line[256];
        first_line(library.errorMessage(made), line, sizeof line);
        assay__fail(error, ASSAY_E_IO, "the history's server cannot be reached: %s", line);
        library.finish(made);
        return ASSAY_E_IO;
    }
    library.setNoticeProcessor(made, ignore_notice, NULL);
    *connection = made;
    return ASSAY_OK;
}

/* Translate an SQLSTATE (appendix A of PostgreSQL's manual). */
static assay_status status_of(const char *state)
{
    if (state == NULL || strlen(state) != 5)
        return ASSAY_E_IO;
    if (strcmp(state, "53100") == 0)
        return ASSAY_E_FULL;
    if (strcmp(state, "42501") == 0 || strcmp(state, "25006") == 0 || strncmp(state, "28", 2) == 0)
        return ASSAY_E_PERMISSION;
    if (strcmp(state, "54000") == 0)
        return ASSAY_E_LIMIT;
    return ASSAY_E_IO;
}

static assay_status fail(PGconn *made, const PGresult *result, assay_error *error)
{
    char line[256];
    const char *state = result != NULL ? library.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    first_line(library.errorMessage(made), line, sizeof line);
    bool gone = library.status(made) != CONNECTION_OK;
    return assay__fail(
        error, gone ? ASSAY_E_IO : status_of(state),
        gone ? "the history's server went away: %s" : "the history's server refused: %s", line);
}

/* The object identifiers of column types, from the catalogue pg_type. */
enum { TYPE_INT8 = 20, TYPE_INT2 = 21, TYPE_INT4 = 23, TYPE_FLOAT4 = 700, TYPE_FLOAT8 = 701 };

static assay__store_value read_cell(const PGresult *result, int row, int column)
{
    assay__store_value cell = {.kind = ASSAY__STORE_NULL};
    if (library.getisnull(result, row, column))
        return cell;
    cell.text = library.getvalue(result, row, column);
    switch (library.ftype(result, column)) {
    case TYPE_INT8:
    case TYPE_INT4:
    case TYPE_INT2:
        cell.kind = ASSAY__STORE_INTEGER;
        cell.integer = strtoll(cell.text, NULL, 10);
        cell.real = (double)cell.integer;
        break;
    case TYPE_FLOAT8:
    case TYPE_FLOAT4:
        cell.kind = ASSAY__STORE_REAL;
        cell.real = strtod(cell.text, NULL);
        break;
    default:
        cell.kind = ASSAY__STORE_TEXT;
    }
    return cell;
}

enum { CELLS_MAX = 16 };

static assay_status take_rows(const PGresult *result, assay__store_row *row, void *context)
{
    assay__store_value cells[CELLS_MAX];
    int rows = library.ntuples(result), columns = library.nfields(result);
    columns = columns < CELLS_MAX ? columns : CELLS_MAX;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < rows && status == ASSAY_OK; i++) {
        for (int k = 0; k < columns; k++)
            cells[k] = read_cell(result, i, k);
        status = row(context, cells, (size_t)columns);
    }
    return status;
}

/* A parameter as text. A number is written into `room`; NULL stays NULL. */
static const char *write_value(const assay__store_value *value, char room[ASSAY__JSON_NUMBER_BYTES])
{
    switch (value->kind) {
    case ASSAY__STORE_INTEGER:
        snprintf(room, ASSAY__JSON_NUMBER_BYTES, "%lld", (long long)value->integer);
        return room;
    case ASSAY__STORE_REAL:
        assay__json_format_number(room, value->real);
        return room;
    case ASSAY__STORE_TEXT:
        return value->text;
    default:
        return NULL;
    }
}

static PGresult *send(PGconn *made, const char *sql, const assay__store_value *values, size_t count)
{
    if (count == 0)
        return library.exec(made, sql);
    const char **texts = calloc(count, sizeof *texts);
    char(*rooms)[ASSAY__JSON_NUMBER_BYTES] = calloc(count, sizeof *rooms);
    PGresult *result = NULL;
    if (texts != NULL && rooms != NULL) {
        for (size_t i = 0; i < count; i++)
            texts[i] = write_value(&values[i], rooms[i]);
        result = library.execParams(made, sql, (int)count, NULL, texts, NULL, NULL, 0);
    }
    free(rooms);
    free(texts);
    return result;
}

static assay_status postgresql_execute(void *connection, const char *sql,
                                       const assay__store_value *values, size_t count,
                                       assay__store_row *row, void *context, assay_error *error)
{
    PGconn *made = connection;
    PGresult *result = send(made, sql, values, count);
    ExecStatusType ended = result != NULL ? library.resultStatus(result) : PGRES_FATAL_ERROR;
    assay_status status = ASSAY_OK;
    if (ended != PGRES_COMMAND_OK && ended != PGRES_TUPLES_OK)
        status = fail(made, result, error);
    else if (row != NULL)
        status = take_rows(result, row, context);
    library.clear(result);
    return status;
}

static void postgresql_close(void *connection)
{
    library.finish(connection);
}

#endif

const assay__store_driver assay__store_postgresql = {
    .name = "PostgreSQL",
    .identity = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    .key = "BIGINT PRIMARY KEY",
    .covering = "INCLUDE (value)",
    .clustered = "",
    .begin = "BEGIN; SELECT pg_advisory_xact_lock(7021802512)",
    .exists = "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass('assay_history')",
    .foreign = NULL,
    .package = "libpq-dev",
    .run_package = "libpq5",
#ifdef ASSAY_HAVE_POSTGRESQL
    .load = postgresql_load,
    .open = postgresql_open,
    .execute = postgresql_execute,
    .close = postgresql_close,
#endif
};
