"""The training script of the original monitoring guide: `assay study pde`.

    python run.py --config-name=burgers_experiment trainer=synthetic_with_memory
"""
import sys

from assay.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["study", "pde", *sys.argv[1:]]))
