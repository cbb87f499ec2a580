/* Opens the libraries. They are looked for in this order: the folders in ASSAY_CUDA_LIBRARIES
 * (separated by colons); the dynamic linker's own path; the toolkit in /usr/local/cuda; the wheels
 * that PyTorch brings along. The wheels lie in site-packages/nvidia of a virtual environment, of
 * the python3 on the path, of the user or of the system. Only the dynamic linker looks for the
 * driver. */
#include "models/cuda/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { PATH_BYTES = 4096 };

static struct {
    bool opened;
    assay__libraries entry;
} process; /* protected by the caller's lock */

typedef struct sought {
    const char *title, *package;
    const char *names[4]; /* newest first */
    const char *needs;    /* a pattern of libraries beside it to load before it, or NULL */
} sought;

static const sought blas = {"cuBLAS",
                            "nvidia-cublas",
                            {"libcublas.so.13", "libcublas.so.12", NULL},
                            "libcublasLt.so.1[23]"};
static const sought compiler = {"NVRTC",
                                "nvidia-cuda-nvrtc",
                                {"libnvrtc.so.13", "libnvrtc.so.12", NULL},
                                "libnvrtc-builtins.so.1[23]*"};

/* Opens every file that the pattern matches. Returns the last handle, or NULL. */
static void *open_matches(const char *pattern, int flags)
{
    glob_t found;
    void *handle = NULL;
    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        void *opened = dlopen(found.gl_pathv[i], RTLD_NOW | flags);
        handle = opened != NULL ? opened : handle;
    }
    globfree(&found);
    return handle;
}

/* Opens the library in a folder, which may be a pattern. */
static void *open_in(const char *folder, const sought *library)
{
    char path[PATH_BYTES];
    if (library->needs != NULL &&
        snprintf(path, sizeof path, "%s/%s", folder, library->needs) < PATH_BYTES)
        (void)open_matches(path, RTLD_GLOBAL);
    for (const char *const *name = library->names; *name != NULL; name++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, *name) >= PATH_BYTES)
            continue;
        void *handle = open_matches(path, RTLD_LOCAL);
        if (handle != NULL)
            return handle;
    }
    return NULL;
}

/* Opens the library in the wheels of a Python whose files are under `prefix`. */
static void *open_in_wheels(const char *prefix, const sought *library)
{
    static const char *const places[] = {"lib/python3*/site-packages", "lib/python3*/dist-packages",
                                         "lib/python3/dist-packages", NULL};
    char folder[PATH_BYTES];
    for (const char *const *place = places; prefix != NULL && *place != NULL; place++) {
        if (snprintf(folder, sizeof folder, "%s/%s/nvidia/*/lib", prefix, *place) >= PATH_BYTES)
            continue;
        void *handle = open_in(folder, library);
        if (handle != NULL)
            return handle;
    }
    return NULL;
}

/* Opens the library in one of the folders of a list, which colons separate. With `wheels`, only
 * folders that hold a python3 count, and the wheels of that Python are searched. */
static void *open_on_list(const char *list, bool wheels, const sought *library)
{
    void *handle = NULL;
    char folder[PATH_BYTES];
    for (const char *at = list; at != NULL && handle == NULL;) {
        size_t length = strcspn(at, ":");
        if (length > 0 && length < PATH_BYTES - 16) {
            memcpy(folder, at, length);
            memcpy(folder + length, wheels ? "/python3" : "", wheels ? sizeof "/python3" : 1);
            if (!wheels) {
                handle = open_in(folder, library);
            } else if (access(folder, X_OK) == 0) {
                memcpy(folder + length, "/..", sizeof "/..");
                handle = open_in_wheels(folder, library);
            }
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return handle;
}

static void *open_anywhere(const sought *library)
{
    void *handle = open_on_list(getenv("ASSAY_CUDA_LIBRARIES"), false, library);
    for (const char *const *name = library->names; *name != NULL && handle == NULL; name++)
        handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        handle = open_in("/usr/local/cuda/lib64", library);
    if (handle == NULL)
        handle = open_in_wheels(getenv("VIRTUAL_ENV"), library);
    if (handle == NULL)
        handle = open_on_list(getenv("PATH"), true, library);
    char home[PATH_BYTES];
    if (handle == NULL && getenv("HOME") != NULL &&
        snprintf(home, sizeof home, "%s/.local", getenv("HOME")) < PATH_BYTES)
        handle = open_in_wheels(home, library);
    return handle;
}

static const char *missing_symbol;

#define FIND(field, symbol, arguments)                                                             \
    do {                                                                                           \
        void *found = dlsym(handle, symbol);                                                       \
        memcpy(&to->field, &found, sizeof found);                                                  \
        if (found == NULL)                                                                         \
            missing_symbol = symbol;                                                               \
    } while (0);

static assay_status too_old(const char *title, assay_error *error)
{
    return assay__fail(
        error, ASSAY_E_UNSUPPORTED,
        "%s has no %s; install version 12 or 13 of CUDA's libraries and a driver that "
        "supports it",
        title, missing_symbol);
}

static assay_status open_driver(assay__libraries *libraries, assay_error *error)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return assay__fail(
            error, ASSAY_E_UNSUPPORTED,
            "no CUDA driver: libcuda.so.1 cannot be loaded; install NVIDIA's driver, "
            "or use --device cpu");
    typeof(libraries->driver) *to = &libraries->driver;
    missing_symbol = NULL;
    ASSAY__DRIVER_LIST(FIND)
    return missing_symbol == NULL ? ASSAY_OK : too_old("the CUDA driver", error);
}

static assay_status not_found(const sought *library, assay_error *error)
{
    return assay__fail(
        error, ASSAY_E_UNSUPPORTED,
        "no %s: %s or %s is neither on the library path nor in /usr/local/cuda/lib64 "
        "nor among Python's packages; install it (pip install %s) or name its folder "
        "in ASSAY_CUDA_LIBRARIES",
        library->title, library->names[0], library->names[1], library->package);
}

static assay_status open_all(assay__libraries *libraries, assay_error *error)
{
    assay_status status = open_driver(libraries, error);
    if (status != ASSAY_OK)
        return status;
    missing_symbol = NULL;
    {
        void *handle = open_anywhere(&blas);
        if (handle == NULL)
            return not_found(&blas, error);
        typeof(libraries->blas) *to = &libraries->blas;
        ASSAY__BLAS_LIST(FIND)
        if (missing_symbol != NULL)
            return too_old(blas.title, error);
    }
    void *handle = open_anywhere(&compiler);
    if (handle == NULL)
        return not_found(&compiler, error);
    typeof(libraries->compiler) *to = &libraries->compiler;
    ASSAY__COMPILER_LIST(FIND)
    return missing_symbol == NULL ? ASSAY_OK : too_old(compiler.title, error);
}

assay_status assay__libraries_open(assay_error *error, const assay__libraries **libraries)
{
    if (!process.opened) {
        assay_status status = open_all(&process.entry, error);
        if (status != ASSAY_OK)
            return status;
        process.opened = true;
    }
    *libraries = &process.entry;
    return ASSAY_OK;
}
