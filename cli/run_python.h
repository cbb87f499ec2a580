/* Profiling the Python programs among the processes of a run.
 *
 * The folder `site` of the Python package becomes the first entry of PYTHONPATH. Python imports the
 * sitecustomize.py in that folder before it runs a script, and that module starts the sampler. So
 * the scripts are started without any change. */
#ifndef ASSAY_CLI_RUN_PYTHON_H
#define ASSAY_CLI_RUN_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch.h"
#include "cli/scratch_dir.h"

enum { RUN_PYTHON_VARIABLES = 5 };

typedef struct run_python {
    const char *package; /* the folder of the Python package; NULL if Python is not profiled */
    double rate_hz;
    bool allocations;
    size_t events;                     /* the most single events that are kept, for a trace */
    char directory[SCRATCH_PATH_SIZE]; /* where the programs write their profiles */
    char *path;                        /* the value of PYTHONPATH */
    char rate_text[32], interval_text[32], events_text[32];
} run_python;

/* Refuse a folder that is not the package, and make the directory of the profiles. Returns false
 * after a message. */
bool run_python_prepare(run_python *python);

/* Fill in the environment variables for the program. Returns how many there are: none without a
 * package. The values belong to `python`. */
size_t run_python_variables(run_python *python, launch_variable variables[RUN_PYTHON_VARIABLES]);

/* Remove the directory. */
void run_python_release(run_python *python);

#endif
