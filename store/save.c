/* Saves a run in one transaction of few statements, each with up to ROWS figures, because a server
 * may be far away. The token of a run is a hash of its document: if the same record is saved twice,
 * the database finds the token and changes nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "record/fact.h"
#include "store/figures.h"
#include "store/session.h"

enum { ROWS = 64, TOKEN_BYTES = 33 };
static const size_t DOCUMENT_MAXIMUM = (size_t)256 << 20;

/* ---- what is saved -------------------------------------------------------------------------- */

/* Everything that is saved of a record. */
typedef struct parcel {
    char *document;
    size_t length;
    char token[TOKEN_BYTES];
    int64_t created;
    const char *kind, *name, *machine, *commit, *branch;
    assay__store_figures figures;
} parcel;

static int64_t parse_created(const char *created)
{
    struct tm parts = {0};
    const char *end = created != NULL ? strptime(created, "%Y-%m-%dT%H:%M:%S", &parts) : NULL;
    return end != NULL ? (int64_t)timegm(&parts) : (int64_t)time(NULL);
}

const char *assay__store_machine(const assay_record *record, const char *machine)
{
    const char *host = assay__fact_value(record->machine, record->machine_count, "hostname");
    return machine != NULL && *machine != '\0' ? machine : host != NULL ? host : "(unknown)";
}

static const char *git_fact(const assay_record *record, const char *key)
{
    const char *value = assay__fact_value(record->git, record->git_count, key);
    return value != NULL ? value : "";
}

static assay_status write_document(const assay_record *record, assay_error *error, parcel *made)
{
    FILE *stream = open_memstream(&made->document, &made->length);
    if (stream == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    assay_status status = assay_record_print(record, stream, ASSAY_RECORD_COMPACT, error);
    if (fclose(stream) != 0 && status == ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    if (status != ASSAY_OK)
        return status;
    while (made->length > 0 && made->document[made->length - 1] == '\n')
        made->document[--made->length] = '\0';
    if (made->length > DOCUMENT_MAXIMUM)
        return assay__fail(error, ASSAY_E_LIMIT,
                           "a record of %zu MiB is too large for the history, which takes %zu",
                           made->length >> 20, DOCUMENT_MAXIMUM >> 20);
    snprintf(made->token, sizeof made->token, "%016" PRIx64 "%016" PRIx64,
             assay__store_hash(made->document, made->length, UINT64_C(14695981039346656037)),
             assay__store_hash(made->document, made->length, UINT64_C(0x9e3779b97f4a7c15)));
    return ASSAY_OK;
}

static void parcel_release(parcel *made)
{
    free(made->document);
    assay__store_figures_release(&made->figures);
}

static assay_status parcel_make(const assay_record *record, const char *machine, assay_error *error,
                                parcel *made)
{
    *made = (parcel){.created = parse_created(record->created)};
    assay_status status = write_document(record, error, made);
    if (status != ASSAY_OK)
        return status;
    if (assay__store_figures_of(record, &made->figures) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    assay__arena *arena = made->figures.arena;
    made->kind = assay__store_name(arena, record->kind != NULL ? record->kind : "");
    made->name = assay__store_name(arena, record->name != NULL    ? record->name
                                          : record->study != NULL ? record->study
                                          : made->figures.count > 0 &&
                                                  made->figures.items[0].benchmark != NULL
                                              ? made->figures.items[0].benchmark
                                              : "");
    made->machine = assay__store_name(arena, assay__store_machine(record, machine));
    made->commit = assay__store_name(arena, git_fact(record, "commit"));
    made->branch = assay__store_name(arena, git_fact(record, "branch"));
    bool whole = made->kind != NULL && made->name != NULL && made->machine != NULL &&
                 made->commit != NULL && made->branch != NULL;
    return whole ? ASSAY_OK : assay__fail(error, ASSAY_E_MEMORY, "out of memory");
}

/* ---- statements ----------------------------------------------------------------------------- */

static assay_status insert_run(assay__store *store, const parcel *made, assay_error *error,
                               int64_t *run)
{
    assay__query query;
    assay__query_init(&query, "INSERT INTO assay_run (token, created, kind, name, machine,"
                              " commit_id, branch) VALUES (");
    assay__query_text(&query, "", made->token);
    assay__query_integer(&query, ", ", made->created);
    assay__query_text(&query, ", ", made->kind);
    assay__query_text(&query, ", ", made->name);
    assay__query_text(&query, ", ", made->machine);
    assay__query_text(&query, ", ", made->commit);
    assay__query_text(&query, ", ", made->branch);
    assay__query_sql(&query, ") ON CONFLICT (token) DO NOTHING RETURNING id");
    *run = 0;
    assay_status status = assay__query_run(store, &query, assay__store_take_integer, run, error);
    assay__query_release(&query);
    return status;
}

static assay_status find_run(assay__store *store, const char *token, assay_error *error,
                             int64_t *run)
{
    assay__query query;
    assay__query_init(&query, "SELECT id FROM assay_run WHERE token = ");
    assay__query_text(&query, "", token);
    assay_status status = assay__query_run(store, &query, assay__store_take_integer, run, error);
    assay__query_release(&query);
    return status;
}

/* Begin a query with the figures from `first` to `end` as a table "v". */
static void name_rows(assay__query *query, const assay__store_figures *figures, size_t first,
                      size_t end)
{
    assay__query_init(query, "WITH v (benchmark, metric, unit, value) AS (VALUES ");
    for (size_t i = first; i < end; i++) {
        const assay__store_figure *it = &figures->items[i];
        assay__query_text(query, i > first ? ", (CAST(" : "(CAST(", it->benchmark);
        assay__query_text(query, " AS TEXT), CAST(", it->metric);
        assay__query_text(query, " AS TEXT), CAST(", it->unit);
        assay__query_real(query, " AS TEXT), CAST(", it->value);
        assay__query_sql(query, " AS DOUBLE PRECISION))");
    }
    assay__query_sql(query, ") ");
}

static assay_status insert_rows(assay__store *store, const parcel *made, int64_t run, size_t first,
                                size_t end, assay_error *error)
{
    assay__query query;
    name_rows(&query, &made->figures, first, end);
    assay__query_text(&query,
                      "INSERT INTO assay_series (benchmark, metric, unit, machine)"
                      " SELECT v.benchmark, v.metric, v.unit, CAST(",
                      made->machine);
    assay__query_text(&query,
                      " AS TEXT) FROM v WHERE NOT EXISTS (SELECT 1 FROM assay_series s"
                      " WHERE s.benchmark = v.benchmark AND s.metric = v.metric AND s.machine = ",
                      made->machine);
    assay__query_sql(&query, ") ON CONFLICT (benchmark, metric, machine) DO NOTHING");
    assay_status status = assay__query_run(store, &query, NULL, NULL, error);
    assay__query_release(&query);
    if (status != ASSAY_OK)
        return status;
    name_rows(&query, &made->figures, first, end);
    assay__query_integer(&query,
                         "INSERT INTO assay_figure (series, created, run, value)"
                         " SELECT s.id, CAST(",
                         made->created);
    assay__query_integer(&query, " AS BIGINT), CAST(", run);
    assay__query_text(&query,
                      " AS BIGINT), v.value FROM v JOIN assay_series s ON"
                      " s.benchmark = v.benchmark AND s.metric = v.metric AND s.machine = ",
                      made->machine);
    status = assay__query_run(store, &query, NULL, NULL, error);
    assay__query_release(&query);
    return status;
}

static assay_status insert_document(assay__store *store, const parcel *made, int64_t run,
                                    assay_error *error)
{
    assay__query query;
    assay__query_init(&query, "INSERT INTO assay_document (run, document) VALUES (");
    assay__query_integer(&query, "", run);
    assay__query_text(&query, ", ", made->document);
    assay__query_sql(&query, ")");
    assay_status status = assay__query_run(store, &query, NULL, NULL, error);
    assay__query_release(&query);
    return status;
}

static assay_status insert_all(assay__store *store, const parcel *made, assay_error *error,
                               assay__store_saved *saved)
{
    assay_status status = insert_run(store, made, error, &saved->run);
    saved->was_there = status == ASSAY_OK && saved->run == 0;
    if (saved->was_there)
        return find_run(store, made->token, error, &saved->run);
    for (size_t i = 0; i < made->figures.count && status == ASSAY_OK; i += ROWS) {
        size_t end = i + ROWS < made->figures.count ? i + ROWS : made->figures.count;
        status = insert_rows(store, made, saved->run, i, end, error);
    }
    return status == ASSAY_OK ? insert_document(store, made, saved->run, error) : status;
}

assay_status assay__store_save(assay__store *store, const assay_record *record, const char *machine,
                               assay_error *error, assay__store_saved *saved)
{
    parcel made;
    *saved = (assay__store_saved){0};
    assay_status status = parcel_make(record, machine, error, &made);
    if (status == ASSAY_OK)
        status = assay__store_begin(store, error);
    if (status == ASSAY_OK)
        status = assay__store_end(store, insert_all(store, &made, error, saved), error);
    parcel_release(&made);
    return status;
}

assay_status assay__store_find_record(assay__store *store, const assay_record *record,
                                      assay_error *error, int64_t *run)
{
    parcel made = {0};
    *run = 0;
    assay_status status = write_document(record, error, &made);
    if (status == ASSAY_OK)
        status = find_run(store, made.token, error, run);
    parcel_release(&made);
    return status;
}
