# Programs that change their working directory, or that root starts as another user, are measured too.
if [ -n "${ASSAY_SANITIZE-}" ]; then
    echo "the sanitizer of this build owns malloc"
    exit 77
fi
[ "$(id -u)" = 0 ] || { echo "only root may start programs of another user"; exit 77; }
command -v setpriv >/dev/null || { echo "setpriv is missing"; exit 77; }
as_other="setpriv --reuid=65534 --regid=65534 --clear-groups"
$as_other test -x "$SUBJECTS/subject_spans" -a -r "$(dirname "$ASSAY")/lib/libassay_heap.so" ||
    { echo "other users cannot read the build"; exit 77; }
counts() { # FILE
    python3 - "$1" <<'PYTHON'
import json, sys
record = json.load(open(sys.argv[1]))
print(dict(sorted((o["name"], o["count"]) for o in record["operations"])), record["heap_peak_bytes"] > 0,
      record["process"].get("heap_unseen_processes", 0), "unseen")
PYTHON
}
umask 077
"$ASSAY" run -q --heap --json user.json -- $as_other "$SUBJECTS/subject_spans" done >/dev/null
counts user.json
# A relative TMPDIR is used if it is in memory.
here=/dev/shm/run-user.$$
mkdir -p $here/scratch && cd $here || exit 77
TMPDIR=scratch "$ASSAY" run -q --heap --json moved.json -- sh -c "cd /; exec '$SUBJECTS/subject_spans' done" >/dev/null
counts moved.json
ls -A scratch
cd / && rm -r "$here"
