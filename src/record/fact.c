#include "record/fact.h"

#include <string.h>

const assay_record_fact *assay__fact_find(const assay_record_fact *facts, size_t count,
                                          const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].key, key) == 0)
            return &facts[i];
    return NULL;
}

const char *assay__fact_value(const assay_record_fact *facts, size_t count, const char *key)
{
    const assay_record_fact *found = assay__fact_find(facts, count, key);
    return found != NULL ? found->value : NULL;
}
