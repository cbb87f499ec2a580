/* How a time grows with a size n: 1, log n, n, n log n, n^2, n^3, or a free power of n.
 *
 *     assay_growth *growth = NULL;
 *     if (assay_growth_fit(sizes, seconds, count, &error, &growth) != ASSAY_OK) ...
 *     printf("%s\n", assay_growth_class_name(growth->growth_class));     // "n log n"
 *     assay_growth_free(growth);
 *
 * Every class is fitted as t = overhead + coefficient * g(n), overhead >= 0, to relative errors:
 * 5 % of a microsecond weigh as much as 5 % of an hour. docs/growth.md gives models, selection rule
 * and how often it is right.
 *
 * `power` is chosen only when every other class is rejected at 1 %. When two classes explain the
 * data about equally well, the result is the more probable one; `conclusive` is then false, and
 * `reason` names the other class. Without repeats the noise is not known, and curves that are no
 * class (an exponential, a sum of two classes, a jump, a bend) may explain the data as well: they
 * make the result inconclusive too.
 *
 * Threads: any; nothing is shared between calls.
 */
#ifndef ASSAY_GROWTH_H
#define ASSAY_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_growth_class {
    ASSAY_GROWTH_UNKNOWN, /* too little data to name one */
    ASSAY_GROWTH_CONSTANT,
    ASSAY_GROWTH_LOG,
    ASSAY_GROWTH_LINEAR,
    ASSAY_GROWTH_LINEAR_LOG,
    ASSAY_GROWTH_QUADRATIC,
    ASSAY_GROWTH_CUBIC,
    ASSAY_GROWTH_POWER
} assay_growth_class;

enum {
    ASSAY_GROWTH_CANDIDATES = 7, /* the classes that can be chosen, POWER the last */
    ASSAY_GROWTH_MIN_SIZES = 3,  /* different n below which no class is named */
    ASSAY_GROWTH_MAX_SIZES = 16384
};

/* "1", "log n", "n", "n log n", "n^2", "n^3", "power"; NULL for UNKNOWN. Static storage. */
ASSAY_API const char *assay_growth_class_name(assay_growth_class growth_class);

/* One class, fitted. */
typedef struct assay_growth_candidate {
    assay_growth_class growth_class;
    bool possible;           /* false: it cannot be fitted (log n below n = 1); the rest is 0 */
    double overhead_seconds; /* >= 0 */
    double coefficient;      /* seconds per unit of g(n) */
    double exponent;         /* of n, for POWER */
    double relative_error;   /* root mean square deviation of the data from the curve: 0.05 = 5 % */
    assay_reading p_value;   /* of the lack-of-fit test */
    bool rejected;           /* p_value < 1 % */
    double weight;        /* probability among the named classes, all equally likely beforehand */
    uint64_t reserved[4]; /* zero */
} assay_growth_candidate;

/* The times at one n. */
typedef struct assay_growth_size {
    double n;
    size_t count; /* values */
    double median_seconds;
    double fitted_seconds; /* by the chosen class; 0 when there is none */
} assay_growth_size;

typedef struct assay_growth {
    assay_growth_class growth_class;
    bool conclusive;
    char reason[256]; /* why not conclusive; empty if it is */
    /* The exponent b of the closest curve t = overhead + c n^b, and its 95 % interval. It is about
     * 1 for `n`, and the answer itself for `power`. For `n log n` it is the power that the curve
     * resembles over these sizes (1.15 from 100 to 10 000, nearer to 1 for larger ones). For `1`
     * the model has no overhead. */
    assay_reading exponent, low, high;
    assay_reading overhead_seconds, coefficient; /* of the chosen class */
    assay_reading r_squared;                     /* of log t; not for `1`, where it is 0 */
    assay_reading noise;  /* relative standard deviation of one value, taken as 0.001 at least */
    size_t value_count;   /* given */
    size_t outlier_count; /* left out: far from the other values at the same n */
    size_t size_count;
    assay_growth_size *sizes;                                   /* by n, ascending */
    assay_growth_candidate candidates[ASSAY_GROWTH_CANDIDATES]; /* in the order of the enum */
    char name[256]; /* of what grows, for people and JSON; empty until the caller gives it one */
} assay_growth;

/* Fit all classes to `count` pairs, in any order; several values at one n show the noise and make
 * the answer sharper. Every n and every time must be finite and above zero (ASSAY_E_ARGUMENT names
 * the pair). Too few different n give class UNKNOWN and a reason, not an error. ASSAY_E_LIMIT above
 * ASSAY_GROWTH_MAX_SIZES different n. Costs a few milliseconds for ten sizes, and grows with the
 * number of different n. Free with assay_growth_free. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_fit(const double *sizes, const double *seconds,
                                                       size_t count, assay_error *error,
                                                       assay_growth **growth);
ASSAY_API void assay_growth_free(assay_growth *growth);

/* The time that the chosen class predicts for a size. The reading is missing if there is no class
 * or if n <= 0. */
ASSAY_API assay_reading assay_growth_predict(const assay_growth *growth, double n);

/* Print class, formula, exponent and what speaks against them; the sizes with median, fitted time
 * and deviation; the predicted times of 10 and 100 times the largest size; a plot on logarithmic
 * axes; every class with its lack-of-fit p-value. 80 columns. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_print(const assay_growth *growth, FILE *stream,
                                                         assay_error *error);

/* Print the plot alone: medians ('o') and fitted curve ('.'), 78 columns by 14 lines. Nothing is
 * printed for fewer than two sizes. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_print_plot(const assay_growth *growth,
                                                              FILE *stream, assay_error *error);

/* Print everything as one JSON object: `class`, `exponent`, `low`, `high` and the other fields. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_print_json(const assay_growth *growth,
                                                              FILE *stream, assay_error *error);

/* ---- benchmarks of several sizes ----------------------------------------------------------------
 */

typedef struct assay_growth_sweep {
    const char *parameter; /* the key of the size; belongs to the record */
    assay_growth **series; /* one for each command; its name has {n} for the size */
    size_t count;
    uint64_t reserved[2]; /* zero */
} assay_growth_sweep;

/* Fit every series of the record. `parameter` NULL: the one parameter that is a number above 0 for
 * every subject and differs between them; given, subjects without it are left out. `metric` NULL:
 * wall time; else one of the subjects' measures ("cpu_seconds"). Subjects belong to one series if
 * their other parameters are equal; where several have all parameters equal, as the commands of a
 * sweep, the first of them belongs to the first series, and so on. ASSAY_E_DATA with the reason if
 * the record is no sweep of sizes. Release the sweep, also after a failure. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_sweep_fit(const assay_record *record,
                                                             const char *parameter,
                                                             const char *metric, assay_error *error,
                                                             assay_growth_sweep *result);
ASSAY_API void assay_growth_sweep_release(assay_growth_sweep *released);

/* ---- tables of sizes and times ----------------------------------------------------------------
 */

typedef struct assay_growth_table {
    double *sizes;
    double *seconds;
    size_t count;
} assay_growth_table;

enum { ASSAY_GROWTH_TABLE_MAX_BYTES = 256 << 20 };

/* Read a CSV file ("-": standard input) with a column of sizes and one of times. `size_column` and
 * `seconds_column` choose columns by their name in the first line or by number, counted from 1.
 * NULL chooses the columns "n" and "seconds"; in a file without a line of names or with just two
 * columns it chooses the first and the second. Fields are separated by commas, semicolons, tabs or
 * blanks, and may be quoted; lines that are empty or begin with '#' are skipped. Numbers are
 * written with a decimal point whatever the locale, or with a decimal comma where commas do not
 * separate. A row whose two values are not finite and above zero is ASSAY_E_FORMAT with its line
 * number, as is a column that is not there; ASSAY_E_LIMIT above ASSAY_GROWTH_TABLE_MAX_BYTES,
 * or above what the environment variable ASSAY_MAX_INPUT says.
 * Release the table with assay_growth_table_release; after a failure it is empty. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_table_read(const char *path,
                                                              const char *size_column,
                                                              const char *seconds_column,
                                                              assay_error *error,
                                                              assay_growth_table *table);
ASSAY_API void assay_growth_table_release(assay_growth_table *table);

#ifdef __cplusplus
}
#endif

#endif
