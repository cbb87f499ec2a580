/* Profiling the Python programs among the processes of a run.
 *
 * The folder `site` of the Python package becomes the first of PYTHONPATH. Its sitecustomize.py,
 * which every Python imports before anything else, starts the sampler. So the programs themselves
 * are started as they always are. */
#ifndef ASSAY_CLI_RUN_PYTHON_H
#define ASSAY_CLI_RUN_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch.h"
#include "cli/scratch_dir.h"

enum { RUN_PYTHON_VARIABLES = 5 };

typedef struct run_python {
    const char *package; /* the folder of the Python package, or NULL: no profile */
    double rate_hz;
    bool allocations;
    size_t events; /* kept one by one, for a trace */
    char directory[SCRATCH_PATH_SIZE];
    char *path;
    char rate_text[32], interval_text[32], events_text[32];
} run_python;

/* Refuse a folder that is no package, and make the directory of the profiles. False after a
 * message. */
bool run_python_prepare(run_python *python);

/* What the program shall find in its environment; none without a package. Returns how many. */
size_t run_python_variables(run_python *python, launch_variable variables[RUN_PYTHON_VARIABLES]);

/* Remove the directory. */
void run_python_release(run_python *python);

#endif
