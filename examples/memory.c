/* The memory of this process: its resident memory, the peak of it, and the exact size of the heap.
 *
 *     cc memory.c $(pkg-config --cflags --libs assay) -lm -o memory
 *     ./memory
 *     LD_PRELOAD=libassay_heap.so ./memory     with exact heap figures
 *     assay run --heap -- ./memory             the same, set up by the command */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>

enum { BYTES = 32 << 20 };

static void show_resident(const char *when)
{
    assay_memory memory = ASSAY_INIT(assay_memory);
    if (assay_memory_read(&memory) != ASSAY_OK)
        return;
    printf("%-22s", when);
    const assay_reading readings[] = {memory.rss_bytes, memory.peak_rss_bytes};
    for (int i = 0; i < 2; i++)
        if (readings[i].validity == ASSAY_VALID)
            printf(" %14.0f", readings[i].value);
        else
            printf(" %14s", assay_validity_text(readings[i].validity));
    printf("\n");
}

static assay_status show_heap(size_t requested)
{
    if (!assay_heap_available()) {
        printf("heap: not counted, the heap library is not loaded (see the top of memory.c)\n");
        return ASSAY_OK;
    }
    assay_heap_figures heap = ASSAY_INIT(assay_heap_figures);
    const assay_status status = assay_heap_read(&heap);
    if (status == ASSAY_OK) {
        printf("heap: %lld bytes live, peak %llu bytes (%zu were asked for at once)\n",
               (long long)heap.live_bytes, (unsigned long long)heap.peak_bytes, requested);
        printf("heap: %llu allocations, %llu frees\n", (unsigned long long)heap.allocations,
               (unsigned long long)heap.frees);
    }
    return status;
}

int main(void)
{
    printf("%-22s %14s %14s\n", "bytes", "resident", "peak");
    show_resident("at the start");
    unsigned char *memory = malloc(BYTES);
    if (memory == NULL)
        return 1;
    show_resident("allocated"); /* the kernel assigns pages when they are first written */
    memset(memory, 1, BYTES);
    show_resident("written");
    const int last = memory[BYTES - 1];
    free(memory);
    show_resident("freed");

    /* The kernel keeps the peak. If it is reset, everyone who reads it sees the new value. */
    const assay_status reset = assay_memory_reset_peak();
    if (reset == ASSAY_OK)
        show_resident("peak reset");
    else
        printf("the peak cannot be reset: %s\n", assay_status_message(reset));

    printf("\nlast byte: %d\n", last);
    const assay_status status = show_heap(BYTES);
    if (status != ASSAY_OK)
        fprintf(stderr, "heap: %s\n", assay_status_message(status));
    return status == ASSAY_OK ? 0 : 1;
}
