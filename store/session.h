/* What the files of the store share: the connection, the construction of SQL queries, and
 * transactions. */
#ifndef ASSAY_STORE_SESSION_H
#define ASSAY_STORE_SESSION_H

#include "base/buffer.h"
#include "store/driver.h"
#include "store/store.h"

struct assay__store {
    const assay__store_driver *driver;
    void *connection;
};

/* SQL with its parameters. After a failed append, `sql.status` keeps the failure, and
 * assay__query_run() returns it. */
enum { ASSAY__QUERY_VALUES = 320 };
typedef struct assay__query {
    assay__buffer sql;
    assay__store_value values[ASSAY__QUERY_VALUES];
    size_t count;
} assay__query;

void assay__query_init(assay__query *query, const char *sql);
void assay__query_release(assay__query *query);

/* Append SQL, then "$N", and add the value as parameter N. The query borrows the text. A text that
 * is NULL becomes the NULL of SQL. */
void assay__query_text(assay__query *query, const char *sql, const char *text);
void assay__query_integer(assay__query *query, const char *sql, int64_t value);
void assay__query_real(assay__query *query, const char *sql, double value);
void assay__query_sql(assay__query *query, const char *sql);

/* Append the condition " AND column = $N", or one with LIKE if the text has a '*', which stands for
 * any characters. If the text is NULL, nothing is appended. */
void assay__query_match(assay__query *query, assay__arena *arena, const char *column,
                        const char *text);

/* Execute the query. `row` is called for each row of the result and may be NULL. */
ASSAY_MUST_USE assay_status assay__query_run(assay__store *store, const assay__query *query,
                                             assay__store_row *row, void *context,
                                             assay_error *error);

/* Execute SQL without parameters; it may be several statements. */
ASSAY_MUST_USE assay_status assay__store_execute(assay__store *store, const char *sql,
                                                 assay_error *error);

/* A row function for assay__query_run(): it stores the first cell of the row into the int64_t that
 * `context` points to. */
assay_status assay__store_take_integer(void *context, const assay__store_value *cells,
                                       size_t count);

/* Begin a transaction that writes. It waits for other writers. */
ASSAY_MUST_USE assay_status assay__store_begin(assay__store *store, assay_error *error);
/* Commit if `status` is ASSAY_OK. Otherwise, or if the commit fails, roll back and return the
 * failure. */
ASSAY_MUST_USE assay_status assay__store_end(assay__store *store, assay_status status,
                                             assay_error *error);

/* A copy in the arena; NULL when out of memory. */
const char *assay__store_copy(assay__arena *arena, const char *text);

#endif
