"""The Python side of bench/models/peer.h: a server that reads lines and times the tasks that they name.

    import peer
    peer.serve({"one step": lambda: model(x), ...})

Once its tasks are made, it prints "ready" and the version of PyTorch, if that is used. Then it answers each line "REPEATS TASK" with the seconds of processor
time of one call of that task (the mean over REPEATS calls in a row; by another `clock` if given), or with "error: ..." for a task that it does not have. A peer
that lacks a package reports this with peer.skip(reason). It runs on one thread, as our side does.
"""
import os
import sys
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy and PyTorch are imported

answers = os.fdopen(os.dup(1), "w", buffering=1)
version = ""
os.dup2(2, 1)  # output of libraries must not get between the answers


def skip(reason):
    answers.write(f"skip {reason}\n")
    sys.exit(0)


def torch():
    """Returns PyTorch, set to one thread, or ends this peer."""
    try:
        import torch as module
    except ImportError:
        skip("python3-torch is not installed")
    module.set_num_threads(1)
    global version
    version = module.__version__
    return module


def serve(tasks, clock=time.thread_time):
    answers.write(f"ready {version}".strip() + "\n")
    for line in sys.stdin:
        repeats, _, name = line.strip().partition(" ")
        task = tasks.get(name)
        if task is None:
            answers.write(f"error: no task {name!r}\n")
            continue
        start = clock()
        for _ in range(int(repeats)):
            task()
        answers.write(f"{(clock() - start) / int(repeats):.9e}\n")
