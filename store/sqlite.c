/* The driver for SQLite. It loads the library at run time, because `assay run` must not hold memory
 * that it does not need.
 *
 * The database uses the rollback journal and not the write-ahead log. So a database on a read-only
 * disk can be read, and a single file is the whole history. Writers wait for each other, at most a
 * minute. With `synchronous = FULL` (the default) a run is on the disk before saving returns. */
#include "store/driver.h"

#include "base/error.h"

#ifdef ASSAY_HAVE_SQLITE

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/library.h"

enum { WAIT_MS = 60 * 1000 };

static const char library_name[] = "libsqlite3.so.0";

#define CALLS(X)                                                                                   \
    X(open_v2)                                                                                     \
    X(close)                                                                                       \
    X(errmsg)                                                                                      \
    X(busy_timeout)                                                                                \
    X(prepare_v2)                                                                                  \
    X(bind_parameter_index)                                                                        \
    X(bind_null)                                                                                   \
    X(bind_int64)                                                                                  \
    X(bind_double)                                                                                 \
    X(bind_text)                                                                                   \
    X(step)                                                                                        \
    X(column_count)                                                                                \
    X(column_type)                                                                                 \
    X(column_int64)                                                                                \
    X(column_double)                                                                               \
    X(column_text)                                                                                 \
    X(finalize)                                                                                    \
    X(extended_errcode)

static struct {
    pthread_once_t once;
    const char *missing; /* the name of what could not be found, or NULL */
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
    CALLS(MEMBER)
#undef MEMBER
} library = {.once = PTHREAD_ONCE_INIT};

static void open_library(void)
{
#define SYMBOL(name) {"sqlite3_" #name, &library.name},
    const assay__store_symbol symbols[] = {CALLS(SYMBOL)};
#undef SYMBOL
    library.missing = assay__store_load(library_name, symbols, sizeof symbols / sizeof *symbols);
}

static const char *sqlite_load(void)
{
    pthread_once(&library.once, open_library);
    return library.missing;
}

/* Translate an error code of SQLite. */
static assay_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return ASSAY_E_FULL;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return ASSAY_E_PERMISSION;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return ASSAY_E_FORMAT;
    case SQLITE_NOMEM:
        return ASSAY_E_MEMORY;
    case SQLITE_TOOBIG:
        return ASSAY_E_LIMIT;
    default:
        return ASSAY_E_IO;
    }
}

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "; another program has kept it locked for a minute";
    case SQLITE_FULL:
        return "; make room on the disk";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return "; the file and its folder must be writable";
    case SQLITE_NOTADB:
        return "; ASSAY_HISTORY names a file that is no history";
    default:
        return "";
    }
}

static assay_status fail(sqlite3 *database, assay_error *error)
{
    int code = library.extended_errcode(database);
    return assay__fail(error, status_of(code), "the history cannot be used: %s%s",
                       library.errmsg(database), advice(code));
}

static assay_status sqlite_open(const char *location, bool create, assay_error *error,
                                void **connection)
{
    sqlite3 *database = NULL;
    *connection = NULL;
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if (library.open_v2(location, &database, flags, NULL) != SQLITE_OK) {
        assay_status status = database != NULL
                                  ? fail(database, error)
                                  : assay__fail(error, ASSAY_E_MEMORY, "out of memory");
        library.close(database);
        return status;
    }
    library.busy_timeout(database, WAIT_MS);
    *connection = database;
    return ASSAY_OK;
}

static int bind(sqlite3_stmt *statement, size_t number, const assay__store_value *value)
{
    char name[24];
    snprintf(name, sizeof name, "$%zu", number);
    int at = library.bind_parameter_index(statement, name);
    if (at == 0)
        return SQLITE_OK; /* the statement does not use it */
    switch (value->kind) {
    case ASSAY__STORE_INTEGER:
        return library.bind_int64(statement, at, value->integer);
    case ASSAY__STORE_REAL:
        return library.bind_double(statement, at, value->real);
    case ASSAY__STORE_TEXT:
        return library.bind_text(statement, at, value->text, -1, SQLITE_STATIC);
    default:
        return library.bind_null(statement, at);
    }
}

enum { CELLS_MAX = 16 };

static assay_status take_row(sqlite3_stmt *statement, assay__store_row *row, void *context)
{
    assay__store_value cells[CELLS_MAX];
    int count = library.column_count(statement);
    count = count < CELLS_MAX ? count : CELLS_MAX;
    for (int i = 0; i < count; i++) {
        assay__store_value *cell = &cells[i];
        *cell = (assay__store_value){.kind = ASSAY__STORE_NULL};
        int type = library.column_type(statement, i);
        if (type == SQLITE_INTEGER) {
            cell->kind = ASSAY__STORE_INTEGER;
            cell->integer = library.column_int64(statement, i);
            cell->real = (double)cell->integer;
        } else if (type == SQLITE_FLOAT) {
            cell->kind = ASSAY__STORE_REAL;
            cell->real = library.column_double(statement, i);
        } else if (type != SQLITE_NULL) {
            cell->kind = ASSAY__STORE_TEXT;
            cell->text = (const char *)library.column_text(statement, i);
            if (cell->text == NULL)
                return ASSAY_E_MEMORY;
        }
    }
    return row(context, cells, (size_t)count);
}

static assay_status run_statement(sqlite3 *database, sqlite3_stmt *statement,
                                  const assay__store_value *values, size_t count,
                                  assay__store_row *row, void *context, assay_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (bind(statement, i + 1, &values[i]) != SQLITE_OK)
            return fail(database, error);
    int code;
    while ((code = library.step(statement)) == SQLITE_ROW) {
        assay_status status = row != NULL ? take_row(statement, row, context) : ASSAY_OK;
        if (status != ASSAY_OK)
            return status;
    }
    return code == SQLITE_DONE ? ASSAY_OK : fail(database, error);
}

static assay_status run_statements(sqlite3 *database, const char *sql,
                                   const assay__store_value *values, size_t count,
                                   assay__store_row *row, void *context, assay_error *error)
{
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK && *sql != '\0') {
        sqlite3_stmt *statement = NULL;
        if (library.prepare_v2(database, sql, -1, &statement, &sql) != SQLITE_OK)
            return fail(database, error);
        if (statement != NULL)
            status = run_statement(database, statement, values, count, row, context, error);
        library.finalize(statement);
    }
    return status;
}

/* Ignore the signal by which the kernel ends a process that writes beyond the limit of a file's
 * size. SQLite then reports an error, and nothing is half saved. A program that is measured must
 * not inherit this, so it holds for one call. */
static void ignore_limit(struct sigaction *before)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &ignore, before);
}

static assay_status sqlite_execute(void *connection, const char *sql,
                                   const assay__store_value *values, size_t count,
                                   assay__store_row *row, void *context, assay_error *error)
{
    struct sigaction before;
    ignore_limit(&before);
    assay_status status = run_statements(connection, sql, values, count, row, context, error);
    sigaction(SIGXFSZ, &before, NULL);
    return status;
}

static void sqlite_close(void *connection)
{
    struct sigaction before;
    ignore_limit(&before);
    library.close(connection);
    sigaction(SIGXFSZ, &before, NULL);
}

#endif

const assay__store_driver assay__store_sqlite = {
    .name = "SQLite",
    .identity = "INTEGER PRIMARY KEY",
    .key = "INTEGER PRIMARY KEY",
    .covering = "",
    .clustered = "WITHOUT ROWID",
    .begin = "BEGIN IMMEDIATE",
    .exists = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'assay_history'",
    .foreign = "SELECT COUNT(*) FROM sqlite_master",
    .package = "libsqlite3-dev",
    .run_package = "libsqlite3-0",
#ifdef ASSAY_HAVE_SQLITE
    .load = sqlite_load,
    .open = sqlite_open,
    .execute = sqlite_execute,
    .close = sqlite_close,
#endif
};
