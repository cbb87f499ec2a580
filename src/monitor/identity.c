/* The identity of this process for its journals: process ids, host, boot and rank. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process_identity.h"
#include "monitor/state.h"

/* The rank as the common launchers export it: Open MPI, MPICH/Intel (PMI), Slurm, torchrun. */
static int64_t own_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                            "RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = secure_getenv(variables[i]);
        if (text == NULL || *text == '\0')
            continue;
        char *end = NULL;
        long rank = strtol(text, &end, 10);
        if (*end == '\0' && rank >= 0)
            return rank;
    }
    return -1;
}

/* The part of the identity that forked children share with their parent. It is read once. */
static assay__journal_identity common;
static pthread_once_t common_once = PTHREAD_ONCE_INIT;

static void read_common(void)
{
    common.rank = own_rank();
    if (gethostname(common.host, sizeof common.host - 1) != 0)
        common.host[0] = '\0';
    snprintf(common.boot_id, sizeof common.boot_id, "%s", assay__boot_id());
}

void assay__identity_read(assay__journal_identity *identity)
{
    pthread_once(&common_once, read_common);
    const char *name = identity->name;
    uint64_t monitor_id = identity->monitor_id;
    *identity = common;
    identity->name = name;
    identity->monitor_id = monitor_id;
    identity->process_id = getpid();
    identity->parent_process_id = getppid();
}
