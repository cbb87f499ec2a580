"""The pipeline of the original trajectory generation: classes of assay.generation and, as a script, `assay study routes`.

    python python_pipeline.py --num-gene 20 --models distilled --od-source test
"""
import sys

from assay.__main__ import main
from assay.generation import TrajectoryEvaluator, TrajectoryGenerator

if __name__ == "__main__":
    sys.exit(main(["study", "routes", *sys.argv[1:]]))
