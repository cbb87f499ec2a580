/* A program that measures by itself uses the reports of assay for its figures.
 *
 *     cc own_record.c $(pkg-config --cflags --libs assay) -lm -o own_record
 *     ./own_record         prints the reports
 *     ./own_record FILE    also saves the record, for `assay report` and `assay compare`
 *
 * The figures are constants in this file. In practice a device, a log or a program in another
 * language would deliver them. */
#include <string.h>

#include <assay/assay.h>
#include <assay/record_build.h>

enum { SAMPLES = 20 };

/* Adds a phase of the device's job. Figures that are not known stay "not measured", as the init
 * call sets them. */
static assay_status add_phase(assay_record *record, const char *name, int32_t parent,
                              uint64_t count, double total, double self)
{
    assay_record_operation phase;
    assay_record_operation_init(&phase);
    phase.name = assay_record_text(record, name);
    if (phase.name == NULL)
        return ASSAY_E_MEMORY;
    phase.parent = parent;
    phase.count = count;
    phase.total_seconds = total;
    phase.self_seconds = self;
    phase.mean_seconds = assay_reading_of(total / (double)count);
    return assay_record_add_operation(record, &phase);
}

/* Adds an event that happened once. */
static assay_status add_event(assay_record *record, const char *name, double start, double seconds)
{
    assay_record_metric metric;
    assay_record_metric_init(&metric);
    metric.operation = assay_record_text(record, name);
    if (metric.operation == NULL)
        return ASSAY_E_MEMORY;
    metric.start_seconds = start;
    metric.duration_seconds = seconds;
    return assay_record_add_metric(record, &metric);
}

/* Adds an operation that was timed repeatedly. The samples must live as long as the record, so they
 * are copied. */
static assay_status add_timings(assay_record *record, const char *name, const char *mode,
                                const double *seconds)
{
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    double *samples = assay_record_allocate(record, SAMPLES, sizeof *samples);
    subject.name = assay_record_text(record, name);
    if (samples == NULL || subject.name == NULL)
        return ASSAY_E_MEMORY;
    memcpy(samples, seconds, SAMPLES * sizeof *samples);
    subject.samples_seconds = samples;
    subject.sample_count = SAMPLES;
    subject.iterations = 1;
    const assay_status status = assay_record_add_parameter(record, &subject, "mode", mode);
    return status == ASSAY_OK ? assay_record_add_subject(record, &subject) : status;
}

static assay_status fill(assay_record *record)
{
    static const double old_firmware[SAMPLES] = {
        0.0412, 0.0409, 0.0415, 0.0411, 0.0413, 0.0410, 0.0414, 0.0412, 0.0411, 0.0413,
        0.0410, 0.0412, 0.0411, 0.0414, 0.0412, 0.0410, 0.0413, 0.0412, 0.0411, 0.0412};
    static const double new_firmware[SAMPLES] = {
        0.0371, 0.0374, 0.0370, 0.0373, 0.0372, 0.0371, 0.0375, 0.0372, 0.0370, 0.0373,
        0.0372, 0.0371, 0.0373, 0.0371, 0.0372, 0.0374, 0.0372, 0.0371, 0.0373, 0.0372};
    record->kind = "monitor";
    record->name = assay_record_text(record, "camera");
    record->total_seconds = 1.60;
    assay_status status = assay_record_add_machine(record, "cpu", "camera board", ASSAY_VALID);
    if (status == ASSAY_OK) /* the value is unknown; the reason is given instead */
        status = assay_record_add_machine(record, "governor", NULL, ASSAY_NOT_PERMITTED);
    if (status == ASSAY_OK)
        status = add_phase(record, "frame", -1, 30, 1.50, 0.30);
    if (status == ASSAY_OK)
        status = add_phase(record, "expose", 0, 30, 0.90, 0.90);
    if (status == ASSAY_OK)
        status = add_phase(record, "compress", 0, 30, 0.30, 0.30);
    if (status == ASSAY_OK)
        status = add_event(record, "power on", 0.0, 0.10);
    if (status == ASSAY_OK)
        status = add_timings(record, "old firmware", "full frame", old_firmware);
    if (status == ASSAY_OK)
        status = add_timings(record, "new firmware", "full frame", new_firmware);
    return status;
}

int main(int count, char **arguments)
{
    static const char *const reports[] = {"tree", "csv-spans", "bench"};
    assay_error error = {0};
    assay_record *record = NULL;
    assay_status status = assay_record_new(&record);
    if (status == ASSAY_OK)
        status = fill(record);
    if (status == ASSAY_OK)
        status = assay_record_compare(record, NULL);
    for (int i = 0; status == ASSAY_OK && i < 3; i++) {
        printf("%s== %s ==\n", i > 0 ? "\n" : "", reports[i]);
        status = assay_report_print(record, reports[i], stdout, &error);
    }
    if (status == ASSAY_OK && count > 1)
        status = assay_record_save(record, arguments[1], 0, &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status),
                error.message[0] != '\0' ? error.message : assay_status_message(status));
    assay_record_free(record);
    return status == ASSAY_OK ? 0 : 1;
}
