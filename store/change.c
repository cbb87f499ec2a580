/* Changes the history: gives runs a tag or takes it away, and deletes old runs. Each call is one
 * transaction. */
#include "base/error.h"
#include "store/figures.h"
#include "store/session.h"

/* ---- tags ----------------------------------------------------------------------------------- */

static assay_status tag_run(assay__store *store, int64_t run, const char *tag, bool remove,
                            assay_error *error)
{
    assay__query query;
    if (remove) {
        assay__query_init(&query, "DELETE FROM assay_tag WHERE run = ");
        assay__query_integer(&query, "", run);
        assay__query_text(&query, " AND tag = ", tag);
    } else {
        assay__query_init(&query, "INSERT INTO assay_tag (run, tag) VALUES (");
        assay__query_integer(&query, "", run);
        assay__query_text(&query, ", ", tag);
        assay__query_sql(&query, ") ON CONFLICT (run, tag) DO NOTHING");
    }
    assay_status status = assay__query_run(store, &query, NULL, NULL, error);
    assay__query_release(&query);
    return status;
}

assay_status assay__store_tag(assay__store *store, const assay__store_runs *runs, const char *tag,
                              bool remove, assay_error *error)
{
    const char *name = assay__store_name(runs->arena, tag);
    if (name == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    assay_status status = assay__store_begin(store, error);
    if (status != ASSAY_OK)
        return status;
    for (size_t i = 0; i < runs->count && status == ASSAY_OK; i++)
        status = tag_run(store, runs->items[i].id, name, remove, error);
    return assay__store_end(store, status, error);
}

/* ---- retention ------------------------------------------------------------------------------ */

/* Append " FROM assay_run r WHERE …", which chooses the runs that the rules delete. */
static void append_doomed(assay__query *query, const assay__store_retention *rules)
{
    assay__query_sql(query, " FROM assay_run r WHERE (1 = 0");
    if (rules->before != 0)
        assay__query_integer(query, " OR r.created < ", rules->before);
    if (rules->keep > 0) {
        assay__query_integer(query,
                             " OR r.id NOT IN (SELECT k.run FROM (SELECT f.run AS run,"
                             " ROW_NUMBER() OVER (PARTITION BY f.series"
                             " ORDER BY f.created DESC, f.run DESC) AS place"
                             " FROM assay_figure f) k WHERE k.place <= ",
                             (int64_t)rules->keep);
        assay__query_sql(query, ")");
    }
    assay__query_sql(query, ")");
    if (!rules->tagged)
        assay__query_sql(query, " AND NOT EXISTS (SELECT 1 FROM assay_tag t WHERE t.run = r.id)");
}

static assay_status count_doomed(assay__store *store, const assay__store_retention *rules,
                                 assay_error *error, size_t *count)
{
    assay__query query;
    int64_t found = 0;
    assay__query_init(&query, "SELECT COUNT(*)");
    append_doomed(&query, rules);
    assay_status status = assay__query_run(store, &query, assay__store_take_integer, &found, error);
    assay__query_release(&query);
    *count = (size_t)found;
    return status;
}

static assay_status delete_runs(assay__store *store, const assay__store_retention *rules,
                                assay_error *error)
{
    assay__query query;
    assay__query_init(&query, "DELETE FROM assay_run WHERE id IN (SELECT r.id");
    append_doomed(&query, rules);
    assay__query_sql(&query, ")");
    assay_status status = assay__query_run(store, &query, NULL, NULL, error);
    assay__query_release(&query);
    if (status != ASSAY_OK)
        return status;
    return assay__store_execute(
        store,
        "DELETE FROM assay_figure WHERE run NOT IN (SELECT id FROM assay_run);"
        "DELETE FROM assay_document WHERE run NOT IN (SELECT id FROM assay_run);"
        "DELETE FROM assay_tag WHERE run NOT IN (SELECT id FROM assay_run);"
        "DELETE FROM assay_series WHERE NOT EXISTS"
        " (SELECT 1 FROM assay_figure f WHERE f.series = assay_series.id)",
        error);
}

assay_status assay__store_prune(assay__store *store, const assay__store_retention *rules,
                                assay_error *error, size_t *deleted)
{
    *deleted = 0;
    if (rules->dry)
        return count_doomed(store, rules, error, deleted);
    assay_status status = assay__store_begin(store, error);
    if (status != ASSAY_OK)
        return status;
    status = count_doomed(store, rules, error, deleted);
    if (status == ASSAY_OK && *deleted > 0)
        status = delete_runs(store, rules, error);
    return assay__store_end(store, status, error);
}
