/* Files of weights, arrays and graphs that are refused, with the reasons.
 * tests/accuracy/test_models_files.sh checks with NumPy that valid files are read correctly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/file/convert.h"
#include "models/file/graph_folder.h"
#include "models/file/npy.h"
#include "models/file/safetensors.h"

/* ---- safetensors ---- */

static assay_status parse_header(const char *json, size_t data_bytes, assay_error *error,
                                 assay__safetensors *file)
{
    static unsigned char bytes[4096];
    uint64_t length = strlen(json);
    assert_true(8 + length + data_bytes <= sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, json, length);
    return assay__safetensors_parse(bytes, 8 + length + data_bytes, "w", error, file);
}

static void test_safetensors_good(void **state)
{
    (void)state;
    assay_error error = {0};
    assay__safetensors file;
    /* Out of order, one empty, padded with blanks. */
    assert_int_equal(
        parse_header("{\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[8,16]},"
                     "\"empty\":{\"dtype\":\"F16\",\"shape\":[0,3],\"data_offsets\":[8,8]},"
                     "\"__metadata__\":{\"k\":\"v\"},"
                     "\"a\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]}}   ",
                     16, &error, &file),
        ASSAY_OK);
    assert_int_equal(file.count, 3);
    assert_string_equal(file.tensors[0].name, "a");
    assert_int_equal(file.tensors[0].count, 1);
    assert_int_equal(assay__safetensors_find(&file, "b")->rank, 2);
    assert_int_equal(assay__safetensors_find(&file, "empty")->count, 0);
    assert_null(assay__safetensors_find(&file, "c"));
    assert_string_equal(assay__safetensors_metadata(&file, "k"), "v");
    assert_null(assay__safetensors_metadata(&file, "l"));
    assay__safetensors_release(&file);
    assert_int_equal(parse_header("{}", 0, &error, &file), ASSAY_OK);
    assert_int_equal(file.count, 0);
    assay__safetensors_release(&file);
}

static void test_safetensors_bad(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t data;
        assay_status status;
        const char *message; /* a part of it */
    } cases[] = {
        {"", 0, ASSAY_E_FORMAT, "no JSON header"},
        {"[]", 0, ASSAY_E_FORMAT, "no JSON header"},
        {" {}", 0, ASSAY_E_FORMAT, "no JSON header"},
        {"{\"a\":", 0, ASSAY_E_FORMAT, "cannot be read"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, ASSAY_E_FORMAT, "duplicate"},
        {"{\"a\":1}", 0, ASSAY_E_FORMAT, "'a' is not described by an object"},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, ASSAY_E_FORMAT,
         "dtype"},
        {"{\"a\":{\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, ASSAY_E_FORMAT, "dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, ASSAY_E_FORMAT, "no shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, ASSAY_E_FORMAT,
         "whole numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, ASSAY_E_FORMAT,
         "whole numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         ASSAY_E_FORMAT, "more than 4 axes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,4]}}", 4,
         ASSAY_E_FORMAT, "too large"},
        /* 2^62 elements of 8 bytes are 0 bytes modulo 2^64 */
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
         ASSAY_E_FORMAT, "disagree"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, ASSAY_E_FORMAT,
         "disagree"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, ASSAY_E_FORMAT,
         "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, ASSAY_E_FORMAT,
         "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, ASSAY_E_FORMAT,
         "past the end"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}",
         6, ASSAY_E_FORMAT, "'b' overlaps"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, ASSAY_E_FORMAT,
         "gap"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 9, ASSAY_E_FORMAT,
         "5 bytes at the end"},
        {"{\"__metadata__\":{\"k\":1}}", 0, ASSAY_E_FORMAT, "'k' is not a text"},
        {"{\"__metadata__\":[]}", 0, ASSAY_E_FORMAT, "not an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error error = {0};
        assay__safetensors file;
        assay_status status = parse_header(cases[i].json, cases[i].data, &error, &file);
        if (status != cases[i].status || strstr(error.message, cases[i].message) == NULL)
            fail_msg("%s: status %d, '%s'", cases[i].json, (int)status, error.message);
    }
}

static void test_safetensors_lengths(void **state)
{
    (void)state;
    assay_error error = {0};
    assay__safetensors file;
    unsigned char bytes[16] = {9};
    assert_int_equal(assay__safetensors_parse(bytes, 7, "w", &error, &file), ASSAY_E_TRUNCATED);
    assert_int_equal(assay__safetensors_parse(bytes, 16, "w", &error, &file), ASSAY_E_TRUNCATED);
    memset(bytes, 0xFF, 8);
    assert_int_equal(assay__safetensors_parse(bytes, 16, "w", &error, &file), ASSAY_E_LIMIT);
    assert_int_equal(assay__safetensors_open("/no/such/file", &error, &file), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay__safetensors_open("/tmp", &error, &file), ASSAY_E_FORMAT);
    assert_int_equal(assay__safetensors_open("/dev/null", &error, &file), ASSAY_E_TRUNCATED);
}

/* ---- .npy ---- */

static assay_status parse_npy(const char *dictionary, size_t data_bytes, assay_error *error,
                              assay__npy *array)
{
    static unsigned char bytes[1024];
    size_t length = strlen(dictionary);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, dictionary, length);
    return assay__npy_parse(bytes, 10 + length + data_bytes, "x", error, array);
}

static void test_npy_headers(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary;
        size_t data;
        assay_status status;
        const char *message;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", 24, ASSAY_OK, ""},
        {"{\"shape\":(),\"fortran_order\":True,\"descr\":\"|b1\"}", 1, ASSAY_OK, ""},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (3L,), }", 24, ASSAY_OK, ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9), }", 0, ASSAY_OK, ""},
        {"", 0, ASSAY_E_FORMAT, "cannot be read"},
        {"{}", 0, ASSAY_E_FORMAT, "cannot be read"},
        {"{'descr': '<f4', 'fortran_order': False}", 0, ASSAY_E_FORMAT, "cannot be read"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, ASSAY_E_FORMAT,
         "cannot be read"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4, ASSAY_E_FORMAT,
         "cannot be read"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, ASSAY_E_FORMAT,
         "cannot be read"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, ASSAY_E_FORMAT,
         "a type that is not understood"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 8, ASSAY_E_FORMAT,
         "a type that is not understood"},
        {"{'descr': '<f4", 0, ASSAY_E_FORMAT, "a type that is not understood"},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", 4, ASSAY_E_FORMAT, "order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, ASSAY_E_FORMAT,
         "no valid shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", 4, ASSAY_E_FORMAT,
         "no valid shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1)}", 4, ASSAY_E_FORMAT,
         "more than 4 axes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 2)}", 4,
         ASSAY_E_FORMAT, "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4,
         ASSAY_E_FORMAT, "no valid shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}", 0,
         ASSAY_E_TRUNCATED, "cut short"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, ASSAY_E_TRUNCATED,
         "cut short"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error error = {0};
        assay__npy array;
        assay_status status = parse_npy(cases[i].dictionary, cases[i].data, &error, &array);
        if (status != cases[i].status || strstr(error.message, cases[i].message) == NULL)
            fail_msg("%s: status %d, '%s'", cases[i].dictionary, (int)status, error.message);
    }
}

static void test_npy_beginnings(void **state)
{
    (void)state;
    assay_error error = {0};
    assay__npy array;
    unsigned char bytes[64] = "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF";
    assert_int_equal(assay__npy_parse(bytes, 9, "x", &error, &array), ASSAY_E_TRUNCATED);
    assert_int_equal(assay__npy_parse(bytes, 64, "x", &error, &array), ASSAY_E_LIMIT);
    bytes[6] = 4;
    assert_int_equal(assay__npy_parse(bytes, 64, "x", &error, &array), ASSAY_E_VERSION);
    bytes[6] = 1;
    assert_int_equal(assay__npy_parse(bytes, 64, "x", &error, &array), ASSAY_E_TRUNCATED);
    bytes[1] = 'n';
    assert_int_equal(assay__npy_parse(bytes, 64, "x", &error, &array), ASSAY_E_FORMAT);
}

/* ---- conversions: what is kept, and what is refused rather than changed ---- */

static void test_convert(void **state)
{
    (void)state;
    const double doubles[] = {1.5, -3, 0x1p63, 1e300, 0x1.fffffefp127};
    int64_t integers[5];
    float floats[5];
    assert_int_equal(assay__convert(ASSAY__STORED_F64, false, doubles, 5, ASSAY_I64, integers), 0);
    assert_int_equal(assay__convert(ASSAY__STORED_F64, false, doubles + 1, 4, ASSAY_I64, integers),
                     1);
    assert_int_equal(integers[0], -3);
    assert_int_equal(assay__convert(ASSAY__STORED_F64, false, doubles, 5, ASSAY_F32, floats), 3);
    assert_int_equal(assay__convert(ASSAY__STORED_F64, false, doubles + 4, 1, ASSAY_F32, floats),
                     1);
    const uint64_t unsigned_values[] = {7, UINT64_MAX};
    double read[2];
    assert_int_equal(
        assay__convert(ASSAY__STORED_U64, false, unsigned_values, 2, ASSAY_I64, integers), 1);
    assert_int_equal(assay__convert(ASSAY__STORED_U64, false, unsigned_values, 2, ASSAY_F64, read),
                     2);
    assert_true(read[0] == 7 && read[1] == 0x1p64);
    const uint16_t halves[] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x0400, 0x7C00};
    float expected[] = {1.0f, -2.0f, 65504.0f, 0x1p-24f, 0x1p-14f, __builtin_inff()};
    float got[6];
    assert_int_equal(assay__convert(ASSAY__STORED_F16, false, halves, 6, ASSAY_F32, got), 6);
    assert_memory_equal(got, expected, sizeof expected);
    const unsigned char big[] = {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0};
    assert_int_equal(assay__convert(ASSAY__STORED_F32, true, big, 2, ASSAY_F32, got), 2);
    assert_true(got[0] == 1.0f && got[1] == -2.0f);
}

/* ---- graphs ---- */

static assay_status read_graph(const char *nodes, const char *edge_counts, const char *edges,
                               const char *features, assay_error *error, assay_tensor tensors[3])
{
    assay__graph_tables *tables = calloc(1, sizeof *tables);
    assert_non_null(tables);
    assert_int_equal(assay__number_table_open_bytes(&tables->nodes_per_graph, "num-node-list.csv",
                                                    nodes, strlen(nodes), error),
                     ASSAY_OK);
    assert_int_equal(assay__number_table_open_bytes(&tables->edges_per_graph, "num-edge-list.csv",
                                                    edge_counts, strlen(edge_counts), error),
                     ASSAY_OK);
    assert_int_equal(
        assay__number_table_open_bytes(&tables->edges, "edge.csv", edges, strlen(edges), error),
        ASSAY_OK);
    assert_int_equal(assay__number_table_open_bytes(&tables->features, "node-feat.csv", features,
                                                    strlen(features), error),
                     ASSAY_OK);
    assay_status status = assay__graph_read(tables, error, tensors);
    assay__number_table_release(&tables->nodes_per_graph);
    assay__number_table_release(&tables->edges_per_graph);
    assay__number_table_release(&tables->edges);
    assay__number_table_release(&tables->features);
    free(tables);
    return status;
}

static void test_graph_good(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_tensor tensors[3];
    /* A second graph without edges, in the middle; its nodes and the third's are counted on. */
    assert_int_equal(read_graph("2\n1\n3\n", "2\n0\n1\n", "0,1\n1,0\n\n2,0\n",
                                "1,2\n3,4\n5,6\n7,8\n9,10\n11,12", &error, tensors),
                     ASSAY_OK);
    const int64_t edges[] = {0, 1, 5, 1, 0, 3}, graphs[] = {0, 0, 1, 2, 2, 2};
    assert_string_equal(tensors[1].name, "edges");
    assert_int_equal(tensors[1].shape[0], 2);
    assert_int_equal(tensors[1].shape[1], 3);
    assert_memory_equal(tensors[1].data, edges, sizeof edges);
    assert_int_equal(tensors[2].shape[0], 6);
    assert_memory_equal(tensors[2].data, graphs, sizeof graphs);
    assert_int_equal(tensors[0].shape[0], 6);
    assert_int_equal(tensors[0].shape[1], 2);
    assert_true(((float *)tensors[0].data)[11] == 12.0f);
    for (int i = 0; i < 3; i++)
        assay_tensor_release(&tensors[i]);
}

static void test_graph_bad(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *edge_counts, *edges, *features;
        assay_status status;
        const char *message;
    } cases[] = {
        {"2\n", "1\n", "0,2\n", "1\n2\n", ASSAY_E_FORMAT, "edge.csv, line 1: there is no node 2"},
        {"2\n2\n", "0\n2\n", "0,1\n\n1,3\n", "1\n2\n3\n4", ASSAY_E_FORMAT,
         "line 3: there is no node 3; graph 1"},
        {"2\n", "1\n", "0,-1\n", "1\n2\n", ASSAY_E_FORMAT, "two whole numbers"},
        {"2\n", "1\n", "0,0.5\n", "1\n2\n", ASSAY_E_FORMAT, "two whole numbers"},
        {"2\n", "1\n", "0\n", "1\n2\n", ASSAY_E_FORMAT, "two whole numbers"},
        {"2\n", "2\n", "0,1\n", "1\n2\n", ASSAY_E_TRUNCATED, "ends too soon: 2 edges"},
        {"2\n", "0\n", "0,1\n", "1\n2\n", ASSAY_E_FORMAT, "line 1: more edges"},
        {"2\n", "0\n", "", "1\n2\n3\n", ASSAY_E_FORMAT, "3 rows, num-node-list announces 2"},
        {"2\n", "0\n", "", "1\n2,3\n", ASSAY_E_FORMAT, "node-feat.csv, line 2"},
        {"2\n", "0\n", "", "1\nx\n", ASSAY_E_FORMAT, "line 2: 'x'"},
        {"2\n", "0\n", "", "1\nnan\n", ASSAY_E_FORMAT, "line 2: 'nan'"},
        {"2\n", "0\n", "", "1\n1e39\n", ASSAY_E_FORMAT, "too large"},
        {"2\n", "0\n", "", "1,2\n1,,2\n", ASSAY_E_FORMAT, "line 2: ''"},
        {"2\n", "0\n", "", "1,2\n1,2,\n", ASSAY_E_FORMAT, "line 2: ''"},
        {"2\n", "0\n", "", "1\n,1\n", ASSAY_E_FORMAT, "line 2: ''"},
        {"2\n", "0\n", "", "1\n\"2\n", ASSAY_E_FORMAT, "node-feat.csv, line 2: a quote is not"},
        {"2\n", "0\n", "", "1\n0000000000000000000000000000000000000000000000000000000000000001\n",
         ASSAY_E_FORMAT, "0' is too long to be a number"},
        {"2\n", "0\n0\n", "", "1\n2\n", ASSAY_E_FORMAT, "has 1 graphs"},
        {"", "", "", "", ASSAY_E_FORMAT, "has 0 graphs"},
        {"-2\n", "0\n", "", "1\n2\n", ASSAY_E_FORMAT, "one whole number"},
        {"2,2\n", "0\n", "", "1\n2\n", ASSAY_E_FORMAT, "one whole number"},
        {"9007199254740992\n1\n", "0\n0\n", "", "1\n", ASSAY_E_FORMAT, "too large to be true"},
        /* Claims that would need petabytes cost nothing. */
        {"9007199254740992\n", "9007199254740992\n", "0,1\n", "1\n2\n", ASSAY_E_FORMAT, "2 rows"},
        {"2\n", "9007199254740992\n", "0,1\n", "1\n2\n", ASSAY_E_TRUNCATED, "ends too soon"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error error = {0};
        assay_tensor tensors[3];
        assay_status status = read_graph(cases[i].nodes, cases[i].edge_counts, cases[i].edges,
                                         cases[i].features, &error, tensors);
        if (status != cases[i].status || strstr(error.message, cases[i].message) == NULL)
            fail_msg("case %zu: status %d, '%s'", i, (int)status, error.message);
        assert_null(tensors[0].data);
    }
    assay_error error = {0};
    assay_tensor tensors[3];
    assert_int_equal(assay_tensor_load_graph("/no/such", &error, tensors), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_tensor_load_graph("/", &error, tensors), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "num-node-list.csv"));
}

/* Rows that do not fit a block of the reader, of as many numbers as are allowed and one more. */
static void test_long_rows(void **state)
{
    (void)state;
    enum { ROWS = 3 };
    for (int64_t columns = 65535; columns <= 65537; columns++) {
        char *text = malloc((size_t)(ROWS * columns * 6)), *at = text;
        assert_non_null(text);
        for (int64_t i = 0; i < ROWS * columns; i++)
            at += sprintf(at, "%d%c", (int)(i % 9973),
                          (i + 1) % columns == 0 ? '\n'
                          : i % 3                ? ','
                                                 : ' ');
        assay__number_table *table = calloc(1, sizeof *table);
        assert_non_null(table);
        assay_error error = {0};
        assay_tensor tensor;
        assert_int_equal(
            assay__number_table_open_bytes(table, "t", text, (size_t)(at - text), &error),
            ASSAY_OK);
        assay_status status = assay__number_table_read(table, &error, &tensor);
        if (columns <= 65536) {
            assert_int_equal(status, ASSAY_OK);
            assert_int_equal(tensor.shape[0], ROWS);
            assert_int_equal(tensor.shape[1], columns);
            for (int64_t i = 0; i < ROWS * columns; i++)
                assert_true(((float *)tensor.data)[i] == (float)(i % 9973));
        } else {
            assert_int_equal(status, ASSAY_E_FORMAT);
            assert_string_equal(error.message,
                                "t, line 1: '5698' stands in column 65537; that is too many");
        }
        assay_tensor_release(&tensor);
        assay__number_table_release(table);
        free(table);
        free(text);
    }
}

/* One endless line costs no more than the longest allowed. */
static void test_endless_line(void **state)
{
    (void)state;
    size_t size = (size_t)16 << 20;
    char *text = malloc(size);
    assay__number_table *table = calloc(1, sizeof *table);
    assert_true(text != NULL && table != NULL);
    memset(text, '1', size);
    assay_error error = {0};
    assert_int_equal(assay__number_table_open_bytes(table, "t", text, size, &error), ASSAY_OK);
    assert_int_equal(assay__number_table_next(table, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, "t, line 1: longer than 4194304 bytes");
    assert_true(table->text.capacity <= (size_t)8 << 20);
    assay__number_table_release(table);
    free(table);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_safetensors_good),    cmocka_unit_test(test_safetensors_bad),
        cmocka_unit_test(test_safetensors_lengths), cmocka_unit_test(test_npy_headers),
        cmocka_unit_test(test_npy_beginnings),      cmocka_unit_test(test_convert),
        cmocka_unit_test(test_graph_good),          cmocka_unit_test(test_graph_bad),
        cmocka_unit_test(test_long_rows),           cmocka_unit_test(test_endless_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
