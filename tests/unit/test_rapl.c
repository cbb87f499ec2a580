/* The counters of energy of the processor, read from a fake powercap tree. */
#include <math.h>

#include "instrument/rapl.h"
#include "tests/unit/meter_fixture.h"

static void test_counters_come_round(void **state)
{
    (void)state;
    assay__rapl rapl;
    make_zone("intel-rapl:0", "package-0\n", "65532609987\n");
    make_zone("intel-rapl:0:0", "core\n", "5\n"); /* part of its package */
    make_zone("intel-rapl:0:1", "dram\n", "100\n");
    make_zone("intel-rapl:1", "psys\n", "7\n"); /* contains the packages */
    make_zone("intel-rapl-mmio:0", "package-0\n", "999000\n");
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_int_equal(rapl.count, 2);
    write_file("intel-rapl:0", "energy_uj", "1500\n");
    write_file("intel-rapl:0:1", "energy_uj", "600\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(rapl.joules > 2999e-6 && rapl.joules < 3001e-6);
    write_file("intel-rapl:0", "energy_uj", "nonsense\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_E_IO);
    assay__rapl_close(&rapl);
}

/* Counters start again while a machine sleeps. This is no wrapping around, which would mean more
 * power than a processor can draw. */
static void test_counters_start_again(void **state)
{
    (void)state;
    assay__rapl rapl;
    make_zone("intel-rapl:0", "package-0\n", "62143300000\n");
    write_file("intel-rapl:0", "max_energy_range_uj", "262143328850\n");
    make_zone("intel-rapl:1", "package-1\n", "5000000\n");
    write_file("intel-rapl:1", "max_energy_range_uj", ""); /* it is not known */
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    write_file("intel-rapl:0", "energy_uj", "1000000\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(rapl.joules == 0 && rapl.restarts == 1);
    /* The process was stopped for an hour: the counter may have wrapped around many times. */
    rapl.zones[rapl.zones[0].last_uj == 1000000 ? 0 : 1].last_ns -= 3600ull * 1000000000;
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(rapl.joules == 0 && rapl.restarts == 2);
    write_file("intel-rapl:0", "energy_uj", "3000000\n");
    write_file("intel-rapl:1", "energy_uj", "1000000\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(fabs(rapl.joules - 2) < 1e-9 && rapl.restarts == 3);
    write_file("intel-rapl:1", "energy_uj", "200000000000\n"); /* 200 kJ at once */
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(fabs(rapl.joules - 2) < 1e-9 && rapl.restarts == 4);
    write_file("intel-rapl:1", "energy_uj", "200001000000\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(fabs(rapl.joules - 3) < 1e-9 && rapl.restarts == 4);
    assay__rapl_close(&rapl);
}

/* One package of two is not the processor. Memory may be left out. A limit holds for all packages
 * or for none. */
static void test_some_counters_cannot_be_read(void **state)
{
    (void)state;
    assay__rapl rapl;
    assay_error error = {0};
    make_zone("intel-rapl:0", "package-0\n", "1000\n");
    write_file("intel-rapl:0", "constraint_0_power_limit_uw", "100000000\n");
    make_zone("intel-rapl:0:1", "dram\n", "");
    make_zone("intel-rapl:1", "package-1\n", "1000\n");
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_int_equal(rapl.count, 2);
    assert_string_equal(rapl.left_out, "intel-rapl:0:1");
    assert_true(rapl.limit_watts == 0); /* that of one package is not known */
    assay__rapl_close(&rapl);
    write_file("intel-rapl:1", "constraint_1_power_limit_uw", "200000000\n");
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_true(fabs(rapl.limit_watts - 300) < 1e-6);
    assay__rapl_close(&rapl);
    write_file("intel-rapl:1", "enabled", "0\n"); /* the limit is not in force */
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_true(rapl.limit_watts == 0);
    assay__rapl_close(&rapl);
    write_file("intel-rapl:1", "energy_uj", "");
    assert_int_equal(assay__rapl_open(root, &error, &rapl), ASSAY_E_UNSUPPORTED);
    assert_int_equal(rapl.count, 0);
}

static void test_many_packages(void **state)
{
    (void)state;
    assay__rapl rapl;
    enum { PACKAGES = 32 };
    for (int i = 0; i < PACKAGES; i++) {
        char zone[32];
        snprintf(zone, sizeof zone, "intel-rapl:%d", i);
        make_zone(zone, "package-0\n", "0\n");
    }
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_int_equal(rapl.count, PACKAGES);
    assay__rapl_close(&rapl);
}

/* Only root may read the counters of a real machine. */
static void test_not_permitted(void **state)
{
    (void)state;
    char path[256];
    make_zone("intel-rapl:0", "package-0\n", "1\n");
    snprintf(path, sizeof path, "%s/intel-rapl:0/energy_uj", root);
    assert_int_equal(chmod(path, 0400), 0);
    chmod(root, 0755);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0)
            _exit(2);
        if (geteuid() != 65534)
            chmod(path, 0);
        assay__rapl rapl;
        assay_error error = {0};
        assay_status status = assay__rapl_open(root, &error, &rapl);
        _exit(status == ASSAY_E_PERMISSION && strstr(error.message, "only root") != NULL ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_counters_come_round, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counters_start_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_some_counters_cannot_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_packages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_permitted, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
