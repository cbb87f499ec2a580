/* Finds facts, and tells which of them are numbers. A text counts as a number only if formatting
 * the number gives the same text again. */
#include "record/fact.h"

#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"

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

bool assay__fact_number(const assay_record_fact *fact, double *number)
{
    char text[ASSAY__JSON_NUMBER_BYTES], *end;
    if (fact->value == NULL || strchr("-0123456789", fact->value[0]) == NULL)
        return false;
    *number = assay__text_number(fact->value, &end);
    if (*end != '\0' || end == fact->value)
        return false;
    assay__json_format_number(text, *number);
    return strcmp(text, fact->value) == 0;
}

bool assay__machine_number(const assay_record_fact *fact, double *number)
{
    static const char *const keys[] = {"cores", "usable_cores", "memory_bytes", "numa_nodes",
                                       "cpu_mhz"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(fact->key, keys[i]) == 0)
            return assay__fact_number(fact, number);
    return false;
}
