/* Finds bottlenecks by a table of rules. A rule has a figure and a limit, and holds where the
 * figure exceeds the limit. Most rules are tried on every operation, those about GPUs on the
 * figures of the devices.
 *
 * Rules, limits and remedies come from document C of docs/seed-map.md ("Identifying Bottlenecks",
 * "Common Bottlenecks and Solutions"). To add a rule, add a row. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bottleneck.h"
#include "assay/record.h"

#define BATCH_NAMES "batch|step|iteration"

static const assay_bottleneck_rule rules[] = {
    {"dominant",
     "share",
     NULL,
     ASSAY_EVIDENCE_OWN_SHARE,
     0.50,
     ASSAY_SEVERITY_WARNING,
     "BOTTLENECK: {operation} ({value})",
     {"focus on this operation first: it takes more than all others together"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"large-share",
     "share",
     NULL,
     ASSAY_EVIDENCE_OWN_SHARE,
     0.20,
     ASSAY_SEVERITY_HINT,
     "Consider optimizing: {operation} ({value})",
     {"measure before and after each change to this operation"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"data-loading",
     "data-loading",
     "dataload|loaddata|datafetch|fetchdata|loadbatch|nextbatch",
     ASSAY_EVIDENCE_SHARE,
     0.30,
     ASSAY_SEVERITY_WARNING,
     "Data loading is slow: {operation} takes {value} of total time",
     {"use more loader workers", "prefetch the next batches while this one is computed",
      "on a GPU: pin host memory for faster transfer"},
     ASSAY_CIRCUMSTANCE_GPU_IDLE,
     "loader = DataLoader(dataset, batch_size=32, num_workers=4,\n"
     "                    prefetch_factor=2, pin_memory=True)\n"},
    {"forward",
     "forward",
     "forward",
     ASSAY_EVIDENCE_BATCH_SHARE,
     0.50,
     ASSAY_SEVERITY_WARNING,
     "Forward pass is slow: {operation} takes {value} of batch time",
     {"reduce the model: fewer filters or layers, depthwise separable convolutions",
      "use gradient checkpointing if memory limits the batch size",
      "on a GPU: use mixed precision (FP16)"},
     ASSAY_CIRCUMSTANCE_GPU_BUSY,
     "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
     "    output = model(batch)\n"
     "output = torch.utils.checkpoint.checkpoint(model, batch, use_reentrant=False)\n"},
    {"backward",
     "backward",
     "backward",
     ASSAY_EVIDENCE_BATCH_SHARE,
     0.40,
     ASSAY_SEVERITY_WARNING,
     "Backward pass is slow: {operation} takes {value} of batch time",
     {"use gradient accumulation over smaller batches", "release gradients that are not used",
      "on a GPU: use mixed precision in the backward pass"},
     ASSAY_CIRCUMSTANCE_MEMORY,
     "for part in parts:\n"
     "    (loss_of(model(part)) / len(parts)).backward()\n"
     "optimizer.step()\n"
     "optimizer.zero_grad(set_to_none=True)\n"},
    {"first-batch",
     "first-batch",
     BATCH_NAMES,
     ASSAY_EVIDENCE_FIRST,
     2.0,
     ASSAY_SEVERITY_HINT,
     "First batch is slow ({value} the others)",
     {"run one warm-up batch before timing",
      "or leave the first batch out: initialisation, compilation and allocation happen there"},
     ASSAY_CIRCUMSTANCE_NONE,
     "with torch.no_grad():\n"
     "    model(next(iter(loader)).to(device))\n"},
    {"batch-variance",
     "batch-variance",
     BATCH_NAMES,
     ASSAY_EVIDENCE_SPREAD,
     2.0,
     ASSAY_SEVERITY_WARNING,
     "High variance ({value}) - investigate outliers!",
     {"pad inputs to one size, or sort batches by size",
      "check for cache thrashing: smaller caches", "pre-compute expensive data augmentation",
      "on a GPU: use pinned memory"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-launch",
     "gpu-launch",
     NULL,
     ASSAY_EVIDENCE_GPU_LAUNCH,
     0.20,
     ASSAY_SEVERITY_WARNING,
     "{operation} waits for launches: it is idle {value} of the time between short kernels",
     {"use larger batches, so that each kernel does more",
      "launch whole steps at once: CUDA graphs (torch.cuda.CUDAGraph, torch.compile with "
      "mode=\"reduce-overhead\")",
      "fuse small operations (torch.compile, optimizers with fused=True)"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-data",
     "gpu-data",
     NULL,
     ASSAY_EVIDENCE_GPU_DATA,
     0.10,
     ASSAY_SEVERITY_WARNING,
     "{operation} waits for data: it is idle {value} of the time before copies from the host",
     {"use more loader workers",
      "pin host memory and copy without waiting (pin_memory=True, "
      "non_blocking=True)",
      "prefetch the next batch while this one is computed"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-host",
     "gpu-host",
     NULL,
     ASSAY_EVIDENCE_GPU_HOST,
     0.30,
     ASSAY_SEVERITY_HINT,
     "{operation} waits for the host: it is idle {value} of the time during other host work",
     {"see what the host does then: `python3 -m assay run`, or spans around its phases"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-synchronisation",
     "gpu-synchronisation",
     NULL,
     ASSAY_EVIDENCE_GPU_SYNC,
     0.10,
     ASSAY_SEVERITY_WARNING,
     "{operation} is idle {value} of the time after the host waited for it",
     {"read results of the device less often (loss.item(), .cpu(), print)",
      "synchronise once a step or less"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-copies",
     "gpu-copies",
     NULL,
     ASSAY_EVIDENCE_GPU_COPIES,
     0.10,
     ASSAY_SEVERITY_WARNING,
     "{operation} only copies {value} of the time",
     {"keep data on the device between steps", "copy on a stream of its own, beside the kernels",
      "copy smaller types (uint8 images, float16) and convert on the device"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-pageable",
     "gpu-pageable",
     NULL,
     ASSAY_EVIDENCE_GPU_PAGEABLE,
     0.50,
     ASSAY_SEVERITY_HINT,
     "{operation}: {value} of the bytes to and from the host are in pageable memory",
     {"pin host memory (pin_memory=True): such copies are faster and need not wait"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
    {"gpu-unused",
     "gpu-unused",
     NULL,
     ASSAY_EVIDENCE_GPU_UNUSED,
     0.50,
     ASSAY_SEVERITY_HINT,
     "{operation} runs no kernel {value} of the time",
     {"`assay run --gpu` shows why"},
     ASSAY_CIRCUMSTANCE_NONE,
     NULL},
};

enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

const assay_bottleneck_rule *assay_bottleneck_rules(size_t *count)
{
    *count = RULE_COUNT;
    return rules;
}

/* Whether `name` begins with `word`. Upper and lower case are the same here; '_', '-', ' ' and '.'
 * in the name are skipped. */
static bool continues_with(const char *name, const char *word, size_t length)
{
    for (size_t matched = 0; matched < length; name++) {
        if (*name == '\0')
            return false;
        if (*name == '_' || *name == '-' || *name == ' ' || *name == '.')
            continue;
        if (tolower((unsigned char)*name) != word[matched++])
            return false;
    }
    return true;
}

static bool contains_word(const char *name, const char *word, size_t length)
{
    for (; *name != '\0'; name++)
        if (continues_with(name, word, length))
            return true;
    return false;
}

static bool looks_at(const assay_bottleneck_rule *rule, const char *name)
{
    if (rule->operations == NULL)
        return true;
    for (const char *word = rule->operations;;) {
        size_t length = strcspn(word, "|");
        if (contains_word(name, word, length))
            return true;
        if (word[length] == '\0')
            return false;
        word += length + 1;
    }
}

static double ratio(assay_reading dividend, assay_reading divisor)
{
    if (dividend.validity != ASSAY_VALID || divisor.validity != ASSAY_VALID)
        return NAN;
    return dividend.value / divisor.value;
}

/* The figure that a rule is about. NaN or infinite when the row does not have it. */
static double evidence(assay_evidence kind, const assay__operation_row *of, double run_seconds)
{
    switch (kind) {
    case ASSAY_EVIDENCE_OWN_SHARE:
        return of->self_seconds / run_seconds;
    case ASSAY_EVIDENCE_SHARE:
        return of->total_seconds / run_seconds;
    case ASSAY_EVIDENCE_BATCH_SHARE:
        return of->total_seconds / of->enclosing_seconds;
    case ASSAY_EVIDENCE_SPREAD:
        return ratio(of->max_seconds, of->min_seconds);
    case ASSAY_EVIDENCE_FIRST:
        return ratio(of->first_seconds, of->rest_seconds);
    default: /* a figure of devices */
        return NAN;
    }
}

/* ---- second symptoms ------------------------------------------------------------------------- */

/* A GPU is idle below IDLE and busy above BUSY, both shares of the time. Memory has a spike if an
 * operation takes SPIKE times as much as its siblings. The guide (document C) calls the two shares
 * low and high. */
static const double IDLE = 0.5, BUSY = 0.8, SPIKE = 1.2;

/* The mean share of the time in which GPUs were busy, as the utilisation counters of meters show
 * it. NaN if there are none. */
static double gpu_share(const assay_record *record)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < record->counter_count; i++)
        if (strstr(record->counters[i].name, " utilisation") != NULL) {
            sum += record->counters[i].mean;
            count++;
        }
    return count > 0 ? sum / (double)count : (double)NAN;
}

static double peak_of(const assay_record_operation *operation)
{
    const assay_reading gpu = operation->gpu_peak_bytes, cpu = operation->rss_peak_bytes;
    return gpu.validity == ASSAY_VALID ? gpu.value : cpu.validity == ASSAY_VALID ? cpu.value : 0;
}

/* The highest GPU memory of the metrics with this name at this depth or, with `others`, of all
 * other metrics at this depth. */
static double peak_of_metrics(const assay_record *record, const char *name, int32_t depth,
                              bool others)
{
    double peak = 0;
    for (size_t i = 0; i < record->metric_count; i++) {
        const assay_record_metric *it = &record->metrics[i];
        if (it->depth == depth && (strcmp(it->operation, name) != 0) == others &&
            it->gpu_peak_bytes.validity == ASSAY_VALID)
            peak = fmax(peak, it->gpu_peak_bytes.value);
    }
    return peak;
}

/* The memory peak of an operation divided by that of its siblings. NaN if it is not known. */
static double peak_ratio(const assay_record *record, const char *name)
{
    double own = 0, others = 0;
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *it = &record->operations[i];
        if (strcmp(it->name, name) != 0)
            continue;
        own = fmax(own, peak_of(it));
        for (size_t k = 0; k < record->operation_count; k++)
            if (record->operations[k].parent == it->parent &&
                strcmp(record->operations[k].name, name) != 0)
                others = fmax(others, peak_of(&record->operations[k]));
    }
    for (size_t i = 0; i < record->metric_count && own == 0; i++)
        if (strcmp(record->metrics[i].operation, name) == 0) {
            own = peak_of_metrics(record, name, record->metrics[i].depth, false);
            others = peak_of_metrics(record, name, record->metrics[i].depth, true);
        }
    return own > 0 && others > 0 ? own / others : (double)NAN;
}

static assay_reading beside(assay_circumstance kind, const assay_record *record, const char *name)
{
    double value = NAN;
    bool holds = false;
    switch (kind) {
    case ASSAY_CIRCUMSTANCE_NONE:
        break;
    case ASSAY_CIRCUMSTANCE_GPU_IDLE:
        value = gpu_share(record);
        holds = value < IDLE;
        break;
    case ASSAY_CIRCUMSTANCE_GPU_BUSY:
        value = gpu_share(record);
        holds = value > BUSY;
        break;
    case ASSAY_CIRCUMSTANCE_MEMORY:
        value = peak_ratio(record, name);
        holds = value > SPIKE;
        break;
    }
    return holds ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_MEASURED);
}

/* Whether another rule of the same family already holds for this operation. The findings of one
 * operation stand together at the end of the list, so the search goes backwards and stops at the
 * first other operation. */
static bool family_reported(const assay_finding *findings, size_t count, const char *operation,
                            const char *family)
{
    while (count > 0 && findings[count - 1].operation == operation)
        if (strcmp(findings[--count].rule->family, family) == 0)
            return true;
    return false;
}

static size_t try_rules(const assay__operation_row *row, double run_seconds,
                        assay_finding *findings, size_t count)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        double value = evidence(rules[i].evidence, row, run_seconds);
        if (!isfinite(value) || value <= rules[i].limit || !looks_at(&rules[i], row->name) ||
            family_reported(findings, count, row->name, rules[i].family))
            continue;
        findings[count++] = (assay_finding){.rule = &rules[i],
                                            .operation = row->name,
                                            .value = value,
                                            .beside = assay_reading_missing(ASSAY_NOT_MEASURED)};
    }
    return count;
}

static double idle_share(const assay_record_gpu *gpu, const char *cause)
{
    for (size_t i = 0; i < gpu->idle_count; i++)
        if (strcmp(gpu->idle[i].cause, cause) == 0)
            return gpu->idle[i].share;
    return NAN;
}

static double pageable_share(const assay_record_gpu *gpu)
{
    double pageable = 0, all = 0, seconds = 0;
    for (size_t i = 0; i < gpu->copy_count; i++) {
        const char *memory = gpu->copies[i].memory;
        if (memory == NULL)
            continue;
        all += gpu->copies[i].bytes;
        seconds += gpu->copies[i].seconds;
        pageable += strcmp(memory, "pageable") == 0 ? gpu->copies[i].bytes : 0;
    }
    return seconds > 0.01 * gpu->span_seconds ? pageable / all : NAN;
}

/* The mean share of the time in which no kernel ran, over the devices that a meter watched. Its
 * counters are called "cuda:0 utilisation". */
static double unused_share(const assay_record *record)
{
    double sum = 0, devices = 0;
    for (size_t i = 0; i < record->counter_count; i++) {
        const char *space = strchr(record->counters[i].name, ' ');
        if (strncmp(record->counters[i].name, "cuda:", 5) == 0 && space != NULL &&
            strcmp(space, " utilisation") == 0) {
            sum += record->counters[i].mean;
            devices++;
        }
    }
    return 1 - sum / devices; /* NaN without any device */
}

/* The figure of the devices that a rule is about. NaN where it was not measured. */
static double device_evidence(assay_evidence kind, const assay_record *record)
{
    const assay_record_gpu *gpu = &record->gpu;
    switch (kind) {
    case ASSAY_EVIDENCE_GPU_LAUNCH:
        return idle_share(gpu, "launch");
    case ASSAY_EVIDENCE_GPU_DATA:
        return idle_share(gpu, "data loading");
    case ASSAY_EVIDENCE_GPU_HOST:
        return idle_share(gpu, "host");
    case ASSAY_EVIDENCE_GPU_SYNC:
        return idle_share(gpu, "synchronisation");
    case ASSAY_EVIDENCE_GPU_COPIES:
        return idle_share(gpu, "copies");
    case ASSAY_EVIDENCE_GPU_PAGEABLE:
        return pageable_share(gpu);
    case ASSAY_EVIDENCE_GPU_UNUSED:
        return record->has_gpu ? NAN : unused_share(record);
    default: /* a figure of operations */
        return NAN;
    }
}

static size_t try_device_rules(const assay_record *record, assay_finding *findings, size_t count)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        double value = device_evidence(rules[i].evidence, record);
        if (isfinite(value) && value > rules[i].limit)
            findings[count++] =
                (assay_finding){.rule = &rules[i], .operation = "GPU", .value = value};
    }
    return count;
}

static int by_rule_then_value(const void *left, const void *right)
{
    const assay_finding *a = left, *b = right;
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    return (a->value < b->value) - (a->value > b->value);
}

assay_status assay_bottlenecks_find(const assay_record *record, assay_finding **findings,
                                    size_t *count)
{
    assay__operation_row *rows = NULL;
    size_t operations = 0;
    *findings = NULL;
    *count = 0;
    assay_status status = assay__operation_rows(record, &rows, &operations);
    if (status != ASSAY_OK)
        return status;
    assay_finding *found = calloc(operations + 1, RULE_COUNT * sizeof *found);
    if (found == NULL) {
        free(rows);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < operations; i++)
        *count = try_rules(&rows[i], record->total_seconds, found, *count);
    *count = try_device_rules(record, found, *count);
    for (size_t i = 0; i < *count; i++)
        found[i].beside = beside(found[i].rule->beside, record, found[i].operation);
    free(rows);
    if (*count == 0) {
        free(found);
        return ASSAY_OK;
    }
    qsort(found, *count, sizeof *found, by_rule_then_value);
    *findings = found;
    return ASSAY_OK;
}

assay_status assay__bottlenecks_of(const assay__operation_row *row, assay_finding **findings,
                                   size_t *count)
{
    assay_finding *found = calloc(RULE_COUNT, sizeof *found);
    *findings = NULL;
    *count = 0;
    if (found == NULL)
        return ASSAY_E_MEMORY;
    *count = try_rules(row, 0.0, found, 0);
    if (*count == 0)
        free(found);
    else
        *findings = found;
    return ASSAY_OK;
}
