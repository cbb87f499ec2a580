/* The arithmetic of a model in the record of its profile: a sink takes the terms that the class
 * describes, and their sums become figures. */
#include "studies/profile/arithmetic.h"

#include <math.h>

#include "assay/flops.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "studies/common/peak.h"
#include "studies/common/results.h"
#include "studies/profile/device.h"
#include "studies/profile/roofline.h"
#include "studies/profile/view.h"

typedef struct counting {
    assay_flop_account *components;
    assay__work_account work;
    double by_kind[ASSAY_TERM_KINDS]; /* forward, by assay's convention */
} counting;

static void count_term(void *context, const assay_term *term)
{
    counting *self = context;
    assay_flops flops;
    assay_flop_account_add(self->components, term);
    assay__work_add(&self->work, term);
    if ((unsigned)term->kind < ASSAY_TERM_KINDS &&
        assay_term_flops(term, ASSAY_FLOPS_ASSAY, &flops) == ASSAY_OK)
        self->by_kind[term->kind] += (double)flops.forward;
}

/* ---- into the record ---- */

static assay_status fill_components(const counting *self, assay_record *record,
                                    assay_record_model *model)
{
    size_t count;
    const assay_flop_component *list = assay_flop_account_components(self->components, &count);
    assay_record_flops *rows =
        assay_record_allocate(record, count * ASSAY_FLOP_CONVENTIONS, sizeof *rows);
    if (rows == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const char *name = assay_record_text(record, list[i].name);
        if (name == NULL)
            return ASSAY_E_MEMORY;
        for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
            rows[model->flop_count++] = (assay_record_flops){
                .component = name,
                .convention = assay_flop_convention_name((assay_flop_convention)c),
                .forward = (double)list[i].flops[c].forward,
                .backward = (double)list[i].flops[c].backward};
    }
    model->flops = rows;
    return ASSAY_OK;
}

static assay_status fill_left_out(const counting *self, assay_record *record)
{
    assay_status status = ASSAY_OK;
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++) {
        assay_flop_convention convention = (assay_flop_convention)c;
        uint32_t left_out = assay_flop_account_left_out(self->components, convention);
        for (int kind = 0; kind < ASSAY_TERM_KINDS && status == ASSAY_OK; kind++)
            if ((left_out & UINT32_C(1) << kind) != 0)
                status = assay__found_cost(record, ASSAY__FIGURE_LEFT_OUT,
                                           assay_flop_convention_name(convention),
                                           assay_reading_of(self->by_kind[kind]), "flop",
                                           assay_term_kind_name((assay_term_kind)kind));
    }
    return status;
}

static assay_status fill_work(assay_record *record, int pass, const assay__work *work,
                              const char *covers)
{
    const char *name = assay__pass_name(pass);
    assay_status status = assay__found_cost(record, ASSAY__FIGURE_FLOPS, name,
                                            assay_reading_of(work->flops), "flop", covers);
    return status == ASSAY_OK
               ? assay__found_cost(record, ASSAY__FIGURE_BYTES, name, assay_reading_of(work->bytes),
                                   "bytes",
                                   "as if every operation read its operands and wrote its result "
                                   "once")
               : status;
}

static assay_status fill_works(const counting *self, double parameter_bytes, assay_record *record)
{
    const assay__work *forward = &self->work.forward, *backward = &self->work.backward;
    assay__work step = {forward->flops + backward->flops,
                        forward->bytes + backward->bytes +
                            assay__work_of_update(parameter_bytes).bytes};
    assay_status status = fill_work(record, ASSAY__PASS_FORWARD, forward, NULL);
    if (status == ASSAY_OK)
        status = fill_work(record, ASSAY__PASS_BACKWARD, backward, NULL);
    return status == ASSAY_OK ? fill_work(record, ASSAY__PASS_TRAINING, &step,
                                          "without the arithmetic of the update")
                              : status;
}

static assay_status fill_peak(const assay__profile_plan *plan, assay_record *record,
                              assay_error *error)
{
    assay__peak peak;
    const bool on_device = assay__device_is_used(plan);
    bool known = (on_device ? assay__device_peak(plan, error, &peak)
                            : assay__peak_load(&peak, NULL)) == ASSAY_OK;
    assay_reading none = assay_reading_missing(ASSAY_NOT_MEASURED);
    assay_status status = assay__found_cost(
        record, ASSAY__FIGURE_PEAK_FLOPS, NULL, known ? assay_reading_of(1e9 * peak.gflops) : none,
        "flop/s", on_device ? "float32 products on the device" : "float32 products on one thread");
    if (status == ASSAY_OK)
        status = assay__found_cost(
            record, ASSAY__FIGURE_PEAK_BYTES, NULL,
            known ? assay_reading_of(1e9 * peak.gigabytes_per_second) : none, "bytes/s",
            on_device ? "copies on the device" : "memory traffic of the triad");
    if (status == ASSAY_OK && known)
        status = assay_record_add_setting(record, ASSAY__SETTING_PEAK_OF, peak.processor);
    if (status == ASSAY_OK && known)
        status = assay_record_add_setting(record, ASSAY__SETTING_PEAK_TIME, peak.measured_at);
    return status;
}

static assay_status fill(const counting *self, const assay__profile_plan *plan,
                         assay_record *record, assay_record_model *model, assay_error *error)
{
    assay_status status = fill_components(self, record, model);
    if (status == ASSAY_OK)
        status = fill_works(self, model->parameter_bytes.value, record);
    if (status == ASSAY_OK)
        status = fill_left_out(self, record);
    return status == ASSAY_OK ? fill_peak(plan, record, error) : status;
}

static double element_bytes(assay_model *model)
{
    size_t count;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    return count == 0 || list[count - 1].value.element == ASSAY_F32 ? 4 : 8;
}

assay_status assay__arithmetic_count(const assay__profile_plan *plan, assay_error *error,
                                     assay_record *record, assay_record_model *model)
{
    const assay_model_class *class_ = assay_model_class_of(plan->model);
    if (class_->describe == NULL)
        return assay__found_cost(record, ASSAY__FIGURE_FLOPS, assay__pass_name(ASSAY__PASS_FORWARD),
                                 assay_reading_missing(ASSAY_UNSUPPORTED), "flop",
                                 "the model does not describe its arithmetic");
    counting self = {.work.element_bytes = element_bytes(plan->model)};
    assay_status status = assay_flop_account_new(&self.components);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory to count FLOPs");
    status = class_->describe(assay_model_state(plan->model), plan->inputs, class_->input_count,
                              count_term, &self, error);
    assay_flops total;
    if (status == ASSAY_OK) {
        status = assay_flop_account_total(self.components, ASSAY_FLOPS_ASSAY, &total);
        if (status != ASSAY_OK)
            (void)assay__fail(error, status, "cannot count the FLOPs of '%s': %s", class_->name,
                              assay_status_message(status));
    }
    if (status == ASSAY_OK)
        status = fill(&self, plan, record, model, error);
    assay_flop_account_free(self.components);
    return status;
}

/* ---- rates ---- */

static assay_reading known(double value)
{
    return isfinite(value) ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_MEASURED);
}

static assay_status rate_pass(assay_record *record, int pass, const assay__peak *peak)
{
    const char *name = assay__pass_name(pass);
    assay_reading flops = assay__record_figure(record, ASSAY__FIGURE_FLOPS, name);
    assay_reading bytes = assay__record_figure(record, ASSAY__FIGURE_BYTES, name);
    assay__times times = assay__pass_times(record, pass);
    if (flops.validity != ASSAY_VALID || bytes.validity != ASSAY_VALID || times.count == 0)
        return ASSAY_OK;
    assay__roofline_point point =
        assay__roofline((assay__work){flops.value, bytes.value}, times.mean.value, peak);
    assay_status status = assay__found_figure(record, ASSAY__FIGURE_RATE, name,
                                              known(1e9 * point.gflops_per_second), "flop/s");
    if (status == ASSAY_OK)
        status = assay__found_figure(record, ASSAY__FIGURE_INTENSITY, name, known(point.intensity),
                                     "flop/byte");
    if (status == ASSAY_OK)
        status = assay__found_figure(record, ASSAY__FIGURE_SHARE, name, known(point.share_of_peak),
                                     NULL);
    return status == ASSAY_OK ? assay__found_figure(record, ASSAY__FIGURE_ROOF, name,
                                                    known(1e9 * point.roof), "flop/s")
                              : status;
}

assay_status assay__arithmetic_rate(assay_record *record)
{
    assay_reading flops = assay__record_figure(record, ASSAY__FIGURE_PEAK_FLOPS, NULL);
    assay_reading bytes = assay__record_figure(record, ASSAY__FIGURE_PEAK_BYTES, NULL);
    bool measured = flops.validity == ASSAY_VALID && bytes.validity == ASSAY_VALID;
    assay__peak peak = {.gflops = 1e-9 * flops.value, .gigabytes_per_second = 1e-9 * bytes.value};
    assay_status status = ASSAY_OK;
    for (int pass = 0; pass < ASSAY__PASSES && status == ASSAY_OK; pass++)
        status = rate_pass(record, pass, measured ? &peak : NULL);
    return status;
}
