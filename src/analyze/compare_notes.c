/* Notes the differences between two records other than those of the measured code, such as another
 * machine or another compiler. */
#include "analyze/compare_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "record/append.h"
#include "record/build.h"
#include "record/fact.h"

/* The number of iterations is chosen anew in each run. It is worth a note if it changes by this
 * factor, because caches and branch predictors then see different work. */
static const double ITERATIONS_FACTOR = 1.5;

assay_status assay__compare_note(const assay__compare_view *v, const char *what,
                                 const char *baseline, const char *candidate)
{
    assay_record_difference difference = {
        .what = assay_record_text(v->result, what),
        .baseline_origin = assay_record_text(v->result, v->baseline_origin),
        .candidate_origin = assay_record_text(v->result, v->candidate_origin),
        .baseline = assay_record_text(v->result, baseline),
        .candidate = assay_record_text(v->result, candidate),
    };
    if (difference.what == NULL || difference.baseline_origin == NULL ||
        difference.candidate_origin == NULL || (baseline != NULL && difference.baseline == NULL) ||
        (candidate != NULL && difference.candidate == NULL))
        return ASSAY_E_MEMORY;
    return assay__record_add_difference(v->result, &difference);
}

/* Note a difference if both values are known and differ. */
static assay_status note_if(const assay__compare_view *v, const char *what, const char *baseline,
                            const char *candidate)
{
    if (baseline == NULL || candidate == NULL || strcmp(baseline, candidate) == 0)
        return ASSAY_OK;
    return assay__compare_note(v, what, baseline, candidate);
}

/* Note differences in facts about the machine and the build. The load, the boot id and the state of
 * the source tree are left out, because they differ between any two runs and mean nothing. */
static assay_status note_facts(const assay__compare_view *v)
{
    static const char *const machine[] = {"hostname",
                                          "cpu",
                                          "cores",
                                          "usable_cores",
                                          "memory_bytes",
                                          "kernel",
                                          "os",
                                          "governor",
                                          "turbo",
                                          "smt",
                                          "virtualization",
                                          "container",
                                          "numa_nodes",
                                          "transparent_hugepages",
                                          "cpu_mhz",
                                          "vector",
                                          "cpu_level",
                                          "cpu_scaling",
                                          "energy_of"};
    static const char *const build[] = {"compiler",     "build_flags",        "libc",
                                        "architecture", "library_build_type", "python"};
    const assay_record *b = v->baseline, *c = v->candidate;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof machine / sizeof *machine && status == ASSAY_OK; i++)
        status = note_if(v, machine[i], assay__fact_value(b->machine, b->machine_count, machine[i]),
                         assay__fact_value(c->machine, c->machine_count, machine[i]));
    for (size_t i = 0; i < sizeof build / sizeof *build && status == ASSAY_OK; i++)
        status = note_if(v, build[i], assay__fact_value(b->build, b->build_count, build[i]),
                         assay__fact_value(c->build, c->build_count, build[i]));
    if (status == ASSAY_OK)
        status = note_if(v, "clock", b->clock.source, c->clock.source);
    return status;
}

assay_status assay__compare_note_subjects(const assay__compare_view *v,
                                          const assay_record_subject *baseline,
                                          const assay_record_subject *candidate)
{
    char what[160], values[2][32];
    snprintf(what, sizeof what, "source of %.120s", baseline->name);
    assay_status status = note_if(v, what, baseline->source, candidate->source);
    double ratio = (double)baseline->iterations / (double)candidate->iterations;
    if (status != ASSAY_OK || baseline->iterations == 0 || candidate->iterations == 0 ||
        fabs(log(ratio)) < log(ITERATIONS_FACTOR))
        return status;
    snprintf(what, sizeof what, "iterations of %.120s", baseline->name);
    snprintf(values[0], sizeof values[0], "%llu", (unsigned long long)baseline->iterations);
    snprintf(values[1], sizeof values[1], "%llu", (unsigned long long)candidate->iterations);
    return assay__compare_note(v, what, values[0], values[1]);
}

/* ---- settings and results ---- */

static assay_status note_settings(const assay__compare_view *v, const char *of,
                                  const assay_record_fact *baseline, size_t baseline_count,
                                  const assay_record_fact *candidate, size_t candidate_count)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < baseline_count && status == ASSAY_OK; i++) {
        char what[160];
        snprintf(what, sizeof what, "%.80s%s%.70s", baseline[i].key, *of != '\0' ? " of " : "", of);
        status = note_if(v, what, baseline[i].value,
                         assay__fact_value(candidate, candidate_count, baseline[i].key));
    }
    return status;
}

/* Note two readings if both are valid and differ. */
static assay_status note_readings(const assay__compare_view *v, const char *name, const char *of,
                                  assay_reading baseline, assay_reading candidate)
{
    char what[160], values[2][ASSAY__JSON_NUMBER_BYTES];
    if (baseline.validity != ASSAY_VALID || candidate.validity != ASSAY_VALID ||
        baseline.value == candidate.value)
        return ASSAY_OK;
    snprintf(what, sizeof what, "%.80s%s%.70s", name, of != NULL ? " of " : "",
             of != NULL ? of : "");
    assay__json_format_number(values[0], baseline.value);
    assay__json_format_number(values[1], candidate.value);
    return assay__compare_note(v, what, values[0], values[1]);
}

static assay_status note_model(const assay__compare_view *v, const assay_record_model *baseline,
                               const assay_record_model *candidate)
{
    const struct {
        const char *name;
        assay_reading baseline, candidate;
    } sizes[] = {
        {"parameters", baseline->parameters, candidate->parameters},
        {"parameter bytes", baseline->parameter_bytes, candidate->parameter_bytes},
        {"gradient bytes", baseline->gradient_bytes, candidate->gradient_bytes},
        {"optimizer bytes", baseline->optimizer_bytes, candidate->optimizer_bytes},
        {"activation bytes", baseline->activation_bytes, candidate->activation_bytes},
        {"workspace bytes", baseline->workspace_bytes, candidate->workspace_bytes},
    };
    assay_status status =
        note_settings(v, baseline->name, baseline->settings, baseline->setting_count,
                      candidate->settings, candidate->setting_count);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == ASSAY_OK; i++)
        status =
            note_readings(v, sizes[i].name, baseline->name, sizes[i].baseline, sizes[i].candidate);
    return status;
}

/* Whether a figure is a result that is worth a note. Times, rates and sizes in bytes are not: they
 * differ between any two runs, and the ones that deserve a verdict have samples. */
static bool is_a_result(const assay_record_figure *figure)
{
    return figure->unit == NULL ||
           (strcmp(figure->unit, "s") != 0 && strcmp(figure->unit, "1/s") != 0 &&
            strcmp(figure->unit, "bytes") != 0);
}

static assay_status note_results(const assay__compare_view *v)
{
    const assay_record *b = v->baseline, *c = v->candidate;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < b->model_count && status == ASSAY_OK; i++) {
        const assay_record_model *other = assay__record_find_model(c, b->models[i].name);
        if (other != NULL)
            status = note_model(v, &b->models[i], other);
    }
    for (size_t i = 0; i < b->figure_count && status == ASSAY_OK; i++)
        if (is_a_result(&b->figures[i]))
            status = note_readings(v, b->figures[i].name, b->figures[i].of, b->figures[i].value,
                                   assay__record_figure(c, b->figures[i].name, b->figures[i].of));
    return status;
}

static const char *first_word(const assay_record *record)
{
    return record->has_process && record->process.command_count > 0 ? record->process.command[0]
                                                                    : NULL;
}

assay_status assay__compare_note_records(const assay__compare_view *v)
{
    const assay_record *b = v->baseline, *c = v->candidate;
    assay_status status = note_facts(v);
    if (status == ASSAY_OK)
        status = note_if(v, "study", b->study, c->study);
    if (status == ASSAY_OK)
        status = note_if(v, "command", first_word(b), first_word(c));
    if (status == ASSAY_OK)
        status = note_settings(v, "", b->settings, b->setting_count, c->settings, c->setting_count);
    return status == ASSAY_OK ? note_results(v) : status;
}
