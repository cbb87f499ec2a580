#!/bin/bash
# The interposer under real programs: they print what they print without it, and their figures are
# right. Also: linked instead of preloaded, C++, another allocator behind it, a program with its own.
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

cat >"$work/figures.c" <<'END'
#include <assay/instrument.h>
#include <stdio.h>
int main(int count, char **arguments)
{
    assay_error error;
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
