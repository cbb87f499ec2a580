"""Import path of the original profiling framework; see assay.profiling.scaling."""
from assay.profiling.scaling import *
