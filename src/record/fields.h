/* The plain fields of the record's structs. They are described once, for the writer and the reader,
 * so that the two always agree. The JSON key of a field is the name of its member. */
#ifndef ASSAY_RECORD_FIELDS_H
#define ASSAY_RECORD_FIELDS_H

#include <stddef.h>

#include "assay/record.h"

#define ASSAY__RECORD_SCHEMA  "assay-record"
#define ASSAY__RECORD_VERSION 2

typedef enum assay__field_type {
    ASSAY__FIELD_TEXT,          /* const char *, never NULL */
    ASSAY__FIELD_OPTIONAL_TEXT, /* const char *; null is NULL */
    ASSAY__FIELD_RARE_TEXT,     /* the same, but left out while it is NULL */
    ASSAY__FIELD_COUNT,         /* uint64_t */
    ASSAY__FIELD_RARE_COUNT,    /* the same, but left out while it is 0 */
    ASSAY__FIELD_INTEGER,       /* int64_t */
    ASSAY__FIELD_DEPTH,         /* int32_t, not negative */
    ASSAY__FIELD_PARENT,        /* int32_t; null is -1 */
    ASSAY__FIELD_INDEX,         /* uint32_t */
    ASSAY__FIELD_NUMBER,        /* double; null is NaN */
    ASSAY__FIELD_READING,       /* assay_reading; null with its reason in `unavailable` */
    ASSAY__FIELD_RARE_READING,  /* the same, but left out while it is "not measured" */
    ASSAY__FIELD_FLAG,          /* bool */
    ASSAY__FIELD_RARE_FLAG,     /* the same, but left out while it is false */
    ASSAY__FIELD_LANE_KIND,     /* assay_lane_kind, by name */
    ASSAY__FIELD_VERDICT        /* assay_verdict, by name */
} assay__field_type;

typedef struct assay__field {
    const char *key; /* NULL ends a table */
    assay__field_type type;
    size_t offset; /* offset of the member in its struct */
} assay__field;

extern const assay__field assay__record_fields[];           /* assay_record: the top level */
extern const assay__field assay__record_summary_fields[];   /* assay_record_process, top level */
extern const assay__field assay__record_process_fields[];   /* assay_record_process, `process` */
extern const assay__field assay__record_clock_fields[];     /* assay_record_clock */
extern const assay__field assay__record_operation_fields[]; /* without buckets and samples */
extern const assay__field assay__record_metric_fields[];
extern const assay__field assay__record_counter_fields[];
extern const assay__field assay__record_lane_fields[];
extern const assay__field assay__record_open_span_fields[];
extern const assay__field assay__record_subject_fields[]; /* without command, parameters, samples */
extern const assay__field assay__record_member_fields[];
extern const assay__field assay__record_device_fields[];
extern const assay__field assay__record_python_fields[]; /* without the arrays */
extern const assay__field assay__record_code_fields[];
extern const assay__field assay__record_allocation_fields[];
extern const assay__field assay__record_gpu_fields[]; /* without the arrays */
extern const assay__field assay__record_kernel_fields[];
extern const assay__field assay__record_copy_fields[];
extern const assay__field assay__record_idle_fields[];
extern const assay__field assay__record_measure_fields[]; /* without samples */
extern const assay__field assay__record_model_fields[];   /* without settings and FLOPs */
extern const assay__field assay__record_flops_fields[];
extern const assay__field assay__record_figure_fields[];
extern const assay__field assay__record_series_fields[]; /* without places and values */
extern const assay__field assay__record_scaling_fields[];
extern const assay__field assay__record_comparison_fields[];
extern const assay__field assay__record_difference_fields[];
extern const assay__field assay__record_integrity_fields[];

/* Mark every reading of the table's struct at `target` as not measured. */
void assay__record_clear_readings(const assay__field *fields, void *target);

/* The name of a kind of lane, such as "thread", or NULL for a value that is no kind. And the kind
 * of a name, or 0 for a name that is none. */
const char *assay__lane_kind_name(assay_lane_kind kind);
int assay__lane_kind_of(const char *name);

/* The verdict with this name, or -1 if there is none. */
int assay__verdict_of(const char *name);

/* The same for the kinds of events, such as "span". */
const char *assay__event_kind_name(assay_event_kind kind);
int assay__event_kind_of(const char *name);

#endif
