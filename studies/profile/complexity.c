/* The table of complexities of the built-in models. */
#include "studies/profile/complexity.h"

#include <stddef.h>
#include <string.h>

static const assay__complexity complexities[] = {
    {"burgers_surrogate", "O(B (P h + L h²))",
     "B batch-size, P num-points, h hidden-dim, L num-layers"},
    {"graph_transformer", "O(L (N² d + N d² + N d f + E d))",
     "L num-layers, N num-nodes, d hidden-dim, f ffn-dim, E num-edges; N² is E if sparse"},
    {"heat", "O(B S T P)", "B batch-size, S num-snapshots, T num-steps, P num-points"},
    {"kan", "O(B (g + k) (i h + L h² + h o))",
     "B batch-size, g grid-size, k spline-order, i input-dim, h hidden-dim, L num-layers, "
     "o output-dim"},
    {"lstm", "O(B T L h (i + h))",
     "B batch-size, T seq-len, L num-layers, h hidden-dim, i input-dim"},
    {"mlp", "O(B (i h + L h² + h o))",
     "B batch-size, i input-dim, h hidden-dim, L num-layers, o output-dim"},
    {"mvar", "O(B p d²)", "B batch-size, p order, d input-dim"},
    {"next_road", "O(B T (h (e + h) + s (h + c e)))",
     "B batch-size, T seq-len, h hidden-dim, e embedding-dim, s ffn-dim, c choices at a road"},
    {"siren", "O(B (i h + L h² + h o))",
     "B batch-size, i input-dim, h hidden-dim, L num-layers, o output-dim"},
};

const assay__complexity *assay__complexity_of(const char *model)
{
    for (size_t i = 0; i < sizeof complexities / sizeof *complexities; i++)
        if (strcmp(complexities[i].model, model) == 0)
            return &complexities[i];
    return NULL;
}
