"""Import path of the original trajectory generation; see assay.generation."""
from assay.generation import Searcher, generate_trajectories_programmatic
