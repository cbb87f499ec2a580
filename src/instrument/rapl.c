/* Reads the processor's energy counters (RAPL) from the kernel's powercap tree.
 *
 * The zones of the control type intel-rapl are used; AMD's processors have the same type. The type
 * intel-rapl-mmio shows the same counters a second time, and the zone psys contains the packages,
 * so both are left out. Since the attack named Platypus (CVE-2020-8694) the kernel lets only root
 * read the counters. */
#include "instrument/rapl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static const char default_root[] = "/sys/class/powercap";

/* The first line of a file of a zone; false if there is none. */
static bool read_line(int zone, const char *file, char *text, size_t room)
{
    int open_file = openat(zone, file, O_RDONLY | O_CLOEXEC);
    ssize_t length = open_file >= 0 ? read(open_file, text, room - 1) : -1;
    if (open_file >= 0)
        close(open_file);
    if (length <= 0)
        return false;
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static uint64_t read_number(int zone, const char *file)
{
    char text[32];
    return read_line(zone, file, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

static bool read_counter(int file, uint64_t *value)
{
    char text[32];
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length <= 0)
        return false;
    text[length] = '\0';
    char *end;
    *value = strtoull(text, &end, 10);
    return end != text;
}

/* Whether a zone is a package, or the memory of a package: "intel-rapl:0" has the name package-0,
 * "intel-rapl:0:1" the name dram. */
static bool is_wanted(int zone, bool *package)
{
    char name[32];
    if (!read_line(zone, "name", name, sizeof name))
        return false;
    *package = strncmp(name, "package", 7) == 0;
    return *package || strcmp(name, "dram") == 0;
}

/* The power limit of a package for short times, in watts: the highest of its constraints. */
static double limit_of(int zone)
{
    double most = 0;
    for (int i = 0; i < 3; i++) {
        char file[40];
        snprintf(file, sizeof file, "constraint_%d_power_limit_uw", i);
        double watts = (double)read_number(zone, file) * 1e-6;
        most = watts > most ? watts : most;
    }
    return most;
}

/* Open one zone. Returns 0, or the errno that says why the zone is left out. */
static int open_zone(int root, const char *name, assay__rapl *rapl)
{
    bool package = false;
    int failure = 0;
    int zone = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (zone < 0)
        return errno;
    assay__rapl_zone fresh = {.file = -1};
    if (is_wanted(zone, &package)) {
        fresh.file = openat(zone, "energy_uj", O_RDONLY | O_CLOEXEC);
        failure = fresh.file < 0 ? errno : 0;
        if (failure == 0 && !read_counter(fresh.file, &fresh.last_uj)) {
            failure = errno != 0 ? errno : EIO;
            close(fresh.file);
        }
        if (failure == 0) {
            fresh.range_uj = read_number(zone, "max_energy_range_uj");
            rapl->zones[rapl->count++] = fresh;
            rapl->limit_watts += package ? limit_of(zone) : 0;
        }
    }
    close(zone);
    return failure;
}

assay_status assay__rapl_open(const char *root, assay_error *error, assay__rapl *rapl)
{
    *rapl = (assay__rapl){0};
    int failure = 0;
    if (root == NULL)
        root = secure_getenv("ASSAY_POWERCAP");
    if (root == NULL || *root == '\0')
        root = default_root;
    DIR *tree = opendir(root);
    for (const struct dirent *entry;
         tree != NULL && (entry = readdir(tree)) != NULL && rapl->count < ASSAY__RAPL_ZONES;)
        if (strncmp(entry->d_name, "intel-rapl:", 11) == 0) {
            errno = 0;
            int now = open_zone(dirfd(tree), entry->d_name, rapl);
            failure = failure == 0 ? now : failure;
        }
    if (tree != NULL)
        closedir(tree);
    if (rapl->count > 0)
        return ASSAY_OK;
    if (failure == EACCES || failure == EPERM)
        return assay__fail(error, ASSAY_E_PERMISSION,
                           "processor: not permitted: only root may read the energy in %s", root);
    if (failure != 0)
        return assay__fail(error, ASSAY_E_UNSUPPORTED, "processor: %s: %s", root,
                           strerror(failure));
    return assay__fail(error, ASSAY_E_UNSUPPORTED,
                       "processor: no counter of energy (RAPL) in %s; virtual machines rarely "
                       "have one",
                       root);
}

assay_status assay__rapl_read(assay__rapl *rapl)
{
    for (size_t i = 0; i < rapl->count; i++) {
        assay__rapl_zone *zone = &rapl->zones[i];
        uint64_t now;
        if (!read_counter(zone->file, &now) || (now < zone->last_uj && zone->range_uj == 0))
            return ASSAY_E_IO;
        uint64_t more =
            now >= zone->last_uj ? now - zone->last_uj : zone->range_uj - zone->last_uj + now;
        rapl->joules += (double)more * 1e-6;
        zone->last_uj = now;
    }
    return ASSAY_OK;
}

void assay__rapl_close(assay__rapl *rapl)
{
    for (size_t i = 0; i < rapl->count; i++)
        close(rapl->zones[i].file);
    rapl->count = 0;
}
