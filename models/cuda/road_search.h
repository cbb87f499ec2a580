/* Route searches whose forward passes run on a device.
 *
 *     const assay__road_engine engine = assay__gpu_road_engine(class_);
 *     status = assay__road_searcher_move(searcher, &engine, &error);
 *
 * The tables of the weights and the states of the routes stay on the device. A step is one copy to
 * the device (routes, successors and their features), one kernel, and one copy back (logits). The
 * processor does the rest of the search as without a device, so the routes are the same, except for
 * ties within rounding. */
#ifndef ASSAY_MODELS_CUDA_ROAD_SEARCH_H
#define ASSAY_MODELS_CUDA_ROAD_SEARCH_H

#include "assay/model.h"
#include "models/road/search.h"

/* Returns the engine of a device. `class_` must be "next_road" on that device, as
 * assay_model_class_on() returns it. assay__road_searcher_move() then fails with
 * ASSAY_E_UNSUPPORTED if a step of the model does not fit into the shared memory of a block of
 * threads (hidden + scorer > 8192), and with ASSAY_E_MEMORY. */
assay__road_engine assay__gpu_road_engine(const assay_model_class *class_);

#endif
