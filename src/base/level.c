/* Finds the level of this processor. The compiler's runtime knows which instructions a processor
 * has, and also checks whether the system saves the wide registers. Not every version of the
 * runtime knows the levels by name. So this file asks for the instructions that distinguish each
 * level from the one below, one by one. */
#include "base/level.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define LEVEL(name, suffix) name,
    ASSAY__LEVELS(LEVEL)
#undef LEVEL
};

enum { COUNT = sizeof names / sizeof *names };

int assay__level_highest(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    return v4 ? 2 : v3 ? 1 : 0;
#else
    return 0;
#endif
}

const char *assay__level_name(int level)
{
    return level >= 0 && level < COUNT ? names[level] : NULL;
}

int assay__level_now(const char **refused)
{
    const char *asked = getenv("ASSAY_CPU");
    const int highest = assay__level_highest();
    if (refused != NULL)
        *refused = NULL;
    if (asked == NULL || asked[0] == '\0')
        return highest;
    for (int level = 0; level <= highest; level++)
        if (strcmp(asked, names[level]) == 0)
            return level;
    if (refused != NULL)
        *refused = asked;
    return highest;
}

void assay__level_list(char *text, size_t size)
{
    size_t used = 0;
    for (int level = 0; level <= assay__level_highest() && used < size; level++) {
        int written =
            snprintf(text + used, size - used, "%s%s", level > 0 ? ", " : "", names[level]);
        used += written > 0 ? (size_t)written : 0;
    }
}
