"""Runs the examples of the seed documents unchanged, with stand-ins for the user's own functions.

The folder of `python3 -m assay compat-path` has their import paths. The output of an example is compared with the output
that the document shows, except for the numbers.
"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

COMPAT = subprocess.run([sys.executable, "-m", "assay", "compat-path"], check=True, capture_output=True, text=True).stdout.strip()
sys.path.insert(0, COMPAT)


def shape(text):
    """The text with numbers as #, and any run of spaces as one."""
    text = re.sub(r"[-+]?(?<![\w.])\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "#", text)
    text = re.sub(r"(?<=[-+])#|[-+]#", "#", text)
    return "\n".join(re.sub(r" +", " ", line).replace("( #", "(#").strip() for line in text.strip().splitlines())


class Examples(unittest.TestCase):
    """Runs examples in an empty folder."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def run_example(self, code, /, **stand_ins):
        """Run the code; returns what it printed. Its variables are in self.names."""
        self.names = dict(stand_ins)
        self.printed = io.StringIO()
        with contextlib.redirect_stdout(self.printed):
            exec(compile(textwrap.dedent(code), "example", "exec"), self.names)
        return self.printed.getvalue()

    def assert_shows(self, printed, shown):
        """The same text, numbers and the width of columns aside."""
        self.assertEqual(shape(printed), shape(textwrap.dedent(shown)))


def optional(name):
    """The module, or None; says on standard error that its examples are skipped."""
    try:
        return __import__(name)
    except ImportError:
        print(f"{os.path.basename(sys.argv[0])}: no {name}: the examples with it are skipped", file=sys.stderr)
        return None
