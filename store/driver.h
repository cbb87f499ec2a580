/* What the history asks of a database: open, execute, close. There is one driver for SQLite and one
 * for PostgreSQL; everything above them is one text of SQL for both.
 *
 * Parameters are written $1, $2, … in the SQL. The drivers open their library when the first
 * database is opened, so that a command which needs no history neither loads nor needs it. */
#ifndef ASSAY_STORE_DRIVER_H
#define ASSAY_STORE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef enum assay__store_kind {
    ASSAY__STORE_NULL,
    ASSAY__STORE_INTEGER,
    ASSAY__STORE_REAL,
    ASSAY__STORE_TEXT
} assay__store_kind;

/* A parameter, or a cell of a result. */
typedef struct assay__store_value {
    assay__store_kind kind;
    int64_t integer;
    double real;      /* also of an integer cell */
    const char *text; /* borrowed; of a cell until the row function returns */
} assay__store_value;

/* Called for each row of a result. Another status than ASSAY_OK ends the statement with it. */
typedef assay_status assay__store_row(void *context, const assay__store_value *cells, size_t count);

typedef struct assay__store_driver {
    const char *name;                 /* "SQLite" */
    const char *identity, *key;       /* types of columns in the schema */
    const char *covering, *clustered; /* words behind a primary key, and behind a table */
    const char *begin;                /* a transaction that writes */
    const char *exists;               /* how many tables "assay_history" there are */
    const char *foreign;              /* how many tables of others forbid ours, or NULL */
    const char *package;              /* of Debian, without which it is built with no calls */
    const char *run_package;          /* of Debian, without which the library is not there */
    /* Load the library once. What could not be found of it, or NULL. This and the three below are
     * NULL if the driver was built without the headers of the library. */
    const char *(*load)(void);
    /* Open what the location names, after load() succeeded; `create` allows an empty database to
     * come into being. */
    assay_status (*open)(const char *location, bool create, assay_error *error, void **connection);
    /* Execute the SQL; without parameters it may be several statements. `row` may be NULL. */
    assay_status (*execute)(void *connection, const char *sql, const assay__store_value *values,
                            size_t count, assay__store_row *row, void *context, assay_error *error);
    void (*close)(void *connection);
} assay__store_driver;

extern const assay__store_driver assay__store_sqlite;
extern const assay__store_driver assay__store_postgresql;

#endif
