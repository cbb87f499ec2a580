"""Import path of the original trajectory evaluation; see assay.generation."""
from assay.generation import evaluate_trajectories_programmatic
