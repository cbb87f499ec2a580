if [ -n "${ASSAY_SANITIZE-}" ]; then
    echo "the sanitizer of this build owns malloc"
    exit 77
fi
if [ ! -e "$(dirname "$ASSAY")/lib/libassay_heap.so" ]; then
    echo "libassay_heap.so is not built"
    exit 77
fi
if ldd "$ASSAY" | grep -q 'lib[at]san'; then
    echo "the sanitizer has the allocator to itself"
    exit 77
fi
"$ASSAY" run --heap --json r.json -- "$SUBJECTS/subject_heap" 2>summary.txt
echo "exit $?"
grep '^heap' summary.txt | mask
python3 - <<'PYTHON'
import json
record = json.load(open("r.json"))
peak, allocations = record["heap_peak_bytes"], record["heap_allocations"]
print("peak within 1 %:", abs(peak / 10e6 - 1) < 0.01)
print("allocations:", 1000 <= allocations <= 1100)
print("never freed:", 1e6 <= record["process"]["heap_leaked_bytes"] < 1.1e6)
PYTHON
"$ASSAY" run -q --heap -- sh -c 'echo "$ASSAY_HEAP_DIR $ASSAY_JOURNAL_DIR" >directories; ls -ld $ASSAY_HEAP_DIR >modes'
grep -qE '^d...r|^d......r' modes || echo "nobody else can list it"
ls -d $(cat directories) 2>/dev/null || echo "nothing is left behind"
# Forty programs that write nothing have written nothing, wherever TMPDIR is; they are eleven
# processes, however short.
"$ASSAY" run -q --heap --json w.json -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do env env env true; done'
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ]; then in_memory=True; else in_memory=False; fi
python3 - $in_memory <<'PYTHON'
import json, sys
p = json.load(open("w.json"))["process"]
print("written:", p["written_bytes"] <= 32768 or sys.argv[1] == "False")
print("processes:", p["process_count"])
PYTHON
cat >allocating.c <<'C'
#include <stdlib.h>
static void *volatile block;
int main(void)
{
    for (int i = 0; i < 1000; i++) block = malloc(1000);
    return 0;
}
C
figures='
import json, sys
r = json.load(open(sys.argv[1]))
p = r["process"]
print("peak", r["heap_peak_bytes"] is not None, "missing", p.get("heap_unseen_processes", 0))
for m in r["processes"]:
    if m["unseen"]: print(" ", m["name"], "-", m["unseen"])'
cc -O0 allocating.c -o dynamic
for environment in "env -i" "env -u LD_PRELOAD" "env"; do
    "$ASSAY" run --heap --json p.json -- sh -c "$environment ./dynamic; :" 2>summary.txt
    sed -n '/^heap/,/^context/p' summary.txt | grep -v '^context' | mask
    python3 -c "$figures" p.json
done
# Nothing of it lives on after an exec.
"$ASSAY" run -q --heap --json p.json -- sh -c 'exec env -i true'
python3 -c 'import json; print("never freed", json.load(open("p.json"))["process"]["heap_leaked_bytes"])'
if cc -static allocating.c -o static 2>/dev/null; then
    "$ASSAY" run --heap --json p.json -- sh -c './static; :' 2>&1 | sed -n '/^heap/,/^context/p' | grep -v '^context' | mask
    python3 -c "$figures" p.json
    "$ASSAY" run -q --heap --json s.json -- ./static 2>&1
    python3 -c 'import json; r = json.load(open("s.json")); print(r["heap_peak_bytes"], r["unavailable"])'
else
    echo "no static library of C on this machine"
    exit 77
fi
# A sanitized program starts, finds its leaks, and is said to have no figures.
if cc -O0 -fsanitize=address allocating.c -o sanitized 2>/dev/null && ./sanitized 2>&1 | grep -q 'detected memory leaks'; then
    "$ASSAY" run --heap -- ./sanitized 2>&1 | grep -E '^heap|^result|note|ERROR' | sed 's/==[0-9]*==//'
else
    echo "no address sanitizer on this machine"
    exit 77
fi
# the dynamic linker ends the paths of LD_PRELOAD at blanks and colons
mkdir -p 'a b:c/lib'
cp "$ASSAY" 'a b:c/'
cp "$(dirname "$ASSAY")/lib/libassay_heap.so" 'a b:c/lib/'
'a b:c/assay' run --heap -- sh -c 'echo "${LD_PRELOAD%/*}" >link' 2>&1 | grep -E '^heap|ERROR' | mask
[ -e "$(cat link)" ] || echo "the link is gone"
