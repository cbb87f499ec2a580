#ifndef ASSAY_SPAN_H
#define ASSAY_SPAN_H
/* being written */
#endif
