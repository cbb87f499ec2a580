"""The pipeline of the original runtime analysis: `assay study rom`. It trains an MVAR and an LSTM, profiles both, and compares them.

    python ROM_pipeline.py --experiment production_test
"""
import sys

from assay.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["study", "rom", *sys.argv[1:]]))
