/* Samples the allocations through Python's allocators "mem" and "obj". The allocator "raw" is below
 * them and is not sampled.
 *
 * Each byte is chosen with the same small probability, so the distance between chosen bytes is
 * exponential, and a block of s bytes is sampled with the probability p = 1 - exp(-s / interval).
 * The block then counts as 1 / p blocks and s / p bytes, which makes every sum unbiased. Blocks
 * much larger than the interval are never missed. (T. Nakaike; tcmalloc, "Sampling at TCMalloc";
 * Poisson sampling.)
 *
 * A sampled block is followed until it is freed. So every free must find out whether its block was
 * sampled. A table of 16 KiB answers "certainly not" for nearly all blocks that were not.
 *
 * The hooks run under the interpreter lock. Sub-interpreters with locks of their own share the
 * hooks, so everything but the countdown is done under sampler_lock. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <string.h>

#include "python/sampler/sampler.h"

enum {
    FILTER_BITS = 14,
    BLOCK_SLOTS = 1 << 18,
    MAX_BLOCKS = BLOCK_SLOTS / 4 * 3,
    SITE_SLOTS = 1 << 15,
    MAX_SITES = SITE_SLOTS / 4 * 3
};

/* A sampled block that is not freed yet. */
typedef struct block {
    const void *address; /* NULL for a free place */
    uint32_t site;
    double bytes; /* the number of bytes that it stands for */
} block;

static PyMemAllocatorEx below[2];     /* the allocators that the hooks call */
static int64_t countdown = INT64_MAX; /* bytes until the next sample */
static double interval;
static uint64_t random_state = UINT64_C(0x853C49E6748FEA9B);
static unsigned char filter[1 << FILTER_BITS]; /* number of blocks with each hash, at most 255 */
static block *blocks;
static uint32_t *sites;
static size_t block_count, site_count;

static uint64_t hash_of(const void *address)
{
    return ((uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15);
}

static unsigned char *filter_of(const void *address)
{
    return &filter[hash_of(address) >> (64 - FILTER_BITS)];
}

static void draw_countdown(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    double share = (double)((random_state * UINT64_C(0x2545F4914F6CDD1D) >> 11) + 1) * 0x1p-53;
    countdown = (int64_t)(-log(share) * interval);
}

/* ---- sites ---- */

static assay__script_site *find_site(uint32_t code, uint32_t line, uint32_t *reference)
{
    size_t at = (size_t)(((uint64_t)code << 20 ^ line) * UINT64_C(0x9E3779B97F4A7C15) >> 40);
    for (; sites[at % SITE_SLOTS] != 0; at++) {
        assay__script_site *site = region_at(sites[at % SITE_SLOTS]);
        *reference = sites[at % SITE_SLOTS];
        if (site->code == code && site->line == line)
            return site;
    }
    assay__script_site made = {.entry.kind = ASSAY__SCRIPT_SITE, .code = code, .line = line};
    assay__script_site *site =
        site_count < MAX_SITES ? region_append(&made, sizeof made, reference) : NULL;
    if (site != NULL) {
        sites[at % SITE_SLOTS] = *reference;
        site_count++;
    }
    return site;
}

/* Change the live bytes of a site and of the script. Each new peak of the script begins an epoch.
 * Before a site changes in a new epoch, its live bytes are saved: these are its bytes at the peak.
 */
static void change_live(assay__script_site *site, double bytes)
{
    assay__script_header *header = region_header();
    if (site->epoch != header->peak_epoch) {
        site->peak_bytes = site->live_bytes;
        site->epoch = header->peak_epoch;
    }
    site->live_bytes += bytes;
    header->live_bytes += bytes;
    if (header->live_bytes > header->peak_bytes) {
        header->peak_bytes = header->live_bytes;
        header->peak_epoch++;
    }
}

/* ---- blocks ---- */

static size_t home_of(const void *address)
{
    return (size_t)(hash_of(address) >> 20) % BLOCK_SLOTS;
}

static void follow(const void *address, uint32_t site, double bytes)
{
    size_t at = home_of(address);
    if (block_count == MAX_BLOCKS)
        return;
    while (blocks[at].address != NULL)
        at = (at + 1) % BLOCK_SLOTS;
    blocks[at] = (block){address, site, bytes};
    block_count++;
    if (*filter_of(address) < UINT8_MAX) /* a counter at the maximum stays there */
        ++*filter_of(address);
}

/* Remove a block from the hash table and close the gap, so that a search may end at the first free
 * place. */
static void remove_block(size_t gap)
{
    for (size_t at = (gap + 1) % BLOCK_SLOTS; blocks[at].address != NULL;
         at = (at + 1) % BLOCK_SLOTS) {
        size_t home = home_of(blocks[at].address);
        if ((at - home) % BLOCK_SLOTS >= (at - gap) % BLOCK_SLOTS) {
            blocks[gap] = blocks[at];
            gap = at;
        }
    }
    blocks[gap].address = NULL;
    block_count--;
}

static void forget(const void *address)
{
    pthread_mutex_lock(&sampler_lock);
    for (size_t at = home_of(address); blocks[at].address != NULL; at = (at + 1) % BLOCK_SLOTS)
        if (blocks[at].address == address) {
            if (*filter_of(address) < UINT8_MAX)
                --*filter_of(address);
            if (region_header() != NULL)
                change_live(region_at(blocks[at].site), -blocks[at].bytes);
            remove_block(at);
            break;
        }
    pthread_mutex_unlock(&sampler_lock);
}

static void take_sample(const void *address, size_t bytes)
{
    frames_frame frame;
    uint32_t code, line, reference;
    double chance = -expm1(-(double)bytes / interval);
    draw_countdown();
    pthread_mutex_lock(&sampler_lock);
    assay__script_header *header = region_header();
    if (header != NULL && frames_own(&frame) &&
        codes_find(frame.code, frame.code, frame.instruction, &code, &line)) {
        assay__script_site *site = find_site(code, line, &reference);
        if (site != NULL) {
            site->samples++;
            site->blocks += 1 / chance;
            site->bytes += (double)bytes / chance;
            header->allocated_bytes += (double)bytes / chance;
            change_live(site, (double)bytes / chance);
            follow(address, reference, (double)bytes / chance);
        } else {
            header->dropped_nodes++;
        }
    }
    pthread_mutex_unlock(&sampler_lock);
}

/* ---- hooks ---- */

static inline void note(const void *address, size_t bytes)
{
    if (__builtin_expect(address == NULL, 0)) /* it failed; its size may be anything */
        return;
    countdown -= (int64_t)bytes;
    if (__builtin_expect(countdown < 0, 0))
        take_sample(address, bytes);
}

static inline void note_free(const void *address)
{
    if (__builtin_expect(*filter_of(address), 0))
        forget(address);
}

static void *hook_malloc(void *context, size_t bytes)
{
    const PyMemAllocatorEx *next = context;
    void *made = next->malloc(next->ctx, bytes);
    note(made, bytes);
    return made;
}

static void *hook_calloc(void *context, size_t count, size_t bytes)
{
    const PyMemAllocatorEx *next = context;
    void *made = next->calloc(next->ctx, count, bytes);
    note(made, count * bytes);
    return made;
}

static void *hook_realloc(void *context, void *old, size_t bytes)
{
    const PyMemAllocatorEx *next = context;
    void *made = next->realloc(next->ctx, old, bytes);
    if (made != NULL && old != NULL)
        note_free(old);
    note(made, bytes);
    return made;
}

static void hook_free(void *context, void *old)
{
    const PyMemAllocatorEx *next = context;
    note_free(old);
    next->free(next->ctx, old);
}

bool allocations_install(double interval_bytes)
{
    static const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
    blocks = memory_reserve(BLOCK_SLOTS * sizeof *blocks);
    sites = memory_reserve(SITE_SLOTS * sizeof *sites);
    if (blocks == NULL || sites == NULL)
        return false;
    interval = interval_bytes;
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        PyMem_GetAllocator(domains[i], &below[i]);
        PyMemAllocatorEx ours = {&below[i], hook_malloc, hook_calloc, hook_realloc, hook_free};
        PyMem_SetAllocator(domains[i], &ours);
    }
    return true;
}

void allocations_switch(bool on)
{
    if (on && interval > 0)
        draw_countdown();
    else
        countdown = INT64_MAX;
}

void allocations_clear(void)
{
    if (interval <= 0)
        return;
    memset(blocks, 0, BLOCK_SLOTS * sizeof *blocks);
    memset(sites, 0, SITE_SLOTS * sizeof *sites);
    memset(filter, 0, sizeof filter);
    block_count = site_count = 0;
}
