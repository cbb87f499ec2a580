"""Import path of the original profiling framework; see assay.profiling.utils."""
from assay.profiling.utils import *
