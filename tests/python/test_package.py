"""The package itself: stubs, docstrings, documentation whose code runs, imports that must fail cleanly, installation."""
import ast
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import assay

SOURCE = pathlib.Path(os.environ.get("ASSAY_SOURCE") or pathlib.Path(__file__).resolve().parents[2])


def stub(name):
    """{name: node} of the definitions in a stub; the last of overloaded ones."""
    path = pathlib.Path(assay.__file__).with_name(name)
    return {node.name: node for node in ast.parse(path.read_text()).body if hasattr(node, "name")}


def arguments(node):
    both = node.args.posonlyargs + node.args.args
    return [argument.arg for argument in both + node.args.kwonlyargs if argument.arg != "self"]


class Stubs(unittest.TestCase):
    def test_everything_public_is_typed_and_documented(self):
        typed = stub("__init__.pyi")
        for name in assay.__all__:
            self.assertIn(name, typed)
            self.assertTrue(getattr(assay, name).__doc__, f"{name} has no docstring")
        self.assertTrue(pathlib.Path(assay.__file__).with_name("py.typed").exists())

    def test_arguments_agree(self):
        for file, module in (("__init__.pyi", assay), ("_core.pyi", assay._core)):
            for name, node in stub(file).items():
                if isinstance(node, ast.FunctionDef):
                    signature = inspect.signature(getattr(module, name))
                    real = [parameter.name for parameter in signature.parameters.values()
                            if parameter.kind != parameter.VAR_POSITIONAL]
                    self.assertEqual(arguments(node), real, name)

    def test_methods_agree(self):
        for file, module in (("__init__.pyi", assay), ("_core.pyi", assay._core)):
            for name, node in stub(file).items():
                kind = getattr(module, name, None)
                if not isinstance(node, ast.ClassDef) or kind is None:
                    continue
                for member in node.body:
                    if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        self.assertTrue(hasattr(kind, member.name), f"{name}.{member.name}")
                for real in vars(kind):
                    if not real.startswith("_"):
                        typed = [member.name for member in node.body if hasattr(member, "name")]
                        self.assertIn(real, typed, f"{name} of {file}")


def blocks(page):
    """The Python code of a page, in its order."""
    return re.findall(r"^```python\n(.*?)^```", (SOURCE / "docs" / page).read_text(), re.M | re.S)


class Documentation(unittest.TestCase):
    def run_page(self, page):
        code = blocks(page)
        self.assertTrue(code)
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "page.py"
            program.write_text("\n".join(code))
            done = subprocess.run([sys.executable, str(program)], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{page}:\n{done.stderr}")
        return done.stdout

    def test_the_ten_minute_path(self):
        out = self.run_page("python.md")
        for shown in ("PERFORMANCE SUMMARY", "verdict", "n^2"):
            self.assertIn(shown, out)

    def test_coming_from(self):
        self.run_page("coming-from.md")


class Imports(unittest.TestCase):
    def run_program(self, program, **environment):
        return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def test_sub_interpreters_fail_cleanly(self):
        done = self.run_program("""
            try:
                import _xxsubinterpreters as interpreters
            except ImportError:
                import _interpreters as interpreters
            identity = interpreters.create()
            code = '''
            try:
                import assay
            except ImportError as error:
                print("refused:", error)
            else:
                print("imported")
            '''
            import textwrap
            import assay
            interpreters.run_string(identity, textwrap.dedent(code))
            with assay.track("still works"):
                pass
            print(assay.record().to_dict()["operations"][0]["name"])
            """)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "refused: .*sub-interpreters\n")
        self.assertIn("still works", done.stdout)

    def test_a_missing_extension_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "assay"
            package.mkdir()
            for file in pathlib.Path(assay.__file__).parent.glob("*.py"):
                (package / file.name).write_text(file.read_text())
            done = self.run_program("import assay", PYTHONPATH=folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ImportError: assay's extension module cannot be loaded", done.stderr)
        self.assertIn("pip install ./python", done.stderr)

    def test_a_free_threaded_build_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "assay"
            package.mkdir()
            (package / "__init__.py").write_text(pathlib.Path(assay.__file__).read_text())
            done = self.run_program("""
                import sys
                sys._is_gil_enabled = lambda: False
                import assay
                """, PYTHONPATH=folder)
        self.assertIn("does not support free-threaded builds", done.stderr)

    def test_the_command_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(pathlib.Path(assay.__file__).parent, pathlib.Path(folder) / "python" / "assay")
            done = self.run_program("from assay.__main__ import main; raise SystemExit(main(['x']))",
                                    PYTHONPATH=f"{folder}/python", PATH=folder)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn("neither built nor installed", done.stderr)


class Leaks(unittest.TestCase):
    """A million spans take no more memory than ten thousand, and leave no reference behind."""

    def test_spans(self):
        self.grows_not("""
            op = monitor.operation("op")
            def work(times):
                for i in range(times):
                    with op, monitor.track("inner"):
                        pass
                    try:
                        with op: raise ValueError
                    except ValueError: pass
            """)

    def test_names_made_up(self):
        self.grows_not("""
            def work(times):
                for i in range(times):
                    with monitor.track(f"step {i}"): pass
            """, 30)

    def test_tasks(self):
        self.grows_not("""
            import asyncio
            op = monitor.operation("op")
            async def task():
                async with op: await asyncio.sleep(0)
            async def tasks(times):
                for _ in range(times // 10): await asyncio.gather(task(), task())
            def work(times): asyncio.run(tasks(times))
            """)

    def test_records(self):
        self.grows_not("""
            def work(times):
                for _ in range(times // 1000):
                    with monitor.track("x"): pass
                    monitor.record().to_dict(); monitor.total_seconds()
                    assay.fit([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]).to_dict()
                    try: assay.bench(lambda: 1 / 0)
                    except ZeroDivisionError: pass
                    try: monitor.track(3)
                    except TypeError: pass
            """)

    def grows_not(self, work, most_mb=8):
        program = "import assay, gc, sys\nmonitor = assay.Monitor()\n" + textwrap.dedent(work) + textwrap.dedent("""
            def resident():
                return int(open("/proc/self/statm").read().split()[1]) * 4096
            work(10000)
            gc.collect()
            before, objects, allocated = resident(), len(gc.get_objects()), sys.getallocatedblocks()
            work(100000)
            gc.collect()
            print(resident() - before, len(gc.get_objects()) - objects, sys.getallocatedblocks() - allocated)
            """)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        memory, objects, allocated = map(int, done.stdout.split())
        self.assertLess(memory, most_mb << 20)
        self.assertLess(objects, 100)
        self.assertLess(allocated, 2000)


if __name__ == "__main__":
    unittest.main()
