/* C++'s operators new and delete.
 *
 * The operators of the C++ runtimes call malloc() and free(), which are interposed. But jemalloc,
 * tcmalloc and others bring operators of their own that do not call malloc(). So each operator is
 * interposed as well. It calls the operator that the program would have called, the target. The
 * target also throws exceptions and calls the handler of std::set_new_handler. If the target
 * belongs to the library that brings malloc(), and if malloc() or free() has not counted the block
 * meanwhile, the block is counted here. An exception passes through these functions, so they must
 * leave nothing to be undone.
 *
 * If the target is that of a C++ runtime, and if the program has not replaced the operators on
 * which the target relies, the target would only call malloc() or free(). In this case these are
 * called directly, which saves a fifth of the time of a new and a delete. If malloc() fails, the
 * target is called after all.
 *
 * A library that the program opened later may have its C++ runtime in its own scope and not in that
 * of the program. Then the target is looked up in the scope of the caller. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "interposer/allocator.h"
#include "interposer/count.h"

#define EXPORT __attribute__((visibility("default")))

/* How calls of a target are treated: passed on, counted here, or replaced by malloc() and
 * free(). */
typedef enum { UNKNOWN, PASSED_ON, COUNTED, SHORTENED } treatment;

/* The target of one of our operators. */
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
    if (function != NULL && dladdr(function, &info) != 0) /* so that it stays loaded */
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    dlclose(library);
    return function;
}

/* Whether the target would only call malloc() or free(). All operators of a C++ runtime rely on
 * _Znwm and _ZdlPv, which the program may have replaced. */
static bool is_plain(void *function)
{
    Dl_info info;
    return LOAD(assay__heap_counters.header.allocator) == ASSAY__HEAP_GLIBC &&
           dladdr(function, &info) != 0 && info.dli_fname != NULL &&
           (strstr(info.dli_fname, "/libstdc++.so") || strstr(info.dli_fname, "/libc++.so")) &&
           library_of(dlsym(RTLD_DEFAULT, "_Znwm")) == library_of((void *)is_plain) &&
           library_of(dlsym(RTLD_DEFAULT, "_ZdlPv")) == library_of((void *)is_plain);
}

static bool is_allocators(void *function)
{
    return LOAD(assay__heap_counters.header.allocator) == ASSAY__HEAP_OTHER &&
           library_of(function) == library_of((void *)assay__allocator_next.malloc);
}

static __attribute__((noinline, cold)) void *find(link_to *link, const char *name, void *caller)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        function = find_for_caller(name, caller);
    if (function == NULL)
        abort(); /* the caller was linked with an operator that does not exist */
    assay__heap_attach();
    if (LOAD(assay__heap_counters.header.allocator) == 0)
        return function; /* the allocator is still being chosen, and a library calls meanwhile */
    treatment found = PASSED_ON;
    if (is_allocators(function))
        found = COUNTED;
    else if (is_plain(function))
        found = SHORTENED;
    atomic_store(&link->function, function);
    atomic_store(&link->treatment, found);
    return function;
}

static inline void *function_of(link_to *link, const char *name, void *caller)
{
    void *function = atomic_load_explicit(&link->function, memory_order_acquire);
    return LIKELY(function != NULL) ? function : find(link, name, caller);
}

static inline bool is_treated(link_to *link, treatment as)
{
    return atomic_load_explicit(&link->treatment, memory_order_acquire) == as;
}

/* The number of calls that this thread has counted. */
static uint64_t counted_so_far(void)
{
    assay__heap_attach();
    const thread_state *self = &assay__heap_this_thread;
    return self->unslotted + (self->slot != NULL ? self->slot->allocations + self->slot->frees : 0);
}

/* Define an operator new. `shortly` is what the operator of a C++ runtime would do first, or
 * NULL. */
#define NEW(symbol, parameters, arguments, shortly)                                                \
    EXPORT void *symbol parameters;                                                                \
    void *symbol parameters                                                                        \
    {                                                                                              \
        static link_to target;                                                                     \
        void *block = is_treated(&target, SHORTENED) ? (shortly) : NULL;                           \
        if (LIKELY(block != NULL))                                                                 \
            return block;                                                                          \
        void *(*next)parameters =                                                                  \
            (void *(*)parameters)function_of(&target, #symbol, __builtin_return_address(0));       \
        if (!is_treated(&target, COUNTED))                                                         \
            return next arguments;                                                                 \
        uint64_t before = counted_so_far();                                                        \
        block = next arguments;                                                                    \
        if (block != NULL && counted_so_far() == before)                                           \
            count_made(assay__allocator_next.usable_size(block));                                  \
        return block;                                                                              \
    }

#define DELETE(symbol, parameters, arguments)                                                      \
    EXPORT void symbol parameters;                                                                 \
    void symbol parameters                                                                         \
    {                                                                                              \
        static link_to target;                                                                     \
        if (LIKELY(is_treated(&target, SHORTENED))) {                                              \
            free(block);                                                                           \
            return;                                                                                \
        }                                                                                          \
        void(*next) parameters =                                                                   \
            (void(*) parameters)function_of(&target, #symbol, __builtin_return_address(0));        \
        bool counts = is_treated(&target, COUNTED) && block != NULL;                               \
        size_t bytes = counts ? assay__allocator_next.usable_size(block) : 0;                      \
        uint64_t before = counts ? counted_so_far() : 0;                                           \
        next arguments;                                                                            \
        if (counts && counted_so_far() == before)                                                  \
            count_freed(bytes);                                                                    \
    }

#define PLAIN malloc(size != 0 ? size : 1)

/* The mangled names of the Itanium C++ ABI, if size_t is unsigned long. `none` is the
 * std::nothrow_t that asks for a null pointer instead of an exception. */
_Static_assert(sizeof(size_t) == sizeof(unsigned long), "m stands for unsigned long");

NEW(_Znwm, (size_t size), (size), PLAIN)
NEW(_Znam, (size_t size), (size), PLAIN)
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *none), (size, none), PLAIN)
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *none), (size, none), PLAIN)
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment), NULL)
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment), NULL)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *none),
    (size, alignment, none), NULL)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *none),
    (size, alignment, none), NULL)

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
