/* A program with spans to look at from outside: subject_spans [done|kill|wait|worker|names|many]
 *   done    completes everything
 *   kill    kills itself with spans open
 *   wait    sleeps with a span open until it is killed
 *   worker  also measures in a forked child
 *   names   has operations whose names come from a hostile place
 *   many    has 300 monitors more, and then waits */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/monitor.h>

static void *load(void *context)
{
    assay_monitor *monitor = context;
    for (int i = 0; i < 5; i++)
        ASSAY_TRACK(monitor, "load") {
            (void)getppid();
        }
    return NULL;
}

static void train(assay_monitor *monitor)
{
    for (int step = 0; step < 10; step++) {
        ASSAY_TRACK(monitor, "step") {
            ASSAY_TRACK(monitor, "forward") {
                (void)getppid();
            }
            ASSAY_TRACK(monitor, "backward") {
                usleep(2000);
            }
        }
        assay_monitor_count(monitor, "loss", 1.0 / (step + 1));
    }
}

static void track_hostile_names(assay_monitor *monitor)
{
    static char long_name[1 << 20];
    memset(long_name, 'n', sizeof long_name - 1);
    assay_span_end(assay_monitor_begin(monitor, "red \033[31m\nline \a"));
    assay_span_end(assay_monitor_begin(monitor, "quote \" slash \\ \xff"));
    assay_span_end(assay_monitor_begin(monitor, long_name));
}

static void wait_with_many_monitors(void)
{
    for (int i = 0; i < 300; i++) {
        assay_monitor *monitor = NULL;
        if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
            exit(1);
        ASSAY_TRACK(monitor, "one of many") {
        }
    }
    for (;;)
        pause();
}

static void measure_in_child(assay_monitor *monitor)
{
    pid_t child = fork();
    if (child == 0) {
        train(monitor);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "done";
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    pthread_t loader;
    if (pthread_create(&loader, NULL, load, monitor) != 0)
        return 1;
    train(monitor);
    pthread_join(loader, NULL);
    if (strcmp(mode, "worker") == 0)
        measure_in_child(monitor);
    if (strcmp(mode, "names") == 0)
        track_hostile_names(monitor);
    if (strcmp(mode, "many") == 0)
        wait_with_many_monitors();
    if (strcmp(mode, "kill") == 0 || strcmp(mode, "wait") == 0) {
        ASSAY_SCOPE(monitor, "epoch");
        ASSAY_SCOPE(monitor, "validate");
        if (strcmp(mode, "kill") == 0)
            raise(SIGKILL);
        for (;;)
            pause();
    }
    assay_monitor_free(monitor);
    return 0;
}
