/* Buffers and arenas: growth, the declared maximum, and the failure that sticks. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buffer.h"

static void test_buffer_grows_and_stays_terminated(void **state)
{
    (void)state;
    assay__buffer buffer;
    assay__buffer_init(&buffer, 1 << 20);
    assert_null(buffer.data);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(assay__buffer_append(&buffer, "abc", 3), ASSAY_OK);
        assert_int_equal(strlen(buffer.data), buffer.length);
    }
    assert_int_equal(buffer.length, 15000);
    assert_memory_equal(buffer.data + 14997, "abc", 4);
    assay__buffer_release(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.length, 0);
}

static void test_buffer_formats(void **state)
{
    (void)state;
    assay__buffer buffer;
    assay__buffer_init(&buffer, 4096);
    assay__buffer_append_text(&buffer, "n=");
    assay__buffer_printf(&buffer, "%d", 42);
    assert_int_equal(assay__buffer_printf(&buffer, "%600s", "."), ASSAY_OK); /* forces growth */
    assert_int_equal(buffer.length, 604);
    assert_memory_equal(buffer.data, "n=42 ", 5);
    assay__buffer_release(&buffer);
}

static void test_buffer_appends_numbers(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 7, 10, 1090, UINT64_MAX};
    assay__buffer buffer;
    assay__buffer_init(&buffer, 4096);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assay__buffer_append_text(&buffer, " ");
        assert_int_equal(assay__buffer_append_number(&buffer, numbers[i]), ASSAY_OK);
    }
    assert_string_equal(buffer.data, " 0 7 10 1090 18446744073709551615");
    assay__buffer_release(&buffer);
}

static void test_buffer_holds_its_maximum_exactly(void **state)
{
    (void)state;
    assay__buffer buffer;
    assay__buffer_init(&buffer, 10);
    assert_int_equal(assay__buffer_append(&buffer, "0123456789", 10), ASSAY_OK);
    assert_int_equal(assay__buffer_append(&buffer, "", 0), ASSAY_OK);
    assert_int_equal(assay__buffer_append(&buffer, "x", 1), ASSAY_E_LIMIT);
    assert_string_equal(buffer.data, "0123456789");
    assay__buffer_release(&buffer);
}

static void test_buffer_failure_sticks(void **state)
{
    (void)state;
    assay__buffer buffer;
    assay__buffer_init(&buffer, 4);
    assert_int_equal(assay__buffer_append_text(&buffer, "too long"), ASSAY_E_LIMIT);
    assert_int_equal(assay__buffer_append_text(&buffer, "ok"), ASSAY_E_LIMIT);
    assert_int_equal(assay__buffer_printf(&buffer, "ok"), ASSAY_E_LIMIT);
    assert_null(assay__buffer_take(&buffer));
    assay__buffer_release(&buffer);
    assert_int_equal(assay__buffer_append_text(&buffer, "ok"), ASSAY_OK);
    assay__buffer_release(&buffer);
}

static void test_buffer_take_moves_the_storage(void **state)
{
    (void)state;
    assay__buffer buffer;
    assay__buffer_init(&buffer, 100);
    assert_null(assay__buffer_take(&buffer));
    assay__buffer_append_text(&buffer, "mine");
    char *text = assay__buffer_take(&buffer);
    assert_string_equal(text, "mine");
    assert_null(buffer.data);
    free(text);
    assay__buffer_append_text(&buffer, "again");
    assert_string_equal(buffer.data, "again");
    assay__buffer_release(&buffer);
}

static void test_arena_memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    assay__arena *arena = assay__arena_new(1 << 20);
    assert_non_null(arena);
    unsigned char *previous = NULL;
    for (size_t size = 1; size < 600; size += 7) {
        unsigned char *memory = assay__arena_allocate(arena, 1, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
        if (previous != NULL)
            assert_int_equal(previous[0], 0xff);
        previous = memory;
    }
    assert_non_null(assay__arena_allocate(arena, 3, 100000)); /* larger than a block */
    assay__arena_free(arena);
}

static void test_arena_refuses_beyond_its_maximum_and_overflow(void **state)
{
    (void)state;
    assay__arena *arena = assay__arena_new(1000);
    assert_null(assay__arena_allocate(arena, 1, 1001));
    assert_null(assay__arena_allocate(arena, SIZE_MAX / 2, 3));
    assert_null(assay__arena_allocate(arena, SIZE_MAX, 1));
    assert_non_null(assay__arena_allocate(arena, 10, 100));
    assert_null(assay__arena_allocate(arena, 1, 1));
    assay__arena_free(arena);
    assay__arena_free(NULL);
}

static void test_arena_without_a_maximum_survives_huge_requests(void **state)
{
    (void)state;
    assay__arena *arena = assay__arena_new(SIZE_MAX);
    assert_null(assay__arena_allocate(arena, SIZE_MAX, 1));
    assert_null(assay__arena_allocate(arena, SIZE_MAX - 8, 1));
    assert_null(assay__arena_allocate(arena, SIZE_MAX - 64, 1));
    assert_non_null(assay__arena_allocate(arena, 1, 1));
    assay__arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_grows_and_stays_terminated),
        cmocka_unit_test(test_buffer_formats),
        cmocka_unit_test(test_buffer_appends_numbers),
        cmocka_unit_test(test_buffer_holds_its_maximum_exactly),
        cmocka_unit_test(test_buffer_failure_sticks),
        cmocka_unit_test(test_buffer_take_moves_the_storage),
        cmocka_unit_test(test_arena_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(test_arena_refuses_beyond_its_maximum_and_overflow),
        cmocka_unit_test(test_arena_without_a_maximum_survives_huge_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
