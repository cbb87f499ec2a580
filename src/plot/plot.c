/* The table of plots. To add a plot, write an assay__plot_drawer in a file of its own, declare it
 * in kinds.h, and add a row here. The command, its help and the tests use this table. */
#include <string.h>

#include "assay/plot.h"
#include "assay/report.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "plot/kinds.h"
#include "report/cell.h"

enum { DEFAULT_WIDTH = 360 };

/* The names and descriptions are public, so they have a table of their own, in the same order. */
static const assay_plot_kind kinds[] = {
    {"distribution", "how long each operation or benchmark took, over all its runs", NULL},
    {"ratios", "comparisons: ratios with their intervals against the margin", NULL},
    {"growth", "times against sizes on logarithmic axes, with the fitted class", NULL},
    {"roofline", "the passes of a profiled model under the machine's peak", NULL},
    {"timeline", "the spans of a trace, or the processes of a run, over time", NULL},
    {"convergence", "losses and errors by epoch or step", NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static assay__plot_drawer *const drawers[KINDS] = {
    assay__plot_distribution, assay__plot_ratios,   assay__plot_growth,
    assay__plot_roofline,     assay__plot_timeline, assay__plot_convergence,
};

const assay_plot_kind *assay_plot_kinds(size_t *count)
{
    *count = KINDS;
    return kinds;
}

bool assay__plot_wants(const assay_plot_settings *settings, const char *name)
{
    return settings->of == NULL || (name != NULL && strstr(name, settings->of) != NULL);
}

assay_status assay__plot_nothing(const assay_plot_settings *settings, const char *data,
                                 const char *remedy, assay_error *error)
{
    if (settings->of != NULL)
        return assay__fail(error, ASSAY_E_DATA, "no %s to plot whose name contains '%.200s'", data,
                           settings->of);
    return assay__fail(error, ASSAY_E_DATA, "no %s to plot; %s", data, remedy);
}

void assay__plot_note_rest(assay__chart *chart, char note[ASSAY__PLOT_NOTE], size_t shown,
                           size_t all)
{
    if (all <= shown)
        return;
    snprintf(note, ASSAY__PLOT_NOTE, "the first %zu of %zu; choose others by name", shown, all);
    chart->note = note;
}

static assay_status draw(const assay_record *record, const char *kind,
                         const assay_plot_settings *given, assay_error *error, assay__chart *chart)
{
    assay_plot_settings settings;
    size_t index = 0;
    while (index < KINDS && (kind == NULL || strcmp(kinds[index].name, kind) != 0))
        index++;
    if (index == KINDS)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "there is no plot '%s'; assay_plot_kinds() lists them",
                           kind != NULL ? kind : "(null)");
    assay_status status =
        assay__struct_take(&settings, sizeof settings, given, "assay_plot_settings", error);
    if (status != ASSAY_OK)
        return status;
    size_t width = settings.width != 0 ? settings.width : DEFAULT_WIDTH;
    if (width < ASSAY_PLOT_MIN_WIDTH || width > ASSAY_PLOT_MAX_WIDTH)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a plot is %d to %d pixels wide, not %zu",
                           ASSAY_PLOT_MIN_WIDTH, ASSAY_PLOT_MAX_WIDTH, width);
    chart->width = (double)width;
    chart->title = settings.title != NULL ? settings.title : record->name;
    return drawers[index](record, &settings, chart, error);
}

assay_status assay_plot_print(const assay_record *record, const char *kind,
                              const assay_plot_settings *settings, FILE *stream, assay_error *error)
{
    assay__chart chart = {0};
    assay_status status = draw(record, kind, settings, error, &chart);
    if (status != ASSAY_OK)
        return status;
    assay__chart_end(&chart);
    status = assay__table_print(&chart.svg.text, stream);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "cannot print the plot: %s",
                                            assay_status_message(status));
}

typedef struct job {
    const assay_record *record;
    const char *kind;
    const assay_plot_settings *settings;
} job;

static assay_status print_job(const void *subject, FILE *stream, assay_error *error)
{
    const job *it = subject;
    return assay_plot_print(it->record, it->kind, it->settings, stream, error);
}

assay_status assay_plot_save(const assay_record *record, const char *kind,
                             const assay_plot_settings *settings, const char *path,
                             assay_error *error)
{
    const job it = {record, kind, settings};
    return assay_file_save(path, print_job, &it, error);
}
