/* Sizes: products of 1024 x 1024 matrices, large enough that packing does not show and small enough
 * for 20 of them in half a second; arrays of 64 MB each, more than any cache in sight. */
#include "peak.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "assay/clock.h"
#include "assay/instrument.h"
#include "assay/model.h"
#include "base/error.h"
#include "base/text.h"
#include "json_file.h"
#include "kernel/matmul.h"

enum { SIDE = 1024, PRODUCT_RUNS = 20, TRIAD_ELEMENTS = 8 << 20, TRIAD_RUNS = 12 };
enum { MAX_PATH = 4096 };

static double seconds_since(uint64_t start_ns)
{
    return (double)(assay_clock_now_ns(assay_clock_default()) - start_ns) * 1e-9;
}

static assay_status measure_products(double *gflops)
{
    size_t count = (size_t)SIDE * SIDE;
    float *memory = calloc(3 * count, sizeof *memory);
    if (memory == NULL)
        return ASSAY_E_MEMORY;
    float *a = memory, *b = memory + count, *c = memory + 2 * count;
    for (size_t i = 0; i < 2 * count; i++)
        memory[i] = (float)(i % 17) * 0.125f;
    double best = INFINITY;
    for (int run = 0; run < PRODUCT_RUNS; run++) {
        uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
        assay__matmul(SIDE, SIDE, SIDE, 1, (assay__matrix){a, SIDE, false},
                      (assay__matrix){b, SIDE, false}, 0, c, SIDE);
        best = fmin(best, seconds_since(start_ns));
    }
    free(memory);
    *gflops = 2.0 * SIDE * SIDE * SIDE / best * 1e-9;
    return ASSAY_OK;
}

/* a = b + s c: two arrays read and one written, 24 bytes an element as STREAM counts them. */
static assay_status measure_bandwidth(double *gigabytes_per_second)
{
    double *memory = malloc(3 * sizeof(double) * TRIAD_ELEMENTS);
    if (memory == NULL)
        return ASSAY_E_MEMORY;
    double *restrict a = memory, *restrict b = memory + TRIAD_ELEMENTS,
                     *restrict c = memory + 2 * (size_t)TRIAD_ELEMENTS;
    for (size_t i = 0; i < 3 * (size_t)TRIAD_ELEMENTS; i++)
        memory[i] = 1.0;
    double best = INFINITY;
    for (int run = 0; run < TRIAD_RUNS; run++) {
        uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
        for (size_t i = 0; i < TRIAD_ELEMENTS; i++)
            a[i] = b[i] + 0.5 * c[i];
        best = fmin(best, seconds_since(start_ns));
        __asm__ volatile("" : : "r"(memory) : "memory"); /* the result is used */
    }
    free(memory);
    *gigabytes_per_second = 24.0 * TRIAD_ELEMENTS / best * 1e-9;
    return ASSAY_OK;
}

static void keep_processor(void *context, const char *key, const char *value,
                           assay_validity validity)
{
    (void)validity;
    if (strcmp(key, "cpu") == 0 && value != NULL)
        assay__text_copy_name(context, ASSAY__PEAK_TEXT_BYTES, value, strlen(value));
}

static void describe_processor(char text[ASSAY__PEAK_TEXT_BYTES])
{
    snprintf(text, ASSAY__PEAK_TEXT_BYTES, "unknown");
    assay_machine_describe(keep_processor, text);
}

assay_status assay__peak_measure(assay__peak *peak, assay_error *error)
{
    *peak = (assay__peak){0};
    assay_models_set_threads(1);
    assay_status status = measure_products(&peak->gflops);
    if (status == ASSAY_OK)
        status = measure_bandwidth(&peak->gigabytes_per_second);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory to measure the machine's peak (200 MB)");
    time_t now = time(NULL);
    struct tm utc;
    strftime(peak->measured_at, sizeof peak->measured_at, "%Y-%m-%dT%H:%M:%SZ",
             gmtime_r(&now, &utc));
    describe_processor(peak->processor);
    return ASSAY_OK;
}

/* The folder of the file, made if asked; false if there is no place for one. */
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
    describe_processor(processor);
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
