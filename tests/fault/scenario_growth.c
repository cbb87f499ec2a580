/* A table is read, its growth is fitted and shown, and a scaling run is made. Each either succeeds,
 * or fails with a status and leaves nothing behind. */
#include "tests/fault/fault.h"

#include <stdio.h>

#include "assay/clock.h"
#include "assay/growth.h"
#include "assay/report.h"
#include "assay/scaling.h"

static bool write_table(void)
{
    FILE *stream = fopen("data.csv", "w");
    if (stream == NULL)
        return false;
    fputs("n,seconds\n", stream);
    for (int i = 0; i < 80; i++) /* more than the first piece of memory holds */
        fprintf(stream, "%d,%d.%d\n", 10 << (i / 10), 10 << (i / 10), i % 10);
    return fclose(stream) == 0;
}

static assay_status print_json(const void *growth, FILE *stream, assay_error *error)
{
    return assay_growth_print_json(growth, stream, error);
}

static assay_status show(const assay_growth *growth, FILE *sink)
{
    assay_error error = {0};
    assay_status status = assay_growth_print(growth, sink, &error);
    if (status == ASSAY_OK)
        status = assay_file_save("growth.json", print_json, growth, &error);
    return status != ASSAY_OK && error.message[0] == '\0' ? (assay_status)-1000 : status;
}

static uint64_t now_ns;

static uint64_t hand_moved(void *context)
{
    (void)context;
    return now_ns;
}

static assay_status work(void *context, void *instance, double size, uint64_t iterations)
{
    (void)context;
    (void)instance;
    now_ns += (uint64_t)(1e3 * size) * iterations;
    return ASSAY_OK;
}

static assay_status scale(FILE *sink)
{
    static const double sizes[] = {10, 20, 40, 80, 160};
    assay_error error = {0};
    assay_clock *clock = NULL;
    assay_scaling *scaling = NULL;
    assay_scaling_subject subject = ASSAY_SCALING_SUBJECT_INIT;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    subject.name = "work";
    subject.run = work;
    options.max_rounds = 3;
    assay_status status = assay_clock_new_injected(hand_moved, NULL, &clock);
    options.clock = clock;
    if (status == ASSAY_OK) {
        status = assay_scaling_run(&subject, sizes, 5, &options, &error, &scaling);
        if (status != ASSAY_OK && error.message[0] == '\0')
            status = (assay_status)-1000; /* a failure without a message */
    }
    if (status == ASSAY_OK)
        status = assay_scaling_print_summary(scaling, sink);
    assay_scaling_free(scaling);
    assay_clock_free(clock);
    return status;
}

static assay_status run(void)
{
    assay_error error = {0};
    assay_growth_table table = {0};
    assay_growth *growth = NULL;
    FILE *sink = fopen("/dev/null", "w");
    assay_status status = sink != NULL && write_table() ? ASSAY_OK : ASSAY_E_MEMORY;
    if (status == ASSAY_OK)
        status = assay_growth_table_read("data.csv", NULL, NULL, &error, &table);
    if (status == ASSAY_OK)
        status = assay_growth_fit(table.sizes, table.seconds, table.count, &error, &growth);
    if (status == ASSAY_OK)
        status = show(growth, sink);
    if (status == ASSAY_OK)
        status = scale(sink);
    assay_growth_free(growth);
    assay_growth_table_release(&table);
    if (sink != NULL)
        fclose(sink);
    return status;
}

static bool verify(void)
{
    FILE *stream = fopen("growth.json", "r");
    bool content = stream != NULL && fgetc(stream) == '{';
    if (stream != NULL)
        fclose(stream);
    return content;
}

const fault_scenario fault_growth = {"growth", run, verify};
