/* Tells processes apart, and boots of the machine. A process id alone is not enough, because the
 * kernel reuses it. */
#ifndef ASSAY_BASE_PROCESS_IDENTITY_H
#define ASSAY_BASE_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the process is alive and has a file of this name mapped. Only the last part of `path` is
 * compared, because the process may see the folder under another path. Returns false if this cannot
 * be found out. */
bool assay__process_maps(int64_t process_id, const char *path);

/* The kernel's id of this boot, 36 characters; empty if it cannot be read. */
const char *assay__boot_id(void);

#endif
