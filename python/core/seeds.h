/* Functions of the extension for the modules that keep the interface of the seed documents
 * (docs/seed-map.md): assay.timing, assay.memory_monitor, assay.runtime_analyzer and
 * assay.profiling. seeds.c lists the functions.
 *
 * These functions return dictionaries. A missing figure is NaN there, and the key "unavailable"
 * holds a dictionary with the reason for each missing figure, by its name. If no figure is missing,
 * there is no such key.
 */
#ifndef ASSAY_PYTHON_SEEDS_H
#define ASSAY_PYTHON_SEEDS_H

#include "assay/sampling.h"
#include "assay/timers.h"
#include "python/core/core.h"

/* Add the functions and types to the module. */
int core_seeds_init(PyObject *module);

/* ---- seeds.c: what the files below share ----------------------------------------------------- */

/* Add one figure to a dictionary; a missing figure is entered as said above. Returns false with an
 * exception. */
bool core_put_reading(PyObject *dictionary, const char *key, assay_reading reading);
bool core_put_double(PyObject *dictionary, const char *key, double value);
bool core_put_count(PyObject *dictionary, const char *key, uint64_t count);

/* Read the figure of this name. NaN, None and an absent figure become ASSAY_NOT_MEASURED. Returns
 * false with an exception if the value is not a number. */
bool core_get_reading(PyObject *dictionary, const char *key, assay_reading *reading);

/* Convert a number, NaN or None to a reading. Returns false with an exception for other values. */
bool core_to_reading(PyObject *value, assay_reading *reading);

/* The numbers of a sequence as an array, which the caller frees. NULL with an exception, which
 * calls the numbers `what`. */
double *core_doubles(PyObject *sequence, const char *what, size_t *count);

/* The status of a Python function that was called from C: ASSAY_E_STATE if it raised an exception
 * (`result` is NULL). Releases the result. */
assay_status core_called(PyObject *result);

/* ---- timing.c -------------------------------------------------------------------------------- */

PyObject *core_timing_type(void);
PyObject *core_timing_of(const assay_timing *timing);
/* The timing of a Timing object, borrowed. NULL with an exception if `object` is not a Timing. */
const assay_timing *core_timing_handle(PyObject *object);
PyObject *core_benchmark(PyObject *module, PyObject *args);
PyObject *core_timing_make(PyObject *module, PyObject *args);
PyObject *core_print_inference(PyObject *module, PyObject *args);
PyObject *core_now(PyObject *module, PyObject *unused);
PyObject *core_file_save(PyObject *module, PyObject *args);

/* ---- timers.c -------------------------------------------------------------------------------- */

PyObject *core_timed_call(PyObject *module, PyObject *args);
PyObject *core_memory_tracking(PyObject *module, PyObject *unused);
PyObject *core_timers_print(PyObject *module, PyObject *args);
PyObject *core_timers_export(PyObject *module, PyObject *args);
PyObject *core_timers_speedups(PyObject *module, PyObject *args);

/* ---- phase_timer.c --------------------------------------------------------------------------- */

PyObject *core_phase_timer_type(void);

/* ---- training.c ------------------------------------------------------------------------------ */

PyObject *core_epoch_monitor_type(void);
PyObject *core_warmup(PyObject *module, PyObject *epoch_times);
PyObject *core_print_warmup(PyObject *module, PyObject *args);
PyObject *core_convergence(PyObject *module, PyObject *args);

/* ---- performance.c --------------------------------------------------------------------------- */

PyObject *core_performance_begin(PyObject *module, PyObject *unused);
PyObject *core_performance_end(PyObject *module, PyObject *begun);
PyObject *core_print_performance(PyObject *module, PyObject *args);

/* ---- runtime.c ------------------------------------------------------------------------------- */

PyObject *core_forecast_benchmark(PyObject *module, PyObject *args);
PyObject *core_profile_json(PyObject *module, PyObject *args);
PyObject *core_comparison_json(PyObject *module, PyObject *profiles);

/* ---- flops.c --------------------------------------------------------------------------------- */

PyObject *core_linear_flops(PyObject *module, PyObject *args);
PyObject *core_attention_flops(PyObject *module, PyObject *args);
PyObject *core_mpnn_flops(PyObject *module, PyObject *args);
PyObject *core_ffn_flops(PyObject *module, PyObject *args);
PyObject *core_pe_flops(PyObject *module, PyObject *args);
PyObject *core_model_flops(PyObject *module, PyObject *args);
PyObject *core_attention_memory(PyObject *module, PyObject *args);
PyObject *core_pe_storage(PyObject *module, PyObject *args);
PyObject *core_memory(PyObject *module, PyObject *unused);
PyObject *core_reset_peak(PyObject *module, PyObject *unused);

/* ---- scaling.c ------------------------------------------------------------------------------- */

PyObject *core_scaling(PyObject *module, PyObject *args);
PyObject *core_scaling_graphs(PyObject *module, PyObject *args);

#endif
