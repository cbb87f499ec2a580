/* Refuses a value of ASSAY_CPU that is not a level of this machine. */
#ifndef ASSAY_CLI_COMMON_LEVEL_CHECK_H
#define ASSAY_CLI_COMMON_LEVEL_CHECK_H

#include <stdbool.h>

/* Returns false after an error message. Without this check the models would run at another level
 * than the user asked for, and the user would not notice. */
bool level_is_known(void);

#endif
