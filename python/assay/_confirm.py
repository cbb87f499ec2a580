"""A second opinion on tests that seem slower: they are measured again in a fresh process.

In about one process of sixty some function takes 1.3 to 2.6 times as long, from the start of the process to its end, because of where its
objects lie in memory. Neither the samples nor the yardstick beside them show it, while a regression is slow in every process. So the pytest
plugin calls a test slower only if a second process finds the same.
"""
import collections
import os
import subprocess
import sys
import tempfile

from ._monitor import load

SAVE = "ASSAY_PYTEST_AGAIN"         # in the second process: where its record goes
_PATIENCE_SECONDS = 120             # beside what the measuring may take
_CALLS_OF_A_TEST = 20               # benchmarks in one test that the limit of time allows for

# The second process does not get these options of the first one, because they change which tests run or which files are written. A value
# follows each option in _VALUES.
_FLAGS = ("-x", "--exitfirst", "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first", "--sw", "--stepwise", "--pdb", "--trace",
          "--assay-gate", "--assay-strict", "--assay-once", "--assay-single")
_VALUES = ("--junitxml", "--junit-xml", "--maxfail", "--durations", "--assay-save", "--assay-compare", "--assay-margin", "--assay-budget")


def _without(arguments, positional):
    """The arguments without the tests and folders. A word can be a folder here and the value of an option there ("--rootdir . ."), so
    words that do not follow an option are removed first."""
    left = collections.Counter(positional)
    for after_option in (False, True):
        kept = []
        for before, argument in zip(["", *arguments], arguments):
            if left[argument] > 0 and before.startswith("-") == after_option:
                left[argument] -= 1
            else:
                kept.append(argument)
        arguments = kept
    return arguments


def _kept(arguments, positional):
    """The options of the first process that the second one gets too."""
    kept, skip = [], False
    for argument in _without([str(argument) for argument in arguments], positional):
        name = argument.partition("=")[0]
        if skip:
            skip = False
        elif name in _VALUES:
            skip = "=" not in argument
        elif name not in _FLAGS:
            kept.append(argument)
    return kept


def measure_again(config, nodeids, budget_seconds):
    """(record, None) of these tests in a fresh process, or (None, why there is none)."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = os.path.join(folder, "again.json")
        options = _kept(config.invocation_params.args, config.known_args_namespace.file_or_dir)
        command = [sys.executable, "-m", "pytest", *options, f"--assay-budget={budget_seconds}",
                   *(os.path.join(str(config.rootpath), nodeid) for nodeid in nodeids)]
        try:
            done = subprocess.run(command, cwd=config.invocation_params.dir, env={**os.environ, SAVE: path}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace",
                                  timeout=_PATIENCE_SECONDS + _CALLS_OF_A_TEST * budget_seconds * len(nodeids))
        except subprocess.TimeoutExpired:
            return None, "it did not end in time"
        except OSError as error:
            return None, str(error)
        try:
            return load(path), None
        except (OSError, ValueError, RuntimeError):
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            return None, f"it left no record; its last words: {lines[-1].strip() if lines else 'none'}"
