# The exit status is the command's own; 125 to 127 are ours.
show run -q -- true
show run -q -- sh -c 'exit 7'
show run -q -- sh -c 'kill -TERM $$'
show run -q -- sh -c 'kill -KILL $$'
show run -q -- no-such-command
show run -q -- ./no-such-file
touch plain
show run -q -- ./plain
mkdir folder
show run -q -- ./folder
printf 'echo no first line\n' >script
chmod +x script
show run -q -- ./script
printf '#!/no/such/interpreter\n' >script
show run -q -- ./script
show run -q -- ''
show run -q -- "$(printf 'bell\a escape\033[31m')"
PATH=$PWD:$PATH show run -q -- plain
# Without room for a pipe no process is made, which is not the fault of the command.
python3 - "$ASSAY" <<'PYTHON'
import os, resource, subprocess, sys, tempfile
os.environ["TMPDIR"] = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
done = subprocess.run([sys.argv[1], "run", "-q", "--", "true"], capture_output=True, text=True,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
print(done.returncode, done.stderr, end="")
os.rmdir(os.environ["TMPDIR"])      # nothing was left in it
PYTHON
