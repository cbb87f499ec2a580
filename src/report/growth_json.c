/* Writes a growth fit as one JSON object. The figures that programs need most are direct members;
 * the rest is in lists. */
#include "assay/growth.h"
#include "base/error.h"
#include "base/json_writer.h"

static void write_verdict(assay__json *json, const assay_growth *growth)
{
    assay__json_text(json, "class", assay_growth_class_name(growth->growth_class));
    if (growth->growth_class == ASSAY_GROWTH_UNKNOWN)
        assay__json_unavailable(json, "class", ASSAY_NOT_ENOUGH_DATA);
    assay__json_reading(json, "exponent", growth->exponent);
    assay__json_reading(json, "low", growth->low);
    assay__json_reading(json, "high", growth->high);
    assay__json_flag(json, "conclusive", growth->conclusive);
    assay__json_text(json, "reason", growth->reason[0] != '\0' ? growth->reason : NULL);
    assay__json_reading(json, "overhead_seconds", growth->overhead_seconds);
    assay__json_reading(json, "coefficient", growth->coefficient);
    assay__json_reading(json, "r2", growth->r_squared);
    assay__json_reading(json, "noise", growth->noise);
    assay__json_count(json, "values", growth->value_count);
    assay__json_count(json, "outliers", growth->outlier_count);
}

static void write_sizes(assay__json *json, const assay_growth *growth)
{
    assay__json_array(json, "sizes");
    for (size_t i = 0; i < growth->size_count; i++) {
        const assay_growth_size *size = &growth->sizes[i];
        assay__json_object(json, NULL);
        assay__json_number(json, "n", size->n);
        assay__json_count(json, "values", size->count);
        assay__json_number(json, "median_seconds", size->median_seconds);
        assay__json_reading(json, "fitted_seconds", assay_growth_predict(growth, size->n));
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_classes(assay__json *json, const assay_growth *growth)
{
    assay__json_array(json, "classes");
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES; i++) {
        const assay_growth_candidate *candidate = &growth->candidates[i];
        if (!candidate->possible)
            continue;
        assay__json_object(json, NULL);
        assay__json_text(json, "class", assay_growth_class_name(candidate->growth_class));
        assay__json_reading(json, "p_value", candidate->p_value);
        assay__json_flag(json, "rejected", candidate->rejected);
        if (candidate->growth_class == ASSAY_GROWTH_POWER)
            assay__json_number(json, "exponent", candidate->exponent);
        else
            assay__json_number(json, "probability", candidate->weight);
        assay__json_number(json, "overhead_seconds", candidate->overhead_seconds);
        assay__json_number(json, "coefficient", candidate->coefficient);
        assay__json_number(json, "relative_error", candidate->relative_error);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_predictions(assay__json *json, const assay_growth *growth)
{
    assay__json_array(json, "predictions");
    for (double factor = 10; factor <= 100 && growth->size_count > 0; factor *= 10) {
        double n = factor * growth->sizes[growth->size_count - 1].n;
        assay_reading seconds = assay_growth_predict(growth, n);
        if (seconds.validity != ASSAY_VALID)
            break;
        assay__json_object(json, NULL);
        assay__json_number(json, "n", n);
        assay__json_reading(json, "seconds", seconds);
        assay__json_end(json);
    }
    assay__json_end(json);
}

assay_status assay_growth_print_json(const assay_growth *growth, FILE *stream, assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    if (growth->name[0] != '\0')
        assay__json_text(&json, "name", growth->name);
    write_verdict(&json, growth);
    write_sizes(&json, growth);
    write_classes(&json, growth);
    write_predictions(&json, growth);
    assay__json_end(&json);
    assay_status status = assay__json_finish(&json);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot write the growth: %s",
                           assay_status_message(status));
    return ASSAY_OK;
}
