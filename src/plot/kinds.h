/* The kinds of plots. Each draws data of a record into a chart, or fails if the record has no data
 * of this kind. */
#ifndef ASSAY_PLOT_KINDS_H
#define ASSAY_PLOT_KINDS_H

#include "assay/plot.h"
#include "plot/chart.h"

/* The largest number of rows and of series that a reader can follow. A note tells the total number
 * if there are more. */
enum { ASSAY__PLOT_ROWS = 24, ASSAY__PLOT_SERIES = 6, ASSAY__PLOT_NOTE = 160 };

/* `chart` has its width and, if the user gave one, its title. The caller ends the chart. On failure
 * the chart has not been begun. */
typedef assay_status assay__plot_drawer(const assay_record *record,
                                        const assay_plot_settings *settings, assay__chart *chart,
                                        assay_error *error);
assay__plot_drawer assay__plot_distribution, assay__plot_ratios, assay__plot_growth,
    assay__plot_roofline, assay__plot_timeline, assay__plot_convergence;

/* Whether the name contains the text that the settings ask for. A NULL name does not. */
bool assay__plot_wants(const assay_plot_settings *settings, const char *name);

/* Fail because the record has none of these data, or none with the name that the settings ask for.
 * The remedy says what records them. */
assay_status assay__plot_nothing(const assay_plot_settings *settings, const char *data,
                                 const char *remedy, assay_error *error);

/* Set the chart's note to "the first 24 of 60; choose others by name", unless all are shown. */
void assay__plot_note_rest(assay__chart *chart, char note[ASSAY__PLOT_NOTE], size_t shown,
                           size_t all);

#endif
