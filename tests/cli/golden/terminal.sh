# What a terminal gets and nothing else does: colour, unless NO_COLOR or TERM=dumb decline it, and its width. What the C
# locale gets: ASCII, in columns that stay where they are.
if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
    echo "no pseudo-terminals here"
    exit 77
fi
python3 - >r.json <<'PYTHON'
import json
def subject(name, value, wiggle):
    times = [value * (1 + wiggle * (i * 7 % 11 - 5)) for i in range(40)]
    return {"command": name, "mean": sum(times) / 40, "times": times}
print(json.dumps({"results": [subject("reference implementation, naïve", 1.0, 0.001), subject("candidate with blocking", 0.5, 0.001),
                              subject("candidate with everything unrolled", 2.0, 0.001), subject("too noisy", 1.01, 0.1), subject("as noisy", 1.02, 0.1)]}))
PYTHON
unset NO_COLOR
export TERM=xterm
on_terminal() { python3 "$TERMINAL" "$@"; }
# The line of the result, or everything if there is none.
result() { on_terminal "$@" | tee shown | grep '^result' || cat shown; }
echo "— colour"
result 80 run -- sh -c 'exit 3'
result 80 run -- sh -c 'exit 0'
on_terminal 80 report nothing.json
on_terminal 80 compare r.json | grep '\^'
on_terminal 80 compare --gate r.json | grep '^gate'
echo "— none"
NO_COLOR=1 on_terminal 80 compare r.json | grep -c '\^'
NO_COLOR='' on_terminal 80 compare r.json | grep -c '\^'
TERM=dumb on_terminal 80 compare r.json | grep -c '\^'
"$ASSAY" compare r.json | grep -c $'\033'
export NO_COLOR=1
echo "— a narrow and a wide terminal"
on_terminal 40 run -- sh -c 'exit 0' one two three four five | grep '^command'
on_terminal 60 run -- sh -c 'exit 0' one two three four five | grep '^command'
on_terminal 120 compare r.json
echo "— how far long work is"
on_terminal 80 profile runtime --model graph_transformer --num-nodes 100 --hidden-dim 64 --num-layers 2 --num-runs 100 --warmup-runs 2 |
    tr '\r' '\n' | grep -oE 'measuring runtime, run [0-9]+ of 102' | sed 's/run [0-9]*/run #/' | sort -u
"$ASSAY" profile runtime --model mlp --num-runs 2 2>&1 | grep -c measuring
echo "— ASCII"
LC_ALL=C "$ASSAY" compare r.json
LC_ALL=C "$ASSAY" report r.json | head -n 3
LC_ALL= LC_CTYPE= LANG=POSIX "$ASSAY" report r.json | head -n 1
LC_ALL= LC_CTYPE= LANG=de_DE.UTF-8 "$ASSAY" report r.json | head -n 1
LC_ALL=C "$ASSAY" report 'fileé.json' 2>&1
LC_ALL=C "$ASSAY" report --csv r.json | sed -n 2p | cut -d , -f 1-2
LC_ALL=C "$ASSAY" report --json - r.json | grep -c 'naïve'
for words in 'run true' doctor 'help run' 'model list' 'model info --model mlp' 'report r.json' 'complete model eval --model x'; do
    LC_ALL=C "$ASSAY" $words 2>&1 | LC_ALL=C grep -P '[\x80-\xff]'
done
LC_ALL=C "$ASSAY" report r.json >/dev/full
echo "exit $?"
