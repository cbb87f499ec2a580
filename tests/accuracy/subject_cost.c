/* A program whose cost is known, because it measures itself. Prints what it knows as "KEY VALUE".
 *   subject_cost burn SECONDS        processor time, by getrusage: user_seconds sys_seconds
 *   subject_cost touch MIB           resident memory of its own
 *   subject_cost tree COUNT MIB      COUNT children that hold MIB each at the same time
 *   subject_cost brief COUNT MIB     COUNT children one after another, each gone at once
 *   subject_cost sleep SECONDS       wall time, by CLOCK_MONOTONIC: wall_seconds */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const size_t mib = 1024 * 1024;

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int burn(double wanted)
{
    struct rusage usage;
    volatile double sink = 0;
    do {
        for (int i = 0; i < 100000; i++)
            sink += i;
        getrusage(RUSAGE_SELF, &usage);
    } while (seconds(usage.ru_utime) + seconds(usage.ru_stime) < wanted);
    printf("user_seconds %.6f\nsys_seconds %.6f\n", seconds(usage.ru_utime),
           seconds(usage.ru_stime));
    return sink < 0;
}

static int touch(size_t size)
{
    char *memory = malloc(size * mib);
    if (memory == NULL)
        return 1;
    memset(memory, 1, size * mib);
    __asm__ volatile("" : : "r"(memory) : "memory"); /* the writes are wanted */
    free(memory);
    return 0;
}

/* A child that holds its memory until the pipe closes. */
static void hold(size_t size, int ready, int go)
{
    char *memory = malloc(size * mib);
    char byte = 0;
    if (memory == NULL)
        _exit(1);
    memset(memory, 1, size * mib);
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 0)
        _exit(1);
    _exit(0);
}

/* How often the process that started us has gone to sleep; -1 if that cannot be known. */
static long sleeps_of_parent(void)
{
    static const char key[] = "voluntary_ctxt_switches:";
    char path[64], line[256];
    long sleeps = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, sizeof key - 1) == 0)
            sleeps = atol(line + sizeof key - 1);
    if (file != NULL)
        fclose(file);
    return sleeps;
}

/* Who watches sleeps between samples: after a few of them everybody has been seen, however long
 * that takes on a loaded machine. Ten seconds at most, should nobody watch. */
static void wait_to_be_seen(void)
{
    long start = sleeps_of_parent();
    for (int i = 0; i < 1000 && sleeps_of_parent() < start + 5; i++)
        usleep(10000);
}

static int tree(int count, size_t size)
{
    int ready[2], go[2];
    if (pipe(ready) != 0 || pipe(go) != 0)
        return 1;
    for (int i = 0; i < count; i++)
        if (fork() == 0) {
            close(go[1]);
            hold(size, ready[1], go[0]);
        }
    for (int i = 0; i < count; i++) {
        char byte;
        if (read(ready[0], &byte, 1) != 1)
            return 1;
    }
    wait_to_be_seen();
    close(go[1]);
    while (wait(NULL) > 0)
        continue;
    return 0;
}

static int brief(int count, size_t size)
{
    for (int i = 0; i < count; i++) {
        if (fork() == 0)
            _exit(touch(size));
        wait(NULL);
    }
    return 0;
}

int main(int argc, char **argv)
{
    double start = wall();
    const char *mode = argc > 2 ? argv[1] : "";
    int count = argc > 3 ? atoi(argv[2]) : 0;
    if (strcmp(mode, "burn") == 0)
        return burn(atof(argv[2]));
    if (strcmp(mode, "touch") == 0)
        return touch((size_t)atoi(argv[2]));
    if (strcmp(mode, "tree") == 0 && argc > 3)
        return tree(count, (size_t)atoi(argv[3]));
    if (strcmp(mode, "brief") == 0 && argc > 3)
        return brief(count, (size_t)atoi(argv[3]));
    if (strcmp(mode, "sleep") == 0) {
        usleep((useconds_t)(atof(argv[2]) * 1e6));
        printf("wall_seconds %.6f\n", wall() - start);
        return 0;
    }
    fputs("usage: subject_cost burn|touch|tree|brief|sleep ...\n", stderr);
    return 64;
}
