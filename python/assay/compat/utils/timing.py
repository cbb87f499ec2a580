"""The import path of the original timing utilities; see assay.timing."""
from assay.timing import *
