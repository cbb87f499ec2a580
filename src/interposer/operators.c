/* C++'s operators new and delete.
 *
 * Those of the C++ runtimes call malloc and free, which are interposed. jemalloc, tcmalloc and
 * others bring operators of their own beside their malloc, which do not call malloc. So each
 * operator is interposed too and calls the one that the program would have called: that one also
 * throws, and calls the handler of std::set_new_handler. If it is of the library that brings
 * malloc, and malloc or free has not counted the block meanwhile, it is counted here. An exception
 * passes through these functions, so they leave nothing to be undone.
 *
 * A library that the program opened later may have its C++ runtime in its own scope, not in the
 * program's: then the operator is looked up in the scope of the caller. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "interposer/allocator.h"
#include "interposer/count.h"

#define EXPORT __attribute__((visibility("default")))

typedef enum { UNKNOWN, PASSED_ON, COUNTED } treatment;

/* The operator behind ours. */
typedef struct link_to {
    _Atomic(void *) function;
    _Atomic(treatment) treatment;
} link_to;

static void *library_of(void *function)
{
    Dl_info info;
    return function != NULL && dladdr(function, &info) != 0 ? info.dli_fbase : NULL;
}

static void *find_for_caller(const char *name, void *caller)
{
    Dl_info info;
    void *library = NULL, *function = NULL;
    if (dladdr(caller, &info) != 0 && info.dli_fname != NULL)
        library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    function = dlsym(library, name);
    if (function != NULL && dladdr(function, &info) != 0) /* so that it stays */
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    dlclose(library);
    return function;
}

static __attribute__((noinline, cold)) void *find(link_to *link, const char *name, void *caller)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        function = find_for_caller(name, caller);
    if (function == NULL)
        abort(); /* the caller was linked with an operator that is nowhere */
    assay__heap_attach();
    uint32_t allocator = LOAD(assay__heap_counters.header.allocator);
    if (allocator == 0) /* it is still being found out, and a library asks meanwhile */
        return function;
    bool is_allocators = allocator == ASSAY__HEAP_OTHER &&
                         library_of(function) == library_of((void *)assay__allocator_next.malloc);
    atomic_store(&link->treatment, is_allocators ? COUNTED : PASSED_ON);
    atomic_store(&link->function, function);
    return function;
}

static inline void *function_of(link_to *link, const char *name, void *caller)
{
    void *function = atomic_load_explicit(&link->function, memory_order_acquire);
    return LIKELY(function != NULL) ? function : find(link, name, caller);
}

static inline bool is_counted(link_to *link)
{
    return UNLIKELY(atomic_load_explicit(&link->treatment, memory_order_relaxed) == COUNTED);
}

/* How often this thread has counted something. */
static uint64_t counted_so_far(void)
{
    assay__heap_attach();
    const thread_state *self = &assay__heap_this_thread;
    return self->unslotted + (self->slot != NULL ? self->slot->allocations + self->slot->frees : 0);
}

#define NEW(symbol, parameters, arguments)                                                         \
    EXPORT void *symbol parameters;                                                                \
    void *symbol parameters                                                                        \
    {                                                                                              \
        static link_to target;                                                                     \
        void *(*next)parameters =                                                                  \
            (void *(*)parameters)function_of(&target, #symbol, __builtin_return_address(0));       \
        if (!is_counted(&target))                                                                  \
            return next arguments;                                                                 \
        uint64_t before = counted_so_far();                                                        \
        void *block = next arguments;                                                              \
        if (block != NULL && counted_so_far() == before)                                           \
            count_made(assay__allocator_next.usable_size(block));                                  \
        return block;                                                                              \
    }

#define DELETE(symbol, parameters, arguments)                                                      \
    EXPORT void symbol parameters;                                                                 \
    void symbol parameters                                                                         \
    {                                                                                              \
        static link_to target;                                                                     \
        void(*next) parameters =                                                                   \
            (void(*) parameters)function_of(&target, #symbol, __builtin_return_address(0));        \
        bool counts = is_counted(&target) && block != NULL;                                        \
        size_t bytes = counts ? assay__allocator_next.usable_size(block) : 0;                      \
        uint64_t before = counts ? counted_so_far() : 0;                                           \
        next arguments;                                                                            \
        if (counts && counted_so_far() == before)                                                  \
            count_freed(bytes);                                                                    \
    }

/* The mangled names of the Itanium C++ ABI where size_t is unsigned long. `none` is the
 * std::nothrow_t that says "return a null pointer". */
_Static_assert(sizeof(size_t) == sizeof(unsigned long), "m stands for unsigned long");

NEW(_Znwm, (size_t size), (size))
NEW(_Znam, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *none), (size, none))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *none), (size, none))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *none),
    (size, alignment, none))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *none),
    (size, alignment, none))

DELETE(_ZdlPv, (void *block), (block))
DELETE(_ZdaPv, (void *block), (block))
DELETE(_ZdlPvm, (void *block, size_t size), (block, size))
DELETE(_ZdaPvm, (void *block, size_t size), (block, size))
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *none), (block, none))
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *none), (block, none))
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
       (block, size, alignment))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
       (block, size, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *none),
       (block, alignment, none))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *none),
       (block, alignment, none))
