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

void assay__identity_read(assay__journal_identity *identity)
{
    identity->process_id = getpid();
    identity->parent_process_id = getppid();
    identity->process_start = assay__process_start(identity->process_id);
    identity->rank = own_rank();
    memset(identity->host, 0, sizeof identity->host);
    if (gethostname(identity->host, sizeof identity->host - 1) != 0)
        identity->host[0] = '\0';
    memset(identity->boot_id, 0, sizeof identity->boot_id);
    assay__boot_id(identity->boot_id, sizeof identity->boot_id);
}
