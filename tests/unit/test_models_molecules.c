/* Molecules from SMILES, compared with RDKit 2022.09 and OGB's features of it; tables of molecules;
 * and the errors in invalid texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/file/molecules.h"
#include "models/file/smiles.h"

/* For each atom nine hexadecimal digits, one for each feature. */
static const struct {
    const char *smiles;
    size_t bonds;
    const char *atoms;
} molecules[] = {
    {"NCC(=O)N[C@@H](Cc1c[nH]cn1)C(=O)N[C@@H](Cc1c[nH]c2ccccc12)C(=O)O", 31,
     "603520200 504520200 503500100 701500100 603510100 514510200 504520200 503500111 503510111 "
     "603510111 503510111 602500111 503500100 701500100 603510100 514510200 504520200 503500111 "
     "503510111 603510111 503500111 503510111 503510111 503510111 503510111 503500111 503500100 "
     "701500100 702510100"},
    {"C[C@H](N)C(=O)N[C@@H](CS)C(=O)N[C@@H](CC(=O)O)C(=O)N1CCC[C@H]1C(=O)O", 27,
     "504530200 524510200 603520200 503500100 701500100 603510100 514510200 504520200 f02510200 "
     "503500100 701500100 603510100 514510200 504520200 503500100 701500100 702510100 503500100 "
     "701500100 603500101 504520201 504520201 504520201 514510201 503500100 701500100 702510100"},
    {"CSCC[C@H](N)C(=O)N[C@@H](CCCCN)C(=O)N[C@@H](CCCNC(=N)N)C(=O)N[C@@H](Cc1ccccc1)C(=O)O", 40,
     "504530200 f02500200 504520200 504520200 524510200 603520200 503500100 701500100 603510100 "
     "514510200 504520200 504520200 504520200 504520200 603520200 503500100 701500100 603510100 "
     "514510200 504520200 504520200 504520200 603510100 503500100 602510100 603520100 503500100 "
     "701500100 603510100 514510200 504520200 503500111 503510111 503510111 503510111 503510111 "
     "503510111 503500100 701500100 702510100"},
    {"C[C@@H]1NC(=O)[C@H](CC(=O)[O-])NC(=O)[C@@H]2CCCN2C1=O", 21,
     "504530200 524510201 603510101 503500101 701500100 524510201 504520200 503500100 701500100 "
     "701400100 603510101 503500101 701500100 524510201 504520201 504520201 504520201 603500101 "
     "503500101 701500100"},
    {"[NH3+]CC#N", 3, "604630200 504520200 502500000 601500000"},
    {"CS(=O)(=O)c1ccc[nH]1", 9,
     "504530200 f04500200 701500100 701500100 503500111 503510111 503510111 503510111 603510111"},
};
enum { MOLECULES = sizeof molecules / sizeof *molecules };

static void check(const assay__molecule *molecule, size_t index)
{
    const char *expected = molecules[index].atoms;
    assert_int_equal(molecule->atom_count, (strlen(expected) + 1) / 10);
    assert_int_equal(molecule->bond_count, molecules[index].bonds);
    for (size_t i = 0; i < molecule->atom_count; i++) {
        float features[ASSAY__ATOM_FEATURES];
        char digits[ASSAY__ATOM_FEATURES + 1];
        assay__atom_features(molecule, i, features);
        for (int k = 0; k < ASSAY__ATOM_FEATURES; k++)
            digits[k] = "0123456789abcdef"[(int)features[k]];
        digits[ASSAY__ATOM_FEATURES] = '\0';
        if (strncmp(digits, expected + 10 * i, ASSAY__ATOM_FEATURES) != 0)
            fail_msg("%s, atom %zu: %s, expected %.9s", molecules[index].smiles, i, digits,
                     expected + 10 * i);
    }
}

static void test_molecules_are_rdkits(void **state)
{
    (void)state;
    assay__molecule molecule = {0};
    for (size_t i = 0; i < MOLECULES; i++) {
        assay_error error = {0};
        if (assay__smiles_read(molecules[i].smiles, &error, &molecule) != ASSAY_OK)
            fail_msg("%s", error.message);
        check(&molecule, i);
    }
    assay__molecule_release(&molecule);
}

static void test_other_spellings_mean_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *smiles;
        size_t atoms, bonds;
        int hydrogens; /* of the first atom */
    } spelt[] = {{"[H]C([H])([H])O", 2, 1, 3}, {"C%10CCCC%10", 5, 5, 2}, {"C1CC1.CC", 5, 4, 2},
                 {"F/C=C/F", 4, 3, 0},         {"[13CH4]", 1, 0, 4},     {"C=1CC=1", 3, 3, 1},
                 {"[CH3:7]C", 2, 1, 3},        {"[Fe+3]", 1, 0, 0},      {"OCC", 3, 2, 1}};
    assay__molecule molecule = {0};
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
        assert_int_equal(assay__smiles_read(spelt[i].smiles, NULL, &molecule), ASSAY_OK);
        assert_int_equal(molecule.atom_count, spelt[i].atoms);
        assert_int_equal(molecule.bond_count, spelt[i].bonds);
        assert_int_equal(molecule.atoms[0].hydrogens, spelt[i].hydrogens);
    }
    assay__molecule_release(&molecule);
}

static void test_what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *smiles, *words;
    } wrong[] = {{"", "no atom"},
                 {"CX", "no atom, bond or branch at character 2"},
                 {"C(C", "a branch is not closed"},
                 {"CC)", "did not begin at character 3"},
                 {"C1CC", "a ring is not closed"},
                 {"C11", "bound to itself"},
                 {"1CC", "a ring without an atom"},
                 {"(C)", "a branch without an atom"},
                 {"[Xx]", "no element"},
                 {"[CH3", "the bracket is not closed"},
                 {"C%1", "no two digits"},
                 {"C=1CC#1", "different bonds"},
                 {"[C++++++++++++++++++]", "a charge too large"}};
    assay__molecule molecule = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assay_error error = {0};
        assert_int_equal(assay__smiles_read(wrong[i].smiles, &error, &molecule), ASSAY_E_FORMAT);
        if (strstr(error.message, wrong[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.message, wrong[i].words);
        assert_int_equal(molecule.atom_count, 0);
    }
    char *deep = malloc(5000);
    memset(deep, 'C', 5000);
    for (int i = 1; i < 4999; i += 2)
        deep[i] = '(';
    deep[4999] = '\0';
    assay_error error = {0};
    assert_int_equal(assay__smiles_read(deep, &error, &molecule), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "branches too deep"));
    free(deep);
    assay__molecule_release(&molecule);
}

static assay_status read_table(const char *text, int64_t most, assay_error *error,
                               assay_tensor tensors[3], assay_tensor *labels)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    *error = (assay_error){0};
    assay_status status =
        assay__molecules_read("table", copy, strlen(copy), most, error, tensors, labels);
    free(copy);
    return status;
}

static void release(assay_tensor tensors[3], assay_tensor *labels)
{
    for (int i = 0; i < 3; i++)
        assay_tensor_release(&tensors[i]);
    assay_tensor_release(labels);
}

static void test_tables(void **state)
{
    (void)state;
    static const char text[] = "id,smiles,labels\n"
                               "a,CC(=O)N,\"[0, 1, 0]\"\n"
                               "b,C,\"[1, 0, 0.5]\"\n"
                               "c,c1ccccc1,\"[0, 0, 1]\"\n";
    assay_tensor tensors[3], labels;
    assay_error error;
    assert_int_equal(read_table(text, 0, &error, tensors, &labels), ASSAY_OK);
    assert_int_equal(tensors[0].shape[0], 4 + 1 + 6);
    assert_int_equal(tensors[0].shape[1], 9);
    assert_int_equal(tensors[1].shape[1], 2 * (3 + 6));
    assert_int_equal(labels.shape[0], 3);
    assert_int_equal(labels.shape[1], 3);
    assert_true(((const float *)labels.data)[5] == 0.5F);
    const int64_t *graphs = tensors[2].data, *edges = tensors[1].data;
    assert_int_equal(graphs[3], 0);
    assert_int_equal(graphs[4], 1);
    assert_int_equal(graphs[5], 2);
    for (int64_t e = 0; e < tensors[1].shape[1]; e++) {
        assert_int_equal(graphs[edges[e]], graphs[edges[tensors[1].shape[1] + e]]);
        assert_int_equal(edges[e], edges[tensors[1].shape[1] + (e ^ 1)]); /* both directions */
    }
    release(tensors, &labels);
    assert_int_equal(read_table(text, 2, &error, tensors, &labels), ASSAY_OK);
    assert_int_equal(tensors[0].shape[0], 5);
    assert_int_equal(labels.shape[0], 2);
    release(tensors, &labels);
    assert_int_equal(read_table("smiles\nCC\n", 0, &error, tensors, &labels), ASSAY_OK);
    assert_null(labels.data);
    release(tensors, &labels);
}

static void test_bad_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {{"", "no header"},
               {"id,labels\n1,[0]\n", "table, line 1: no column 'smiles'"},
               {"smiles,labels\n", "no molecule"},
               {"smiles,labels\nCC,[0]\nC(,[1]\n", "table, line 3: a branch is not closed"},
               {"smiles,labels\nCC,[0]\nCC,\"[0, 1]\"\n", "another number of labels"},
               {"smiles,labels\nCC,[zero]\n", "no list of numbers"},
               {"smiles,labels\nCC,[]\n", "no labels"},
               {"smiles,labels\nCC\n", "another number of fields"},
               {"smiles,labels\n\"CC,[0]\n", "a quote is not closed"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_tensor tensors[3], labels;
        assay_error error;
        assert_int_equal(read_table(bad[i].text, 0, &error, tensors, &labels), ASSAY_E_FORMAT);
        if (strstr(error.message, bad[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.message, bad[i].words);
        assert_null(tensors[0].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_molecules_are_rdkits),
        cmocka_unit_test(test_other_spellings_mean_the_same),
        cmocka_unit_test(test_what_is_wrong_is_said),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_bad_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
