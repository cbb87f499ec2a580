/* The threads of the models: every part is computed once, wherever the call comes from. The results
 * depend on the number of threads only by rounding, and not on which thread was faster. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/model.h"
#include "models/kernel/matmul.h"
#include "models/kernel/threads.h"
#include "models/road/city.h"
#include "models/road/search.h"

enum { PARTS = 7 };

typedef struct tally {
    atomic_int times[PARTS], nested;
} tally;

static void count_nested(void *context, int part)
{
    (void)part;
    atomic_fetch_add(&((tally *)context)->nested, 1);
}

static void count_part(void *context, int part)
{
    tally *t = context;
    atomic_fetch_add(&t->times[part], 1);
    if (assay__parts(1000, 1) == 1) /* inside a part nothing is split again */
        assay__parallel(2, count_nested, t);
}

static bool every_part_once(int rounds)
{
    tally t = {0};
    for (int round = 0; round < rounds; round++)
        assay__parallel(PARTS, count_part, &t);
    bool once = atomic_load(&t.nested) == 2 * PARTS * rounds;
    for (int i = 0; i < PARTS; i++)
        once = once && atomic_load(&t.times[i]) == rounds;
    return once;
}

static void test_every_part_once(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 4; threads++) {
        assay_models_set_threads(threads);
        assert_true(every_part_once(2000));
        usleep(2000); /* the workers fall asleep */
        assert_true(every_part_once(1));
    }
    assay_models_set_threads(0);
    assert_int_equal(assay__threads(), 1);
    assert_int_equal(assay__parts(1000, 1), 1);
    assert_int_equal(assay__fine_parts(1000, 1), 1);
}

static void test_ranges(void **state)
{
    (void)state;
    assay_models_set_threads(5);
    assert_int_equal(assay__parts(1000, 100), 5);
    assert_int_equal(assay__parts(250, 100), 2);
    assert_int_equal(assay__parts(0, 100), 1);
    assert_int_equal(assay__fine_parts(10000, 100), 20);
    assert_int_equal(assay__fine_parts(1000, 100), 10);
    assert_int_equal(assay__fine_parts(0, 100), 1);
    for (int64_t count = 0; count < 100; count++) {
        for (int parts = 1; parts <= 5; parts++) {
            assert_int_equal(assay__part_start(count, 8, parts, 0), 0);
            assert_int_equal(assay__part_start(count, 8, parts, parts), count);
            for (int part = 0; part < parts; part++) {
                int64_t start = assay__part_start(count, 8, parts, part);
                assert_true(start <= assay__part_start(count, 8, parts, part + 1));
                assert_true(start % 8 == 0 || start == count);
            }
        }
    }
}

typedef struct covered {
    atomic_int times[1000];
    atomic_int calls;
    int64_t grain;
} covered;

static void cover(void *context, int64_t first, int64_t count)
{
    covered *c = context;
    assert_true(count > 0 && first % c->grain == 0);
    atomic_fetch_add(&c->calls, 1);
    for (int64_t i = first; i < first + count; i++)
        atomic_fetch_add(&c->times[i], 1);
}

/* Every thing is in one range, whatever the threads, the grain and the smallest part. */
static void test_ranges_cover_everything(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        assay_models_set_threads(threads);
        for (int64_t count = 0; count <= 1000; count += 37) {
            for (int64_t grain = 1; grain <= 64; grain *= 4) {
                covered c = {.grain = grain};
                assay__parallel_ranges(count, grain, 16, cover, &c);
                for (int64_t i = 0; i < 1000; i++)
                    assert_int_equal(c.times[i], i < count);
                assert_true(c.calls <= (threads == 1 ? 1 : 4 * threads));
            }
        }
    }
    assay_models_set_threads(0);
}

static void *use_pool(void *failed)
{
    if (!every_part_once(500))
        *(bool *)failed = true;
    return NULL;
}

/* Two callers at once: one has the workers, the other does its parts itself. */
static void test_two_callers(void **state)
{
    (void)state;
    assay_models_set_threads(3);
    bool failed = false;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, use_pool, &failed), 0);
    assert_true(every_part_once(500));
    pthread_join(other, NULL);
    assert_false(failed);
}

/* A child has none of its parent's threads and starts its own. */
static void test_fork(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* its runtime lets no child of a threaded process start threads */
#endif
    assay_models_set_threads(3);
    assert_true(every_part_once(10));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        _exit(every_part_once(100) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The loss and all gradients after a step of training. */
static double train(const char *name, const char *big, double size, double mpnn, int threads,
                    double *sum)
{
    assay_error error;
    assay_model *model;
    assay_tensor inputs[8], target;
    const assay_model_class *class_;
    assert_int_equal(assay_model_find(name, &error, &class_), ASSAY_OK);
    double settings[64], loss;
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] = strcmp(class_->options[i].name, big) == 0      ? size
                      : strcmp(class_->options[i].name, "mpnn") == 0 ? mpnn
                                                                     : class_->options[i].initial;
    assay_models_set_threads(threads);
    assert_int_equal(assay_model_new(class_, settings, 1, &error, &model), ASSAY_OK);
    assert_int_equal(assay_model_example(model, 2, &error, inputs, &target), ASSAY_OK);
    for (int step = 0; step < 2; step++) {
        assert_int_equal(
            assay_model_gradient(model, inputs, class_->input_count, &target, &error, &loss),
            ASSAY_OK);
        assert_int_equal(assay_model_update(model, 1e-3, &error), ASSAY_OK);
    }
    size_t count;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    *sum = 0;
    for (size_t i = 0; i < count; i++) {
        const float *values = list[i].value.data;
        for (int64_t j = 0; j < assay_tensor_count(&list[i].value); j++)
            *sum += fabs((double)values[j]);
    }
    assay_model_free(model);
    return loss;
}

static void test_models_agree(void **state)
{
    (void)state;
    static const struct {
        const char *name, *big;
        double size, mpnn;
    } cases[] = {{"graph_transformer", "num-nodes", 200, 0},
                 {"graph_transformer", "num-nodes", 200, 1},
                 {"graph_transformer", "num-nodes", 200, 2},
                 {"lstm", "batch-size", 64, 0},
                 {"mlp", "batch-size", 700, 0},
                 {"kan", "batch-size", 700, 0},
                 {"siren", "batch-size", 50, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double sums[3],
            one = train(cases[i].name, cases[i].big, cases[i].size, cases[i].mpnn, 1, &sums[0]);
        double three =
            train(cases[i].name, cases[i].big, cases[i].size, cases[i].mpnn, 3, &sums[1]);
        assert_true(fabs(three - one) <= 1e-4 * fabs(one));
        assert_true(fabs(sums[1] - sums[0]) <= 1e-4 * sums[0]);
        for (int again = 0; again < 3; again++) {
            assert_true(train(cases[i].name, cases[i].big, cases[i].size, cases[i].mpnn, 3,
                              &sums[2]) == three);
            assert_true(sums[2] == sums[1]);
        }
    }
}

/* Products are split by columns or by rows; each element is the same sum either way. */
static void test_products(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{200, 130, 96}, {900, 40, 64}, {33, 500, 70}};
    for (size_t s = 0; s < 3; s++) {
        int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        float *a = malloc((size_t)(m * k) * sizeof *a), *b = malloc((size_t)(k * n) * sizeof *b);
        float *c = malloc((size_t)(2 * m * n) * sizeof *c), *bias = calloc((size_t)n, sizeof *bias);
        for (int64_t i = 0; i < m * k; i++)
            a[i] = (float)((i * 37) % 101) / 50 - 1;
        for (int64_t i = 0; i < k * n; i++)
            b[i] = (float)((i * 53) % 97) / 50 - 1;
        for (int64_t i = 0; i < n; i++)
            bias[i] = (float)i;
        for (int threads = 1; threads <= 3; threads += 2) {
            assay_models_set_threads(threads);
            assay__matmul_bias(m, n, k, (assay__matrix){a, k, false}, (assay__matrix){b, k, true},
                               bias, c + (threads / 3) * m * n, n);
        }
        for (int64_t i = 0; i < m * n; i++)
            assert_true(fabsf(c[i] - c[m * n + i]) <= 1e-4F);
        double first = bias[n - 1];
        for (int64_t l = 0; l < k; l++)
            first += (double)a[(m - 1) * k + l] * (double)b[(n - 1) * k + l];
        assert_true(fabs(first - (double)c[m * n - 1]) <= 1e-4);
        free(a);
        free(b);
        free(c);
        free(bias);
    }
}

enum { PAIRS = 15, LONGEST = 64 };

typedef struct found {
    int64_t count[PAIRS];
    int32_t roads[PAIRS][LONGEST];
} found;

static void keep_route(void *context, int64_t index, const assay__road_route *route)
{
    found *f = context;
    f->count[index] = route->count;
    memcpy(f->roads[index], route->roads, (size_t)route->count * sizeof *route->roads);
}

/* A searcher and its twins find what the searcher finds alone; the first failure is told. */
static void test_searches(void **state)
{
    (void)state;
    assay__next_road_shape shape = assay__next_road_shape_of(ASSAY__NEXT_ROAD_VANILLA, 300);
    assay__road_network *city;
    assay__next_road *model;
    assay__road_searcher *searchers[3];
    assert_int_equal(assay__city_new(300, 1, NULL, &city), ASSAY_OK);
    assert_int_equal(assay__next_road_new(&shape, 1, NULL, &model), ASSAY_OK);
    assert_int_equal(assay__road_searcher_new(city, model, 3, LONGEST - 1, NULL, &searchers[0]),
                     ASSAY_OK);
    for (int i = 1; i < 3; i++)
        assert_int_equal(assay__road_searcher_twin(searchers[0], NULL, &searchers[i]), ASSAY_OK);
    int64_t pairs[PAIRS][2];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i][0] = i * 17 % 300;
        pairs[i][1] = (i * 41 + 100) % 300;
    }
    found alone = {0}, shared = {0};
    assay_error error = {0};
    assay_models_set_threads(3);
    assert_int_equal(
        assay__road_search_many(searchers, 1, pairs, PAIRS, 3, keep_route, &alone, &error),
        ASSAY_OK);
    assert_int_equal(
        assay__road_search_many(searchers, 3, pairs, PAIRS, 3, keep_route, &shared, &error),
        ASSAY_OK);
    assert_true(alone.count[0] > 0);
    assert_memory_equal(&alone, &shared, sizeof alone);
    pairs[7][1] = 300;
    assert_int_equal(
        assay__road_search_many(searchers, 3, pairs, PAIRS, 3, keep_route, &shared, &error),
        ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "300"));
    for (int i = 2; i >= 0; i--)
        assay__road_searcher_free(searchers[i]);
    assay__next_road_free(model);
    assay__road_network_free(city);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_once),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_ranges_cover_everything),
        cmocka_unit_test(test_two_callers),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_models_agree),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
