/* A program that trained and measured models by itself keeps its results in one record.
 *
 *     cc own_study.c $(pkg-config --cflags --libs assay) -lm -o own_study
 *     ./own_study FILE       "-" is standard output
 *
 * The figures are constants in this file. In practice another program, such as a training on a
 * cluster, would deliver them. */
#include <assay/assay.h>
#include <assay/record_build.h>

enum { EPOCHS = 4, SIZES = 3 };

/* Adds the model: its class, its memory and its arithmetic. */
static assay_status add_model(assay_record *record)
{
    static const assay_record_flops flops[] = {
        {.component = "attention", .convention = "assay", .forward = 1.2e9, .backward = 2.4e9}};
    assay_record_model model;
    assay_record_model_init(&model); /* fields not set below stay "not measured" */
    model.name = "translator";
    model.class_name = "transformer";
    model.parameters = assay_reading_of(65e6);
    model.parameter_bytes = assay_reading_of(260e6);
    model.flops = flops;
    model.flop_count = 1;
    const assay_status status = assay_record_add_model_setting(record, &model, "layers", "6");
    return status == ASSAY_OK ? assay_record_add_model(record, &model) : status;
}

/* Adds the results of the training: a series of losses, and single figures. */
static assay_status add_results(assay_record *record)
{
    static const double losses[EPOCHS] = {4.1, 2.7, 2.2, 2.0};
    const assay_record_series loss = {
        .name = "loss", .of = "translator", .along = "epoch", .values = losses, .count = EPOCHS};
    const assay_record_figure figures[] = {
        {.name = "bleu", .of = "translator", .value = assay_reading_of(27.3)},
        {.name = "training_time",
         .of = "translator",
         .value = assay_reading_of(43210),
         .unit = "s",
         .covers = "all epochs, without validation"},
        {.name = "validation_time",
         .of = "translator",
         .value = assay_reading_missing(ASSAY_NOT_MEASURED),
         .unit = "s"}};
    assay_status status = assay_record_add_series(record, &loss);
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == ASSAY_OK; i++)
        status = assay_record_add_figure(record, &figures[i]);
    return status;
}

/* Adds the growth of the model's time: a subject for each size, and the class that fits. */
static assay_status add_growth(assay_record *record)
{
    static const char *const lengths[SIZES] = {"128", "256", "512"};
    static const double seconds[SIZES] = {0.011, 0.040, 0.158};
    assay_record_scaling scaling;
    assay_record_scaling_init(&scaling);
    scaling.name = "length";
    scaling.of = "translator";
    scaling.parameter = "length";
    scaling.growth_class = "n^2";
    scaling.exponent = assay_reading_of(1.92);
    assay_status status = assay_record_add_scaling(record, &scaling);
    for (size_t i = 0; i < SIZES && status == ASSAY_OK; i++) {
        assay_record_subject subject;
        assay_record_subject_init(&subject);
        subject.name = "forward";
        subject.model = "translator";
        subject.mean_seconds = assay_reading_of(seconds[i]);
        status = assay_record_add_parameter(record, &subject, "length", lengths[i]);
        if (status == ASSAY_OK)
            status = assay_record_add_subject(record, &subject);
    }
    return status;
}

/* Adds where the training ran: a rank of a parallel job, and its device. */
static assay_status add_places(assay_record *record)
{
    assay_record_member process;
    assay_record_device device;
    assay_record_member_init(&process);
    process.process_id = 4711;
    process.name = "train";
    process.host = "node3";
    process.rank = 5;
    process.rank_count = 8;
    process.unseen = "the heap: it was not asked for";
    assay_record_device_init(&device);
    device.id = "cuda:1";
    device.host = "node3";
    device.peak_bytes = assay_reading_of(31e9);
    device.energy_joules = assay_reading_of(9.1e6);
    const assay_status status = assay_record_add_process(record, &process);
    return status == ASSAY_OK ? assay_record_add_device(record, &device) : status;
}

int main(int count, char **arguments)
{
    assay_error error = {0};
    assay_record *record = NULL;
    assay_status status = assay_record_new(&record);
    if (status == ASSAY_OK) {
        record->kind = "study";
        record->study = "translation";
        status = assay_record_add_setting(record, "seed", "42");
    }
    if (status == ASSAY_OK)
        status = add_model(record);
    if (status == ASSAY_OK)
        status = add_results(record);
    if (status == ASSAY_OK)
        status = add_growth(record);
    if (status == ASSAY_OK)
        status = add_places(record);
    if (status == ASSAY_OK)
        status = assay_record_save(record, count > 1 ? arguments[1] : "-", 0, &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status),
                error.message[0] != '\0' ? error.message : assay_status_message(status));
    assay_record_free(record);
    return status == ASSAY_OK ? 0 : 1;
}
