/* The probes of `assay doctor`: one for each thing that assay can measure. */
#ifndef ASSAY_CLI_DOCTOR_PROBES_H
#define ASSAY_CLI_DOCTOR_PROBES_H

#include <stddef.h>

typedef enum doctor_level {
    DOCTOR_OK,      /* measured, as precisely as designed */
    DOCTOR_LIMITED, /* measured, but less precisely or disturbed; `remedy` may say what helps */
    DOCTOR_NO       /* not measured here; `finding` says why */
} doctor_level;

typedef struct doctor_finding {
    doctor_level level;
    char finding[256];
    char remedy[256]; /* empty if the user can do nothing */
} doctor_finding;

typedef struct doctor_probe {
    const char *group; /* heading in the text */
    const char *key;   /* in JSON */
    const char *title; /* in the text */
    void (*examine)(doctor_finding *finding);
} doctor_probe;

/* All probes, in the order in which they are printed. Each takes at most some milliseconds and
 * leaves nothing behind on the machine. */
extern const doctor_probe doctor_probes[];
extern const size_t doctor_probe_count;

#endif
