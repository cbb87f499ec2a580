/* subject_gpu [MODE]: a program that uses a GPU, on the CUPTI of tests/fake. It loads what
 * CUDA_INJECTION64_PATH names, as the driver does. Modes:
 *   killed    SIGKILL after what was delivered, with more under way
 *   exits     _exit() without any handler
 *   profiles  uses CUPTI itself after a while, as torch.profiler does
 *   forks     a child goes through exit()
 *   ranges    marks two ranges, with launches between them */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake/cupti.h"

int cuptiSubscribe(void **subscriber, void (*callback)(void *, int, uint32_t, const void *),
                   void *user);
int cuptiUnsubscribe(void *subscriber);

/* The driver sees the boards that CUDA_VISIBLE_DEVICES names. */
static void load_driver(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = driver != NULL ? dlsym(driver, "fake_see_boards") : NULL;
    void (*see_boards)(const int *, int) = NULL;
    int boards[2] = {0, 1};
    memcpy(&see_boards, &found, sizeof found);
    int count = visible == NULL ? 2 : sscanf(visible, "%d,%d", &boards[0], &boards[1]);
    if (see_boards != NULL)
        see_boards(boards, count);
}

static void initialize_driver(void)
{
    load_driver();
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    void *found = library != NULL ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&initialize, &found, sizeof found);
    if (initialize != NULL && initialize() == 0)
        fprintf(stderr, "the injected library failed\n");
}

static void train(int steps)
{
    for (int i = 0; i < steps; i++) {
        usleep(2000); /* loads data */
        fake_copy_in(1 << 20, 100000);
        for (int k = 0; k < 10; k++)
            fake_launch("_Z6matmulPfi", 7, 20000);
        fake_launch("relu", 8, 5000);
        fake_synchronize();
        fake_launch("sgd", 7, 5000);
    }
}

static void other_client(void *user, int domain, uint32_t id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
}

static void profile(void)
{
    void *subscriber = NULL;
    int refused = cuptiSubscribe(&subscriber, other_client, NULL);
    printf("profiler: %s, %d kinds and %d buffers of others\n", refused ? "refused" : "welcome",
           fake_enabled_kinds(), fake_held_buffers());
    cuptiUnsubscribe(subscriber);
}

/* Two ranges of one step each. A step and 50 ms lie between them. The second range is begun twice
 * and ended twice, which changes nothing. */
static void mark_ranges(void)
{
    fake_profiler(1);
    train(1);
    fake_profiler(0);
    train(1);
    usleep(50000);
    fake_profiler(1);
    fake_profiler(1);
    train(1);
    fake_profiler(0);
    fake_profiler(0);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    initialize_driver();
    fake_allocate_device(64 << 20);
    if (strcmp(mode, "ranges") == 0)
        mark_ranges();
    train(5);
    fake_deliver();
    fake_release_device(16 << 20);
    if (strcmp(mode, "killed") == 0) {
        fake_launch("never delivered", 7, 1000);
        raise(SIGKILL);
    }
    if (strcmp(mode, "exits") == 0)
        _exit(0);
    if (strcmp(mode, "profiles") == 0)
        profile();
    if (strcmp(mode, "forks") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
    }
    train(1);
    return 0;
}
