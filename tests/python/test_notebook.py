"""Notebooks: the magic %assay and %%assay, and examples/notebook.ipynb, executed."""
import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import ipykernel
    import nbconvert
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config
except ImportError as error:
    print(f"{error} (Debian: python3-nbconvert, python3-ipykernel)")
    sys.exit(77)

import assay

SOURCE = pathlib.Path(os.environ.get("ASSAY_SOURCE") or pathlib.Path(__file__).resolve().parents[2])


class Magic(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.environ["IPYTHONDIR"] = cls.folder.name
        cls.shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        cls.run_cell("import assay\n%load_ext assay")

    @classmethod
    def run_cell(cls, cell):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            result = cls.shell.run_cell(cell)
        cls.printed = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())       # tracebacks are in colour
        return result

    def value(self, cell):
        result = self.run_cell(cell)
        self.assertTrue(result.success, self.printed)
        return result.result

    def test_a_statement(self):
        self.value("data = [3, 1, 2]")
        record = self.value("%assay -b 0.2 sorted(data)")
        self.assertEqual([subject["name"] for subject in record.to_dict()["subjects"]], ["sorted(data)"])
        self.assertGreater(record.to_dict()["subjects"][0]["mean_seconds"], 0)

    def test_statements_are_compared(self):
        record = self.value("%assay -b 0.5 sum(range(3000)) ;; sum(range(10))")
        self.assertLess(record.comparisons[0]["ratio"], 1)
        self.assertEqual(record.comparisons[0]["candidate"], "sum(range(10))")

    def test_options(self):
        self.assertIsNone(self.value("%assay -q -b 0.1 -o kept x = {'a b': ' '}"))
        self.assertEqual(self.value("kept").to_dict()["subjects"][0]["name"], "x = {'a b': ' '}")
        self.assertNotIn("x", self.shell.user_ns)

    def test_wrong_uses_are_explained(self):
        for cell, words in (("%assay", "needs a statement"), ("%assay f() ;;", "needs a statement"), ("%assay -b much f()", "number of seconds"),
                            ("%assay -z f()", "-z"), ("%assay -o 1st f()", "name of a variable"), ("%%assay -o a-b\n1", "name of a variable"),
                            ("%assay 1 +", "SyntaxError"), ("%assay unknown_name", "NameError")):
            result = self.run_cell(cell)
            self.assertFalse(result.success, cell)
            self.assertIn(words, self.printed + str(result.error_before_exec or result.error_in_exec), cell)

    def test_a_cell(self):
        path = os.path.join(self.folder.name, "cell.json")
        record = self.value(f"%%assay -o kept -s {path} my cell\nwith assay.track('load'):\n    loaded = [1, 2]\nlen(loaded) + 40")
        self.assertEqual(self.shell.user_ns["loaded"], [1, 2])
        self.assertIn("42", self.printed)
        found = record.to_dict()
        self.assertEqual((found["name"], [op["name"] for op in found["operations"]]), ("my cell", ["cell", "load"]))
        self.assertEqual(found["operations"][1]["parent"], 0)
        self.assertEqual(assay.load(path).to_dict()["wall_seconds"], found["wall_seconds"])
        self.assertIs(self.value("kept"), record)

    def test_a_cell_without_a_value(self):
        self.assertIsNotNone(self.value("%%assay\nquiet = 1\nquiet;"))
        self.assertEqual(self.printed.count("Out["), 1)     # the record alone
        self.assertIsNone(self.value("%%assay -q\nassigned = 2"))
        self.assertEqual(self.shell.user_ns["assigned"], 2)

    def test_a_failing_cell_fails_and_shows_its_line(self):
        before = assay.default_monitor()
        result = self.run_cell("%%assay\nfine = 1\nraise KeyError('mine')")
        self.assertIsInstance(result.error_in_exec, KeyError)
        self.assertIn("raise KeyError('mine')", self.printed)
        self.assertIs(assay.default_monitor(), before)
        self.assertFalse(self.run_cell("%%assay\nif").success)

    def test_a_cell_that_awaits(self):
        self.value("import asyncio\nasync def later(value):\n    with assay.track('later'):\n        await asyncio.sleep(0.01)\n    return value\n"
                   "async def several():\n    for i in range(3):\n        yield await later(i)")
        record = self.value("%%assay -o kept waits\nfirst = await later(20)\nfirst + await later(22)")
        self.assertIn("42", self.printed)
        self.assertEqual(self.shell.user_ns["first"], 20)
        self.assertEqual({op["name"]: op["count"] for op in record.to_dict()["operations"]}, {"cell": 1, "later": 2})
        self.assertEqual(record.to_dict()["name"], "waits")
        self.assertIs(self.value("kept"), record)
        record = self.value("%%assay\nfound = []\nasync for value in several():\n    found.append(value)\n"
                            "found += await asyncio.gather(later(3), later(4));")
        self.assertEqual(self.shell.user_ns["found"], [0, 1, 2, 3, 4])
        self.assertEqual(sum(op["count"] for op in record.to_dict()["operations"] if op["name"] == "later"), 5)
        self.assertIsNone(self.value("%%assay -q\nawait later(1);"))

    def test_a_cell_that_awaits_and_fails(self):
        before = assay.default_monitor()
        result = self.run_cell("%%assay\nimport asyncio\nawait asyncio.sleep(0)\nraise KeyError('late')")
        self.assertIsInstance(result.error_in_exec, KeyError)
        self.assertIn("raise KeyError('late')", self.printed)
        self.assertIs(assay.default_monitor(), before)

    def test_a_task_of_an_earlier_cell_is_awaited(self):
        """It belongs to the event loop of IPython."""
        self.value("import asyncio\nasync def slow():\n    await asyncio.sleep(0.01)\n    return 7\ntask = asyncio.ensure_future(slow())\n"
                   "await asyncio.sleep(0)")
        self.value("%%assay\nseven = await task")
        self.assertEqual(self.shell.user_ns["seven"], 7)

    def test_awaiting_can_be_switched_off(self):
        self.shell.autoawait = False
        try:
            self.run_cell("%%assay\nimport asyncio\nawait asyncio.sleep(0)")
            self.assertIn("SyntaxError", self.printed)
        finally:
            self.shell.autoawait = True

    def test_loaded_again(self):
        self.run_cell("%reload_ext assay")
        self.assertEqual(sum(type(transform).__name__ == "_AwaitCells" for transform in self.shell.input_transformers_post), 1)
        self.value("%%assay\nimport asyncio\nawait asyncio.sleep(0)")

    def test_help(self):
        self.run_cell("%assay?")
        for name in ("line", "cell"):
            self.assertIn("-o NAME", self.shell.find_magic("assay", name).__doc__)


class Example(unittest.TestCase):
    def test_it_runs_and_shows_tables(self):
        notebook = SOURCE / "examples" / "notebook.ipynb"
        for cell in json.loads(notebook.read_text())["cells"]:
            self.assertFalse(cell.get("outputs"), "the example is kept without outputs")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, "--output", "done.ipynb",
                                   str(notebook)], capture_output=True, text=True,
                                  env={**os.environ, "HOME": folder, "IPYTHONDIR": folder, "JUPYTER_CONFIG_DIR": folder,
                                       "JUPYTER_RUNTIME_DIR": folder, "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            cells = json.loads((pathlib.Path(folder) / "done.ipynb").read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        shown = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})]
        self.assertEqual(len(shown), 4)
        for page, words in zip(shown, (("wall time", "forward", "update"), ("verdict",), ("grows as", "predicted"), ("quadratic",))):
            for word in words:
                self.assertIn(word, page)
        self.assertFalse([output for output in outputs if output["output_type"] == "error"])


if __name__ == "__main__":
    unittest.main()
