/* A fake powercap tree in a folder of its own for each test, and what the tests of meters ask of
 * records. */
#ifndef ASSAY_TESTS_UNIT_METER_FIXTURE_H
#define ASSAY_TESTS_UNIT_METER_FIXTURE_H

#include <fcntl.h>
#include <sys/stat.h>

#include "assay/assay.h"
#include "assay/gpu.h"
#include "assay/meter.h"
#include "tests/unit/fake_gpu.h"
#include "tests/unit/record_find.h"

static char root[64];

static inline void write_file(const char *zone, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, zone);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/%s", root, zone, file);
    /* A meter that reads meanwhile must not find the file empty. */
    int target = open(path, O_WRONLY | O_CREAT, 0644);
    assert_true(target >= 0);
    assert_int_equal(write(target, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(ftruncate(target, (off_t)strlen(text)), 0);
    close(target);
}

static inline void make_zone(const char *zone, const char *name, const char *energy_uj)
{
    write_file(zone, "name", name);
    write_file(zone, "max_energy_range_uj", "65532610987\n");
    write_file(zone, "energy_uj", energy_uj);
}

static inline int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/assay-powercap-XXXXXX");
    return mkdtemp(root) == NULL || setenv("ASSAY_POWERCAP", root, 1) != 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static inline bool within(assay_reading low, double value, assay_reading high)
{
    return low.validity == ASSAY_VALID && high.validity == ASSAY_VALID && low.value <= value &&
           value <= high.value;
}

static inline const assay_record_counter *counter(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->counter_count; i++)
        if (strcmp(record->counters[i].name, name) == 0)
            return &record->counters[i];
    return NULL;
}

#endif
