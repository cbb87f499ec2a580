/* The modules that keep the interface of the seed documents (docs/seed-map.md), in the extension:
 * functions that assay.timing, assay.memory_monitor, assay.runtime_analyzer and assay.profiling are
 * made of. seeds.c has their list.
 *
 * A figure that is missing is NaN in what these functions return, and its reason stands under its
 * name in the dictionary "unavailable" beside it; there is no such dictionary when nothing is
 * missing.
 */
#ifndef ASSAY_PYTHON_SEEDS_H
#define ASSAY_PYTHON_SEEDS_H

#include "assay/sampling.h"
#include "assay/timers.h"
#include "python/core/core.h"

/* Add the functions and types to the module. */
int core_seeds_init(PyObject *module);

/* ---- seeds.c: what its files share -------------------------------------------------------------
 */

/* Add one figure to a dictionary, as said above. False with an exception. */
bool core_put_reading(PyObject *dictionary, const char *key, assay_reading reading);
bool core_put_double(PyObject *dictionary, const char *key, double value);
bool core_put_count(PyObject *dictionary, const char *key, uint64_t count);

/* The figure of this name, as core_put_reading() entered it: NaN, None and an absent figure are
 * ASSAY_NOT_MEASURED. False with an exception for what is no number. */
bool core_get_reading(PyObject *dictionary, const char *key, assay_reading *reading);

/* A number, NaN or None as a reading. */
bool core_to_reading(PyObject *value, assay_reading *reading);

/* The numbers of a sequence, which the caller frees; NULL with an exception. */
double *core_doubles(PyObject *sequence, const char *what, size_t *count);

/* What a Python function that was called from C says to C. Drops its result. */
assay_status core_called(PyObject *result);

/* ---- timing.c ---------------------------------------------------------------------------------
 */

PyObject *core_timing_type(void);
PyObject *core_timing_of(const assay_timing *timing);
/* The timing of a Timing object, borrowed; NULL with an exception if it is none. */
const assay_timing *core_timing_handle(PyObject *object);
PyObject *core_benchmark(PyObject *module, PyObject *args);
PyObject *core_timing_make(PyObject *module, PyObject *args);
PyObject *core_print_inference(PyObject *module, PyObject *args);
PyObject *core_now(PyObject *module, PyObject *unused);
PyObject *core_file_save(PyObject *module, PyObject *args);

/* ---- timers.c ---------------------------------------------------------------------------------
 */

PyObject *core_timed_call(PyObject *module, PyObject *args);
PyObject *core_memory_tracking(PyObject *module, PyObject *unused);
PyObject *core_timers_print(PyObject *module, PyObject *args);
PyObject *core_timers_export(PyObject *module, PyObject *args);
PyObject *core_timers_speedups(PyObject *module, PyObject *args);

/* ---- phase_timer.c ----------------------------------------------------------------------------
 */

PyObject *core_phase_timer_type(void);

/* ---- training.c -------------------------------------------------------------------------------
 */

PyObject *core_epoch_monitor_type(void);
PyObject *core_warmup(PyObject *module, PyObject *epoch_times);
PyObject *core_print_warmup(PyObject *module, PyObject *args);
PyObject *core_convergence(PyObject *module, PyObject *args);

/* ---- performance.c ----------------------------------------------------------------------------
 */

PyObject *core_performance_begin(PyObject *module, PyObject *unused);
PyObject *core_performance_end(PyObject *module, PyObject *begun);
PyObject *core_print_performance(PyObject *module, PyObject *args);

/* ---- runtime.c --------------------------------------------------------------------------------
 */

PyObject *core_forecast_benchmark(PyObject *module, PyObject *args);
PyObject *core_profile_json(PyObject *module, PyObject *args);
PyObject *core_comparison_json(PyObject *module, PyObject *profiles);

/* ---- flops.c ----------------------------------------------------------------------------------
 */

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

/* ---- scaling.c --------------------------------------------------------------------------------
 */

PyObject *core_scaling(PyObject *module, PyObject *args);
PyObject *core_scaling_graphs(PyObject *module, PyObject *args);

#endif
