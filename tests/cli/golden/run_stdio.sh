# The command keeps stdin and stdout; ours goes to stderr, or after it when asked for.
echo from stdin | "$ASSAY" run -q -- cat
"$ASSAY" run -- echo only this 2>/dev/null
"$ASSAY" run -q --json - -- echo first | sed -n '1p;2p;3p'
# Nobody reads our messages any more: the files are written, and no directory remains.
python3 - "$ASSAY" <<'PYTHON'
import json, os, signal, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
show = 'echo "$ASSAY_JOURNAL_DIR" "$ASSAY_HEAP_DIR" >directories; kill -PIPE $$'
done = subprocess.run([sys.argv[1], "run", "--heap", "--gpu", "--json", "r.json", "--", "sh", "-c", show],
                      stderr=writer, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
left = [d for d in open("directories").read().split() if os.path.exists(d)]
print(done.returncode, json.load(open("r.json"))["process"]["signal"], left)
PYTHON
