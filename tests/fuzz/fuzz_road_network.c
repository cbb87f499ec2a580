/* A .geo and a .rel file with any content (the first zero byte separates them). They are refused
 * with a message, or give a network with consistent tables. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/road/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const assay__road_network *network)
{
    for (int64_t road = 0; road < network->roads; road++) {
        if (assay__road_network_find(network, network->ids[road]) != road ||
            network->first[road] > network->first[road + 1] || !isfinite(network->length_m[road]) ||
            !isfinite(network->end_x[road]) || !(network->speed_mps[road] > 0))
            abort();
        for (int64_t k = network->first[road]; k < network->first[road + 1]; k++)
            if (network->next[k] < 0 || network->next[k] >= network->roads)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay__road_network *network = NULL;
    assay_error error = {0};
    char *text = malloc(size + 1);
    if (text == NULL || assay__road_network_new(&network) != ASSAY_OK) {
        free(text);
        return 0;
    }
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    size_t geo = strlen(text);
    assay_status status = assay__road_geo_parse(text, geo, "geo", network, &error);
    if (status == ASSAY_OK && geo < size)
        status = assay__road_rel_parse(text + geo + 1, size - geo - 1, "rel", network, &error);
    if (status == ASSAY_OK)
        status = assay__road_network_finish(network, &error);
    if (status == ASSAY_OK)
        check(network);
    else if (error.message[0] == '\0')
        abort();
    assay__road_network_free(network);
    free(text);
    return 0;
}
