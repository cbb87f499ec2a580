/* A trajectory file with any content on a network of three roads. It is refused with a message, or
 * gives roads that exist and times that do not decrease. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/road/trajectory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static assay__road_network *three_roads(void)
{
    static const int64_t ids[] = {1, 20, -5};
    assay__road_network *network = NULL;
    assay__place here = {8, 50};
    if (assay__road_network_new(&network) != ASSAY_OK)
        return NULL;
    for (size_t i = 0; i < 3; i++) {
        assay__road road = {.id = ids[i], .points = &here, .point_count = 1};
        if (assay__road_network_add(network, &road, NULL) != ASSAY_OK)
            abort();
    }
    if (assay__road_network_finish(network, NULL) != ASSAY_OK)
        abort();
    return network;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay__road_network *network = three_roads();
    char *text = malloc(size + 1);
    if (network == NULL || text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    assay__trajectories t;
    assay_error error = {0};
    assay_status status = assay__trajectories_parse(network, text, size, "input", &error, &t);
    if (status != ASSAY_OK && (error.message[0] == '\0' || t.count != 0))
        abort();
    for (int64_t i = 0; i < t.count; i++)
        for (int64_t at = t.first[i]; at < t.first[i + 1]; at++)
            if (t.roads[at] < 0 || t.roads[at] > 2 ||
                (at > t.first[i] && t.seconds[at] < t.seconds[at - 1]))
                abort();
    assay__trajectories_release(&t);
    assay__road_network_free(network);
    free(text);
    return 0;
}
