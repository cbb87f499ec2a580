"""The cost of a span from Python, as a ratio to two calls of time.perf_counter().

Every subject is a loop of its own. In each round all subjects run once, in random order. The time of the empty loop of the same
round is subtracted, and the ratio is computed within the round, so that a slow phase of the machine affects both sides of it. The
figure is the median over the rounds. "in a loop" means inside a task of asyncio.
"""
import asyncio
import contextlib
import json
import random
import statistics
import sys
import time

import assay

LOOPS, ROUNDS = 20000, 41
op, track, perf_counter = assay.operation("op"), assay.track, time.perf_counter
resident = assay.Monitor(memory="rss")
with_memory = resident.operation("op")


def bare():
    pass


@assay.tracked("decorated")
def decorated():
    pass


@contextlib.contextmanager
def timer(times):
    start = perf_counter()
    try:
        yield
    finally:
        times[0] += perf_counter() - start


def empty_loop(n):
    for _ in range(n):
        pass


def two_readings(n):
    for _ in range(n):
        perf_counter()
        perf_counter()


def operation_loop(n):
    for _ in range(n):
        with op:
            pass


def track_loop(n):
    for _ in range(n):
        with track("name"):
            pass


def bare_loop(n):
    for _ in range(n):
        bare()


def decorated_loop(n):
    for _ in range(n):
        decorated()


def memory_loop(n):
    for _ in range(n):
        with with_memory:
            pass


def contextlib_loop(n):
    times = [0.0]
    for _ in range(n):
        with timer(times):
            pass


def psutil_loop():
    import psutil
    info = psutil.Process().memory_info

    def loop(n):
        for _ in range(n):
            info()
    return loop


def record_function_loop():
    from torch.profiler import record_function

    def loop(n):
        for _ in range(n):
            with record_function("name"):
                pass
    return loop


def peers():
    """Subjects from other packages, if they are installed."""
    found = {}
    for name, make in (("psutil", psutil_loop), ("record_function", record_function_loop)):
        try:
            found[name] = make()
        except ImportError as error:
            print(f"python: without {name}: {error}", file=sys.stderr)
    return found


def sample(subjects):
    """Nanoseconds of one pass of each loop, round by round: {name: [per round]}."""
    costs = {name: [] for name in subjects}
    for round_number in range(-2, ROUNDS):       # two rounds warm up
        order = list(subjects)
        random.shuffle(order)
        for name in order:
            loops = LOOPS if name not in SLOW else LOOPS // 20
            start = time.perf_counter_ns()
            subjects[name](loops)
            elapsed = time.perf_counter_ns() - start
            if round_number >= 0:
                costs[name].append(elapsed / loops)
    return costs


SLOW = {"memory", "psutil", "record_function", "contextlib"}


def less(costs, name, base="empty"):
    return [ours - loop for ours, loop in zip(costs[name], costs[base])]


def ratio(costs, name, base="empty"):
    pairs = zip(less(costs, name, base), less(costs, "readings"))
    return statistics.median(ours / readings for ours, readings in pairs)


def row(name, value, unit, bar=None):
    print(json.dumps({"name": name, "value": round(value, 4), "unit": unit, "bar": bar,
                      "ok": bar is None or value <= bar}), flush=True)


def show(costs, where, factor):
    row(f"python: with op{where}, two perf_counter() calls", ratio(costs, "operation"), "x", 1.4 * factor)
    row(f"python: with track(name){where}, the same", ratio(costs, "track"), "x", 2.5 * factor)
    row(f"python: @tracked{where}, beyond the bare call, the same", ratio(costs, "decorated", "bare"), "x", 2.5 * factor)


def main():
    ours = {"empty": empty_loop, "readings": two_readings, "operation": operation_loop, "track": track_loop,
            "bare": bare_loop, "decorated": decorated_loop}
    costs = sample({**ours, "memory": memory_loop, "contextlib": contextlib_loop, **peers()})
    show(costs, "", 1)
    row("python: two perf_counter() calls", statistics.median(less(costs, "readings")), "ns")
    row("python: with op, resident memory read every 10 ms (the default)",
        statistics.median(less(costs, "operation")) / 1e3, "us", 2.0)
    row("python: with op, resident memory read for every span", statistics.median(less(costs, "memory")) / 1e3, "us")
    for name, shown in (("contextlib", "a timer by contextlib"), ("psutil", "memory_info() of psutil"),
                        ("record_function", "torch.profiler.record_function")):
        if name in costs:
            row(f"python: {shown}", statistics.median(less(costs, name)) / 1e3, "us")

    async def in_a_task():
        show(sample(ours), " in a loop", 2)
    asyncio.run(in_a_task())


main()
