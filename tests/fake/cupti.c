/* A fake libcupti.so.13 for tests: records with the layout of CUPTI 13.0, delivered when the test
 * says so, and every refusal on demand. $FAKE_CUPTI is one of
 *   old        the version of CUDA 10
 *   taken      another client has subscribed
 *   forbidden  only administrators may
 *   unkernel   kernels cannot be recorded
 *   slow       nothing is delivered before the end, and a buffer takes one record
 *   untimed    kernels have no times
 *   failing N  the calls fail from the Nth on
 * The layout of the records is written down here a second time, by offsets, on purpose. */
#include "tests/fake/cupti.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID = 1, MAX_LIMIT = 12, FORBIDDEN = 35, TAKEN = 39, KINDS = 64 };
enum { COPY = 1, KERNEL = 10, MEMORY = 49 };
enum { COPY_BYTES = 96, KERNEL_BYTES = 216, MEMORY_BYTES = 128, MOST_BUFFERS = 1024 };

typedef void callback(void *user, int domain, uint32_t id, const void *data);
typedef void requested(uint8_t **buffer, size_t *bytes, size_t *most);
typedef void completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

typedef struct call_data {
    int site;
    const char *function;
    const void *arguments;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *data;
    uint32_t correlation;
} call_data;

static struct {
    callback *subscriber;
    requested *request;
    completed *complete;
    uint64_t (*clock)(void);
    bool enabled[KINDS], calls[1024];
    struct {
        uint8_t *bytes;
        size_t size, used;
    } buffers[MOST_BUFFERS];
    int buffer_count;
    size_t dropped;
    uint32_t correlation;
} fake;

static bool is(const char *mode)
{
    const char *set = getenv("FAKE_CUPTI");
    return set != NULL && strcmp(set, mode) == 0;
}

/* Whether this call fails. Counts the calls. */
static bool fails(void)
{
    static int calls;
    const char *set = getenv("FAKE_CUPTI");
    int first = 0;
    calls++;
    return set != NULL && sscanf(set, "failing %d", &first) == 1 && calls >= first;
}

static uint64_t now(void)
{
    struct timespec time;
    if (fake.clock != NULL)
        return fake.clock();
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- CUPTI's calls ---- */

EXPORT int cuptiGetVersion(uint32_t *version)
{
    if (fails())
        return INVALID;
    *version = is("old") ? 12 : 130001;
    return OK;
}

EXPORT int cuptiSubscribe(void **subscriber, callback *function, void *user)
{
    if (fails())
        return INVALID;
    (void)user;
    if (is("forbidden"))
        return FORBIDDEN;
    if (is("taken") || fake.subscriber != NULL)
        return TAKEN;
    fake.subscriber = function;
    *subscriber = &fake;
    return OK;
}

EXPORT int cuptiUnsubscribe(void *subscriber)
{
    if (fails())
        return INVALID;
    if (subscriber != &fake)
        return INVALID;
    fake.subscriber = NULL;
    memset(fake.calls, 0, sizeof fake.calls);
    return OK;
}

EXPORT int cuptiEnableCallback(uint32_t enable, const void *subscriber, int domain, uint32_t id)
{
    if (fails())
        return INVALID;
    if (subscriber != &fake || domain != 1 || id >= sizeof fake.calls)
        return INVALID;
    fake.calls[id] = enable != 0;
    return OK;
}

EXPORT int cuptiActivityEnable(int kind)
{
    if (fails())
        return INVALID;
    if (kind == KERNEL && is("unkernel"))
        return INVALID;
    fake.enabled[kind] = true;
    return OK;
}

EXPORT int cuptiActivityDisable(int kind)
{
    if (fails())
        return INVALID;
    fake.enabled[kind] = false;
    return OK;
}

EXPORT int cuptiActivityRegisterCallbacks(requested *request, completed *complete)
{
    if (fails())
        return INVALID;
    fake.request = request;
    fake.complete = complete;
    return OK;
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
    fake.clock = clock;
    return OK;
}

EXPORT int cuptiActivitySetAttribute(int attribute, const size_t *bytes, const void *value)
{
    if (fails())
        return INVALID;
    (void)value;
    return attribute == 5 && *bytes == 1 ? OK : INVALID;
}

EXPORT int cuptiActivityFlushPeriod(uint32_t ms)
{
    if (fails())
        return INVALID;
    return ms > 0 ? OK : INVALID;
}

EXPORT int cuptiGetResultString(int error, const char **text)
{
    if (fails())
        return INVALID;
    *text = error == FORBIDDEN ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_INVALID";
    return OK;
}

static size_t bytes_of(const uint8_t *record)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    return kind == KERNEL ? KERNEL_BYTES : kind == COPY ? COPY_BYTES : MEMORY_BYTES;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    if (fails())
        return INVALID;
    uint8_t *next = *record == NULL ? buffer : *record + bytes_of(*record);
    if (next >= buffer + valid)
        return MAX_LIMIT;
    *record = next;
    return OK;
}

EXPORT int cuptiActivityGetNumDroppedRecords(const void *context, uint32_t stream, size_t *count)
{
    if (fails())
        return INVALID;
    (void)context;
    (void)stream;
    *count = fake.dropped;
    fake.dropped = 0;
    return OK;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
    if (fails())
        return INVALID;
    (void)flag;
    for (int i = 0; i < fake.buffer_count; i++)
        fake.complete(NULL, 0, fake.buffers[i].bytes, fake.buffers[i].size, fake.buffers[i].used);
    fake.buffer_count = 0;
    return OK;
}

/* ---- what the test calls ---- */

static void put(uint8_t *record, size_t at, const void *value, size_t bytes)
{
    memcpy(record + at, value, bytes);
}

static void put32(uint8_t *record, size_t at, uint32_t value)
{
    put(record, at, &value, sizeof value);
}

static void put64(uint8_t *record, size_t at, uint64_t value)
{
    put(record, at, &value, sizeof value);
}

/* Room for a record, or NULL if the record is dropped. */
static uint8_t *room_for(size_t bytes)
{
    int last = fake.buffer_count - 1;
    bool fits =
        last >= 0 && !is("slow") && fake.buffers[last].used + bytes <= fake.buffers[last].size;
    if (!fits) {
        size_t most = 0, size = 0;
        uint8_t *made = NULL;
        if (fake.buffer_count < MOST_BUFFERS)
            fake.request(&made, &size, &most);
        if (made == NULL || size < bytes) {
            fake.dropped++;
            return NULL;
        }
        last = fake.buffer_count++;
        fake.buffers[last].bytes = made;
        fake.buffers[last].size = size;
        fake.buffers[last].used = 0;
    }
    uint8_t *at = fake.buffers[last].bytes + fake.buffers[last].used;
    fake.buffers[last].used += bytes;
    memset(at, 0, bytes);
    return at;
}

static void call(uint32_t id, int site)
{
    call_data data = {.site = site, .function = "cuFake", .correlation = fake.correlation};
    if (fake.subscriber != NULL && fake.calls[id])
        fake.subscriber(NULL, 1, id, &data);
}

EXPORT void fake_launch(const char *name, uint32_t stream, uint64_t ns)
{
    fake.correlation++;
    call(307, 0);
    uint8_t *record = fake.enabled[KERNEL] ? room_for(KERNEL_BYTES) : NULL;
    uint64_t start = is("untimed") ? 0 : now();
    if (record != NULL) {
        put32(record, 0, KERNEL);
        put64(record, 16, start);
        put64(record, 24, start > 0 ? start + ns : 0);
        put32(record, 44, 1); /* context */
        put32(record, 48, stream);
        put32(record, 92, fake.correlation);
        put(record, 104, &name, sizeof name);
    }
    call(307, 1);
    for (uint64_t end = now() + ns; now() < end;)
        ; /* the device works */
}

EXPORT void fake_copy_in(uint64_t bytes, uint64_t ns)
{
    fake.correlation++;
    call(277, 0);
    uint8_t *record = fake.enabled[COPY] ? room_for(COPY_BYTES) : NULL;
    if (record != NULL) {
        put32(record, 0, COPY);
        record[4] = 1; /* host to device */
        record[5] = 2; /* pinned */
        record[6] = 3; /* device */
        put64(record, 8, bytes);
        uint64_t start = now();
        put64(record, 16, start);
        put64(record, 24, start + ns);
        put32(record, 36, 1);
        put32(record, 40, 7);
        put32(record, 44, fake.correlation);
    }
    call(277, 1);
    for (uint64_t end = now() + ns; now() < end;)
        ;
}

static void change_memory(uint32_t operation, uint64_t bytes)
{
    uint8_t *record = fake.enabled[MEMORY] ? room_for(MEMORY_BYTES) : NULL;
    if (record == NULL)
        return;
    put32(record, 0, MEMORY);
    put32(record, 4, operation);
    put32(record, 8, 3);
    put64(record, 24, bytes);
    put64(record, 32, now());
}

EXPORT void fake_allocate_device(uint64_t bytes)
{
    change_memory(1, bytes);
}

EXPORT void fake_release_device(uint64_t bytes)
{
    change_memory(2, bytes);
}

EXPORT void fake_synchronize(void)
{
    fake.correlation++;
    call(126, 0);
    call(126, 1);
}

EXPORT void fake_profiler(int begins)
{
    fake.correlation++;
    call(begins ? 308 : 309, 0);
    call(begins ? 308 : 309, 1);
}

EXPORT void fake_deliver(void)
{
    if (!is("slow"))
        cuptiActivityFlushAll(0);
}

EXPORT int fake_enabled_kinds(void)
{
    int count = 0;
    for (int i = 0; i < KINDS; i++)
        count += fake.enabled[i];
    return count;
}

EXPORT int fake_held_buffers(void)
{
    return fake.buffer_count;
}
