/* Opens a store and makes its schema, builds SQL queries with parameters, and runs transactions.
 * The schema is made inside a transaction that excludes other writers, so that two processes that
 * open a new history at the same time do not both make it. */
#include "store/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SQL_MAXIMUM = 1 << 20 };

/* ---- SQL ------------------------------------------------------------------------------------ */

void assay__query_init(assay__query *query, const char *sql)
{
    query->count = 0;
    assay__buffer_init(&query->sql, SQL_MAXIMUM);
    assay__buffer_append_text(&query->sql, sql);
}

void assay__query_release(assay__query *query)
{
    assay__buffer_release(&query->sql);
}

static void add(assay__query *query, const char *sql, assay__store_value value)
{
    if (query->count == ASSAY__QUERY_VALUES) {
        query->sql.status = ASSAY_E_LIMIT;
        return;
    }
    query->values[query->count++] = value;
    assay__buffer_printf(&query->sql, "%s$%zu", sql, query->count);
}

void assay__query_text(assay__query *query, const char *sql, const char *text)
{
    add(query, sql,
        (assay__store_value){.kind = text != NULL ? ASSAY__STORE_TEXT : ASSAY__STORE_NULL,
                             .text = text});
}

void assay__query_integer(assay__query *query, const char *sql, int64_t value)
{
    add(query, sql, (assay__store_value){.kind = ASSAY__STORE_INTEGER, .integer = value});
}

void assay__query_real(assay__query *query, const char *sql, double value)
{
    add(query, sql, (assay__store_value){.kind = ASSAY__STORE_REAL, .real = value});
}

void assay__query_sql(assay__query *query, const char *sql)
{
    assay__buffer_append_text(&query->sql, sql);
}

/* Translate a text with '*' into a pattern of LIKE: "a*b" becomes "a%b". The characters that have a
 * meaning in LIKE are escaped. */
static const char *pattern_of(assay__arena *arena, const char *text)
{
    char *pattern = assay__arena_allocate(arena, 2 * strlen(text) + 1, 1), *to = pattern;
    for (; pattern != NULL && *text != '\0'; text++) {
        if (*text == '%' || *text == '_' || *text == '\\')
            *to++ = '\\';
        *to++ = *text == '*' ? '%' : *text;
    }
    return pattern;
}

void assay__query_match(assay__query *query, assay__arena *arena, const char *column,
                        const char *text)
{
    if (text == NULL)
        return;
    assay__buffer_printf(&query->sql, " AND %s ", column);
    if (strchr(text, '*') == NULL) {
        assay__query_text(query, "= ", text);
        return;
    }
    const char *pattern = pattern_of(arena, text);
    if (pattern == NULL)
        query->sql.status = ASSAY_E_MEMORY;
    assay__query_text(query, "LIKE ", pattern);
    assay__query_sql(query, " ESCAPE '\\'");
}

assay_status assay__query_run(assay__store *store, const assay__query *query, assay__store_row *row,
                              void *context, assay_error *error)
{
    if (query->sql.status != ASSAY_OK)
        return assay__fail(error, query->sql.status, "a query of the history: %s",
                           assay_status_message(query->sql.status));
    assay_status status = store->driver->execute(store->connection, query->sql.data, query->values,
                                                 query->count, row, context, error);
    return status == ASSAY_E_MEMORY ? assay__fail(error, status, "out of memory") : status;
}

assay_status assay__store_execute(assay__store *store, const char *sql, assay_error *error)
{
    return store->driver->execute(store->connection, sql, NULL, 0, NULL, NULL, error);
}

assay_status assay__store_take_integer(void *context, const assay__store_value *cells, size_t count)
{
    if (count > 0 && cells[0].kind == ASSAY__STORE_INTEGER)
        *(int64_t *)context = cells[0].integer;
    return ASSAY_OK;
}

assay_status assay__store_begin(assay__store *store, assay_error *error)
{
    return assay__store_execute(store, store->driver->begin, error);
}

assay_status assay__store_end(assay__store *store, assay_status status, assay_error *error)
{
    if (status == ASSAY_OK)
        status = assay__store_execute(store, "COMMIT", error);
    if (status != ASSAY_OK) /* also after a failed commit; the first failure is returned */
        (void)!assay__store_execute(store, "ROLLBACK", NULL);
    return status;
}

const char *assay__store_copy(assay__arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = assay__arena_allocate(arena, size, 1);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

/* ---- opening -------------------------------------------------------------------------------- */

enum { SCHEMA_VERSION = 1 };

/* Make the tables. The key of the figures orders them as queries read them: by series, then by
 * time. Names are short enough for an index (ASSAY__STORE_NAME_MAX). The documents, which only
 * `show`, `compare` and `export` need, have a table of their own, so that the rows of runs are
 * small and lie close together. */
static assay_status make_schema(assay__store *store, assay_error *error)
{
    const assay__store_driver *d = store->driver;
    assay__query query;
    assay__query_init(&query, "");
    assay__buffer_printf(
        &query.sql,
        "CREATE TABLE assay_history (version INTEGER NOT NULL);"
        "INSERT INTO assay_history (version) VALUES (%d);"
        "CREATE TABLE assay_run (id %s, token TEXT NOT NULL UNIQUE, created BIGINT NOT NULL,"
        " kind TEXT NOT NULL, name TEXT NOT NULL, machine TEXT NOT NULL,"
        " commit_id TEXT NOT NULL, branch TEXT NOT NULL);"
        "CREATE INDEX assay_run_created ON assay_run (created, id);"
        "CREATE TABLE assay_document (run %s, document TEXT NOT NULL);"
        "CREATE TABLE assay_series (id %s, benchmark TEXT NOT NULL, metric TEXT NOT NULL,"
        " unit TEXT NOT NULL, machine TEXT NOT NULL, UNIQUE (benchmark, metric, machine));"
        "CREATE TABLE assay_figure (series BIGINT NOT NULL, created BIGINT NOT NULL,"
        " run BIGINT NOT NULL, value DOUBLE PRECISION NOT NULL,"
        " PRIMARY KEY (series, created, run) %s) %s;"
        "CREATE TABLE assay_tag (run BIGINT NOT NULL, tag TEXT NOT NULL,"
        " PRIMARY KEY (run, tag)) %s;"
        "CREATE INDEX assay_tag_tag ON assay_tag (tag, run);",
        SCHEMA_VERSION, d->identity, d->key, d->identity, d->covering, d->clustered, d->clustered);
    assay_status status = assay__query_run(store, &query, NULL, NULL, error);
    assay__query_release(&query);
    return status;
}

/* Execute a query whose result is one integer. */
static assay_status ask(assay__store *store, const char *sql, assay_error *error, int64_t *answer)
{
    *answer = 0;
    return store->driver->execute(store->connection, sql, NULL, 0, assay__store_take_integer,
                                  answer, error);
}

static assay_status check_version(assay__store *store, assay_error *error)
{
    int64_t version;
    assay_status status = ask(store, "SELECT MAX(version) FROM assay_history", error, &version);
    if (status == ASSAY_OK && version > SCHEMA_VERSION)
        status =
            assay__fail(error, ASSAY_E_VERSION,
                        "the history was made by a newer assay: its schema is %lld, this assay "
                        "knows up to %d; update assay, or name another with ASSAY_HISTORY",
                        (long long)version, SCHEMA_VERSION);
    return status;
}

/* Make the schema if it does not exist, within a transaction that excludes other writers. A SQLite
 * file that has tables of another program is refused. */
static assay_status make_if_missing(assay__store *store, assay_error *error)
{
    int64_t there = 0, others = 0;
    assay_status status = assay__store_begin(store, error);
    if (status != ASSAY_OK)
        return status;
    status = ask(store, store->driver->exists, error, &there);
    if (status == ASSAY_OK && there == 0 && store->driver->foreign != NULL)
        status = ask(store, store->driver->foreign, error, &others);
    if (status == ASSAY_OK && others > 0)
        status = assay__fail(error, ASSAY_E_FORMAT,
                             "the file is a database of something else, with %lld tables and "
                             "indices; name another with ASSAY_HISTORY",
                             (long long)others);
    if (status == ASSAY_OK && there == 0)
        status = make_schema(store, error);
    return assay__store_end(store, status, error);
}

static assay_status prepare(assay__store *store, bool create, assay_error *error)
{
    int64_t there;
    assay_status status = ASSAY_OK;
    if (store->driver == &assay__store_sqlite) /* LIKE of PostgreSQL is case-sensitive already */
        status = assay__store_execute(store, "PRAGMA case_sensitive_like = ON", error);
    if (status == ASSAY_OK)
        status = ask(store, store->driver->exists, error, &there);
    if (status == ASSAY_OK && there == 0 && create)
        status = make_if_missing(store, error);
    else if (status == ASSAY_OK && there == 0)
        status = assay__fail(error, ASSAY_E_NOT_FOUND,
                             "there is no history in this database; save a run with --save first");
    return status == ASSAY_OK ? check_version(store, error) : status;
}

bool assay__store_is_server(const char *location)
{
    return strncmp(location, "postgresql://", 13) == 0 || strncmp(location, "postgres://", 11) == 0;
}

static const assay__store_driver *driver_of(bool server)
{
    return server ? &assay__store_postgresql : &assay__store_sqlite;
}

assay_status assay__store_probe(bool server, assay_error *error)
{
    const assay__store_driver *driver = driver_of(server);
    if (driver->load == NULL)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "this assay was built without %s; install %s and build assay again",
                           driver->name, driver->package);
    const char *missing = driver->load();
    return missing == NULL ? ASSAY_OK
                           : assay__fail(error, ASSAY_E_UNSUPPORTED,
                                         "a history in %s needs %s, which is not there: install %s",
                                         driver->name, missing, driver->run_package);
}

assay_status assay__store_open(const char *location, bool create, assay_error *error,
                               assay__store **store)
{
    assay__store *made = calloc(1, sizeof *made);
    *store = NULL;
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    made->driver = driver_of(assay__store_is_server(location));
    assay_status status = assay__store_probe(assay__store_is_server(location), error);
    if (status == ASSAY_OK)
        status = made->driver->open(location, create, error, &made->connection);
    if (status == ASSAY_OK)
        status = prepare(made, create, error);
    if (status == ASSAY_OK)
        *store = made;
    else
        assay__store_close(made);
    return status;
}

void assay__store_close(assay__store *store)
{
    if (store == NULL)
        return;
    if (store->connection != NULL)
        store->driver->close(store->connection);
    free(store);
}
