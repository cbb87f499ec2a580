/* Takes rounds in new processes. The addresses of a program's memory change its speed by several
 * per cent. They stay the same during the life of a process and differ in the next. A forked
 * process has the virtual addresses of its parent, but its pages are new. So the physical
 * addresses, and with them conflicts in caches, are drawn again. Commands are new processes anyway,
 * so all their addresses are drawn again.
 *
 * The child returns its samples in a shared mapping, which cannot overflow and needs no parsing. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "sampling/sampler.h"

/* The result of a child, in shared memory. */
typedef struct answer {
    assay_status status;
    assay_error error;
    assay__shot shots[];
} answer;

/* Take all rounds of a child. The first round runs twice, and its first run does not count, because
 * that run copies the pages that it writes to. Both runs use the same order, so that the rounds
 * that count still form balanced blocks. */
static assay_status shoot_all(assay__sampler *sampler, size_t rounds, answer *to)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < rounds && status == ASSAY_OK; i++) {
        assay__shot *shots = to->shots + i * sampler->count;
        assay__order_next(&sampler->order, sampler->turn);
        if (i == 0)
            status = assay__sampler_shoot_turn(sampler, shots);
        if (status == ASSAY_OK)
            status = assay__sampler_shoot_turn(sampler, shots);
    }
    return status;
}

_Noreturn static void answer_and_end(assay__sampler *sampler, size_t rounds, answer *to)
{
    sampler->error = &to->error;
    sampler->options.progress = NULL;
    assay__sampler_forget_thread(sampler); /* the descriptor is that of the parent's thread */
    assay__sampler_watch_thread(sampler);
    to->status = shoot_all(sampler, rounds, to);
    for (;;) /* end without running exit handlers of the program */
        syscall(SYS_exit_group, 0);
}

static assay_status wait_for(assay__sampler *sampler, pid_t child, const answer *from)
{
    int ended = 0;
    pid_t got;
    do
        got = waitpid(child, &ended, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return assay__fail_errno(sampler->error, "cannot wait for a fresh process");
    if (WIFSIGNALED(ended))
        return assay__fail(sampler->error, ASSAY_E_DATA,
                           "a fresh process was killed by signal %d in round %zu or soon after",
                           WTERMSIG(ended), sampler->rounds + 1);
    if (WEXITSTATUS(ended) != 0)
        return assay__fail(sampler->error, ASSAY_E_DATA,
                           "a fresh process exited with status %d in round %zu or soon after",
                           WEXITSTATUS(ended), sampler->rounds + 1);
    if (from->status != ASSAY_OK)
        return assay__fail(sampler->error, from->status, "%s", from->error.message);
    return ASSAY_OK;
}

assay_status assay__sampler_shoot_fresh(assay__sampler *sampler, size_t rounds, assay__shot *shots)
{
    size_t bytes = rounds * sampler->count * sizeof *shots;
    answer *shared = mmap(NULL, sizeof *shared + bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return assay__fail(sampler->error, ASSAY_E_MEMORY, "out of memory");
    shared->status = ASSAY_E_STATE;
    assay_status status = ASSAY_OK;
    pid_t child = fork();
    if (child == 0)
        answer_and_end(sampler, rounds, shared);
    if (child < 0)
        status = assay__fail_errno(sampler->error, "cannot start a fresh process");
    else
        status = wait_for(sampler, child, shared);
    if (status == ASSAY_OK)
        memcpy(shots, shared->shots, bytes);
    for (size_t i = 0; i < rounds; i++) /* the child advanced its own copy of the order */
        assay__order_next(&sampler->order, sampler->turn);
    munmap(shared, sizeof *shared + bytes);
    return status;
}
