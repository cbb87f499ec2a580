/* Prepares the environment variables that make the CUDA driver load libassay_cupti.so into the
 * processes of a run; run_gpu.h says how. Each process writes its activity into a file of the
 * private directory. */
#include "cli/run_gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/message.h"

static const char injection[] = "CUDA_INJECTION64_PATH";

/* The file of one process takes 12 MiB, and few programs use CUDA in more than a few processes. */
#define SCRATCH_GPU_BYTES (64u << 20)

bool run_gpu_find_library(char path[SCRATCH_PATH_SIZE])
{
    static const char *const places[] = {"lib/libassay_cupti.so", "../lib/libassay_cupti.so"};
    return installed_file_find(places, 2, R_OK, path);
}

bool run_gpu_prepare(run_gpu *gpu)
{
    if (!gpu->asked)
        return true;
    const char *other = getenv(injection);
    if (other != NULL && *other != '\0') {
        message_note("assay run: the GPU is not measured: %s is set already, for '%s'", injection,
                     other);
        return true;
    }
    if (!run_gpu_find_library(gpu->library)) {
        message_error("assay run: --gpu needs libassay_cupti.so in lib/ beside the assay command "
                      "or in ../lib/, and it is in neither; reinstall assay");
        return false;
    }
    if (scratch_dir_make(SCRATCH_GPU_BYTES, gpu->directory))
        return true;
    message_error("assay run: cannot make a private directory in '%s': %s; set TMPDIR",
                  scratch_dir_parent(SCRATCH_GPU_BYTES), strerror(errno));
    return false;
}

size_t run_gpu_variables(const run_gpu *gpu, launch_variable variables[RUN_GPU_VARIABLES])
{
    if (gpu->directory[0] == '\0')
        return 0;
    variables[0] = (launch_variable){"ASSAY_GPU_DIR", gpu->directory};
    variables[1] = (launch_variable){injection, gpu->library};
    variables[2] = (launch_variable){"ASSAY_GPU_RANGE", gpu->ranged ? "1" : ""};
    return RUN_GPU_VARIABLES;
}

void run_gpu_release(run_gpu *gpu)
{
    scratch_dir_remove(gpu->directory);
    gpu->directory[0] = '\0';
}
