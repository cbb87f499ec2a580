#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/state.h"

static bool read_line(const char *path, char *line, size_t capacity)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    ssize_t length = read(descriptor, line, capacity - 1);
    close(descriptor);
    if (length <= 0)
        return false;
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* Field 22 of /proc/PID/stat. The command in field 2 may contain anything, so count from its last
 * ')'. */
static uint64_t own_start_time(void)
{
    char line[1024];
    if (!read_line("/proc/self/stat", line, sizeof line))
        return 0;
    const char *rest = strrchr(line, ')');
    unsigned long long start = 0;
    if (rest == NULL || sscanf(rest + 1,
                               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d"
                               " %*d %*d %*d %llu",
                               &start) != 1)
        return 0;
    return start;
}

/* The rank as the common launchers export it: Open MPI, MPICH/Intel (PMI), Slurm, torchrun. */
static int64_t own_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                            "RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        if (text == NULL || *text == '\0')
            continue;
        char *end = NULL;
        long rank = strtol(text, &end, 10);
        if (*end == '\0' && rank >= 0)
            return rank;
    }
    return -1;
}

void assay__identity_read(assay__journal_identity *identity)
{
    identity->process_id = getpid();
    identity->parent_process_id = getppid();
    identity->process_start = own_start_time();
    identity->rank = own_rank();
    memset(identity->host, 0, sizeof identity->host);
    if (gethostname(identity->host, sizeof identity->host - 1) != 0)
        identity->host[0] = '\0';
    memset(identity->boot_id, 0, sizeof identity->boot_id);
    if (!read_line("/proc/sys/kernel/random/boot_id", identity->boot_id, sizeof identity->boot_id))
        identity->boot_id[0] = '\0';
}
