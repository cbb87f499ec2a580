if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
    echo "no pseudo-terminals here"
    exit 77
fi
# Ctrl-C at a terminal reaches the command once, and the report is still printed. The command waits for it, and
# then for a second one, which must not come.
python3 - <<'PYTHON'
import os, pty
script = "n=0; trap 'n=$((n+1))' INT; echo ready; for i in $(seq 600); do sleep 0.05; [ $n = 0 ] || break; done; sleep 0.3; echo got $n"
process, terminal = pty.fork()
if process == 0:
    os.execv(os.environ["ASSAY"], ["assay", "run", "--", "bash", "-c", script])
seen = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if b"ready" not in seen and b"ready" in seen + piece:
        os.write(terminal, b"\x03")
    seen += piece
status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
print("exit", status)
print("\n".join(line for line in seen.decode().splitlines() if "got" in line[:9] or line.startswith("result")))
PYTHON
