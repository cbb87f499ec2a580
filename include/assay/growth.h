/* How a time grows with a size n: 1, log n, n, n log n, n^2, n^3, or a free power of n.
 *
 *     assay_growth *growth = NULL;
 *     if (assay_growth_fit(sizes, seconds, count, &error, &growth) != ASSAY_OK) ...
 *     printf("%s\n", assay_growth_class_name(growth->growth_class));     // "n log n"
 *     assay_growth_free(growth);
 *
 * Every class is fitted as t = overhead + coefficient * g(n) with overhead >= 0. The fit minimises
 * relative errors: 5 % of a microsecond weigh as much as 5 % of an hour. docs/growth.md describes
 * the models, the rule that selects a class, and how often the rule is right.
 *
 * `power` is chosen only if every other class is rejected at 1 %. If two classes explain the data
 * about equally well, the result is the more probable one; `conclusive` is then false, and `reason`
 * names the other class. If no size was measured more than once, the noise is not known. Then other
 * curves (an exponential, a sum of two classes, a jump, a bend) may explain the data as well as a
 * class does, and they make the result inconclusive, too.
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
    ASSAY_GROWTH_CANDIDATES = 7,   /* the classes that can be chosen; POWER is the last */
    ASSAY_GROWTH_MIN_SIZES = 3,    /* no class is named with fewer different n */
    ASSAY_GROWTH_MAX_SIZES = 16384 /* different n */
};

/* "1", "log n", "n", "n log n", "n^2", "n^3", "power"; NULL for UNKNOWN. Static storage. */
ASSAY_API const char *assay_growth_class_name(assay_growth_class growth_class);

/* One class, fitted. */
typedef struct assay_growth_candidate {
    assay_growth_class growth_class;
    bool possible;           /* false: it cannot be fitted (log n if n < 1); the rest is then 0 */
    double overhead_seconds; /* >= 0 */
    double coefficient;      /* seconds per unit of g(n) */
    double exponent;         /* of n, for POWER */
    double relative_error;   /* root mean square deviation of the data from the curve: 0.05 = 5 % */
    assay_reading p_value;   /* of the lack-of-fit test */
    bool rejected;           /* p_value < 1 % */
    double weight;        /* probability among the named classes, with equal prior probabilities */
    uint64_t reserved[4]; /* zero */
} assay_growth_candidate;

/* The times at one n. */
typedef struct assay_growth_size {
    double n;
    size_t count; /* values */
    double median_seconds;
    double fitted_seconds; /* by the chosen class; 0 if no class was chosen */
} assay_growth_size;

typedef struct assay_growth {
    assay_growth_class growth_class;
    bool conclusive;
    char reason[256]; /* why not conclusive; empty if it is */
    /* The exponent b of the closest curve t = overhead + c n^b, and its 95 % interval. For class
     * `n` it is about 1. For `power` it is the exponent of the class itself. For `n log n` it is
     * the power that the curve resembles over these sizes: 1.15 from 100 to 10 000, nearer to 1 for
     * larger sizes. For class `1` the model has no overhead. */
    assay_reading exponent, low, high;
    assay_reading overhead_seconds, coefficient; /* of the chosen class */
    assay_reading r_squared;                     /* of log t; missing for `1`, as it would be 0 */
    assay_reading noise;  /* relative standard deviation of one value; at least 0.001 */
    size_t value_count;   /* values given */
    size_t outlier_count; /* values left out: far from the other values at the same n */
    size_t size_count;
    assay_growth_size *sizes;                                   /* by n, ascending */
    assay_growth_candidate candidates[ASSAY_GROWTH_CANDIDATES]; /* in the order of the enum */
    char name[256]; /* of what grows, for output and JSON; empty unless the caller sets it */
    /* The measure that grows, such as "peak_rss_bytes": the figures that are called seconds are
     * then in its unit, and are printed as bytes or joules. Empty for times. */
    char metric[64];
} assay_growth;

/* Fit all classes to `count` pairs of size and time, in any order. Several values at one n show the
 * noise and make the answer more certain. Every n and every time must be finite and above zero;
 * otherwise the call fails with ASSAY_E_ARGUMENT and the error names the pair. It fails with
 * ASSAY_E_LIMIT above ASSAY_GROWTH_MAX_SIZES different n. Too few different n give class UNKNOWN
 * and a reason, not an error. The call takes a few milliseconds for ten sizes, and more for more
 * different n. Free the result with assay_growth_free. */
ASSAY_API ASSAY_MUST_USE assay_status assay_growth_fit(const double *sizes, const double *seconds,
                                                       size_t count, assay_error *error,
                                                       assay_growth **growth);
ASSAY_API void assay_growth_free(assay_growth *growth);

/* The time that the chosen class predicts for a size. The reading is missing if there is no class
 * or if n <= 0. */
ASSAY_API assay_reading assay_growth_predict(const assay_growth *growth, double n);

/* Print a report of 80 columns: class, formula, exponent and the evidence against them; the sizes
 * with median, fitted time and deviation; the predicted times at 10 and 100 times the largest size;
 * a plot on logarithmic axes; and every class with its lack-of-fit p-value. */
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
    const char *parameter; /* the key of the parameter that is the size; belongs to the record */
    assay_growth **series; /* one for each command; {n} in its name stands for the size */
    size_t count;
    uint64_t reserved[2]; /* zero */
} assay_growth_sweep;

/* Fit every series of a record whose subjects were measured at several sizes.
 *
 * `parameter` names the parameter that is the size; subjects without it are left out. NULL chooses
 * the only parameter that is a number above 0 for every subject and differs between subjects.
 * `metric` is one of the subjects' measures ("cpu_seconds", "peak_rss_bytes"); NULL is wall time.
 *
 * Subjects belong to one series if their other parameters are equal. If several subjects have all
 * parameters equal, as the commands of a sweep have, then the first of them belongs to the first
 * series, the second to the second series, and so on. The call fails with ASSAY_E_DATA if the
 * record is no sweep of sizes; `error` has the reason. Release the sweep, also after a failure. */
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

/* Read a CSV file with a column of sizes and a column of times. The path "-" is standard input.
 *
 * `size_column` and `seconds_column` choose columns by their name in the first line or by number,
 * counted from 1. NULL chooses the columns "n" and "seconds". In a file without a line of names or
 * with just two columns, NULL chooses the first and the second column.
 *
 * Fields are separated by commas, semicolons, tabs or blanks, and may be quoted. Lines that are
 * empty or begin with '#' are skipped. Numbers have a decimal point in every locale. A decimal
 * comma is accepted where commas do not separate fields.
 *
 * The call fails with ASSAY_E_FORMAT for a row whose two values are not finite and above zero (the
 * error gives its line number), for a column that does not exist, and where it cannot be known
 * whether the sizes have separators of thousands or decimals ("1,600"). It fails with ASSAY_E_LIMIT
 * for a file larger than ASSAY_GROWTH_TABLE_MAX_BYTES, or larger than the environment variable
 * ASSAY_MAX_INPUT allows. Release the table with assay_growth_table_release; after a failure it is
 * empty. */
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
