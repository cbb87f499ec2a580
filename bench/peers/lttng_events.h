/* The two events of lttng_events.c, written as lttng-ust(3) requires. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER assay_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/peers/lttng_events.h"

#if !defined(BENCH_PEERS_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_PEERS_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(assay_bench, begin, LTTNG_UST_TP_ARGS(int, step),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, step, step)))
LTTNG_UST_TRACEPOINT_EVENT(assay_bench, end, LTTNG_UST_TP_ARGS(int, step),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, step, step)))

#endif

#include <lttng/tracepoint-event.h>
