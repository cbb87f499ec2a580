"""The command line of `python3 -m assay run SCRIPT.py`. It becomes a command line of `assay run`, which profiles the script."""
import os
import subprocess
import sys

HELP = """Usage: python3 -m assay run [OPTION...] SCRIPT.py [ARGUMENT...]
       python3 -m assay run [OPTION...] -m MODULE [ARGUMENT...]
       python3 -m assay run [OPTION...] -- COMMAND [ARGUMENT...]

Runs a Python script, unchanged, and shows where its time went: the lines and
functions that took the most, native code told apart, and the lines at which
it waited. What `assay run` measures of any program is in the same record:
processor time, memory, the spans of track(), all processes. Behind `--`
stands a command, as for `assay run`.

The exit status is that of the script. Ctrl-C ends it, and shows the results
so far.

Options:
  -a, --allocations       Python's allocations by line too (makes a script that
                          allocates much some 15 % slower).
      --energy            Measure the energy of the whole machine.
  -g, --gpu               Measure kernels, copies and idle time of NVIDIA GPUs.
      --gpu-range         The same, but only from torch.cuda.profiler.start()
                          to torch.cuda.profiler.stop().
  -H, --heap              Measure the heap of the whole program too.
  -i, --interval TIME     Time between samples of the process tree.
  -j, --json FILE         Write the run record as JSON; '-' is standard output.
  -n, --name TEXT         Name of the run, kept in the record.
  -o, --output FILE       Write the tables to FILE instead of standard error.
  -q, --quiet             Print no tables.
  -r, --rate HZ           Samples in a second (default: 1000 at first, falling
                          to 100 in a long run).
      --save              Save the record in the history of runs as well.
  -t, --trace FILE        Write a Chrome trace with the sampled stacks, for
                          ui.perfetto.dev.
      --trace-events N    Most events of each thread kept for --trace.
  -h, --help              Print this help and exit.
"""

PACKAGE = os.path.dirname(os.path.realpath(__file__))
VALUED = {"interval", "json", "name", "output", "rate", "trace", "trace-events", "python"}
VALUED_LETTERS = "ijnort"


def _operand_at(arguments):
    """The index of the first argument that is neither an option nor the value of one."""
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        if argument in ("--", "-m") or not argument.startswith("-") or argument == "-":
            break
        if argument.startswith("--"):
            takes_next = argument[2:].replace("_", "-") in VALUED
        else:
            letters = argument[1:]
            valued = next((i for i, letter in enumerate(letters) if letter in VALUED_LETTERS), None)
            takes_next = valued is not None and valued == len(letters) - 1
        at += 2 if takes_next else 1
    return at


def command_of(arguments):
    """Translate the arguments of `python3 -m assay` into arguments of `assay`. Returns None if it has printed the help."""
    at = 1 + _operand_at(arguments[1:])
    options, rest = arguments[1:at], arguments[at:]
    if any(option in ("--help", "-h") for option in options):
        print(HELP, end="")
        return None
    if not rest or not (rest[0] == "-m" or rest[0].endswith((".py", ".pyw", ".pyz"))):
        return arguments
    python = [sys.executable or "python3", *subprocess._args_from_interpreter_flags()]
    return ["run", *options, "--python", PACKAGE, "--", *python, *rest]
