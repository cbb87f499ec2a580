/* The interface between the history and a database: load, open, execute, close. There is one driver
 * for SQLite and one for PostgreSQL. The code above the drivers uses the same SQL for both.
 *
 * Parameters are written $1, $2, … in the SQL. A driver loads its library when the first database
 * is opened, so that a command that does not use the history neither loads nor needs the library.
 */
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
    double real;      /* also set in an integer cell */
    const char *text; /* borrowed; the text of a cell is valid until the row function returns */
} assay__store_value;

/* A function that is called for each row of a result. If it returns another status than ASSAY_OK,
 * the statement ends with that status. */
typedef assay_status assay__store_row(void *context, const assay__store_value *cells, size_t count);

typedef struct assay__store_driver {
    const char *name;                 /* "SQLite" */
    const char *identity, *key;       /* column types: a generated key, and a key that is given */
    const char *covering, *clustered; /* words behind a primary key, and behind a table */
    const char *begin;                /* SQL that begins a transaction that writes */
    const char *exists;               /* SQL that counts the tables named "assay_history" */
    const char *foreign;              /* SQL that counts tables of other programs, or NULL */
    const char *package;              /* the Debian package that building the driver needs */
    const char *run_package;          /* the Debian package of the library itself */
    /* Load the library once. Returns the name of what could not be found, or NULL after success.
     * This function and the three below are NULL if the driver was built without the headers of the
     * library. */
    const char *(*load)(void);
    /* Open the database that the location names, after load() has succeeded. With `create` an empty
     * database may be made. */
    assay_status (*open)(const char *location, bool create, assay_error *error, void **connection);
    /* Execute the SQL. Without parameters it may be several statements. `row` may be NULL. */
    assay_status (*execute)(void *connection, const char *sql, const assay__store_value *values,
                            size_t count, assay__store_row *row, void *context, assay_error *error);
    void (*close)(void *connection);
} assay__store_driver;

extern const assay__store_driver assay__store_sqlite;
extern const assay__store_driver assay__store_postgresql;

#endif
