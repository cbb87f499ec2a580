"""The native column of python3 -m assay run SCRIPT.py: which part of the time of a line is spent in code that the line calls."""
import os
import subprocess
import sys
import textwrap
import unittest

from profiled_script import THREE, Folder

import assay


class Native(Folder):
    TURNS = """
        import time
        big = list(range(200_000))
        def native():
            sum(big)
        def python():
            x = 0
            for i in range(20_000):
                x += i ^ 3
        def take_turns():
            end = time.thread_time() + 2
            while time.thread_time() < end:
                native()
                python()
        """

    def run_turns(self, prepare=""):
        """Let native code and Python take turns. Returns the native share of either function."""
        self.run_it("--rate", "1000", self.write("turns.py", textwrap.dedent(self.TURNS) + prepare + "\ntake_turns()\n"))
        functions = {item["name"]: item for item in self.record()["python"]["functions"]}
        if None in (functions["native"]["native_seconds"], functions["python"]["native_seconds"]):
            self.skipTest("this machine gave the script no processor while it was watched")
        return [functions[name]["native_seconds"] / functions[name]["self_seconds"] for name in ("native", "python")]

    def test_turns(self):
        """Time in one long call is native, time in the interpreter is not."""
        native, python = self.run_turns()
        self.assertGreater(native, 0.8)
        self.assertLess(python, 0.1)

    def test_late_samples(self):
        """Python does not look native to samples that a tick has started, while the processor of the script handles its own tick."""
        processors = sorted(os.sched_getaffinity(0))[:2]
        if len(processors) < 2:
            self.skipTest("the sampler and the script need a processor each")
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        os.sched_setaffinity(0, processors)
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        # A thread of this policy does not interrupt the busy program when it wakes up: it waits for the next tick.
        self.addCleanup(os.sched_setscheduler, 0, os.sched_getscheduler(0), os.sched_param(0))
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        library = os.path.join(os.environ["ASSAY_BUILD"], "tests", "python", "library_ticks.so")
        native, python = self.run_turns(f"import ctypes; ctypes.CDLL({library!r}).stall_at_ticks()")
        self.assertGreater(native, 0.8)
        self.assertLess(python, 0.25)       # 0.03 in the ticks themselves; 0.9 while samples at ticks watched for native code

    def test_jumps_are_known(self):
        """A tight loop stays at its jump, which is no native code: the sampler knows the opcodes into which the interpreter turns jumps."""
        path = self.write("jumps.py", """
            import opcode, runpy, sys
            jumps = runpy.run_path(sys.argv[1])["_jumps"]()
            def loops(n):
                while n:
                    n -= 1
                for i in range(1000):
                    if i is None:
                        continue
            for _ in range(100):
                loops(100)
            asked, turned = loops.__code__.co_code, loops.__code__._co_code_adaptive
            found = {opcode.opname[a]: jumps[b] for a, b in zip(asked[::2], turned[::2]) if "JUMP" in opcode.opname[a]}
            print(len(found), set(found.values()))
            """)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHON_JIT"}
        site = os.path.join(os.path.dirname(assay.__file__), "site", "sitecustomize.py")
        done = subprocess.run([sys.executable, path, site], capture_output=True, text=True, env=environment)
        self.assertRegex(done.stdout, r"^[2-9] \{1\}$", done.stderr)

    @unittest.skipUnless(hasattr(sys, "_jit") and sys._jit.is_available(), "this Python has no compiler")
    def test_compiled(self):
        """A script that Python compiles while it runs: functions are told apart, and what is native is not known."""
        self.run_it(self.write("three.py", THREE), environment={**os.environ, "PYTHON_JIT": "1"})
        shares = self.shares()
        for name, share in (("first", 0.6), ("second", 0.3), ("third", 0.1)):
            self.assert_share(shares[name], share, 0.03)
        for item in self.record()["python"]["functions"]:
            self.assertIsNone(item["native_seconds"])


if __name__ == "__main__":
    unittest.main()
