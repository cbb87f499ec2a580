/* Keeps the peak of the machine in a JSON file of the user's cache folder. */
#include "studies/common/peak.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assay/instrument.h"
#include "base/error.h"
#include "base/text.h"
#include "studies/common/json_file.h"

enum { MAX_PATH = 4096 };

static void keep_processor(void *context, const char *key, const char *value,
                           assay_validity validity)
{
    (void)validity;
    if (strcmp(key, "cpu") == 0 && value != NULL)
        assay__text_copy_name(context, ASSAY__PEAK_TEXT_BYTES, value, strlen(value));
}

void assay__peak_processor(char text[ASSAY__PEAK_TEXT_BYTES])
{
    snprintf(text, ASSAY__PEAK_TEXT_BYTES, "unknown");
    assay_machine_describe(keep_processor, text);
}

/* The path of the file. If `make`, also make its folders. Returns false if neither XDG_CACHE_HOME
 * nor HOME names a folder. */
static bool cache_path(char path[MAX_PATH], bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[MAX_PATH - 16];
    int length = cache != NULL && *cache == '/' ? snprintf(folder, sizeof folder, "%s", cache)
                 : home != NULL && *home == '/' ? snprintf(folder, sizeof folder, "%s/.cache", home)
                                                : -1;
    if (length < 0 || (size_t)length + 8 >= sizeof folder)
        return false;
    if (make)
        mkdir(folder, 0700);
    strcat(folder, "/assay");
    if (make)
        mkdir(folder, 0700);
    snprintf(path, MAX_PATH, "%s/peak.json", folder);
    return true;
}

static assay_status take_figures(json_t *root, const char *path, assay__peak *peak,
                                 assay_error *error)
{
    const char *processor = NULL, *measured_at = NULL;
    bool good = json_unpack(root, "{s:F, s:F, s:s, s:s}", "gflops", &peak->gflops,
                            "gigabytes_per_second", &peak->gigabytes_per_second, "processor",
                            &processor, "measured_at", &measured_at) == 0 &&
                peak->gflops > 0 && peak->gigabytes_per_second > 0;
    if (!good)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "'%s' is damaged; 'assay doctor --measure' writes it anew", path);
    snprintf(peak->processor, sizeof peak->processor, "%s", processor);
    snprintf(peak->measured_at, sizeof peak->measured_at, "%s", measured_at);
    return ASSAY_OK;
}

assay_status assay__peak_load(assay__peak *peak, assay_error *error)
{
    char path[MAX_PATH], processor[ASSAY__PEAK_TEXT_BYTES];
    struct stat info;
    json_t *root = NULL;
    *peak = (assay__peak){0};
    if (!cache_path(path, false) || stat(path, &info) != 0)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "this machine's peak is not measured yet: run 'assay doctor --measure'");
    assay_status status = assay__json_file_read(path, error, &root);
    if (status == ASSAY_OK)
        status = take_figures(root, path, peak, error);
    json_decref(root);
    assay__peak_processor(processor);
    if (status == ASSAY_OK && strcmp(processor, peak->processor) != 0)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "the peak in '%s' is of another processor: run 'assay doctor --measure'",
                           path);
    return status;
}

assay_status assay__peak_save(const assay__peak *peak, assay_error *error)
{
    char path[MAX_PATH];
    if (!cache_path(path, true))
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "neither XDG_CACHE_HOME nor HOME says where to keep the peak");
    json_t *root = json_pack("{s:f, s:f, s:s, s:s}", "gflops", peak->gflops, "gigabytes_per_second",
                             peak->gigabytes_per_second, "processor", peak->processor,
                             "measured_at", peak->measured_at);
    return assay__json_file_write(root, path, error);
}
