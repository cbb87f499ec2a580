"""The script of the original profiling framework: `assay profile`.

    python scripts/profile_model.py --model graph_transformer --profile runtime memory flops

If a dataset is named without --data-dir, made-up graphs of its published size are used, and the script says so.
"""
import sys

from assay.__main__ import main


def arguments_of(given):
    names = [argument.split("=")[0].replace("_", "-") for argument in given]
    if "--dataset" in names and not {"--data-dir", "-D", "--synthetic"} & set(names):
        print("profile_model.py: no --data-dir, so the graphs are made up (--synthetic)", file=sys.stderr)
        return [*given, "--synthetic"]
    return given


if __name__ == "__main__":
    sys.exit(main(["profile", *arguments_of(sys.argv[1:])]))
