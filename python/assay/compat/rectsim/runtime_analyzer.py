"""Import path of the original runtime analysis; see assay.runtime_analyzer."""
from assay.runtime_analyzer import *
