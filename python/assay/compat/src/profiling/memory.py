"""Import path of the original profiling framework; see assay.profiling.memory."""
from assay.profiling.memory import *
