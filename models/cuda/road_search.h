/* Searches for routes whose forward passes run on a device.
 *
 *     const assay__road_engine engine = assay__gpu_road_engine(class_);
 *     status = assay__road_searcher_move(searcher, &engine, &error);
 *
 * The tables of the weights and the states of the routes stay on the device. A step is one copy to
 * it (routes, successors and their features), one kernel, and one copy back (logits). What a search
 * does with these is the same as on the processor, so the routes are the same but for ties within
 * rounding. */
#ifndef ASSAY_MODELS_CUDA_ROAD_SEARCH_H
#define ASSAY_MODELS_CUDA_ROAD_SEARCH_H

#include "assay/model.h"
#include "models/road/search.h"

/* `class_` is "next_road" on a device (assay_model_class_on). ASSAY_E_UNSUPPORTED when the searcher
 * is moved: a model of which a step does not fit a block of threads (hidden + scorer > 8192). */
assay__road_engine assay__gpu_road_engine(const assay_model_class *class_);

#endif
