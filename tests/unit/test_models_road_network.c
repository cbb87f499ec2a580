/* Road networks, trajectories and their files; cities. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/road/city.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

/* Ids out of order and negative; a Point, a bent line, quoted fields, other columns. */
static const char geo_text[] =
    "geo_id,type,coordinates,highway,length,maxspeed,name\r\n"
    "70,LineString,\"[[8.0, 50.0], [8.001, 50.0]]\",1,80.5,60,\"High Street, \"\"A\"\"\"\n"
    "-3,LineString,\"[[8.001,50.0],[8.001,50.001],[8.002,50.001]]\",2,,0,\n"
    "\n"
    "9000000000,Point,\"[8.002, 50.001]\",2,12,30,\"two\nlines\"\n"
    "5,LineString,\"[[8.001,50.0,17.5],[8.0,50.0,17]]\",2,0,,x\n";
static const char rel_text[] = "rel_id,type,origin_id,destination_id\n"
                               "0,geo,70,5\n"
                               "1,geo,70,-3\n"
                               "2,geo,-3,9000000000\n"
                               "3,geo,70,-3\n"
                               "4,geo,5,70\n";

static assay_status parse_geo(const char *text, assay__road_network *network, assay_error *error)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    assay_status status = assay__road_geo_parse(copy, strlen(copy), "x.geo", network, error);
    free(copy);
    return status;
}

static assay_status parse_rel(const char *text, assay__road_network *network, assay_error *error)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    assay_status status = assay__road_rel_parse(copy, strlen(copy), "x.rel", network, error);
    free(copy);
    return status;
}

static assay__road_network *small_network(void)
{
    assay__road_network *network = NULL;
    assay_error error = {0};
    assert_int_equal(assay__road_network_new(&network), ASSAY_OK);
    assert_int_equal(parse_geo(geo_text, network, &error), ASSAY_OK);
    assert_int_equal(parse_rel(rel_text, network, &error), ASSAY_OK);
    assert_int_equal(assay__road_network_finish(network, &error), ASSAY_OK);
    return network;
}

static void test_files_are_read(void **state)
{
    (void)state;
    assay__road_network *network = small_network();
    assert_int_equal(network->roads, 4);
    assert_int_equal(network->links, 4); /* one was said twice */
    assert_int_equal(network->max_successors, 2);
    assert_int_equal(assay__road_network_find(network, 70), 0);
    assert_int_equal(assay__road_network_find(network, -3), 1);
    assert_int_equal(assay__road_network_find(network, 9000000000), 2);
    assert_int_equal(assay__road_network_find(network, 71), -1);
    const int64_t first[] = {0, 2, 3, 3, 4};
    const int32_t next[] = {1, 3, 2, 0};
    assert_memory_equal(network->first, first, sizeof first);
    assert_memory_equal(network->next, next, sizeof next);
    assert_true(network->length_m[0] == 80.5);
    assert_true(fabs(network->speed_mps[0] - 60 / 3.6) < 1e-12);
    /* 0.001 degrees of latitude are 111.195 m; of longitude here, 71.475 m. */
    assert_true(fabs(network->length_m[1] - (111.1951 + 71.474)) < 0.01);
    assert_true(network->speed_mps[1] == ASSAY__ROAD_DEFAULT_SPEED_MPS);
    assert_true(fabs(network->length_m[3] - 71.4755) < 0.01);
    assert_int_equal(network->point_first[2] - network->point_first[1], 3);
    assert_true(fabs((double)network->heading_x[0] - 1) < 1e-6);
    assert_true(fabs((double)network->heading_x[3] + 1) < 1e-6);
    assert_true(network->heading_x[2] == 0 && network->heading_y[2] == 0);
    assay__road_network_free(network);
}

static void test_bad_geo(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "x.geo is empty"},
        {"geo_id,type\n0,Point\n", "no column 'coordinates'"},
        {"geo_id,type,coordinates\n0,Point\n", "x.geo:2: 2 fields where the header has 3"},
        {"geo_id,type,coordinates\n\n\nzero,Point,\"[1,2]\"\n", "x.geo:4: geo_id is 'zero'"},
        {"geo_id,type,coordinates\n0,Polygon,\"[[[1,2]]]\"\n", "type is 'Polygon'"},
        {"geo_id,type,coordinates\n0,Point,\"[nan, 2]\"\n", "x.geo:2: coordinates are not"},
        {"geo_id,type,coordinates\n0,Point,\"[1e999, 2]\"\n", "coordinates are not"},
        {"geo_id,type,coordinates\n0,Point,\"[1]\"\n", "coordinates are not"},
        {"geo_id,type,coordinates\n0,Point,\"[1,2,3,4]\"\n", "coordinates are not"},
        {"geo_id,type,coordinates\n0,LineString,\"[1,2]\"\n", "coordinates are not"},
        {"geo_id,type,coordinates\n0,LineString,\"[]\"\n", "coordinates are not"},
        {"geo_id,type,coordinates\n0,LineString,\"[[1,2],]\"\n", "coordinates are not"},
        {"geo_id,type,coordinates\n0,LineString,\"[[1,2]] 3\"\n", "text after the coordinates"},
        {"geo_id,type,coordinates\n0,LineString,\"[[1,2]\"\n", "text after the coordinates"},
        {"geo_id,type,coordinates\n0,Point,\"[1, 91]\"\n", "no longitude and latitude"},
        {"geo_id,type,coordinates\n0,Point,\"[1,2]\"\n1,Point,\"[1,2]\"\n0,Point,\"[3,4]\"\n",
         "x.geo:4: road 0 is there twice"},
        {"geo_id,type,coordinates,length\n0,Point,\"[1,2]\",-1\n", "length is '-1'"},
        {"geo_id,type,coordinates,maxspeed\n0,Point,\"[1,2]\",fast\n", "maxspeed is 'fast'"},
        {"geo_id,type,coordinates\n0,Point,\"[1,2]\n", "quote"},
        {"geo_id,type,coordinates\n0,Point,\"[1,2]\"x\n", "quote"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay__road_network *network = NULL;
        assay_error error = {0};
        assert_int_equal(assay__road_network_new(&network), ASSAY_OK);
        assert_int_equal(parse_geo(cases[i].text, network, &error), ASSAY_E_FORMAT);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("case %zu says: %s", i, error.message);
        assay__road_network_free(network);
    }
}

static void test_bad_rel(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"rel_id,origin_id,destination_id\n0,70,5\n1,70,4711\n",
         "x.rel:3: destination_id is 4711, a road the .geo file lacks"},
        {"rel_id,origin_id\n", "no column 'destination_id'"},
        {"rel_id,origin_id,destination_id\n0,70,5.5\n", "destination_id is '5.5'"},
        {"rel_id,origin_id,destination_id\n0,99999999999999999999,5\n", "not a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay__road_network *network = NULL;
        assay_error error = {0};
        assert_int_equal(assay__road_network_new(&network), ASSAY_OK);
        assert_int_equal(parse_geo(geo_text, network, &error), ASSAY_OK);
        assert_int_equal(parse_rel(cases[i].text, network, &error), ASSAY_E_FORMAT);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("case %zu says: %s", i, error.message);
        assay__road_network_free(network);
    }
    assay__road_network *empty = NULL;
    assay_error error = {0};
    assert_int_equal(assay__road_network_new(&empty), ASSAY_OK);
    assert_int_equal(parse_geo("geo_id,type,coordinates\n", empty, &error), ASSAY_OK);
    assert_int_equal(assay__road_network_finish(empty, &error), ASSAY_E_DATA);
    assay__road_network_free(empty);
    assert_int_equal(
        assay__road_network_load("/nonexistent.geo", "/nonexistent.rel", &error, &empty),
        ASSAY_E_NOT_FOUND);
    assert_null(empty);
}

static assay_status parse_drives(const assay__road_network *network, const char *text,
                                 assay_error *error, assay__trajectories *trajectories)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    assay_status status =
        assay__trajectories_parse(network, copy, strlen(copy), "t.csv", error, trajectories);
    free(copy);
    return status;
}

static void test_trajectories_are_read(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "mm_id,entity_id,traj_id,rid_list,time_list\n"
        "0,1,2,\"70,-3,9000000000\",\"2024-02-29T23:59:58Z,2024-02-29T23:59:59Z,2024-03-01T00:00:"
        "01Z\"\n"
        "1,1,3,5,1970-01-01T00:00:00Z\n",
        "gene_trace_road_id,gene_trace_datetime\n"
        "\"[70, -3, 9000000000]\",\"['2024-02-29T23:59:58Z', '2024-02-29T23:59:59Z', "
        "'2024-03-01T00:00:01Z']\"\n"
        "[5],\"[\"\"1970-01-01T00:00:00Z\"\"]\"\n",
        "dyna_id,type,time,entity_id,traj_id,location\n"
        "0,trajectory,2024-02-29T23:59:58Z,8,0,70\n"
        "1,trajectory,2024-02-29 23:59:59.75Z,8,0,-3\n"
        "2,trajectory,2024-03-01T00:00:01,8,0,9000000000\n"
        "3,trajectory,1970-01-01T00:00:00Z,8,1,5\n",
    };
    const int64_t first[] = {0, 3, 4};
    const int32_t roads[] = {0, 1, 2, 3};
    const int64_t seconds[] = {1709251198, 1709251199, 1709251201, 0}; /* date -u -d ... +%s */
    assay__road_network *network = small_network();
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assay__trajectories t;
        assay_error error = {0};
        if (parse_drives(network, forms[i], &error, &t) != ASSAY_OK)
            fail_msg("form %zu: %s", i, error.message);
        assert_int_equal(t.count, 2);
        assert_memory_equal(t.first, first, sizeof first);
        assert_memory_equal(t.roads, roads, sizeof roads);
        assert_memory_equal(t.seconds, seconds, sizeof seconds);
        assay__trajectories_release(&t);
    }
    assay__road_network_free(network);
}

static void test_bad_trajectories(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"rid_list\n1\n", "no columns rid_list and time_list"},
        {"rid_list,time_list\n\"70,4\",\"2024-01-01T00:00:00Z,2024-01-01T00:00:00Z\"\n",
         "t.csv:2: the network has no road 4"},
        {"rid_list,time_list\n\"70,5\",2024-01-01T00:00:00Z\n", "t.csv:2: fewer times than roads"},
        {"rid_list,time_list\n70,\"2024-01-01T00:00:00Z,2024-01-01T00:00:00Z\"\n",
         "fewer roads than times"},
        {"rid_list,time_list\n\"70,5\",\"2024-01-01T00:00:09Z,2024-01-01T00:00:08Z\"\n",
         "time goes backwards"},
        {"rid_list,time_list\n70,2024-13-01T00:00:00Z\n", "times are not like"},
        {"rid_list,time_list\n70;5,2024-01-01T00:00:00Z\n", "separated by commas"},
        {"rid_list,time_list\n\"70,\",\"2024-01-01T00:00:00Z,\"\n", "ends in a comma"},
        {"rid_list,time_list\nx,2024-01-01T00:00:00Z\n", "roads are not numbers"},
        {"time,location\nnoon,70\n", "t.csv:2: time is not like"},
    };
    assay__road_network *network = small_network();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay__trajectories t;
        assay_error error = {0};
        assert_int_equal(parse_drives(network, cases[i].text, &error, &t), ASSAY_E_FORMAT);
        assert_int_equal(t.count, 0);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("case %zu says: %s", i, error.message);
    }
    assay__road_network_free(network);
}

static void test_times_round_trip(void **state)
{
    (void)state;
    for (int64_t day = 0; day < 60000; day++) { /* until 2134 */
        int64_t seconds = day * 86400 + day % 86400, back = -1;
        char text[ASSAY__TIME_BYTES];
        assay__time_format(seconds, text);
        const char *end = assay__time_parse(text, &back);
        assert_true(end != NULL && *end == '\0');
        assert_int_equal(back, seconds);
    }
    char text[ASSAY__TIME_BYTES];
    assay__time_format(951782400, text);
    assert_string_equal(text, "2000-02-29T00:00:00Z");
}

/* Everyone reaches everyone: from road 0 all are reached, and road 0 from all, by a search along
 * the links and one against them. */
static void assert_strongly_connected(const assay__road_network *network)
{
    size_t roads = (size_t)network->roads;
    int32_t *queue = calloc(roads, sizeof *queue);
    uint32_t *seen = calloc(roads, sizeof *seen);
    assay__road_network *reversed = NULL;
    assert_true(queue != NULL && seen != NULL);
    assert_int_equal(assay__road_network_new(&reversed), ASSAY_OK);
    for (int64_t road = 0; road < network->roads; road++) {
        assay__road one = {.id = road, .points = &network->middles[road], .point_count = 1};
        assert_int_equal(assay__road_network_add(reversed, &one, NULL), ASSAY_OK);
    }
    for (int64_t road = 0; road < network->roads; road++) {
        for (int64_t k = network->first[road]; k < network->first[road + 1]; k++) {
            assert_int_equal(assay__road_network_link(reversed, network->next[k], road, NULL),
                             ASSAY_OK);
        }
    }
    assert_int_equal(assay__road_network_finish(reversed, NULL), ASSAY_OK);
    for (int64_t road = 0; road < network->roads; road++) {
        assert_true(
            assay__road_network_reaches(network, 0, road, queue, seen, (uint32_t)(2 * road + 1)));
        assert_true(
            assay__road_network_reaches(reversed, 0, road, queue, seen, (uint32_t)(2 * road + 2)));
    }
    assay__road_network_free(reversed);
    free(queue);
    free(seen);
}

static void test_cities(void **state)
{
    (void)state;
    for (int64_t roads = ASSAY__CITY_MIN_ROADS; roads < 400; roads += roads < 64 ? 1 : 37) {
        assay__road_network *city = NULL;
        assay_error error = {0};
        if (assay__city_new(roads, (uint64_t)roads, &error, &city) != ASSAY_OK)
            fail_msg("%s", error.message);
        assert_int_equal(city->roads, roads);
        assert_strongly_connected(city);
        assay__road_network_free(city);
    }
    assay__road_network *city = NULL;
    assay_error error = {0};
    assert_int_equal(assay__city_new(15, 1, &error, &city), ASSAY_E_ARGUMENT);
    assert_null(city);
}

static void test_drives_follow_links(void **state)
{
    (void)state;
    assay__road_network *city = NULL;
    assay__trajectories t;
    assert_int_equal(assay__city_new(1000, 7, NULL, &city), ASSAY_OK);
    assert_int_equal(assay__city_drive(city, 50, 3, NULL, &t), ASSAY_OK);
    assert_int_equal(t.count, 50);
    for (int64_t i = 0; i < t.count; i++) {
        assert_true(t.first[i + 1] - t.first[i] >= 2);
        for (int64_t at = t.first[i] + 1; at < t.first[i + 1]; at++) {
            bool linked = false;
            int32_t from = t.roads[at - 1];
            for (int64_t k = city->first[from]; k < city->first[from + 1]; k++)
                linked = linked || city->next[k] == t.roads[at];
            assert_true(linked);
            double least_s = city->length_m[from] / city->speed_mps[from];
            assert_true((double)(t.seconds[at] - t.seconds[at - 1]) >= least_s - 1);
        }
    }
    assay__trajectories_release(&t);
    assay__road_network_free(city);
}

static void test_files_round_trip(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-road-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char geo[64], rel[64], csv[64];
    snprintf(geo, sizeof geo, "%s/c.geo", folder);
    snprintf(rel, sizeof rel, "%s/c.rel", folder);
    snprintf(csv, sizeof csv, "%s/c.csv", folder);
    assay__road_network *city = NULL, *again = NULL;
    assay__trajectories t, u;
    assay_error error = {0};
    assert_int_equal(assay__city_new(300, 11, NULL, &city), ASSAY_OK);
    assert_int_equal(assay__city_drive(city, 20, 5, NULL, &t), ASSAY_OK);
    assert_int_equal(assay__road_network_save(city, geo, rel, &error), ASSAY_OK);
    assert_int_equal(assay__trajectories_save(&t, city, csv, &error), ASSAY_OK);
    assert_int_equal(assay__road_network_load(geo, rel, &error, &again), ASSAY_OK);
    assert_int_equal(assay__trajectories_load(again, csv, &error, &u), ASSAY_OK);
    assert_int_equal(again->roads, city->roads);
    size_t roads = (size_t)city->roads;
    assert_memory_equal(again->first, city->first, (roads + 1) * sizeof *city->first);
    assert_memory_equal(again->next, city->next, (size_t)city->links * sizeof *city->next);
    assert_memory_equal(again->length_m, city->length_m, roads * sizeof *city->length_m);
    assert_memory_equal(again->end_x, city->end_x, roads * sizeof *city->end_x);
    assert_memory_equal(again->middles, city->middles, roads * sizeof *city->middles);
    assert_int_equal(u.count, t.count);
    size_t points = (size_t)t.first[t.count];
    assert_memory_equal(u.roads, t.roads, points * sizeof *t.roads);
    assert_memory_equal(u.seconds, t.seconds, points * sizeof *t.seconds);
    assay__trajectories_release(&t);
    assay__trajectories_release(&u);
    assay__road_network_free(city);
    assay__road_network_free(again);
    unlink(geo);
    unlink(rel);
    unlink(csv);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_read),   cmocka_unit_test(test_bad_geo),
        cmocka_unit_test(test_bad_rel),          cmocka_unit_test(test_trajectories_are_read),
        cmocka_unit_test(test_bad_trajectories), cmocka_unit_test(test_times_round_trip),
        cmocka_unit_test(test_cities),           cmocka_unit_test(test_drives_follow_links),
        cmocka_unit_test(test_files_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
