/* Figures for papers and pages: a run record as a plot, static SVG.
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

/* What can be plotted: "distribution", "ratios", "growth", "roofline", "timeline", "convergence".
 */
typedef struct assay_plot_kind {
    const char *name, *description;
    void *reserved; /* NULL */
} assay_plot_kind;

/* All kinds, in the order to list them. Static. */
ASSAY_API const assay_plot_kind *assay_plot_kinds(size_t *count);

enum { ASSAY_PLOT_MIN_WIDTH = 240, ASSAY_PLOT_MAX_WIDTH = 4096 };

/* Start from ASSAY_PLOT_SETTINGS_INIT; every zero means the default. */
typedef struct assay_plot_settings {
    size_t struct_size;
    const char *title; /* NULL: the name of the record, or what it shows */
    const char *of;    /* only what has this text in its name; of growth: the parameter that grows.
                          NULL: everything, or what comes first */
    size_t width;      /* in pixels, of which an inch has 96; 0: 360, a column of a paper */
} assay_plot_settings;

#define ASSAY_PLOT_SETTINGS_INIT ASSAY_INIT(assay_plot_settings)

/* Print the plot as one SVG document; NULL settings are the defaults. ASSAY_E_NOT_FOUND: there is
 * no such kind. ASSAY_E_DATA: the record holds nothing to show this way; the error says what would.
 * ASSAY_E_ARGUMENT: a width outside the limits. ASSAY_E_FULL or ASSAY_E_IO when writing fails. A
 * NULL stream prints nothing. */
ASSAY_API ASSAY_MUST_USE assay_status assay_plot_print(const assay_record *record, const char *kind,
                                                       const assay_plot_settings *settings,
                                                       FILE *stream, assay_error *error);

/* The same into a file, which appears complete or not at all ("-": append to standard output). */
ASSAY_API ASSAY_MUST_USE assay_status assay_plot_save(const assay_record *record, const char *kind,
                                                      const assay_plot_settings *settings,
                                                      const char *path, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
