if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
    echo "no pseudo-terminals here"
    exit 77
fi
# Ctrl-C at a terminal reaches the command once, and the report is still printed. The command waits for it, and
# then for a second one, which must not come.
python3 - <<'PYTHON'
import os
from terminal import run
script = "n=0; trap 'n=$((n+1))' INT; echo ready; for i in $(seq 600); do sleep 0.05; [ $n = 0 ] || break; done; sleep 0.3; echo got $n"
seen, status = run(["run", "--", "bash", "-c", script], key=b"\x03", when=lambda shown: b"ready" in shown)
print("exit", os.waitstatus_to_exitcode(status))
print("\n".join(line for line in seen.splitlines() if "got" in line[:9] or line.startswith("result")))
PYTHON
