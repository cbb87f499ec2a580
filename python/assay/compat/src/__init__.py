"""Import paths of the original documents; see assay.memory_monitor and assay.profiling."""
