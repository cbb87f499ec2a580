export ASSAY_JOURNAL_DIR=$PWD/journals
mkdir journals
"$SUBJECTS/subject_spans" kill
show journal journals | mask
file=$(ls journals/*.assay)
"$ASSAY" journal "$file" | sed -n '/^operation/,$p' | mask
"$ASSAY" journal journals --json - | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["kind"], sorted(o["name"] for o in r["operations"]))'
show journal journals --trace trace.json
ls
echo "== a running process"
"$SUBJECTS/subject_spans" wait &
process=$!
: >"$process" # a file of that name does not stand before the process
until "$ASSAY" journal $process 2>/dev/null | grep -q validate; do sleep 0.02; done
"$ASSAY" journal $process | sed -n '/^begun/,$p' | mask
kill -9 $process
