#!/bin/bash
# --save of every command that measures: the history contains the record that the command wrote, and series of its figures.
set -u
[ -e /usr/include/sqlite3.h ] || { echo "libsqlite3-dev is missing"; exit 77; }
[ "${ASSAY_SANITIZE:-}" != thread ] || { echo "the models take minutes under the thread sanitizer"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data ASSAY_MACHINE=tested LC_ALL=C.UTF-8
unset ASSAY_HISTORY
assay=$ASSAY_BUILD/assay
runs=0 failed=0

# saved RECORD ASSAY_ARGUMENTS...: run the command; its record is RECORD.
saved() {
    local record=$1
    shift
    runs=$((runs + 1))
    if ! "$assay" "$@" >log 2>&1; then
        echo "assay $* failed: $(tail -n 3 log)"
        failed=1
        return
    fi
    grep -q "saved as run $runs of the history" log || { echo "assay $*: $(tail -n 1 log)"; failed=1; }
    "$assay" history show $runs --json kept.json || failed=1
    python3 - "$record" kept.json "$*" <<'PYTHON' || failed=1
import json, sys
written, kept = (json.load(open(path)) for path in sys.argv[1:3])
written.pop("events", None)
if written != kept:
    different = [key for key in written.keys() | kept.keys() if written.get(key) != kept.get(key)]
    sys.exit("assay %s: the history has another %s" % (sys.argv[3], ", ".join(different)))
PYTHON
    "$assay" history show --metric '*' --json - >series.json
    python3 - $runs "$*" <<'PYTHON' || failed=1
import json, sys
series = json.load(open("series.json"))["series"]
if not any(point["run"] == int(sys.argv[1]) for it in series for point in it["points"]):
    sys.exit("assay %s: no figure of run %s" % (sys.argv[2], sys.argv[1]))
PYTHON
}

saved run.json run --save -q --json run.json --trace trace.json --name a-run -- true
saved bench.json bench --save --runs 3 --json bench.json --label a-bench -- true
saved profile.json profile --save --model mvar --num-runs 3 --warmup-runs 1 --record profile.json runtime memory flops
saved rom/rom/record.json study rom --save --quick --budget 200ms --out rom
saved fields/record.json study fields --save --quick --epochs 5 --out fields
saved pde/record.json study pde --save --quick --out pde
saved graph/record.json study graph --save --quick --num-nodes 60 --num-edges 240 --hidden-dim 32 --num-layers 2 --ffn-dim 64 --num-runs 5 \
    --budget 100ms --out graph
saved routes/record.json study routes --save --quick --roads 100 --drives 400 --epochs 6 --num-gene 30 --compare-time 200ms --out routes
"$assay" history show a-run | grep -q '^a-run' || { echo "no run by its name"; failed=1; }
exit $failed
