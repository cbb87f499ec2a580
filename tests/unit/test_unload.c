/* A program may unload a plugin that measured, while threads on which the plugin measured are still
 * running. The end of these threads must not call code that is gone, and the plugin must measure
 * again when it is loaded again. */
#include "tests/unit/monitor_fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sanitizers.h"

enum { VISITS = 3 };

typedef struct loaded_plugin {
    void *handle;
    void (*measure)(void);
    uint64_t (*end)(void);
    sem_t measured, unloaded;
} loaded_plugin;

static void *function_of(const loaded_plugin *plugin, const char *name)
{
    void *function = dlsym(plugin->handle, name);
    assert_non_null(function);
    return function;
}

static void load(loaded_plugin *plugin, const char *library)
{
    char path[4096];
    const char *build = getenv("ASSAY_BUILD");
    snprintf(path, sizeof path, "%s/tests/unit/plugin_spans_%s.so", build != NULL ? build : "build",
             library);
    plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin->handle == NULL)
        fail_msg("%s", dlerror());
    *(void **)&plugin->measure = function_of(plugin, "plugin_measure");
    *(void **)&plugin->end = function_of(plugin, "plugin_end");
}

static void *measure_and_outlive(void *argument)
{
    loaded_plugin *plugin = argument;
    plugin->measure();
    sem_post(&plugin->measured);
    sem_wait(&plugin->unloaded);
    return NULL;
}

static void visit(const char *library)
{
    loaded_plugin plugin;
    load(&plugin, library);
    sem_init(&plugin.measured, 0, 0);
    sem_init(&plugin.unloaded, 0, 0);
    plugin.measure();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, measure_and_outlive, &plugin), 0);
    sem_wait(&plugin.measured);
    assert_int_equal(plugin.end(), 2);
    assert_int_equal(dlclose(plugin.handle), 0);
    sem_post(&plugin.unloaded);
    pthread_join(thread, NULL);
    sem_destroy(&plugin.measured);
    sem_destroy(&plugin.unloaded);
}

static void test_with_the_shared_library(void **test_state)
{
    (void)test_state;
    for (int i = 0; i < VISITS; i++)
        visit("shared");
}

static void test_with_the_static_library(void **test_state)
{
    (void)test_state;
    if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
        puts("skipped: what the static library leaves behind in a running thread is a leak");
        skip();
    }
    for (int i = 0; i < VISITS; i++)
        visit("static");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_the_shared_library),
        cmocka_unit_test(test_with_the_static_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
