/* Prepares the environment variables that make Python programs profile themselves; run_python.h
 * says how. */
#include "cli/run_python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/message.h"

/* The mean distance between two sampled allocations, in allocated bytes. 1 GiB of small blocks
 * gives 65536 samples, and their sum has a standard deviation of 0.4 %. */
static const size_t interval_bytes = 16 << 10;

#define SCRATCH_PYTHON_BYTES (64u << 20)

bool run_python_prepare(run_python *python)
{
    char *start = NULL;
    if (python->package == NULL)
        return true;
    if (asprintf(&start, "%s/site/sitecustomize.py", python->package) < 0) {
        message_error("assay run: out of memory");
        return false;
    }
    bool found = access(start, R_OK) == 0;
    free(start);
    if (!found) {
        message_error("assay run: '%s' is not the Python package assay; `python3 -m assay run` "
                      "gives the right folder",
                      python->package);
        return false;
    }
    if (scratch_dir_make(SCRATCH_PYTHON_BYTES, python->directory))
        return true;
    message_error("assay run: cannot make a private directory in '%s': %s; set TMPDIR",
                  scratch_dir_parent(SCRATCH_PYTHON_BYTES), strerror(errno));
    return false;
}

size_t run_python_variables(run_python *python, launch_variable variables[RUN_PYTHON_VARIABLES])
{
    const char *before = getenv("PYTHONPATH");
    bool alone = before == NULL || *before == '\0';
    if (python->package == NULL || asprintf(&python->path, "%s/site%s%s", python->package,
                                            alone ? "" : ":", alone ? "" : before) < 0)
        return 0;
    snprintf(python->rate_text, sizeof python->rate_text, "%.17g", python->rate_hz);
    snprintf(python->interval_text, sizeof python->interval_text, "%zu",
             python->allocations ? interval_bytes : 0);
    snprintf(python->events_text, sizeof python->events_text, "%zu", python->events);
    variables[0] = (launch_variable){"PYTHONPATH", python->path};
    variables[1] = (launch_variable){"ASSAY_PYTHON_DIR", python->directory};
    variables[2] = (launch_variable){"ASSAY_PYTHON_RATE", python->rate_text};
    variables[3] = (launch_variable){"ASSAY_PYTHON_INTERVAL", python->interval_text};
    variables[4] = (launch_variable){"ASSAY_PYTHON_EVENTS", python->events_text};
    return RUN_PYTHON_VARIABLES;
}

void run_python_release(run_python *python)
{
    scratch_dir_remove(python->directory);
    python->directory[0] = '\0';
    free(python->path);
    python->path = NULL;
}
