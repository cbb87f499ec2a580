/* The history of runs in a database. It has a row for each run, a row for each figure, and the
 * whole record of each run.
 *
 *     assay__store *store = NULL;
 *     if (assay__store_open("postgresql://bench@db/assay", true, &error, &store) != ASSAY_OK) ...
 *     if (assay__store_save(store, record, NULL, &error, &saved) != ASSAY_OK) ...
 *     assay__store_close(store);
 *
 * A location that begins with "postgresql://" or "postgres://" is the address of a server. Any
 * other location is the path of a SQLite database. Schema and queries are the same for both
 * (docs/history.md has the schema).
 *
 * A call that changes the history is one transaction: after ASSAY_OK the change is on the disk, and
 * after any failure nothing has changed. Several processes may write at the same time. A store may
 * be used by one thread at a time. */
#ifndef ASSAY_STORE_STORE_H
#define ASSAY_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/record.h"
#include "assay/status.h"
#include "base/arena.h"

typedef struct assay__store assay__store;

bool assay__store_is_server(const char *location);

/* Check that the library of the database can be loaded: libpq for a server, otherwise SQLite. If it
 * cannot, returns ASSAY_E_UNSUPPORTED with a message that says what to install. */
ASSAY_MUST_USE assay_status assay__store_probe(bool server, assay_error *error);

/* Open a store. With `create` the database and its tables are made if they do not exist. Without,
 * ASSAY_E_NOT_FOUND means that the database has no history. ASSAY_E_VERSION means that a newer
 * assay made the history, and ASSAY_E_FORMAT that the file is something else. */
ASSAY_MUST_USE assay_status assay__store_open(const char *location, bool create, assay_error *error,
                                              assay__store **store);
void assay__store_close(assay__store *store);

/* ---- Saving --------------------------------------------------------------------------------- */

/* Names longer than this many bytes are cut and end in a hash of the whole name. */
enum { ASSAY__STORE_NAME_MAX = 900 };

typedef struct assay__store_saved {
    int64_t run;    /* the number of the run in this history */
    bool was_there; /* the same record was saved before; nothing was changed */
} assay__store_saved;

/* Save a record without its events. Runs with the same `machine` may be compared with each other.
 * Pass NULL to take the host name from the record. */
ASSAY_MUST_USE assay_status assay__store_save(assay__store *store, const assay_record *record,
                                              const char *machine, assay_error *error,
                                              assay__store_saved *saved);

/* Find the number of the run as which the same record was saved; 0 if it was not saved. */
ASSAY_MUST_USE assay_status assay__store_find_record(assay__store *store,
                                                     const assay_record *record, assay_error *error,
                                                     int64_t *run);

/* The machine name under which this record is saved. `machine` is as for assay__store_save(). */
const char *assay__store_machine(const assay_record *record, const char *machine);

/* ---- Finding -------------------------------------------------------------------------------- */

/* The conditions that a run or a series must meet. A field that is NULL or 0 is no condition. */
typedef struct assay__store_filter {
    const char *benchmark; /* '*' stands for any characters */
    const char *name;      /* of the run */
    const char *metric;
    const char *machine, *branch, *tag;
    const char *commit; /* the beginning of the commit */
    int64_t run;
    int64_t since, until; /* seconds since 1970: since ≤ created < until */
    size_t last;          /* at most this many, the most recent ones */
} assay__store_filter;

typedef struct assay__store_run {
    int64_t id, created;                                 /* seconds since 1970 */
    const char *kind, *name, *machine, *commit, *branch; /* "" if not known */
    const char *tags;                                    /* "a, b" */
} assay__store_run;

typedef struct assay__store_runs {
    assay__store_run *items; /* the earliest first */
    size_t count, capacity;
    assay__arena *arena; /* of the texts */
} assay__store_runs;

ASSAY_MUST_USE assay_status assay__store_find_runs(assay__store *store,
                                                   const assay__store_filter *filter,
                                                   assay_error *error, assay__store_runs *runs);
void assay__store_runs_release(assay__store_runs *runs);

/* Read the record of a run; the caller frees it. The document is the same record as text, one line
 * of JSON; the caller frees it with free(). ASSAY_E_NOT_FOUND if there is no such run. */
ASSAY_MUST_USE assay_status assay__store_read_record(assay__store *store, int64_t run,
                                                     assay_error *error, assay_record **record);
ASSAY_MUST_USE assay_status assay__store_read_document(assay__store *store, int64_t run,
                                                       assay_error *error, char **document);

/* One figure of a run. */
typedef struct assay__store_point {
    int64_t run, created;
    double value;
    const char *commit, *branch;
} assay__store_point;

/* A change point of a series: the run points[at] is the first one on the new level. */
typedef struct assay__store_change {
    size_t at;
    double before, after; /* medians of the two levels */
} assay__store_change;

/* One metric of one benchmark on one machine. */
typedef struct assay__store_series {
    int64_t id;
    const char *benchmark, *metric, *unit, *machine;
    assay__store_point *points; /* the earliest first; filled by assay__store_read_series */
    size_t count, capacity;
    assay__store_change *changes;
    size_t change_count;
    double level; /* the median before the first change, or of all points if there is no change */
} assay__store_series;

typedef struct assay__store_series_list {
    assay__store_series *items; /* by benchmark, metric and machine */
    size_t count, capacity;
    assay__arena *arena;
} assay__store_series_list;

/* Find the series that the benchmark, metric and machine of the filter choose, without their
 * points. */
ASSAY_MUST_USE assay_status assay__store_find_series(assay__store *store,
                                                     const assay__store_filter *filter,
                                                     assay_error *error,
                                                     assay__store_series_list *list);

/* Read the points of one series of the list that the other fields of the filter choose, and find
 * the change points among them. */
ASSAY_MUST_USE assay_status assay__store_read_series(assay__store *store,
                                                     const assay__store_filter *filter,
                                                     assay_error *error,
                                                     assay__store_series_list *list, size_t index);
void assay__store_series_list_release(assay__store_series_list *list);

/* ---- Changing ------------------------------------------------------------------------------- */

/* Give all these runs a tag, or take it away. A run that has the tag already, or does not have it,
 * is no error. */
ASSAY_MUST_USE assay_status assay__store_tag(assay__store *store, const assay__store_runs *runs,
                                             const char *tag, bool remove, assay_error *error);

typedef struct assay__store_retention {
    int64_t before; /* delete runs created before this time (seconds since 1970); 0: no such rule */
    size_t keep;    /* delete runs that are not among the last `keep` of any series; 0: no rule */
    bool tagged;    /* also delete runs that have a tag */
    bool dry;       /* only count the runs */
} assay__store_retention;

/* Delete the runs that either rule chooses. `*deleted` receives their number. */
ASSAY_MUST_USE assay_status assay__store_prune(assay__store *store,
                                               const assay__store_retention *rules,
                                               assay_error *error, size_t *deleted);

#endif
