/* The most that a device may draw. */
#ifndef ASSAY_INSTRUMENT_DEVICE_LIMIT_H
#define ASSAY_INSTRUMENT_DEVICE_LIMIT_H

#include <stddef.h>

/* Watts; 0 if the driver does not say. Short peaks may be higher. */
double assay__device_limit_watts(size_t index);

#endif
