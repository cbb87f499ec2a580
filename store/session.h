/* What the parts of the store share: a connection, SQL that is put together, one number asked. */
#ifndef ASSAY_STORE_SESSION_H
#define ASSAY_STORE_SESSION_H

#include "base/buffer.h"
#include "store/driver.h"
#include "store/store.h"

struct assay__store {
    const assay__store_driver *driver;
    void *connection;
};

/* SQL with its parameters. The first failed append sticks in `sql.status`. */
enum { ASSAY__QUERY_VALUES = 320 };
typedef struct assay__query {
    assay__buffer sql;
    assay__store_value values[ASSAY__QUERY_VALUES];
    size_t count;
} assay__query;

void assay__query_init(assay__query *query, const char *sql);
void assay__query_release(assay__query *query);

/* Append SQL, then "$N" and the value; the text is borrowed. NULL text is NULL. */
void assay__query_text(assay__query *query, const char *sql, const char *text);
void assay__query_integer(assay__query *query, const char *sql, int64_t value);
void assay__query_real(assay__query *query, const char *sql, double value);
void assay__query_sql(assay__query *query, const char *sql);

/* " AND column = $N", with LIKE where the text has a '*'. */
void assay__query_match(assay__query *query, assay__arena *arena, const char *column,
                        const char *text);

ASSAY_MUST_USE assay_status assay__query_run(assay__store *store, const assay__query *query,
                                             assay__store_row *row, void *context,
                                             assay_error *error);

/* SQL without parameters. */
ASSAY_MUST_USE assay_status assay__store_execute(assay__store *store, const char *sql,
                                                 assay_error *error);

/* For assay__query_run: the first cell of the row, an int64_t. */
assay_status assay__store_take_integer(void *context, const assay__store_value *cells,
                                       size_t count);

ASSAY_MUST_USE assay_status assay__store_begin(assay__store *store, assay_error *error);
/* Commit after ASSAY_OK, else roll back and return `status`. */
ASSAY_MUST_USE assay_status assay__store_end(assay__store *store, assay_status status,
                                             assay_error *error);

/* A copy in the arena; NULL when out of memory. */
const char *assay__store_copy(assay__arena *arena, const char *text);

#endif
