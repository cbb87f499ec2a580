/* Measures one call: it prints a line at once and keeps the figures for later.
 *
 *     cc one_call.c $(pkg-config --cflags --libs assay) -lm -o one_call
 *     ./one_call
 *
 * scope.c does the same for a block, function_scope.c for a whole function. */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/performance.h>

enum { BYTES = 16 << 20 };

static void *fill(void *unused)
{
    (void)unused;
    unsigned char *memory = malloc(BYTES);
    for (int i = 0; memory != NULL && i < BYTES; i++)
        memory[i] = (unsigned char)(i * 31 / 7);
    return memory;
}

static void *checksum(void *memory)
{
    static unsigned sum;
    for (int i = 0; i < BYTES; i++)
        sum = sum * 31 + ((unsigned char *)memory)[i];
    return &sum;
}

/* A measurement may begin in one function and end in another. */
static assay_performance begin_request(void)
{
    return assay_performance_begin("request", NULL); /* no stream: it prints nothing by itself */
}

int main(void)
{
    assay_record_metric filled, summed;

    /* This calls the function, returns its result, and prints its line. */
    unsigned char *memory = assay_track_performance("fill", stdout, fill, NULL, &filled);
    if (memory == NULL)
        return 1;

    assay_performance request = begin_request();
    const unsigned *sum = assay_track_performance("checksum", NULL, checksum, memory, &summed);
    const assay_record_metric asked = assay_performance_end(&request);
    free(memory);

    /* This prints the line of a measurement that printed nothing by itself. */
    printf("the checksum is %08x\n", *sum);
    assay_performance_print(&asked, stdout);

    printf("\n%-10s %12s %16s\n", "call", "seconds", "memory gained");
    const assay_record_metric all[] = {filled, summed, asked};
    for (int i = 0; i < 3; i++) {
        printf("%-10s %12.6f", all[i].operation, all[i].duration_seconds);
        if (all[i].cpu_delta_bytes.validity == ASSAY_VALID)
            printf(" %10.0f bytes\n", all[i].cpu_delta_bytes.value);
        else
            printf(" %16s\n", assay_validity_text(all[i].cpu_delta_bytes.validity));
    }
    return 0;
}
