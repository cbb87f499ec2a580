/* assay study graph: the full report of the graph transformer. This file has the options and calls
 * the study (studies/graph). */
#include <stdio.h>
#include <sysexits.h>

#include "cli/common/message.h"
#include "cli/models/study.h"
#include "studies/graph/study.h"

typedef struct graph_options {
    study_common common;
    const char *device;
    assay__graph_settings sizes; /* a field is 0 if its option was not given */
} graph_options;

static const option options[] = {
    STUDY_COMMON_OPTIONS(graph_options),
    {"num-nodes", 'n', OPTION_COUNT, "N", "Nodes of a graph (default: 500, --quick: 100).",
     offsetof(graph_options, sizes.num_nodes)},
    {"num-edges", 'E', OPTION_COUNT, "N",
     "Directed edges of a graph (default: 2500, --quick: 500).",
     offsetof(graph_options, sizes.num_edges)},
    {"hidden-dim", 'd', OPTION_COUNT, "N", "Width of a node's state (default: 256, --quick: 64).",
     offsetof(graph_options, sizes.hidden_dim)},
    {"num-layers", 'l', OPTION_COUNT, "N", "Layers (default: 6, --quick: 3).",
     offsetof(graph_options, sizes.num_layers)},
    {"num-heads", 'H', OPTION_COUNT, "N", "Attention heads (default: 8, --quick: 4).",
     offsetof(graph_options, sizes.num_heads)},
    {"ffn-dim", 'f', OPTION_COUNT, "N",
     "Width of the feed-forward part (default: 512, --quick: 128).",
     offsetof(graph_options, sizes.ffn_dim)},
    {"batch-size", 'B', OPTION_COUNT, "N", "Graphs at once (default: 1).",
     offsetof(graph_options, sizes.batch_size)},
    {"num-runs", 'r', OPTION_COUNT, "N", "Timed runs of each pass (default: 50, --quick: 500).",
     offsetof(graph_options, sizes.num_runs)},
    {"budget", 'b', OPTION_SECONDS, "TIME",
     "Time to measure each axis for (default: 10s, --quick: 0.8s).",
     offsetof(graph_options, sizes.budget_seconds)},
    STUDY_DEVICE_OPTION(graph_options, device),
};

static void take(size_t given, size_t *setting)
{
    if (given > 0)
        *setting = given;
}

static assay__graph_settings settle(const graph_options *chosen)
{
    const assay__graph_settings *given = &chosen->sizes;
    assay__graph_settings settings = assay__graph_settings_of(chosen->common.quick);
    settings.device = chosen->device;
    take(given->num_nodes, &settings.num_nodes);
    take(given->num_edges, &settings.num_edges);
    take(given->hidden_dim, &settings.hidden_dim);
    take(given->num_layers, &settings.num_layers);
    take(given->num_heads, &settings.num_heads);
    take(given->ffn_dim, &settings.ffn_dim);
    take(given->batch_size, &settings.batch_size);
    take(given->num_runs, &settings.num_runs);
    if (given->budget_seconds > 0)
        settings.budget_seconds = given->budget_seconds;
    return settings;
}

static int graph_main(const command *self, int argc, char **argv)
{
    graph_options chosen = {0};
    int code;
    if (!study_parse(self, argc, argv, &chosen, &chosen.common, &code))
        return code;
    if (chosen.sizes.num_runs == 1) {
        message_error("assay study graph: --num-runs must be at least 2: one run says nothing "
                      "about the next");
        return EX_USAGE;
    }
    if ((code = study_check_device(self->name, "graph_transformer", chosen.device)) != EX_OK)
        return code;
    assay__graph_settings settings = settle(&chosen);
    assay__study_plan plan = study_plan(&chosen.common, "graph", "graph", "assay-graph-study");
    assay_error error = {0};
    assay_status status = assay__graph_study(&plan, &settings, chosen.common.json, &error);
    return study_end(self->name, &chosen.common, &plan, status, &error);
}

const command study_graph = {
    .name = "study graph",
    .summary = "the graph transformer: passes, memory, FLOPs, all scalings",
    .operands = "",
    .description =
        "The full report of the graph transformer on made-up graphs: forward pass,\n"
        "backward pass and training step; memory by use; FLOPs by component as four\n"
        "tools count them, and the roofline; then how the forward pass grows with\n"
        "nodes, layers, hidden size and batch, each with its class and a plot; and what\n"
        "Laplacian and random-walk encodings cost, in every pass and once.",
    COMMAND_OPTIONS(options),
    .main = graph_main,
};
