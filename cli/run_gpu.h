/* Measuring the GPU activity of the processes of a run.
 *
 * The CUDA driver loads libassay_cupti.so into every process that uses CUDA, because
 * CUDA_INJECTION64_PATH names it. It is preloaded too, so that it learns when the program uses
 * CUPTI itself, and steps aside. */
#ifndef ASSAY_CLI_RUN_GPU_H
#define ASSAY_CLI_RUN_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch.h"
#include "cli/scratch_dir.h"

enum { RUN_GPU_VARIABLES = 2 };

typedef struct run_gpu {
    bool asked;
    char library[SCRATCH_PATH_SIZE];   /* empty: not measured */
    char directory[SCRATCH_PATH_SIZE]; /* empty: not measured */
} run_gpu;

/* Find the library and make the directory. A tool that was injected already stays: then the program
 * runs without us, after a note. False after a message. */
bool run_gpu_prepare(run_gpu *gpu);

/* What the program shall find in its environment, LD_PRELOAD aside. Returns how many. */
size_t run_gpu_variables(const run_gpu *gpu, launch_variable variables[RUN_GPU_VARIABLES]);

/* Remove the directory. */
void run_gpu_release(run_gpu *gpu);

/* Path of libassay_cupti.so beside this executable (lib/) or its installation (../lib/). */
bool run_gpu_find_library(char path[SCRATCH_PATH_SIZE]);

#endif
