"""Import path of the original profiling framework; see assay.profiling."""
from assay.profiling import *
