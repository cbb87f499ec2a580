/* Telling processes and boots of the machine apart: a pid alone is reused. */
#ifndef ASSAY_BASE_PROCESS_IDENTITY_H
#define ASSAY_BASE_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the process started, in kernel ticks since boot (field 22 of /proc/PID/stat); with the pid
 * it names a process for good. 0 if there is none, or if it has ended and only waits to be reaped.
 */
uint64_t assay__process_start(int64_t process_id);

/* The kernel's id of this boot; empty if it cannot be read. Needs 37 bytes. */
void assay__boot_id(char *text, size_t capacity);

#endif
