/* Molecules written as SMILES (Weininger 1988; opensmiles.org), as graphs of their heavy atoms.
 *
 * Features are those of OGB's smiles2graph, which the peptide datasets of the Long Range Graph
 * Benchmark use: for each atom atomic number - 1, chirality (0 none, 1 @@, 2 @, 3 other), degree
 * with hydrogens, charge + 5, hydrogens, radical electrons, hybridisation (0 sp, 1 sp2, 2 sp3, 3
 * sp3d, 4 sp3d2), aromatic, in a ring.
 *
 * Differences from RDKit: atoms are aromatic if the SMILES writes them in lower case, and a ring
 * written with alternating double bonds is not converted; radicals are 0; hybridisation follows
 * from bonds and neighbours (an N or O beside a double bond is sp2). */
#ifndef ASSAY_MODELS_FILE_SMILES_H
#define ASSAY_MODELS_FILE_SMILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

enum { ASSAY__ATOM_FEATURES = 9, ASSAY__SMILES_MAX_ATOMS = 65535 };

typedef struct assay__atom {
    uint8_t element; /* atomic number */
    uint8_t chirality;
    int8_t charge;
    uint8_t hydrogens;
    uint8_t degree; /* heavy neighbours */
    bool aromatic, in_ring;
    bool bracketed; /* its hydrogens are those written */
    bool isotope;
    uint8_t doubles, triples; /* bonds of that order */
    bool first;               /* no atom was written before it: its hydrogen comes first */
    uint8_t places;           /* neighbours written so far */
    bool beside_pi;           /* a neighbour has a double, triple or aromatic bond */
} assay__atom;

typedef struct assay__bond {
    int32_t from, to;
    uint8_t order;                /* 1, 2, 3, 4; 5: aromatic */
    uint8_t from_place, to_place; /* among the neighbours of each end, as written */
    bool closes;                  /* it was written by the digits of a ring */
} assay__bond;

/* Zero: empty. Arrays are kept between molecules. */
typedef struct assay__molecule {
    assay__atom *atoms;
    assay__bond *bonds;
    size_t atom_count, atom_capacity, bond_count, bond_capacity;
} assay__molecule;

/* Replace the molecule by that of the text. ASSAY_E_FORMAT says what is wrong and where (the
 * character, from 1); then the molecule is empty. */
ASSAY_MUST_USE assay_status assay__smiles_read(const char *text, assay_error *error,
                                               assay__molecule *molecule);
void assay__molecule_release(assay__molecule *molecule);

/* The features of one atom. */
void assay__atom_features(const assay__molecule *molecule, size_t atom,
                          float features[ASSAY__ATOM_FEATURES]);

#endif
