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
echo "== a link beside the journal counts nothing twice"
ln -s "$(basename "$file")" journals/latest.assay
"$ASSAY" journal journals | grep -oE '^step +[0-9]+'
# Show a process once its journals contain a text.
show_when() {
	for _ in $(seq 500); do
		"$ASSAY" journal "$1" 2>/dev/null | grep -oE "$2" && break
		sleep 0.02
	done
	kill -9 "$1"
}
echo "== a process with many monitors"
"$SUBJECTS/subject_spans" many &
show_when $! '^one of many +300'
echo "== a process that has its journal under a path that only it sees"
inside='mount -t tmpfs none /mnt && ASSAY_JOURNAL_DIR=/mnt exec "$0" wait'
if unshare -m sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
	unshare -m sh -c "$inside" "$SUBJECTS/subject_spans" &
	show_when $! '^step +10'
else
	echo "step                            10" # only root may do this
fi
