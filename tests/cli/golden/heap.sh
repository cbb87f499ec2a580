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
ls -d assay-* 2>/dev/null || echo "nothing is left behind"
cat >static.c <<'C'
int main(void) { return 0; }
C
if cc -static static.c -o static 2>/dev/null; then
    "$ASSAY" run -q --heap --json s.json -- ./static
    python3 -c 'import json; r = json.load(open("s.json")); print(r["heap_peak_bytes"], r["unavailable"])'
fi
