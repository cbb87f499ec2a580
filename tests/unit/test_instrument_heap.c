/* Heap files that the test makes, and heap figures without an interposer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "assay/memory.h"
#include "instrument/heap.h"
#include "instrument/heap_read.h"

static void make_region(assay__heap_region *region)
{
    memset(region, 0, sizeof *region);
    memcpy(region->header.magic, ASSAY__HEAP_MAGIC, sizeof region->header.magic);
    region->header.version = ASSAY__HEAP_VERSION;
    region->header.header_bytes = ASSAY__HEAP_HEADER_BYTES;
    region->header.slot_bytes = sizeof(assay__heap_slot);
    region->header.slot_capacity = ASSAY__HEAP_SLOTS;
    region->header.drift_bytes = ASSAY__HEAP_DRIFT;
    region->header.state = ASSAY__HEAP_RUNNING;
    region->header.allocator = ASSAY__HEAP_GLIBC;
    region->header.slots_used = 2;
}

static assay_status check(const assay__heap_region *region, size_t length)
{
    assay_error error = {0};
    assay_status status = assay__heap_check(region, length, "file", &error);
    assert_true(status == ASSAY_OK || strstr(error.message, "'file'") != NULL);
    return status;
}

static void test_damaged_heap_files_are_refused(void **state)
{
    (void)state;
    static assay__heap_region region;
    const size_t whole = ASSAY__HEAP_FILE_BYTES;
    make_region(&region);
    assert_int_equal(check(&region, whole), ASSAY_OK);
    assert_int_equal(check(&region, whole - 1), ASSAY_E_TRUNCATED);
    assert_int_equal(check(&region, 0), ASSAY_E_TRUNCATED);
    region.header.slot_capacity = ASSAY__HEAP_FIRST_SLOTS; /* as long as it says, not longer */
    assert_int_equal(check(&region, whole / 2), ASSAY_OK);
    region.header.slots_used = ASSAY__HEAP_FIRST_SLOTS + 1;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    region.header.slots_used = region.header.slot_capacity = ASSAY__HEAP_SLOTS + 1;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    region.header.version = ASSAY__HEAP_VERSION + 1;
    assert_int_equal(check(&region, whole), ASSAY_E_VERSION);
    make_region(&region);
    region.header.magic[3] ^= 1;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    memset(region.header.name, 'x', sizeof region.header.name);
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    region.header.state = 0;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    region.header.allocator = ASSAY__HEAP_BYPASSED;
    assert_int_equal(check(&region, whole), ASSAY_E_UNSUPPORTED);
}

/* Two threads: the process level is 1000, one of them has since been 70 above what it said. */
static void test_regions_are_summed(void **state)
{
    (void)state;
    static assay__heap_region region;
    assay_heap_figures figures = {.struct_size = sizeof figures};
    make_region(&region);
    region.header.published_bytes = 1000;
    region.header.peak_bytes = 1010;
    region.header.inherited_allocated_bytes = 500;
    region.header.inherited_freed_bytes = 100;
    region.header.inherited_allocations = 5;
    region.header.shared = (assay__heap_slot){.allocated_bytes = 40, .allocations = 1};
    region.slots[0] = (assay__heap_slot){.allocated_bytes = 2000,
                                         .freed_bytes = 300,
                                         .allocations = 20,
                                         .frees = 3,
                                         .published_bytes = 1660,
                                         .high_bytes = 1700,
                                         .peak_high_bytes = 1730};
    region.slots[1] = (assay__heap_slot){.allocated_bytes = 0,
                                         .freed_bytes = 700,
                                         .frees = 7,
                                         .published_bytes = -700,
                                         .high_bytes = -700,
                                         .peak_high_bytes = -700};
    region.slots[2].allocations = 999; /* never taken */
    assay__heap_sum(&region, &figures);
    assert_int_equal(figures.live_bytes, 40 + 1700 - 700);
    assert_int_equal(figures.peak_bytes, 1000 + 70);
    assert_int_equal(figures.peak_bound_bytes, 2 * ASSAY__HEAP_DRIFT);
    assert_int_equal(figures.allocations, 21 - 5);
    assert_int_equal(figures.frees, 10);
    assert_int_equal(figures.allocated_bytes, 2040 - 500);
    assert_int_equal(figures.inherited_bytes, 400);
}

static void test_without_interposer(void **state)
{
    (void)state;
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assay__heap_mark mark;
    assay__heap_span span;
    assert_false(assay_heap_available());
    assert_int_equal(assay_heap_read(&figures), ASSAY_E_UNSUPPORTED);
    assay__heap_span_begin(&mark);
    assert_false(assay__heap_span_end(&mark, &span));
    assay_error error;
    assert_int_equal(assay__heap_file_read("/no/such", &error, &figures), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay__heap_file_read("/tmp", &error, &figures), ASSAY_E_FORMAT);
    assert_int_equal(assay__heap_file_read("/dev/null", &error, &figures), ASSAY_E_FORMAT);
    assert_int_equal(assay_heap_directory_read("/no/such", &error, &figures), ASSAY_E_NOT_FOUND);
}

static void test_arguments_of_heaps_are_checked(void **state)
{
    (void)state;
    assay_heap_figures heap = {.struct_size = 1};
    assert_int_equal(assay_heap_read(&heap), ASSAY_E_ARGUMENT);
    assert_int_equal(assay__heap_file_read(NULL, NULL, &heap), ASSAY_E_ARGUMENT);
}

static int tries;

/* This access() stands in front of libc's. */
int access(const char *path, int mode)
{
    tries++;
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

/* A process that replaced its program many times: its last file is found in few steps. */
static void test_the_last_of_many_files(void **state)
{
    (void)state;
    enum { FILES = 1500, ALLOCATED = 123456 };
    static assay__heap_region region;
    char directory[] = "/tmp/test-heap-files-XXXXXX", path[64];
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assert_non_null(mkdtemp(directory));
    assert_int_equal(assay_heap_process_read(directory, 77, NULL, &figures), ASSAY_E_NOT_FOUND);
    make_region(&region);
    region.header.shared.allocated_bytes = ALLOCATED;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, i == 0 ? "%s/heap.77" : "%s/heap.77.%d", directory, i);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        assert_true(file >= 0);
        if (i == FILES - 1) {
            assert_int_equal(write(file, &region, sizeof region), (int)sizeof region);
            assert_int_equal(ftruncate(file, ASSAY__HEAP_FILE_BYTES), 0);
        }
        close(file);
    }
    tries = 0;
    assert_int_equal(assay_heap_process_read(directory, 77, NULL, &figures), ASSAY_OK);
    assert_int_equal(figures.allocated_bytes, ALLOCATED);
    assert_in_range(tries, 1, 30);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, i == 0 ? "%s/heap.77" : "%s/heap.77.%d", directory, i);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_heap_files_are_refused),
        cmocka_unit_test(test_regions_are_summed),
        cmocka_unit_test(test_without_interposer),
        cmocka_unit_test(test_arguments_of_heaps_are_checked),
        cmocka_unit_test(test_the_last_of_many_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
