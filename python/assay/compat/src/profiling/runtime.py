"""Import path of the original profiling framework; see assay.profiling.runtime."""
from assay.profiling.runtime import *
