#include "cli/common/level_check.h"

#include <stddef.h>

#include "base/level.h"
#include "cli/common/message.h"

bool level_is_known(void)
{
    const char *refused;
    assay__level_now(&refused);
    if (refused == NULL)
        return true;
    char levels[128];
    assay__level_list(levels, sizeof levels);
    message_error("assay: ASSAY_CPU is '%.40s', which is no level of this machine; it has %s",
                  refused, levels);
    return false;
}
