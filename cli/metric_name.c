/* The short names of metrics that --metric accepts, and the names that records use for them. */
#include "cli/metric_name.h"

#include <stddef.h>
#include <string.h>

#include "cli/common/message.h"

const char *metric_by_name(const char *command, const char *name)
{
    static const char *const metrics[][2] = {{"wall", "wall_seconds"},
                                             {"cpu", "cpu_seconds"},
                                             {"memory", "peak_rss_bytes"},
                                             {"heap", "heap_peak_bytes"},
                                             {"allocations", "heap_allocations"},
                                             {"energy", "energy_joules"}};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(name, metrics[i][0]) == 0 || strcmp(name, metrics[i][1]) == 0)
            return metrics[i][1];
    message_error("assay %s: no metric '%s'; there are: wall, cpu, memory, heap, allocations, "
                  "energy",
                  command, name);
    return NULL;
}
