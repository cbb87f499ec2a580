/* The names of the metrics that assay itself measures: of comparisons, and of the measures beside a
 * subject's samples. Programs may add others. */
#ifndef ASSAY_RECORD_METRIC_H
#define ASSAY_RECORD_METRIC_H

#define ASSAY__METRIC_WALL             "wall_seconds"
#define ASSAY__METRIC_CPU              "cpu_seconds" /* user and system time */
#define ASSAY__METRIC_PEAK_RSS         "peak_rss_bytes"
#define ASSAY__METRIC_HEAP_PEAK        "heap_peak_bytes"
#define ASSAY__METRIC_HEAP_ALLOCATIONS "heap_allocations"
#define ASSAY__METRIC_ENERGY           "energy_joules" /* of the whole machine during the sample */

/* These are not costs of the subject but disturbances of a sample: the time that it waited for a
 * processor while it was ready to run; and 1 for a disturbed sample, 0 for others. */
#define ASSAY__METRIC_WAITED           "waited_seconds"
#define ASSAY__METRIC_DISTURBED        "disturbed"

/* This is not a cost of the subject but the speed of the machine beside it (sampling/yardstick.h).
 */
#define ASSAY__METRIC_YARDSTICK        "yardstick_seconds"

#endif
