# On a terminal of 80 columns: what stands there, and what Ctrl-C leaves behind.
if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
    echo "no pseudo-terminals here"
    exit 77
fi
export TERM=xterm
cat >bench.py <<'PYTHON'
import os, re, terminal

def run(arguments, key=None, messages=True, when=lambda: True):
    """`assay bench`; `key` is pressed once its first line stands and `when` holds."""
    return terminal.run(["bench", *arguments], key=key, messages=messages, when=lambda shown: b"s left" in shown and when())

def lines(text):
    """What stood on a line at some time: everything between the movements of the cursor."""
    return [part for part in re.split(r"[\r\n]+", text.replace("\x1b[K", "")) if part]
PYTHON
echo "— progress, on a terminal only"
python3 -c '
from bench import *
for messages in (True, False):
    text, status = run(["--runs", "5", "--", "sleep", "0.1"], messages=messages)
    print(messages, "s left" in text, "sleep 0.1\r\n" in text, text.count("\x1b[K") > 1)'

echo "— long names and a ratio fit on the line"
python3 -c '
from bench import *
long = "sh -c \"sleep 0.005\" " + 40 * "x"
text, status = run(["--runs", "60", "--command", long, "--command", long + "y"])
bars = [line for line in lines(text) if line.endswith("s left")]
print(status, max(map(len, bars)) <= 79, any("ratio" in bar for bar in bars))'

echo "— messages have a line of their own"
python3 -c '
from bench import *
for arguments in (["--", "false"], ["--", "no-such-program"], ["--prepare", "false", "--", "true"]):
    text, status = run(arguments)
    print(os.WEXITSTATUS(status), lines(text)[-1].startswith("assay bench: "))
text, status = run(["--runs", "3", "--output", "inherit", "--", "echo", "heard"])
print(os.WEXITSTATUS(status), lines(text)[:3], "s left" in text)'

echo "— Ctrl-C ends the command and cleans up"
python3 -c '
from bench import *
text, status = run(["--json", "none.json", "--cleanup", "touch cleaned", "--", "sleep", "60"], b"\x03")
print("signal", os.WTERMSIG(status), lines(text)[-1])'
ls
rm cleaned

echo "— Ctrl-C gives the result so far, without the run that it ended"
python3 -c '
import json
from bench import *
command = "test -e full || { echo >>count; [ $(wc -l <count) -lt 13 ] || touch full; exit 0; }; exec sleep 60"
arguments = ["--warmup", "2", "--json", "far.json", "--cleanup", "rm count full", "--shell", "--label", "some", "--label", "more"]
text, status = run([*arguments, "--command", command, "--command", command], b"\x03", when=lambda: os.path.exists("full"))
found = lines(text)
print("signal", os.WTERMSIG(status))
print(*(re.sub("[0-9]+;", "N;", line) for line in found if "signal" in line or line.startswith("  runs ")), sep="\n")
for subject in json.load(open("far.json"))["subjects"]:
    print(len(subject["samples_seconds"]) + subject["rejected_samples"], subject["stopped"])
print(os.path.exists("count"))
os.unlink("far.json")'

echo "— a second Ctrl-C ends at once, whatever the command does, and so does one that comes while assay cleans up"
python3 -c '
import os, signal, subprocess, time
def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)
deaf = "python3 -c \"import signal, time; signal.signal(2, lambda *_: open(\x27heard\x27, \x27w\x27)); open(\x27begun\x27, \x27w\x27); [time.sleep(1) for _ in range(60)]\""
slow = "sh -c \"touch begun; trap : INT; sleep 60\""
for command, cleanup in ((deaf, "touch cleaned"), ("sh -c \"touch heard begun; exec sleep 60\"", "sh -c \"touch cleaning; exec sleep 60\"")):
    process = subprocess.Popen(
        [os.environ["ASSAY"], "bench", "--json", "none.json", "--command", command, "--cleanup", cleanup],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    wait_for("begun")
    process.send_signal(signal.SIGINT)
    wait_for("heard" if "cleaned" in cleanup else "cleaning")
    process.send_signal(signal.SIGINT)
    text, messages = process.communicate()
    print(process.returncode, repr(text), messages.strip())
    for name in ("begun", "heard", "cleaning"):
        if os.path.exists(name):
            os.unlink(name)'
ls

echo "— so does a signal that only assay gets, between the runs too"
python3 -c '
import os, signal, subprocess, time
for ignored in (False, True):
    process = subprocess.Popen(
        [os.environ["ASSAY"], "bench", "-q", "--runs", "2", "--prepare", "touch begun", "--cleanup", "touch done",
         "--", "sleep", "0.5" if ignored else "60"], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL))
    while not os.path.exists("begun"):
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    print(process.wait(), process.stderr.read().strip(), os.path.exists("done"))
    os.unlink("begun"), os.unlink("done")'

echo "— so does one where assay waits for the other end of a pipe"
mkfifo pipe
for option in --output --input; do
    timeout --kill-after 5 0.5 "$ASSAY" bench -q --runs 1 $option pipe -- true
    echo "$option exit $?"
done
rm pipe

echo "— one that comes while assay cleans up leaves the result"
python3 -c '
import json, os, signal, subprocess, time
process = subprocess.Popen(
    [os.environ["ASSAY"], "bench", "--runs", "2", "--json", "kept.json", "--cleanup", "sh -c \"touch begun; exec sleep 60\"",
     "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while not os.path.exists("begun"):
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
text, messages = process.communicate()
print(process.returncode, messages.strip(), text.splitlines()[0])
print(len(json.load(open("kept.json"))["subjects"][0]["samples_seconds"]), "samples")
os.unlink("begun"), os.unlink("kept.json")'
