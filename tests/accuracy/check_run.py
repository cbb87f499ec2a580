"""assay run compared with known costs and with /usr/bin/time.

Tolerances, and where they come from:
- Processor time that the program read itself: the program exits within 10 ms after reading it; 2 % are added.
- Wall time: a sleeping program may wake late, but never early; our time contains the program's own time.
- Resident memory: the kernel counts pages in batches of 32 for each processor and kind of page
  (Linux 6.2 and later), and a C program has a base of its own: 2 MiB in all.
- time(1): it measures a second run of the same program, so only figures that do not depend on chance are
  compared: memory within 2 MiB, processor time not at all.
A busy machine makes wall times longer, never shorter, so no upper bound on them is asserted.
"""
import json
import os
import subprocess
import sys
import tempfile

build = sys.argv[1]
assay = os.path.join(build, "assay")
subject = os.path.join(build, "tests", "accuracy", "subject_cost")
MIB = 1024 * 1024
SLACK = 2 * MIB + 32 * 4096 * 3 * os.cpu_count()
failures = 0


def run(*command, options=()):
    """The record of a run, and what the program printed as {key: value}."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        done = subprocess.run([assay, "run", "-q", "--json", path, *options, "--", *command],
                              stdout=subprocess.PIPE, text=True, check=True)
        with open(path) as file:
            record = json.load(file)
    said = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    return record, {key: float(value) for key, value in said.items()}


def time_kib(*command):
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=True)
    return int(done.stderr.split()[-1])


def check(what, good, detail):
    global failures
    print(f"{'ok    ' if good else 'FAILED'} {what}: {detail}")
    failures += not good


def check_processor_time():
    record, said = run(subject, "burn", "0.3")
    ours = record["user_seconds"] + record["sys_seconds"]
    truth = said["user_seconds"] + said["sys_seconds"]
    check("processor time of a busy loop", truth - 1e-6 <= ours <= truth * 1.02 + 0.01,
          f"{ours:.4f} s, it says {truth:.4f} s")
    check("wall time covers it", record["wall_seconds"] >= truth * 0.99,
          f"{record['wall_seconds']:.4f} s")


def check_wall_time():
    record, said = run(subject, "sleep", "0.2")
    ours, truth = record["wall_seconds"], said["wall_seconds"]
    check("wall time of a sleep", ours >= truth, f"{ours:.4f} s, it says {truth:.4f} s")
    check("a sleep takes no processor", record["user_seconds"] + record["sys_seconds"] < 0.05,
          f"{record['user_seconds'] + record['sys_seconds']:.4f} s")


def check_memory_beside_time():
    for command in (["true"], ["ls", "/"], [subject, "touch", "20"], [subject, "touch", "500"]):
        record, _ = run(*command)
        ours, theirs = record["peak_rss_bytes"], time_kib(*command) * 1024
        check(f"peak of {' '.join(os.path.basename(word) for word in command)} beside time(1)",
              abs(ours - theirs) <= SLACK and record["tree_peak_rss_bytes"] >= ours,
              f"{ours / MIB:.2f} MiB, time says {theirs / MIB:.2f} MiB")


def check_own_peak_is_not_inherited(folder):
    """A program of one page shows what we leave behind; true(1) has about 1 MiB of its own."""
    source, program = os.path.join(folder, "tiny.c"), os.path.join(folder, "tiny")
    with open(source, "w") as file:
        file.write("void _start(void) { for (;;) __asm__ volatile(\"syscall\" : : \"a\"(231), \"D\"(0)); }\n")
    built = subprocess.run(["cc", "-static", "-nostdlib", "-O1", "-o", program, source],
                           stderr=subprocess.DEVNULL)
    if built.returncode != 0 or os.uname().machine != "x86_64":
        print("skipped what we leave behind: no static x86-64 program can be built here")
        return
    least = min(run(program)[0]["peak_rss_bytes"] for _ in range(5))
    check("what we leave behind", least <= 512 * 1024, f"{least / 1024:.0f} KiB")


def check_known_memory():
    record, _ = run(subject, "touch", "200")
    check("a process that touches 200 MiB",
          200 * MIB <= record["peak_rss_bytes"] <= 200 * MIB + SLACK,
          f"{record['peak_rss_bytes'] / MIB:.1f} MiB")


def check_tree():
    record, _ = run(subject, "tree", "4", "30")
    largest, tree = record["peak_rss_bytes"], record["tree_peak_rss_bytes"]
    check("largest of 4 children of 30 MiB", 30 * MIB <= largest <= 30 * MIB + SLACK,
          f"{largest / MIB:.1f} MiB")
    check("4 children of 30 MiB at once", 120 * MIB <= tree <= 120 * MIB + 5 * SLACK,
          f"{tree / MIB:.1f} MiB")
    check("processes seen", record["process"]["process_count"] == 5,
          f"{record['process']['process_count']}")


def check_brief_children():
    """Children too brief for any sample are still in what the kernel says about the waited-for."""
    record, _ = run(subject, "brief", "5", "40", options=("--interval", "10s"))
    check("5 brief children of 40 MiB", 40 * MIB <= record["peak_rss_bytes"] <= 40 * MIB + SLACK,
          f"{record['peak_rss_bytes'] / MIB:.1f} MiB, {record['process']['process_count']} processes seen")


def check_strangers(folder):
    """A shell that replaces itself by us leaves us its background job, which is no part of the program."""
    path = os.path.join(folder, "strangers.json")
    line = ('"$1" burn 0.5 >/dev/null & exec "$2" run -q --json "$3" -- '
            'sh -c "while kill -0 $! 2>/dev/null; do sleep 0.2; done"')
    subprocess.run(["sh", "-c", line, "sh", subject, assay, path], check=True)
    with open(path) as file:
        record = json.load(file)
    ours = record["user_seconds"] + record["sys_seconds"]
    check("a child that we had before does not count", ours < 0.5, f"{ours:.4f} s beside one of 0.5 s")


def check_own_cost():
    record, _ = run(subject, "sleep", "1")
    share = record["process"]["observer_seconds"] / record["wall_seconds"]
    check("cost of measuring", share <= 0.04, f"{share * 100:.2f} % of one processor")


check_processor_time()
check_wall_time()
check_memory_beside_time()
with tempfile.TemporaryDirectory() as scratch:
    check_own_peak_is_not_inherited(scratch)
    check_strangers(scratch)
check_known_memory()
check_tree()
check_brief_children()
check_own_cost()
sys.exit(failures > 0)
