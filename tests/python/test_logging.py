"""The messages of the package: they go through logging and are shown only if the program asks for them; and progress lines do not disturb tqdm."""
import io
import os
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
import unittest.mock

import assay


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines_on(terminal):
    """What stands on the screen at the end, and how often the line was drawn."""
    text = terminal.getvalue()
    return [line.rsplit("\r", 1)[-1].rstrip() for line in text.split("\n") if line.strip()], text.count("\r")


class Logging(unittest.TestCase):
    def test_epochs_where_there_is_no_terminal(self):
        with self.assertLogs("assay", "DEBUG") as logged:
            for _ in assay.steps([[1, 2]] * 3, epochs=2, file=io.StringIO()):
                pass
        self.assertRegex("\n".join(logged.output), r"^INFO:assay:epoch 1/2  batch 3/3 .* batches/s.*\nINFO:assay:epoch 2/2  batch 3/3 ")
        self.assertEqual(os.path.basename(logged.records[0].pathname), "_loop.py")
        with self.assertLogs("assay", "DEBUG") as logged:       # a terminal has the line already
            for _ in assay.steps([1], file=Terminal()):
                pass
        self.assertRegex(logged.output[0], "^DEBUG:")

    def test_a_saved_run_and_a_lossy_one(self):
        with tempfile.TemporaryDirectory() as folder, self.assertLogs("assay", "INFO") as logged:
            path = os.path.join(folder, "run.json")
            with assay.run(save=path):
                for depth in range(130):
                    assay.operation("deep").__enter__()
                for depth in range(130):
                    assay.operation("deep").__exit__(None, None, None)
        self.assertIn(f"INFO:assay:saved the record of the run to {path}", logged.output)
        self.assertRegex(logged.output[0], r"WARNING:assay:the record of the run is not complete: dropped spans: \d+")

    def run_program(self, program):
        return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)

    def test_nothing_is_printed_and_logging_is_not_imported(self):
        program = """
            import sys
            import assay
            {}
            for batch in assay.steps([[1, 2]] * 3):
                with assay.track("work"):
                    pass
            with assay.run(save="/dev/null") as record:
                for depth in range(130):
                    assay.operation("deep").__enter__()
            assert ("logging" in sys.modules) is {}
            """
        for listen, loaded in (("", False), ("import logging", True)):
            done = self.run_program(program.format(listen, loaded))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.run_program(program.format("import logging; logging.basicConfig(level='INFO')", True))
        self.assertIn("INFO:assay:epoch 1  batch 3/3", done.stderr)
        self.assertIn("WARNING:assay:the record of the run is not complete", done.stderr)


class Progress(unittest.TestCase):
    def loop(self, terminal, batches=3):
        with unittest.mock.patch("assay._loop._REDRAW_SECONDS", -1):
            for _ in assay.steps([[1, 2]] * batches, file=terminal):
                pass

    def test_a_line_on_a_terminal(self):
        terminal = Terminal()
        self.loop(terminal)
        shown, drawn = lines_on(terminal)
        self.assertEqual(drawn, 4)
        self.assertRegex(shown[0], r"^epoch 1  batch 3/3  [\d.]+ batches/s, [\d.]+ samples/s$")     # no 1.2e+05

    def test_none_elsewhere(self):
        out = io.StringIO()
        self.loop(out)
        self.assertEqual(out.getvalue(), "")

    def test_it_steps_aside_for_a_bar(self):
        """With a stand-in that has what is asked of tqdm; the next test has the real one."""
        written = []
        tqdm = types.SimpleNamespace(_instances=[object()], write=lambda line, file: written.append((line, file)))
        terminal = Terminal()
        with unittest.mock.patch.dict(sys.modules, tqdm=types.SimpleNamespace(tqdm=tqdm)):
            self.loop(terminal)
            self.assertEqual(terminal.getvalue(), "")
            self.assertEqual(len(written), 1)
            self.assertRegex(written[0][0], "^epoch 1  batch 3/3")
            tqdm._instances.clear()         # the bar has ended
            self.loop(terminal)
        self.assertIn("\repoch 1  batch 3/3", terminal.getvalue())

    def test_the_real_tqdm(self):
        try:
            from tqdm import tqdm
        except ImportError:
            self.skipTest("no tqdm (Debian: python3-tqdm)")
        terminal = Terminal()
        for _ in tqdm(range(2), file=terminal, ncols=60, mininterval=0):
            self.loop(terminal)
        text = terminal.getvalue()
        self.assertEqual(text.count("epoch 1  batch 3/3"), 2)       # once for each loop, above the bar
        self.assertNotIn("batch 1/3", text)
        for line in text.split("\n"):
            last = line.rsplit("\r", 1)[-1]
            self.assertFalse("epoch" in last and "it/s" in last, line)
        after = Terminal()
        self.loop(after)
        self.assertIn("batch 1/3", after.getvalue())


if __name__ == "__main__":
    unittest.main()
