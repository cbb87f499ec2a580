/* The journal reader and the snapshot on arbitrary bytes. The input overwrites parts of a real
 * journal, as a list of (offset, length, bytes): most mutations then get past the header and reach
 * the lists behind it. An input that begins with the journal's magic is taken as a journal itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/monitor.h"
#include "journal/reader.h"
#include "monitor/state.h"
#include "snapshot/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char *template_bytes, *scratch_bytes;
static size_t template_length, template_used;

static void make_template(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.journal_bytes = ASSAY__JOURNAL_MIN_BYTES;
    options.trace_events = 16;
    options.samples = 4;
    options.memory = ASSAY_MEMORY_RSS;
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        abort();
    for (int i = 0; i < 20; i++)
        ASSAY_TRACK(monitor, "outer") {
            ASSAY_TRACK(monitor, "inner") {
            }
            assay_monitor_count(monitor, "counter", i);
        }
    ASSAY_METRIC(monitor, "metric") {
    }
    assay_monitor_add(monitor, "late", 1000);
    assay_span open = assay_monitor_begin(monitor, "open");
    const assay__journal_header *header = assay__monitor_journal(monitor);
    template_length = header->total_bytes;
    template_used = ASSAY__JOURNAL_HEADER_BYTES + header->pool_used;
    template_bytes = malloc(template_length);
    scratch_bytes = malloc(template_length);
    if (template_bytes == NULL || scratch_bytes == NULL)
        abort();
    memcpy(template_bytes, header, template_length);
    memcpy(scratch_bytes, header, template_length);
    assay_span_end(open);
    assay_monitor_free(monitor);
}

static void parse(const unsigned char *bytes, size_t length)
{
    assay__journal_view view;
    assay_record *record = NULL;
    assay_error error;
    if (assay__journal_view_bytes(&view, bytes, length, "fuzz", &error) == ASSAY_OK &&
        assay__snapshot_view(&view, NULL, &error, &record) == ASSAY_OK) {
        FILE *sink = fopen("/dev/null", "w");
        if (sink != NULL) {
            if (assay_record_print(record, sink, ASSAY_RECORD_EVENTS, &error) != ASSAY_OK) {
                fprintf(stderr, "what was read cannot be written: %s\n", error.message);
                abort();
            }
            fclose(sink);
        }
    }
    assay_record_free(record);
}

/* Lay the input's pieces over the scratch journal, or, given the original, take them back. */
static void overwrite(const uint8_t *data, size_t size, const unsigned char *original)
{
    for (size_t i = 0; i + 4 <= size;) {
        size_t at =
            (data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % template_used;
        size_t length = data[i + 3] % 16;
        i += 4;
        for (size_t k = 0; k < length && i < size && at + k < template_length; k++, i++)
            scratch_bytes[at + k] = original != NULL ? original[at + k] : data[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (template_bytes == NULL)
        make_template();
    if (size >= 8 && memcmp(data, ASSAY__JOURNAL_MAGIC, 8) == 0) {
        parse(data, size);
        return 0;
    }
    overwrite(data, size, NULL);
    parse(scratch_bytes, template_length);
    overwrite(data, size, template_bytes);
    return 0;
}
