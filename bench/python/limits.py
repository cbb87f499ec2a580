"""The limits that the Python package keeps under any load: memory, references, spans of many processes and of a killed one."""
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile

import assay

WORKERS, SPANS = 64, 100_000


def row(name, value, unit, bar):
    print(json.dumps({"name": name, "value": value, "unit": unit, "bar": bar, "ok": value <= bar}), flush=True)


def spans_of(record, name):
    return sum(operation["count"] for operation in record.to_dict()["operations"] if operation["name"] == name)


def work(operation, times):
    for _ in range(times):
        with operation:
            pass


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def a_million_spans():
    operation = assay.operation("million")
    work(operation, 10_000)
    gc.collect()
    before, blocks = resident_bytes(), sys.getallocatedblocks()
    work(operation, 1_000_000)
    row("python: memory gained by 10^6 spans", (resident_bytes() - before) / 2**20, "MB", 1.0)
    row("python: blocks of memory left by 10^6 spans", sys.getallocatedblocks() - blocks, "blocks", 20)


def many_workers():
    operation = assay.operation("worker")
    with assay.run() as record:
        children = []
        for _ in range(WORKERS):
            child = os.fork()
            if child == 0:
                work(operation, SPANS)
                os._exit(0)
            children.append(child)
        failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    row(f"python: spans lost by {WORKERS} forked workers of {SPANS}", WORKERS * SPANS - spans_of(record, "worker"), "spans", 0)
    row(f"python: workers of {WORKERS} that failed", failed, "workers", 0)


def a_killed_interpreter():
    program = ("import assay, os, signal\n"
               "op = assay.operation('step')\n"
               f"for _ in range({SPANS}):\n"
               "    with op: pass\n"
               "os.kill(os.getpid(), signal.SIGKILL)\n")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "ASSAY_JOURNAL_DIR": folder})
        assert done.returncode == -signal.SIGKILL
        row("python: spans lost by a killed interpreter", SPANS - spans_of(assay.snapshot(folder), "step"), "spans", 0)


a_million_spans()
many_workers()
a_killed_interpreter()
