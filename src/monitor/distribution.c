/* The slow path that enters a duration into the statistics of a node.
 *
 * A binary exponent of durations that occurs often has a page of 64 buckets, which the inlined end
 * of a span uses by itself. Most exponents occur a few times only, for example that of the very
 * first span, or of a span that was interrupted. The buckets of such exponents share eight words.
 * Each word has the place of the bucket in its upper 16 bits and the count in its lower 48. So
 * thousands of threads with many operations need little memory. An exponent that has occurred
 * PAGE_AFTER times gets a page. When all words are used up, the exponent that has occurred most
 * often gets a page.
 *
 * A quarter of the journal is reserved for new operations. When the rest is full, a duration that
 * has no bucket is counted in the nearest bucket of its node, and the header counts how often that
 * happens. Counts, sums and extremes stay exact; quantiles may be off. */
#include <stdlib.h>
#include <string.h>

#include "monitor/state.h"
#include "stats/sketch.h"

enum { PAGE_AFTER = 8 };

/* A sum of added durations stops here. The fast path adds without a check, and has decades left
 * before the sum would wrap around. */
static const uint64_t MOST_SUM = UINT64_MAX - ((uint64_t)1 << 62);

_Static_assert(ASSAY_RARE_BUCKETS * sizeof(uint64_t) == ASSAY__JOURNAL_UNIT, "one unit");

static uint64_t *rare_buckets(const assay__monitor_state *state, const assay__node *node)
{
    return assay__journal_at(&state->journal, node->rare);
}

/* Give an exponent its page. The page is complete before it is published. From then on readers
 * ignore the words of this exponent, so no count is lost or doubled at any moment. The limit of
 * three quarters keeps the rest of the journal for new operations. */
static bool give_page(assay__monitor_state *state, assay__node *node, uint64_t *rare, uint32_t page)
{
    uint64_t *fresh = NULL;
    pthread_mutex_lock(&state->lock);
    const assay__journal_header *header = state->journal.header;
    if (header->pool_used < (header->pool_bytes - header->pool_set_aside) / 4 * 3)
        fresh = assay__journal_allocate(&state->journal, ASSAY_PAGE_BUCKETS * sizeof *fresh);
    pthread_mutex_unlock(&state->lock);
    if (fresh == NULL)
        return false;
    for (size_t i = 0; i < ASSAY_RARE_BUCKETS; i++)
        if (assay__rare_page(rare[i]) == page)
            fresh[assay__rare_bucket(rare[i])] = assay__rare_count(rare[i]);
    __atomic_store_n(&node->pages[page], fresh, __ATOMIC_RELEASE);
    for (size_t i = 0; i < ASSAY_RARE_BUCKETS; i++)
        if (assay__rare_page(rare[i]) == page)
            __atomic_store_n(&rare[i], 0, __ATOMIC_RELEASE);
    return true;
}

/* How often an exponent has occurred, by the words. */
static uint64_t met(const uint64_t *rare, uint32_t page)
{
    uint64_t count = 0;
    for (size_t i = 0; i < ASSAY_RARE_BUCKETS; i++)
        if (assay__rare_page(rare[i]) == page)
            count += assay__rare_count(rare[i]);
    return count;
}

/* The exponent that has occurred most often. */
static uint32_t most_met(const uint64_t *rare)
{
    uint32_t most = assay__rare_page(rare[0]);
    for (size_t i = 1; i < ASSAY_RARE_BUCKETS; i++)
        if (met(rare, assay__rare_page(rare[i])) > met(rare, most))
            most = assay__rare_page(rare[i]);
    return most;
}

/* The word of the bucket, or a free word that becomes its word, or NULL if there is none. */
static uint64_t *rare_word(uint64_t *rare, assay__sketch_place place)
{
    uint64_t *free_word = NULL;
    for (size_t i = 0; i < ASSAY_RARE_BUCKETS; i++)
        if (rare[i] == 0)
            free_word = &rare[i];
        else if (assay__rare_page(rare[i]) == place.page &&
                 assay__rare_bucket(rare[i]) == place.bucket)
            return &rare[i];
    if (free_word != NULL)
        __atomic_store_n(free_word, assay__rare_empty(place.page, place.bucket), __ATOMIC_RELAXED);
    return free_word;
}

/* The position of a bucket among all buckets, in ascending order of durations. */
static int32_t rank(uint32_t page, uint32_t bucket)
{
    return (int32_t)(page * ASSAY_PAGE_BUCKETS + bucket);
}

/* The bucket of the node that is nearest to the place. All words of the node must be in use. */
static uint64_t *nearest_bucket(assay__node *node, uint64_t *rare, assay__sketch_place place)
{
    int32_t wanted = rank(place.page, place.bucket), least = INT32_MAX;
    uint64_t *nearest = &rare[0];
    for (size_t i = 0; i < ASSAY_RARE_BUCKETS; i++) {
        int32_t distance =
            abs(rank(assay__rare_page(rare[i]), assay__rare_bucket(rare[i])) - wanted);
        if (distance < least) {
            least = distance;
            nearest = &rare[i];
        }
    }
    for (uint32_t page = 0; page < ASSAY_NODE_PAGES; page++) {
        uint32_t edge = rank(page, 0) < wanted ? ASSAY_PAGE_BUCKETS - 1 : 0;
        int32_t distance = abs(rank(page, edge) - wanted);
        if (node->pages[page] != NULL && distance < least) {
            least = distance;
            nearest = &node->pages[page][edge];
        }
    }
    return nearest;
}

/* The counter of a bucket, for the caller to raise by one. NULL if there is no room for the
 * bucket. */
static uint64_t *bucket_for(assay__monitor_state *state, assay__node *node,
                            assay__sketch_place place)
{
    if (node->pages[place.page] != NULL)
        return &node->pages[place.page][place.bucket];
    uint64_t *rare = rare_buckets(state, node);
    if (met(rare, place.page) >= PAGE_AFTER && give_page(state, node, rare, place.page))
        return &node->pages[place.page][place.bucket];
    uint64_t *word = rare_word(rare, place);
    if (word != NULL || !give_page(state, node, rare, most_met(rare)))
        return word;
    return bucket_for(state, node, place);
}

void assay__node_record(assay__monitor_state *state, assay__node *node, uint64_t duration)
{
    assay__sketch_place place = assay__sketch_place_of(duration);
    uint64_t *bucket = bucket_for(state, node, place);
    if (bucket == NULL) {
        __atomic_fetch_add(&state->journal.header->displaced_spans, 1, __ATOMIC_RELAXED);
        bucket = nearest_bucket(node, rare_buckets(state, node), place);
    }
    double value = (double)duration;
    if (node->count == 0)
        __atomic_store(&node->shift, &value, __ATOMIC_RELAXED);
    double deviation = value - node->shift;
    double square_sum = node->square_sum + deviation * deviation;
    assay__publish_add(bucket, 1);
    __atomic_store(&node->square_sum, &square_sum, __ATOMIC_RELEASE);
    if (duration < node->min)
        __atomic_store_n(&node->min, duration, __ATOMIC_RELAXED);
    if (duration > node->max)
        __atomic_store_n(&node->max, duration, __ATOMIC_RELAXED);
    uint64_t left = node->sum < MOST_SUM ? MOST_SUM - node->sum : 0;
    assay__publish_add(&node->sum, duration < left ? duration : left);
    assay__publish_add(&node->count, 1);
}

void assay__node_clear(const assay__monitor_state *state, assay__node *node)
{
    static double zero = 0.0;
    if (node->count > 0)
        __atomic_store_n(&node->cleared, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&node->count, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&node->sum, 0, __ATOMIC_RELAXED);
    __atomic_store(&node->square_sum, &zero, __ATOMIC_RELAXED);
    __atomic_store(&node->shift, &zero, __ATOMIC_RELAXED);
    __atomic_store_n(&node->min, UINT64_MAX, __ATOMIC_RELAXED);
    __atomic_store_n(&node->max, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&node->sample_count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&node->samples_dropped, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&node->failed, 0, __ATOMIC_RELAXED);
    for (size_t page = 0; page < ASSAY_NODE_PAGES; page++)
        for (size_t i = 0; node->pages[page] != NULL && i < ASSAY_PAGE_BUCKETS; i++)
            __atomic_store_n(&node->pages[page][i], 0, __ATOMIC_RELAXED);
    uint64_t *rare = node->kind == ASSAY__NODE_SPAN ? rare_buckets(state, node) : NULL;
    for (size_t i = 0; rare != NULL && i < ASSAY_RARE_BUCKETS; i++)
        __atomic_store_n(&rare[i], 0, __ATOMIC_RELAXED);
    if (node->memory != 0) {
        assay__journal_memory *memory = assay__journal_at(&state->journal, node->memory);
        uint32_t device = memory->device;
        memset(memory, 0, sizeof *memory);
        memory->device = device;
        if (device != 0)
            memset(assay__journal_at(&state->journal, device), 0, sizeof(assay__journal_device));
    }
}
