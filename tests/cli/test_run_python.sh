#!/bin/bash
# `assay run` around a program that uses assay.run(): the journals of the block reach the enclosing run, and the program
# does not notice whether they can.
set -u
assay=$ASSAY_BUILD/assay
if [ ! -e "$ASSAY_BUILD/python/assay/_run.py" ] || ! command -v /usr/bin/python3 >/dev/null; then
    echo "the Python package is not built here"
    exit 77
fi
export PYTHONPATH=$ASSAY_BUILD/python PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir temporary
export TMPDIR=$work/temporary
failed=0
complain() {
    echo "$*"
    failed=1
}

# The program replaces itself by exec. All of its journals have one name.
cat >again.py <<'END'
import os, sys, assay
left = int(os.environ["LEFT"])
with assay.run():
    with assay.track("work"):
        pass
if left > 1:
    os.environ["LEFT"] = str(left - 1)
    os.execv(sys.executable, [sys.executable, *sys.argv])
END
count() {
    /usr/bin/python3 -c 'import json; print(*[(o["name"], o["count"]) for o in json.load(open("again.json"))["operations"]])'
}
LEFT=4 "$assay" run -q --json again.json -- /usr/bin/python3 again.py || complain "a program that replaced itself failed"
[ "$(count)" = "('work', 4)" ] || complain "of 4 blocks the record has: $(count)"

# The directory of the enclosing run is on another file system. A journal stays a file of a few KiB there.
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$work")" ]; then
    outside=$(mktemp -d /dev/shm/test-run-python-XXXXXX)
    trap 'rm -rf "$work" "$outside"' EXIT
    LEFT=1 ASSAY_JOURNAL_DIR=$outside /usr/bin/python3 again.py || complain "a program failed"
    kib=$(du -k "$outside" | cut -f 1)
    [ "$kib" -lt 10000 ] || complain "a journal takes $kib KiB of memory"
    "$assay" journal "$outside"/*.assay --json again.json >/dev/null || complain "a copied journal cannot be read"
    [ "$(count)" = "('work', 1)" ] || complain "the copied journal has: $(count)"
fi

# The enclosing run ends before its program does, and removes its directory.
mkdir outer
cat >longer.py <<'END'
import os, assay
with assay.run():
    os.rmdir("outer")
END
ASSAY_JOURNAL_DIR=$work/outer /usr/bin/python3 longer.py 2>longer.err ||
    complain "a program failed because the enclosing run had ended: $(tail -n 1 longer.err)"

# A folder of the user's own, which is relative, or empty: then there is none.
mkdir own elsewhere
cat >moves.py <<'END'
import os, assay
with assay.run():
    os.chdir("elsewhere")
END
ASSAY_JOURNAL_DIR=own /usr/bin/python3 moves.py || complain "a program failed that changed its folder"
[ "$(ls own | wc -l)" = 1 ] || complain "the journal is not in the folder of the user"
ASSAY_JOURNAL_DIR= /usr/bin/python3 moves.py || complain "a program failed without a folder for journals"
[ -z "$(ls elsewhere)" ] || complain "there is a journal where nobody wants one"

ls -d temporary/assay-* 2>/dev/null && complain "a private directory was left behind"
exit $failed
