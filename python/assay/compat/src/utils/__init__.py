"""Import path of the original monitoring guide; see assay.memory_monitor."""
