/* Measuring the GPU activity of the processes of a run.
 *
 * The CUDA driver loads libassay_cupti.so into every process that uses CUDA, because the variable
 * CUDA_INJECTION64_PATH names that library. The library is preloaded as well: so it learns when the
 * program uses CUPTI itself, and then stops measuring. */
#ifndef ASSAY_CLI_RUN_GPU_H
#define ASSAY_CLI_RUN_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch.h"
#include "cli/scratch_dir.h"

enum { RUN_GPU_VARIABLES = 3 };

typedef struct run_gpu {
    bool asked;                        /* --gpu was given */
    bool ranged;                       /* --gpu-range was given */
    char library[SCRATCH_PATH_SIZE];   /* empty if the GPU is not measured */
    char directory[SCRATCH_PATH_SIZE]; /* empty if the GPU is not measured */
} run_gpu;

/* Find the library and make the directory. If another tool is injected already, it stays: a note is
 * printed, and the GPU is not measured. Returns false after a message. */
bool run_gpu_prepare(run_gpu *gpu);

/* Fill in the environment variables for the program, without LD_PRELOAD. Returns how many there
 * are. The values belong to `gpu`. */
size_t run_gpu_variables(const run_gpu *gpu, launch_variable variables[RUN_GPU_VARIABLES]);

/* Remove the directory. */
void run_gpu_release(run_gpu *gpu);

/* Find libassay_cupti.so in lib/ beside this executable or in ../lib/. Returns false if it is in
 * neither. */
bool run_gpu_find_library(char path[SCRATCH_PATH_SIZE]);

#endif
