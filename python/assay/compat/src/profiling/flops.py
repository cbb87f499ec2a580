"""Import path of the original profiling framework; see assay.profiling.flops."""
from assay.profiling.flops import *
