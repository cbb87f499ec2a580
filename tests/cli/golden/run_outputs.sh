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
echo kept >old.json
show run -q --json old.json -- true
head -c 1 old.json; echo
ls
