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
#include <time.h>
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

/* The power limit of a package for short times, in watts: the highest of its constraints. 0 if none
 * is in force. */
static double limit_of(int zone)
{
    double most = 0;
    char enabled[8];
    if (read_line(zone, "enabled", enabled, sizeof enabled) && strcmp(enabled, "0") == 0)
        return 0;
    for (int i = 0; i < 3; i++) {
        char file[40];
        snprintf(file, sizeof file, "constraint_%d_power_limit_uw", i);
        double watts = (double)read_number(zone, file) * 1e-6;
        most = watts > most ? watts : most;
    }
    return most;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The counter of a zone. Returns 0 or an errno. */
static int open_counter(int zone, assay__rapl_zone *fresh)
{
    fresh->file = openat(zone, "energy_uj", O_RDONLY | O_CLOEXEC);
    if (fresh->file < 0)
        return errno;
    errno = 0;
    if (read_counter(fresh->file, &fresh->last_uj)) {
        fresh->last_ns = now_ns();
        return 0;
    }
    const int failure = errno != 0 ? errno : EIO;
    close(fresh->file);
    return failure;
}

/* The limits that were found while zones are opened. */
typedef struct limits {
    double watts;
    bool all_known;
} limits;

/* Open one zone. Returns 0, or the errno that says why it cannot be read. */
static int open_zone(int root, const char *name, assay__rapl *rapl, limits *of_packages)
{
    bool package = false;
    int failure = 0;
    int zone = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (zone < 0)
        return errno;
    assay__rapl_zone fresh = {.file = -1};
    if (is_wanted(zone, &package)) {
        failure = rapl->count < ASSAY__RAPL_ZONES ? open_counter(zone, &fresh) : ENOSPC;
        if (failure == 0) {
            fresh.range_uj = read_number(zone, "max_energy_range_uj");
            rapl->zones[rapl->count++] = fresh;
        }
        const double limit = failure == 0 && package ? limit_of(zone) : 0;
        of_packages->watts += limit;
        of_packages->all_known = of_packages->all_known && (limit > 0 || !package);
    }
    close(zone);
    return failure;
}

/* "intel-rapl:0:1" is a part of the package "intel-rapl:0". */
static bool is_part(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon != NULL && strchr(colon + 1, ':') != NULL;
}

/* Open all zones. Returns 0, or the errno that says why a package cannot be read. */
static int open_zones(DIR *tree, assay__rapl *rapl)
{
    int failure = 0;
    limits of_packages = {.all_known = true};
    for (const struct dirent *entry; (entry = readdir(tree)) != NULL;) {
        if (strncmp(entry->d_name, "intel-rapl:", 11) != 0)
            continue;
        const int now = open_zone(dirfd(tree), entry->d_name, rapl, &of_packages);
        if (now != 0 && is_part(entry->d_name)) {
            snprintf(rapl->left_out, sizeof rapl->left_out, "%.23s", entry->d_name);
            rapl->why_left_out = now;
        } else if (failure == 0) {
            failure = now;
        }
    }
    rapl->limit_watts = of_packages.all_known ? of_packages.watts : 0;
    return failure;
}

assay_status assay__rapl_open(const char *root, assay_error *error, assay__rapl *rapl)
{
    *rapl = (assay__rapl){0};
    if (root == NULL)
        root = secure_getenv("ASSAY_POWERCAP");
    if (root == NULL || *root == '\0')
        root = default_root;
    DIR *tree = opendir(root);
    int failure = tree != NULL ? open_zones(tree, rapl) : 0;
    if (tree != NULL)
        closedir(tree);
    if (rapl->count > 0 && failure == 0)
        return ASSAY_OK;
    assay__rapl_close(rapl);
    failure = failure != 0 ? failure : rapl->why_left_out;
    if (failure == EACCES || failure == EPERM)
        return assay__fail(error, ASSAY_E_PERMISSION,
                           "processor: not permitted: only root may read the energy in %s", root);
    if (failure != 0)
        return assay__fail(error, ASSAY_E_UNSUPPORTED, "processor: %s: %s", root,
                           failure == ENOSPC ? "too many counters of energy" : strerror(failure));
    return assay__fail(error, ASSAY_E_UNSUPPORTED,
                       "processor: no counter of energy (RAPL) in %s; virtual machines rarely "
                       "have one",
                       root);
}

/* By how much a counter rose, in microjoules, or a negative number if that is not known: it started
 * again, or may have wrapped around more than once because the process was stopped. A counter
 * that shows less than before has wrapped around or started again. It has started again if wrapping
 * around would mean more power than any processor draws. A tenth of a second is added to the time
 * because the counter moves in steps. */
static double risen_by(const assay__rapl_zone *zone, uint64_t now_uj, uint64_t now)
{
    const double most = ASSAY__MOST_WATTS * ((double)(now - zone->last_ns) * 1e-3 + 1e5);
    const double usual = ASSAY__USUAL_WATTS * (double)(now - zone->last_ns) * 1e-3;
    if ((now_uj < zone->last_uj && zone->range_uj < zone->last_uj) ||
        (zone->range_uj > 0 && usual > (double)zone->range_uj))
        return -1;
    const double more = now_uj >= zone->last_uj
                            ? (double)(now_uj - zone->last_uj)
                            : (double)(zone->range_uj - zone->last_uj) + (double)now_uj;
    return more <= most ? more : -1;
}

assay_status assay__rapl_read(assay__rapl *rapl)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < rapl->count; i++) {
        assay__rapl_zone *zone = &rapl->zones[i];
        uint64_t uj;
        if (!read_counter(zone->file, &uj)) {
            status = ASSAY_E_IO;
            continue;
        }
        const uint64_t now = now_ns();
        const double more = risen_by(zone, uj, now);
        rapl->joules += more > 0 ? more * 1e-6 : 0;
        rapl->restarts += more < 0;
        zone->last_uj = uj;
        zone->last_ns = now;
    }
    return status;
}

void assay__rapl_close(assay__rapl *rapl)
{
    for (size_t i = 0; i < rapl->count; i++)
        close(rapl->zones[i].file);
    rapl->count = 0;
}
