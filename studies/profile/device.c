/* Times a model on the processor for comparison with a device: makes the same model anew on the
 * processor and samples its passes. */
#include "studies/profile/device.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "assay/profile.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "base/text.h"
#include "models/cuda/peak.h"
#include "models/profile/passes.h"
#include "studies/common/results.h"
#include "studies/profile/view.h"

enum { MOST_RUNS = 20 };

bool assay__device_is_used(const assay__profile_plan *plan)
{
    return strcmp(assay_model_class_device(assay_model_class_of(plan->model)), "cpu") != 0;
}

assay_status assay__device_peak(const assay__profile_plan *plan, assay_error *error,
                                assay__peak *peak)
{
    assay__gpu_peak measured;
    assay_status status =
        assay__gpu_peak_measure(assay_model_class_of(plan->model), error, &measured);
    *peak = (assay__peak){.gflops = measured.gflops,
                          .gigabytes_per_second = measured.gigabytes_per_second};
    memcpy(peak->processor, measured.device, sizeof peak->processor);
    time_t now = time(NULL);
    struct tm utc;
    strftime(peak->measured_at, sizeof peak->measured_at, "%Y-%m-%dT%H:%M:%SZ",
             gmtime_r(&now, &utc));
    return status;
}

/* Make the same model on the processor, with the same settings and seed. */
static assay_status make_host(const assay__profile_plan *plan, assay_error *error,
                              assay_model **model)
{
    const assay_model_class *class_ = NULL;
    assay_status status = assay_model_find(assay_model_class_of(plan->model)->name, error, &class_);
    return status == ASSAY_OK ? assay_model_new(class_, assay_model_settings(plan->model),
                                                plan->seed, error, model)
                              : status;
}

static assay_status add_times(const assay_record *passes, assay_record *record)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < passes->subject_count && status == ASSAY_OK; i++) {
        static const int pass_of[] = {ASSAY__PASS_FORWARD, ASSAY__PASS_BACKWARD,
                                      ASSAY__PASS_TRAINING};
        const assay_record_subject *subject = &passes->subjects[i];
        assay_timing timing = {0};
        status =
            pass_of[i] == ASSAY__PASS_BACKWARD
                ? assay__passes_subtract(subject, &passes->subjects[0], &timing)
                : assay_timing_summarize(subject->samples_seconds, subject->sample_count, &timing);
        if (status == ASSAY_OK)
            status = assay__found_figure(record, ASSAY__FIGURE_HOST, assay__pass_name(pass_of[i]),
                                         assay_reading_of(timing.mean_seconds), "s");
    }
    return status;
}

assay_status assay__device_compare(const assay__profile_plan *plan, assay_error *error,
                                   assay_record *record)
{
    assay_model *host = NULL;
    assay_record *passes = NULL;
    assay_status status = assay_record_add_setting(
        record, "model_device", assay_model_class_device(assay_model_class_of(plan->model)));
    if (status == ASSAY_OK)
        status = make_host(plan, error, &host);
    if (status == ASSAY_OK) {
        assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
        options.num_runs =
            plan->num_runs > 0 && plan->num_runs < MOST_RUNS ? plan->num_runs : MOST_RUNS;
        options.warmup_runs = 2;
        const assay_profile_target target = {.struct_size = sizeof target,
                                             .model = host,
                                             .inputs = plan->inputs,
                                             .target = plan->target,
                                             .loss = plan->loss,
                                             .optimizer = plan->optimizer};
        assay_profiling_context context = assay_profiling_begin(host, false);
        status = assay__passes_sample(&target, &options, error, &passes);
        assay_profiling_end(&context);
    }
    if (status == ASSAY_OK)
        status = add_times(passes, record);
    assay_record_free(passes);
    assay_model_free(host);
    return status;
}

static void print_row(const assay_record *record, int pass, const char *name, FILE *stream)
{
    const assay_reading host =
        assay__record_figure(record, ASSAY__FIGURE_HOST, assay__pass_name(pass));
    const assay__times device = assay__pass_times(record, pass);
    if (host.validity == ASSAY_VALID && device.count > 0)
        fprintf(stream, "%-16s %11.5g %11.5g %13.4g\n", name, 1e3 * host.value,
                1e3 * device.mean.value, host.value / device.mean.value);
}

void assay__device_print(const assay_record *record, FILE *stream)
{
    const char *device = assay__profile_setting(record, "model_device");
    if (device == NULL)
        return;
    fprintf(stream, "\n%-16s %11s %11s   cpu / %s\n", "DEVICES (ms)", "cpu", device, device);
    fputs("--------------------------------------------------------------------------------\n",
          stream);
    print_row(record, ASSAY__PASS_FORWARD, "forward", stream);
    print_row(record, ASSAY__PASS_BACKWARD, "backward", stream);
    print_row(record, ASSAY__PASS_TRAINING, "training step", stream);
    fputs("times of whole calls: on a device inputs and outputs are copied in each of them\n",
          stream);
}
