# Output paths are refused before the command runs; what fails later leaves nothing half-written.
show run --json no/such/folder/r.json -- touch ran
show run --trace no/such/folder/t.json -- touch ran
show run --output no/such/folder/s.txt -- touch ran
mkdir folder
show run --json folder -- touch ran
ls
show run -q --json /dev/full -- sh -c 'exit 3'
show run -q --trace /dev/full -- true
show run --output /dev/full -- true
"$ASSAY" run true 2>/dev/full; echo "summary lost: exit $?"
"$ASSAY" doctor >/dev/full 2>/dev/null; echo "results lost: exit $?"
"$ASSAY" fit data.csv 2>/dev/full; echo "message lost: exit $?"
# Nobody reads the pipe: an error, not a wait. With a reader it is an output like any other.
mkfifo pipe
timeout 20 "$ASSAY" run -q --json pipe -- true; echo "exit $?"
cat pipe >read & "$ASSAY" run -q --json pipe -- true; echo "exit $?"
wait; head -c 1 read; echo; rm pipe read
# A reader that does not read makes the writing wait; a signal still ends it.
mkfifo pipe; exec 3<>pipe
head -c 65536 /dev/zero >&3
"$ASSAY" run -q --json pipe -- true & sleep 1; kill -TERM $!; wait $!; echo "exit $?"
exec 3>&-; rm pipe
# Whoever put the file there does not get to read the next one.
(umask 022; touch planted.json; chmod 0666 planted.json; "$ASSAY" run -q --json planted.json -- true; stat -c %a planted.json; rm planted.json)
echo kept >old.json
show run -q --json old.json -- true
head -c 1 old.json; echo
ls
