# Runs over time: saved by the measuring commands and by import, found by every option, with change points.
command -v python3 >/dev/null
[ -e /usr/include/sqlite3.h ] || { echo "libsqlite3-dev is missing"; exit 77; }
export XDG_DATA_HOME=$PWD/data TZ=UTC
unset ASSAY_HISTORY ASSAY_MACHINE
show history list 2>&1 | sed "s:$PWD:DIR:"
python3 - <<'PYTHON'
import json
from statistics import NormalDist
order = sorted(range(120), key=lambda i: (i * 7919 + 13) * 2654435761 % 4294967296)
noise = [NormalDist().inv_cdf((k + 0.5) / 120) for k in order]
def record(i):
    level = 0.010 if i < 70 else 0.011
    time = round(level * (1 + 0.02 * noise[i]), 9)
    commit = "abc%03x" % i + 34 * "0"
    return {"schema": "assay-record", "version": 2, "kind": "bench", "name": "nightly",
            "created": "2026-%02d-%02dT12:00:00Z" % (1 + i // 28, 1 + i % 28),
            "machine": {"hostname": "build7" if i != 119 else "laptop"},
            "git": {"commit": commit, "branch": "main" if i % 10 else "topic"},
            "subjects": [{"name": "parse", "parameters": {"size": "4"}, "samples_seconds": [time, time * 1.01, time * 0.99],
                          "mean_seconds": time, "iterations": 1, "warmup_samples": 0,
                          "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0, "source": "assay", "peak_rss_bytes": 1048576}]}
with open("runs.jsonl", "w") as file:
    for i in range(120):
        file.write(json.dumps(record(i)) + "\n")
for name, i, scale in ("same", 118, 1), ("slow", 117, 1.3):
    changed = record(i)
    changed["created"] = "2026-08-01T00:00:00Z"
    for subject in changed["subjects"]:
        subject["samples_seconds"] = [scale * s for s in subject["samples_seconds"]]
        subject["mean_seconds"] *= scale
    json.dump(changed, open(name + ".json", "w"), indent=1)
PYTHON
show history import runs.jsonl
show history import runs.jsonl
show history list --last 3
show history list --commit abc03
show history list --branch topic --last 2
show history list --machine laptop --json -
show history list --since 2026-05-07 --name 'night*'
show history show
show history show 'nightly/parse size=4' --machine build7
show history plot 'nightly/parse size=4' --machine build7
show history show 'nightly/*' --metric peak_rss_bytes --machine laptop
show history show 'nightly/*' --machine build7 --json - | sed -n '1,19p'
show history show 120 | head -n 4
show history show nightly | head -n 5

# a figure; the page is looked at by tests/web
show history plot 'nightly/parse size=4' --machine build7 --output parse.svg
grep -oE '>[^<]*(build7|level|[+][0-9.]+ %|runs, 2026)[^<]*<' parse.svg
show history plot 'nightly/*' --output all.svg
show history list --output list.svg
show history list --html list.html
for command in "history show" "report same.json"; do
    "$ASSAY" $command --html same.html 2>/dev/null
    echo $?
done | uniq | wc -l # with pages and without: the same status
show history show --html page.html --json -
ls all.svg list.svg list.html page.html 2>&1 | wc -l

# tags, comparisons and selections
show history tag old 60 61 62 63
show history tag new --since 2026-05-01 --machine build7
show history list --tag old
show history compare old new | head -n 4
show history compare commit:abc00 71 | head -n 4
show history tag old --remove 60
show history tag $'a\nb' 60
show history tag $'a\nb' --remove 60
show history list --tag old --last 1
show history export --tag old | cut -c 1-80

# a gate against the last runs on the same machine
show compare --gate --against history same.json | tail -n 2
show compare --gate --against history slow.json | tail -n 2
show compare --gate --against history --branch topic --last 3 slow.json | grep -E 'run of|gate|exit'
ASSAY_MACHINE=nowhere show compare --gate --against history slow.json
show compare --against yesterday slow.json

# retention keeps what has a tag
show history prune --keep 10 --dry-run
show history prune --keep 10
show history list --last 1000 | wc -l
show history prune --older-than 2026-12-31 --tagged
show history list

# what goes wrong
show history
show history lst
show history prune
show history prune --older-than yesterday
show history show nothing
show history show 999
show history compare 1 2
show history tag a,b 1
echo '{"assay_history": 2, "record": {}}' >newer.jsonl
show history import newer.jsonl
echo 'no JSON' >broken.jsonl
show history import broken.jsonl
show history import missing.jsonl
echo '{"assay_history": 1, "tags": [1], "record": {}}' >tags.jsonl
show history import tags.jsonl
echo 'no database, but long enough to be read as the beginning of one' >notes.txt
ASSAY_HISTORY=$PWD/notes.txt show history list 2>&1 | sed "s,$PWD,DIR,"
cat notes.txt
python3 -c 'import sqlite3; sqlite3.connect("other.sqlite").execute("CREATE TABLE run (id)")'
ASSAY_HISTORY=$PWD/other.sqlite show history import runs.jsonl 2>&1 | sed "s,$PWD,DIR,"
python3 - <<'PYTHON'
import sqlite3
with sqlite3.connect("data/assay/history.sqlite") as database:
    database.execute("UPDATE assay_history SET version = 2")
PYTHON
show history list 2>&1 | sed "s,$PWD,DIR,"
env -u HOME -u XDG_DATA_HOME "$ASSAY" bench --save -- true
echo "exit $?"

# a result is never lost to its history
ASSAY_HISTORY=$PWD/notes.txt show bench --runs 3 --json result.json -- true 2>&1 | mask | sed "s,$PWD,DIR," | grep -E 'mean|history|exit'
ASSAY_HISTORY=$PWD/notes.txt show run -- true 2>&1 | mask | sed "s,$PWD,DIR," | grep -E 'wall|history|exit'
grep -c '"samples_seconds"' result.json

# long names and control characters make names that can be stored
export ASSAY_HISTORY=$PWD/names.sqlite
python3 - <<'PYTHON'
import json
for name, label in ("long", "x" * 100000), ("long2", "x" * 99999 + "y"), ("control", "a\u001b[31m\u202eb"), ("zero", "a\u0000b"):
    json.dump({"results": [{"command": label, "times": [1, 1.1, 1.2]}]}, open(name + ".json", "w"))
PYTHON
show history import long.json long2.json control.json
show history import zero.json
show history show --json - | grep benchmark | cut -c 1-60
show history show --json - | grep -c benchmark
show history show 'a*' | sed -E 's:[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}.[0-9]{2}:WHEN:g'
