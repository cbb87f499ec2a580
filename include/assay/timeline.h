/* The kinds of lanes and events, as journals and records contain them. Journals store the numbers,
 * so a number keeps its meaning for ever; the JSON of records has words. */
#ifndef ASSAY_TIMELINE_H
#define ASSAY_TIMELINE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_lane_kind {
    ASSAY_LANE_THREAD = 1,
    ASSAY_LANE_TASK = 2,
    ASSAY_LANE_GPU_STREAM = 3,
    ASSAY_LANE_PROCESS = 4 /* counters of a process as a whole; no spans */
} assay_lane_kind;

typedef enum assay_event_kind {
    ASSAY_EVENT_SPAN = 1,
    ASSAY_EVENT_COUNTER = 2,
    /* The following kinds are in records only. */
    ASSAY_EVENT_FUNCTION = 3, /* a sampled Python function */
    ASSAY_EVENT_KERNEL = 4,   /* on a GPU */
    ASSAY_EVENT_COPY = 5      /* to, from or within a GPU's memory */
} assay_event_kind;

#ifdef __cplusplus
}
#endif

#endif
