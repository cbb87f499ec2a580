/* The order in which subjects take turns: it is balanced, and reproducible from its seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampling/order.h"

enum { MOST = 9 };

static void order_is_balanced(void **state)
{
    (void)state;
    for (size_t count = 2; count <= MOST; count++) {
        assay__order order;
        assert_int_equal(assay__order_init(&order, count, 7 * count), ASSAY_OK);
        int place[MOST][MOST] = {{0}}, follows[MOST][MOST] = {{0}};
        size_t rows = count % 2 == 0 ? count : 2 * count;
        for (size_t row = 0; row < rows; row++) {
            uint32_t round[MOST];
            assay__order_next(&order, round);
            for (size_t i = 0; i < count; i++) {
                place[round[i]][i]++;
                if (i > 0)
                    follows[round[i]][round[i - 1]]++;
            }
        }
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++) {
                assert_int_equal(place[i][j], (int)(rows / count));
                assert_int_equal(follows[i][j], i == j ? 0 : (int)(rows / count));
            }
        assay__order_release(&order);
    }
}

/* A block of the design for four has four orders; that letters change hands makes all 24 possible.
 */
static void orders_change_from_block_to_block(void **state)
{
    (void)state;
    assay__order order;
    bool seen[256] = {false};
    int different = 0;
    assert_int_equal(assay__order_init(&order, 4, 1), ASSAY_OK);
    for (int i = 0; i < 400; i++) {
        uint32_t round[4];
        assay__order_next(&order, round);
        size_t code = round[0] << 6 | round[1] << 4 | round[2] << 2 | round[3];
        different += !seen[code];
        seen[code] = true;
    }
    assert_int_equal(different, 24);
    assay__order_release(&order);
}

/* The rows of a block are mixed, too: in any order of letters the second row is one of three. */
static void rows_change_places(void **state)
{
    (void)state;
    assay__order order;
    bool seen[4] = {false};
    assert_int_equal(assay__order_init(&order, 4, 1), ASSAY_OK);
    for (int block = 0; block < 100; block++) {
        uint32_t rows[4][4];
        for (size_t i = 0; i < 4; i++)
            assay__order_next(&order, rows[i]);
        for (size_t place = 0; place < 4; place++)
            if (rows[1][place] == rows[0][0])
                seen[place] = true;
    }
    assert_true(!seen[0] && seen[1] && seen[2] && seen[3]);
    assay__order_release(&order);
}

/* From the first block on. */
static void seeds_decide_who_begins(void **state)
{
    (void)state;
    int first = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        assay__order order;
        uint32_t round[2];
        assert_int_equal(assay__order_init(&order, 2, seed), ASSAY_OK);
        assay__order_next(&order, round);
        first += round[0] == 0;
        assay__order_release(&order);
    }
    assert_in_range(first, 30, 70);
}

static uint64_t fingerprint(uint64_t seed)
{
    assay__order order;
    uint32_t round[3];
    uint64_t print = 0;
    assert_int_equal(assay__order_init(&order, 3, seed), ASSAY_OK);
    for (int i = 0; i < 30; i++) {
        assay__order_next(&order, round);
        print = print * 31 + round[0] * 9 + round[1] * 3 + round[2];
    }
    assay__order_release(&order);
    return print;
}

static void order_follows_the_seed(void **state)
{
    (void)state;
    assert_true(fingerprint(1) == fingerprint(1));
    assert_true(fingerprint(1) != fingerprint(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_balanced),
        cmocka_unit_test(orders_change_from_block_to_block),
        cmocka_unit_test(rows_change_places),
        cmocka_unit_test(seeds_decide_who_begins),
        cmocka_unit_test(order_follows_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
