/* Named timers: the time of each step of a job, its memory, and one summary at the end.
 *
 *     cc timing.c $(pkg-config --cflags --libs assay) -lm -o timing
 *     ./timing             prints a line after each step, then the tables
 *     ./timing FOLDER      also writes FOLDER/timing.csv and FOLDER/timing.json
 *
 * With the heap library (`LD_PRELOAD=libassay_heap.so ./timing`) the memory is exact. Without it,
 * the memory is the resident memory of the process. The program says which one it shows. */
#include <math.h>
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/timers.h>

enum { COUNT = 400000 };

static void *make_numbers(void *unused)
{
    (void)unused;
    double *numbers = malloc(COUNT * sizeof *numbers);
    for (int i = 0; numbers != NULL && i < COUNT; i++)
        numbers[i] = sin(i * 12.9898) * 43758.5453;
    return numbers;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void *sort_numbers(void *numbers)
{
    qsort(numbers, COUNT, sizeof(double), ascending);
    return numbers;
}

/* Finds the number with the largest gap after it. */
static void *find_gap(void *argument)
{
    double *numbers = argument, *gap = numbers;
    for (int i = 0; i < COUNT - 1; i++)
        if (numbers[i + 1] - numbers[i] > gap[1] - gap[0])
            gap = &numbers[i];
    return gap;
}

static void show_entries(const assay_timers *timers)
{
    printf("\nEvery entry and its metrics:\n");
    for (size_t i = 0; i < assay_timers_count(timers); i++) {
        const assay_timer timer = assay_timers_at(timers, i);
        printf("  %-16s %.6f s\n", timer.name, timer.time.value);
        for (size_t k = 0; k < timer.metric_count; k++) {
            const assay_timer_metric *metric = &timer.metrics[k];
            if (metric->value.validity == ASSAY_VALID)
                printf("    %-22s %.0f\n", metric->key, metric->value.value);
            else
                printf("    %-22s %s\n", metric->key, assay_validity_text(metric->value.validity));
        }
    }
    printf("  %-16s %.6f s\n", "all together", assay_timers_total(timers));
}

static assay_status export(const assay_timers *timers, const char *folder, assay_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/timing.csv", folder);
    assay_status status = assay_export_timing_csv(timers, path, "Sorting", error);
    if (status == ASSAY_OK) {
        snprintf(path, sizeof path, "%s/timing.json", folder);
        status = assay_export_timing_json(timers, path, "Sorting", error);
    }
    return status;
}

int main(int count, char **arguments)
{
    assay_error error = {0};
    assay_timers *timers = NULL;
    assay_status status = assay_timers_new(stdout, &timers); /* pass NULL to print nothing */
    if (status != ASSAY_OK) {
        fprintf(stderr, "timers: %s\n", assay_status_message(status));
        return 1;
    }
    const assay_memory_source source = assay_enable_memory_tracking(timers);
    printf("memory: %s\n", source == ASSAY_MEMORY_SOURCE_HEAP ? "exact heap" : "resident memory");

    /* A call. It returns the result of the function. */
    double *numbers = assay_track_time_and_memory(timers, "make numbers", make_numbers, NULL);
    if (numbers == NULL) {
        assay_timers_free(timers);
        return 1;
    }
    /* A block. Calls that are tracked inside it belong to it and are not added to the total again.
     */
    ASSAY_TRACK_TIME_AND_MEMORY(timers, "analysis") {
        assay_track_time(timers, "sort", sort_numbers, numbers);
        const double *gap = assay_track_time_and_gpu(timers, "find gap", find_gap, numbers);
        printf("the largest gap is %.3f wide\n", gap[1] - gap[0]);
    }
    free(numbers);

    /* Times that were measured elsewhere, and figures of your own. */
    status = assay_timers_set(timers, "download", 0.25);
    if (status == ASSAY_OK)
        status = assay_timers_set_metric(timers, "sort", "numbers", assay_reading_of(COUNT));
    if (status == ASSAY_OK)
        status = assay_timers_status(timers); /* did every tracking call succeed? */

    assay_print_timing_summary(timers, stdout, "Sorting", 1);
    show_entries(timers);
    const double sorting = assay_timers_get(timers, "sort", "time").value;
    printf("\nsorting took %.0f ns a number\n", sorting * 1e9 / COUNT);
    const assay_gpu_memory gpu = assay_get_gpu_memory_usage();
    if (gpu.allocated_bytes.validity == ASSAY_VALID)
        printf("GPU memory in use: %.0f bytes\n", gpu.allocated_bytes.value);
    else
        printf("GPU memory in use: %s\n", assay_validity_text(gpu.allocated_bytes.validity));

    if (status != ASSAY_OK)
        fprintf(stderr, "timers: %s\n", assay_status_message(status));
    else if (count > 1 && (status = export(timers, arguments[1], &error)) != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    assay_timers_free(timers);
    return status == ASSAY_OK ? 0 : 1;
}
