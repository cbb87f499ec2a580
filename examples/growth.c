/* How does a time grow with a size? This program measures a function at several sizes, and fits
 * figures that were measured elsewhere.
 *
 *     cc growth.c $(pkg-config --cflags --libs assay) -lm -o growth
 *     ./growth */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/scaling.h>

enum { SIZES = 5 };

typedef struct numbers {
    int *shuffled, *sorted;
} numbers;

/* Makes the numbers of one size. This is not timed. */
static assay_status make_numbers(void *context, double size, void **instance)
{
    (void)context;
    const size_t count = (size_t)size;
    numbers *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ASSAY_E_MEMORY;
    made->shuffled = malloc(count * sizeof(int));
    made->sorted = malloc(count * sizeof(int));
    *instance = made;
    if (made->shuffled == NULL || made->sorted == NULL) {
        free(made->shuffled);
        free(made->sorted);
        free(made);
        return ASSAY_E_MEMORY;
    }
    uint32_t random = 1;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        made->shuffled[i] = (int)(random >> 8);
    }
    return ASSAY_OK;
}

static void free_numbers(void *context, void *instance)
{
    (void)context;
    numbers *made = instance;
    free(made->shuffled);
    free(made->sorted);
    free(made);
}

/* Insertion sort: it moves every number past all larger numbers before it. */
static assay_status sort_numbers(void *context, void *instance, double size, uint64_t iterations)
{
    (void)context;
    numbers *made = instance;
    const size_t count = (size_t)size;
    for (uint64_t iteration = 0; iteration < iterations; iteration++) {
        memcpy(made->sorted, made->shuffled, count * sizeof(int));
        for (size_t i = 1; i < count; i++) {
            const int value = made->sorted[i];
            size_t k = i;
            for (; k > 0 && made->sorted[k - 1] > value; k--)
                made->sorted[k] = made->sorted[k - 1];
            made->sorted[k] = value;
        }
    }
    return ASSAY_OK;
}

static assay_status measure(assay_error *error)
{
    static const double sizes[SIZES] = {200, 400, 800, 1600, 3200};
    assay_scaling_subject subject = ASSAY_SCALING_SUBJECT_INIT;
    subject.name = "insertion sort";
    subject.parameter = "numbers";
    subject.make = make_numbers;
    subject.run = sort_numbers;
    subject.destroy = free_numbers;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    options.budget_seconds = 1.0;
    assay_scaling *scaling = NULL;
    assay_status status = assay_scaling_run(&subject, sizes, SIZES, &options, error, &scaling);
    if (status != ASSAY_OK)
        return status;
    status = assay_scaling_print_summary(scaling, stdout);
    const assay_reading million = assay_growth_predict(scaling->growth, 1e6);
    if (million.validity == ASSAY_VALID)
        printf("\nA million numbers would take about %.0f s.\n\n", million.value);
    assay_scaling_free(scaling);
    return status;
}

/* The same for figures that were measured elsewhere. `assay fit` does it for a CSV file. */
static assay_status fit_figures(assay_error *error)
{
    static const double rows[] = {1000, 2000, 5000, 10000, 20000, 50000};
    static const double seconds[] = {0.0121, 0.0219, 0.0522, 0.1017, 0.2031, 0.5004};
    assay_growth *growth = NULL;
    const assay_status status = assay_growth_fit(rows, seconds, 6, error, &growth);
    if (status != ASSAY_OK)
        return status;
    printf("An import of 1000 to 50000 rows grows like %s, exponent %.3f (%.3f to %.3f).\n",
           assay_growth_class_name(growth->growth_class), growth->exponent.value, growth->low.value,
           growth->high.value);
    printf("A million rows would take %.1f s.\n", assay_growth_predict(growth, 1e6).value);
    assay_growth_free(growth);
    return ASSAY_OK;
}

int main(void)
{
    assay_error error;
    assay_status status = measure(&error);
    if (status == ASSAY_OK)
        status = fit_figures(&error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    return status == ASSAY_OK ? 0 : 1;
}
