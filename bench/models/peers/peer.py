"""The Python side of bench/models/peer.h: a line server that times what it is told to.

    import peer
    peer.serve({"one step": lambda: model(x), ...})

It prints "ready" and the version of PyTorch, where that is used, once its tasks are made, then answers each line "REPEATS TASK" with the seconds of
processor time one call of that task took (the mean over so many calls in a row; of another `clock` if given), or with "error: ..." for a task it does not have.
A peer that lacks a package says so with peer.skip(reason). One thread, as our side.
"""
import os
import sys
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy and PyTorch are imported

answers = os.fdopen(os.dup(1), "w", buffering=1)
version = ""
os.dup2(2, 1)  # what libraries print does not get between the answers


def skip(reason):
    answers.write(f"skip {reason}\n")
    sys.exit(0)


def torch():
    """PyTorch on one thread, or the end of this peer."""
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
