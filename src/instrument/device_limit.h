/* The highest power that a GPU may draw. */
#ifndef ASSAY_INSTRUMENT_DEVICE_LIMIT_H
#define ASSAY_INSTRUMENT_DEVICE_LIMIT_H

#include <stddef.h>

/* The enforced power limit of the device `index` in watts; 0 if the driver does not give it. Short
 * peaks may be higher. */
double assay__device_limit_watts(size_t index);

#endif
