/* Plots of run records, as static SVG for papers and web pages.
 *
 *     assay_error error;
 *     if (assay_plot_save(record, "growth", NULL, "growth.svg", &error) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * A plot is as wide as a column of a paper unless the settings say otherwise. Its texts can be
 * searched and copied, and its colours follow the reader's preference for light or dark. Names from
 * the record are escaped, so they cannot add markup.
 *
 * Threads: any, for records that no other thread changes.
 */
#ifndef ASSAY_PLOT_H
#define ASSAY_PLOT_H

#include <stddef.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of plot: "distribution", "ratios", "growth", "roofline", "timeline" or "convergence". */
typedef struct assay_plot_kind {
    const char *name, *description;
    void *reserved; /* NULL */
} assay_plot_kind;

/* All kinds, in the order to list them; static storage. */
ASSAY_API const assay_plot_kind *assay_plot_kinds(size_t *count);

enum { ASSAY_PLOT_MIN_WIDTH = 240, ASSAY_PLOT_MAX_WIDTH = 4096 };

/* Start from ASSAY_PLOT_SETTINGS_INIT; every zero means the default. */
typedef struct assay_plot_settings {
    size_t struct_size;
    const char *title; /* NULL: the name of the record, or a description of the plot */
    const char *of;    /* plot only items whose name contains this text; for "growth": the name of
                          the parameter that grows. NULL: all items, or the first one */
    size_t width;      /* in pixels, 96 to an inch; 0: 360, the width of a column in a paper */
} assay_plot_settings;

#define ASSAY_PLOT_SETTINGS_INIT ASSAY_INIT(assay_plot_settings)

/* Print the plot as one SVG document. NULL settings are the defaults. The call fails with
 * ASSAY_E_NOT_FOUND if there is no such kind; with ASSAY_E_DATA if the record has nothing that this
 * kind shows (the error says what records it); with ASSAY_E_ARGUMENT for a width outside the
 * limits; and with ASSAY_E_FULL or ASSAY_E_IO if writing fails. A NULL stream prints nothing. */
ASSAY_API ASSAY_MUST_USE assay_status assay_plot_print(const assay_record *record, const char *kind,
                                                       const assay_plot_settings *settings,
                                                       FILE *stream, assay_error *error);

/* Save the plot to a file. The file appears complete or not at all. The path "-" appends to
 * standard output. */
ASSAY_API ASSAY_MUST_USE assay_status assay_plot_save(const assay_record *record, const char *kind,
                                                      const assay_plot_settings *settings,
                                                      const char *path, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
