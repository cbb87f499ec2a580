#!/bin/bash
# The interposer with real programs: they print the same as without it, and their figures are right. Also
# tested: linking instead of preloading, C++, another allocator behind it, and a program with its own allocator.
set -u
library=$ASSAY_BUILD/lib/libassay_heap.so
[ -e "$library" ] || { echo "skipped: libassay_heap.so was not built"; exit 77; }
command -v cc >/dev/null || { echo "skipped: no C compiler"; exit 77; }
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# heap COMMAND...: run it under the interposer, its files in $work/files
heap() {
    rm -rf "$work/files" && mkdir "$work/files"
    ASSAY_HEAP_DIR=$work/files LD_PRELOAD=$library "$@"
}

# A process that has replaced its program many times: the next one has figures too.
many() {
    rm -rf "$work/files" && mkdir "$work/files"
    (cd "$work/files" && sh -c 'p=$$; echo >"heap.$p"; for i in $(seq 1200); do echo >"heap.$p.$i"; done
        exec env ASSAY_HEAP_DIR="$1" LD_PRELOAD="$2" true' many "$work/files" "$library")
    ls "$work/files"/heap.*.1201 >/dev/null 2>&1 || fail "no figures after 1200 programs of one process"
}
many

cat >"$work/figures.c" <<'END'
#include <assay/instrument.h>
#include <stdio.h>
static void show_unseen(void *context, const assay_heap_program *program)
{
    (void)context;
    if (program->unseen != NULL)
        printf("unseen %s: %s\n", program->name, program->unseen);
}
int main(int count, char **arguments)
{
    assay_error error;
    if (count != 2 || assay_heap_directory_visit(arguments[1], show_unseen, NULL, &error) != ASSAY_OK)
        return 2;
    assay_heap_figures sum = {.struct_size = sizeof sum};
    if (count != 2 || assay_heap_directory_read(arguments[1], &error, &sum) != ASSAY_OK) {
        printf("%s: %s\n", assay_status_name(error.status), error.message);
        return 1;
    }
    printf("allocations=%llu frees=%llu allocated=%llu live=%lld peak=%llu\n",
           (unsigned long long)sum.allocations, (unsigned long long)sum.frees,
           (unsigned long long)sum.allocated_bytes, (long long)sum.live_bytes,
           (unsigned long long)sum.peak_bytes);
    return 0;
}
END
cc -o "$work/figures" "$work/figures.c" -I"$ASSAY_SOURCE/include" -L"$ASSAY_BUILD/lib" -lassay \
    -Wl,-rpath,"$ASSAY_BUILD/lib" || { echo "FAILED: cannot build the reader"; exit 1; }

figure() { # NAME: of the last run
    "$work/figures" "$work/files" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# between NAME LOW HIGH
between() {
    local value
    value=$(figure "$1")
    [ -n "$value" ] && [ "$value" -ge "$2" ] && [ "$value" -le "$3" ] ||
        fail "$1 = ${value:-$("$work/figures" "$work/files")}, not within $2 … $3"
}

# Real programs print the same.
same() {
    local plain tracked
    plain=$("$@" 2>&1)
    tracked=$(heap "$@" 2>&1)
    [ "$plain" = "$tracked" ] || fail "'$*' prints something else under the interposer"
}
same ls -la /usr/bin
same sh -c 'seq 50000 | sort -r --parallel=2 | tail -3'
same sh -c 'for i in 1 2 3; do (echo $i; exec true); done | cat'
same awk 'BEGIN { for (i = 0; i < 20000; i++) a[i] = i "x"; print length(a) }'
command -v python3 >/dev/null && same python3 -c '
import threading
made = []
threads = [threading.Thread(target=lambda: made.append(bytearray(10000000))) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sum(map(len, made)))' && between peak 80000000 140000000

# A known pattern: 1000 blocks of 1000 bytes, 100 of them never freed.
cat >"$work/pattern.c" <<'END'
#include <stdlib.h>
static void *blocks[1000];
int main(void)
{
    for (int i = 0; i < 1000; i++) blocks[i] = malloc(1000);
    for (int i = 0; i < 900; i++) free(blocks[i]);
    return blocks[999] == NULL;
}
END
cc -O1 -fno-builtin -o "$work/pattern" "$work/pattern.c"
heap "$work/pattern" || fail "pattern under the interposer"
between allocations 1000 1000
between frees 900 900
between live 100000 100000
between peak 1000000 1000000

cc -O1 -fno-builtin -o "$work/linked" "$work/pattern.c" -L"$ASSAY_BUILD/lib" -Wl,--no-as-needed \
    -lassay_heap -Wl,-rpath,"$ASSAY_BUILD/lib"
rm -rf "$work/files" && mkdir "$work/files"
ASSAY_HEAP_DIR=$work/files "$work/linked" || fail "linked program"
between allocations 1000 1000
between peak 1000000 1000000

# A directory that cannot be written: the program runs on.
ASSAY_HEAP_DIR=/proc/none LD_PRELOAD=$library "$work/pattern" || fail "unwritable ASSAY_HEAP_DIR"

# C++: new, delete, strings, exceptions.
if command -v c++ >/dev/null; then
    cat >"$work/cpp.cc" <<'END'
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
int main()
{
    std::map<std::string, std::vector<double>> table;
    for (int i = 0; i < 1000; i++) table[std::to_string(i) + " a key of some length"].resize(100);
    struct alignas(256) wide { char bytes[512]; };
    delete new wide;
    try { throw std::runtime_error("caught"); } catch (const std::exception &e) { std::puts(e.what()); }
}
END
    c++ -O1 -std=c++17 -o "$work/cpp" "$work/cpp.cc" && same "$work/cpp"
    between allocations 2000 4000
    between live 0 100000 # the runtime's emergency pool
fi

# Allocators that bring operators of C++ beside their malloc: each kind of new and delete counts once.
# The program keeps one block of each kind if it is told to.
if command -v c++ >/dev/null; then
    cat >"$work/operators.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#include <new>
struct alignas(256) wide { char bytes[512]; };
int main(int count, char **)
{
    for (int i = 0; i < 100; i++) {
        void *plain = ::operator new(1000), *none = ::operator new(1000, std::nothrow);
        char *several = new char[1000], *several_none = new (std::nothrow) char[1000];
        wide *aligned = new wide, *aligned_none = new (std::nothrow) wide, *aligned_several = new wide[3];
        void *c = std::malloc(1000);
        if (count > 1 && i == 0) continue;
        ::operator delete(plain, static_cast<std::size_t>(1000));
        ::operator delete(none, std::nothrow);
        delete[] several;
        ::operator delete[](several_none, std::nothrow);
        delete aligned;
        ::operator delete(aligned_none, std::align_val_t(256), std::nothrow);
        delete[] aligned_several;
        std::free(c);
    }
    volatile std::size_t impossible = std::size_t(1) << 62;
    try { std::puts(::operator new(impossible) ? "got it" : "nothing"); }
    catch (const std::bad_alloc &) { std::puts("bad_alloc"); }
}
END
    c++ -O0 -std=c++17 -fno-builtin -o "$work/operators" "$work/operators.cc"
    for allocator in "" libjemalloc.so.2 libtcmalloc_minimal.so.4; do
        if [ -n "$allocator" ] && ! LD_PRELOAD=$allocator true 2>&1 | wc -c | grep -qx 0; then
            echo "$allocator is not here: its operators are not tried"
            continue
        fi
        for keep in "" keep; do
            rm -rf "$work/files" && mkdir "$work/files"
            said=$(ASSAY_HEAP_DIR=$work/files LD_PRELOAD=$library${allocator:+:$allocator} "$work/operators" $keep)
            [ "$said" = bad_alloc ] || fail "operators of ${allocator:-libstdc++}: $said"
            between allocations 800 810
            [ -n "$keep" ] || plain_live=$(figure live)
        done
        # five of 1000 bytes, two of 512, three times 512: rounded up by less than a quarter
        kept=$(($(figure live) - plain_live))
        [ "$plain_live" -ge 0 ] && [ "$kept" -ge 7560 ] && [ "$kept" -le 9450 ] ||
            fail "operators of ${allocator:-libstdc++}: $plain_live never freed, then $kept more"
    done

    # A program that replaces the plain operators alone: the others still stand on its own.
    cat >"$work/replaced.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#include <new>
static int made, freed;
void *operator new(std::size_t size) { made++; return std::malloc(size); }
void operator delete(void *block) noexcept { freed++; std::free(block); }
int main()
{
    char *volatile several = new char[10], *volatile none = new (std::nothrow) char[10];
    delete[] several;
    ::operator delete[](none, std::nothrow);
    ::operator delete(::operator new(10), std::size_t(10));
    std::printf("%d made, %d freed\n", made, freed);
}
END
    c++ -O0 -std=c++17 -fno-builtin -o "$work/replaced" "$work/replaced.cc" 2>/dev/null && same "$work/replaced"

    # A C++ library in a C program, its runtime in nobody else's scope.
    cat >"$work/plugin.cc" <<'END'
#include <string>
#include <vector>
extern "C" int work() { return (int)std::vector<std::string>(1000, std::string(100, 'x')).size(); }
END
    cat >"$work/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(arguments[count - 1], RTLD_NOW | RTLD_LOCAL);
        int (*work)(void) = library ? (int (*)(void))dlsym(library, "work") : NULL;
        printf("%d\n", work ? work() : -1);
        if (library) dlclose(library);
    }
    return 0;
}
END
    c++ -shared -fPIC -o "$work/plugin.so" "$work/plugin.cc" && cc -o "$work/host" "$work/host.c" -ldl
    same "$work/host" "$work/plugin.so"
    between allocations 2000 2200
fi

# Another allocator in a library: blocks come from it, and from nobody else.
cat >"$work/other.c" <<'END'
#include <stddef.h>
#include <stdint.h>
#include <string.h>
static _Alignas(16) char arena[64 << 20];
static size_t used;
static size_t *header(void *block) { return (size_t *)block - 1; }
static void *take(size_t alignment, size_t size)
{
    if (alignment < 16) alignment = 16;
    size_t start = (used + 16 + alignment - 1) / alignment * alignment;
    if (start + size > sizeof arena) return NULL;
    used = start + size;
    *header(arena + start) = size;
    return arena + start;
}
void *memalign(size_t alignment, size_t size) { return take(alignment, size); }
void *malloc(size_t size) { return memalign(16, size); } /* by its public name: must count once */
void *other_malloc(size_t size) { return take(16, size); }
static int is_ours(void *block) { return (char *)block >= arena && (char *)block < arena + sizeof arena; }
void free(void *block) { if (block != NULL && !is_ours(block)) __builtin_trap(); }
void *calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
size_t malloc_usable_size(void *block) { return *header(block); }
void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    if (block != NULL && moved != NULL) memcpy(moved, block, size < *header(block) ? size : *header(block));
    return moved;
}
END
cat >"$work/user.c" <<'END'
#include <stdlib.h>
void *other_malloc(size_t size);
int main(void)
{
    void *volatile first = malloc(1001);
    first = realloc(first, 3003);
    free(other_malloc(10));
    return first == NULL;
}
END
cc -O1 -fno-builtin -shared -fPIC -o "$work/libother.so" "$work/other.c"
cc -O1 -fno-builtin -o "$work/user" "$work/user.c" -L"$work" -lother -Wl,-rpath,"$work"
heap "$work/user" || fail "another allocator behind the interposer"
between live 2993 2993 # 3003, less 10 that came by a name we do not know

# A program with its own malloc: said to be unsupported.
cc -O1 -fno-builtin -o "$work/own" "$work/user.c" "$work/other.c"
heap "$work/own" || fail "a program with its own malloc"
"$work/figures" "$work/files" | grep -q '^ASSAY_E_UNSUPPORTED.*its own malloc' ||
    fail "own malloc: $("$work/figures" "$work/files")"

# The same under a sanitizer, whose runtime must not be disturbed.
if cc -O1 -fno-builtin -fsanitize=thread -o "$work/sanitized" "$work/pattern.c" 2>/dev/null &&
    "$work/sanitized" 2>/dev/null; then
    heap "$work/sanitized" || fail "a program under the thread sanitizer"
    "$work/figures" "$work/files" | grep -q '^ASSAY_E_UNSUPPORTED' || fail "sanitized program"
fi

# What is started and leaves no file is named; what was live before an exec is not left behind.
unseen() { # EXPECTED: the names, sorted
    local names
    names=$("$work/figures" "$work/files" | sed -n 's/^unseen \([^:]*\):.*/\1/p' | sort | tr '\n' ' ')
    [ "$names" = "$1" ] || fail "unseen: '$names', not '$1'"
}
heap sh -c "env -i '$work/pattern'; '$work/pattern'"
unseen "pattern "
between allocations 1000 1400
heap sh -c "env -u LD_PRELOAD '$work/pattern'; no-such-program 2>/dev/null; :"
unseen "pattern "
"$work/figures" "$work/files" | grep -q 'without LD_PRELOAD' || fail "the reason why a program was not seen"
cat >"$work/starter.c" <<'END'
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static void *volatile kept;
/* Start arguments[2] in the way of arguments[1]. */
int main(int count, char **arguments)
{
    char *none[] = {NULL}, *program = arguments[2], *its[] = {program, NULL}, *nowhere = "/no/such/program";
    int status = 0;
    pid_t child = 0;
    (void)count;
    kept = malloc(100000);
    switch (arguments[1][0]) {
    case 's': posix_spawn(&child, program, NULL, NULL, its, none); break;
    case 'p': posix_spawnp(NULL, program, NULL, NULL, its, environ); wait(&status); return 0;
    case 'v': if ((child = vfork()) == 0) { execve(program, its, none); _exit(1); } break;
    case 'f': if ((child = vfork()) == 0) { execv(nowhere, its); _exit(1); } break;
    case 'l': execl(program, program, "one", "two", (char *)NULL); break;
    case 'e': execle(program, program, "one", (char *)NULL, none); break;
    case 'L': execlp(program, program, (char *)NULL); break;
    case 'x': execvp(nowhere, its); return 0;
    }
    waitpid(child, &status, 0);
    return 0;
}
END
cc -O1 -fno-builtin -o "$work/starter" "$work/starter.c"
for way in s v e; do # with an empty environment
    heap "$work/starter" $way "$work/pattern"
    unseen "pattern "
done
for way in p l L; do
    heap "$work/starter" $way "$work/pattern"
    unseen ""
    between allocations 1001 1001
done
for way in f x; do # of a program that is not there
    heap "$work/starter" $way "$work/pattern"
    unseen ""
    between live 100000 110000
done
heap "$work/starter" e "$work/pattern"
between live 0 0
if cc -static -O1 -fno-builtin -o "$work/static" "$work/pattern.c" 2>/dev/null; then
    heap "$work/starter" l "$work/static"
    unseen "static "
    between live 0 0
fi

# A child that frees what its parent made has not freed more than there was.
cat >"$work/forked.c" <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    void *volatile block = malloc(100000);
    if (fork() != 0) wait(NULL);
    free(block);
    return 0;
}
END
cc -O1 -fno-builtin -o "$work/forked" "$work/forked.c"
heap "$work/forked"
between live 0 0

# Killed in the middle of it: the file tells the truth.
cat >"$work/killed.c" <<'END'
#include <signal.h>
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 12345; i++)
        if (malloc(1000) == NULL) return 1;
    raise(SIGKILL);
}
END
cc -O0 -fno-builtin -o "$work/killed" "$work/killed.c"
(heap "$work/killed") 2>/dev/null
mkdir -p "$work/files"
between allocations 12345 12345
between live 12345000 12345000

exit $failed
