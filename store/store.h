/* Runs over time, in a database: one row a run, one a figure, and the whole record.
 *
 *     assay__store *store = NULL;
 *     if (assay__store_open("postgresql://bench@db/assay", true, &error, &store) != ASSAY_OK) ...
 *     if (assay__store_save(store, record, NULL, &error, &saved) != ASSAY_OK) ...
 *     assay__store_close(store);
 *
 * A location that begins with "postgresql://" or "postgres://" is a server's; any other is the path
 * of a SQLite database. Schema and queries are the same (docs/history.md has the schema).
 *
 * A call that changes the history is one transaction: after ASSAY_OK it is on the disk, after
 * anything else nothing of it is there. Several processes may write at once. One thread at a time
 * uses a store. */
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

/* Is the library of the databases there: libpq for a server, else SQLite? ASSAY_E_UNSUPPORTED, with
 * what to install in the message. */
ASSAY_MUST_USE assay_status assay__store_probe(bool server, assay_error *error);

/* `create` makes the database and its tables if they are not there. Otherwise ASSAY_E_NOT_FOUND
 * says that there is no history. ASSAY_E_VERSION: a newer assay made it. ASSAY_E_FORMAT: the file
 * is something else. */
ASSAY_MUST_USE assay_status assay__store_open(const char *location, bool create, assay_error *error,
                                              assay__store **store);
void assay__store_close(assay__store *store);

/* ---- Saving --------------------------------------------------------------------------------- */

/* Names longer than this many bytes are cut and end in a hash of the whole. */
enum { ASSAY__STORE_NAME_MAX = 900 };

typedef struct assay__store_saved {
    int64_t run;    /* its number in this history */
    bool was_there; /* the same record was saved before; nothing was changed */
} assay__store_saved;

/* Save a record without its events. `machine` is what groups runs that may be compared; NULL: the
 * host name in the record. */
ASSAY_MUST_USE assay_status assay__store_save(assay__store *store, const assay_record *record,
                                              const char *machine, assay_error *error,
                                              assay__store_saved *saved);

/* The run as which the same record was saved, or 0. */
ASSAY_MUST_USE assay_status assay__store_find_record(assay__store *store,
                                                     const assay_record *record, assay_error *error,
                                                     int64_t *run);

/* The name under which runs of this record's machine are saved; `machine` as above. */
const char *assay__store_machine(const assay_record *record, const char *machine);

/* ---- Finding -------------------------------------------------------------------------------- */

/* NULL and 0 choose everything. */
typedef struct assay__store_filter {
    const char *benchmark; /* '*' stands for any characters */
    const char *name;      /* of the run */
    const char *metric;
    const char *machine, *branch, *tag;
    const char *commit; /* its beginning */
    int64_t run;
    int64_t since, until; /* seconds since 1970: since ≤ created < until */
    size_t last;          /* at most so many, the most recent ones */
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

/* The record of a run. ASSAY_E_NOT_FOUND if there is no such run. Caller frees. The document is the
 * same as text, one line of JSON, to be freed with free(). */
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

/* A step of the level: the run points[at] is the first on the new one. */
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
    double level; /* the median before the first change, of all points where there is none */
} assay__store_series;

typedef struct assay__store_series_list {
    assay__store_series *items; /* by benchmark, metric and machine */
    size_t count, capacity;
    assay__arena *arena;
} assay__store_series_list;

/* The series that the benchmark, metric and machine of the filter choose, without their points. */
ASSAY_MUST_USE assay_status assay__store_find_series(assay__store *store,
                                                     const assay__store_filter *filter,
                                                     assay_error *error,
                                                     assay__store_series_list *list);

/* The points of one of them that the rest of the filter chooses, and the steps among them. */
ASSAY_MUST_USE assay_status assay__store_read_series(assay__store *store,
                                                     const assay__store_filter *filter,
                                                     assay_error *error,
                                                     assay__store_series_list *list, size_t index);
void assay__store_series_list_release(assay__store_series_list *list);

/* ---- Changing ------------------------------------------------------------------------------- */

/* Give all these runs a tag, or take it away. One that is there already is no error. */
ASSAY_MUST_USE assay_status assay__store_tag(assay__store *store, const assay__store_runs *runs,
                                             const char *tag, bool remove, assay_error *error);

typedef struct assay__store_retention {
    int64_t before; /* delete runs created before these seconds since 1970; 0: none */
    size_t keep;    /* delete runs that are not among the last so many of any series; 0: none */
    bool tagged;    /* delete runs with a tag as well */
    bool dry;       /* only count */
} assay__store_retention;

/* A run is deleted if either rule says so. */
ASSAY_MUST_USE assay_status assay__store_prune(assay__store *store,
                                               const assay__store_retention *rules,
                                               assay_error *error, size_t *deleted);

#endif
