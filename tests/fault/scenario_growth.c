/* A table read, its growth fitted and shown: complete, or a status and nothing left behind. */
#include "fault.h"

#include <stdio.h>

#include "assay/growth.h"
#include "assay/report.h"

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
    return assay_report_growth_json(growth, stream, error);
}

static assay_status show(const assay_growth *growth, FILE *sink)
{
    assay_error error = {0};
    assay_status status = assay_report_growth(growth, sink, &error);
    if (status == ASSAY_OK)
        status = assay_report_write("growth.json", print_json, growth, &error);
    return status != ASSAY_OK && error.message[0] == '\0' ? (assay_status)-1000 : status;
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
