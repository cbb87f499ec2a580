# Journals that are none, or no longer whole, are refused with the reason.
show journal no-such-file
show journal 4194303
sleep 10 & process=$!
"$ASSAY" journal $process 2>&1 | sed "s/$process/PID/"
kill $process
mkdir empty
show journal empty
: >zero.assay
show journal zero.assay
echo "not a journal" >text.assay
show journal text.assay
head -c 100000 /dev/urandom >noise.assay
show journal noise.assay
mkdir journals
ASSAY_JOURNAL_DIR=journals "$SUBJECTS/subject_spans" done
cp journals/*.assay whole.assay
head -c 3000 whole.assay >cut.assay
show journal cut.assay
head -c 100000 whole.assay >cut.assay
show journal cut.assay | mask
show journal whole.assay --json no/such/folder/r.json
show journal whole.assay --json /dev/full
show journal "$(printf 'bell\a')"
cp noise.assay journals/noise.assay
show journal journals | grep -E 'note|exit' | mask
