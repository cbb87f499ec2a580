/* Reads molecules written as SMILES (Weininger 1988; opensmiles.org), as graphs of their heavy
 * atoms.
 *
 * The features of an atom are those of OGB's smiles2graph, which the peptide datasets of the Long
 * Range Graph Benchmark use: atomic number - 1, chirality (0 none, 1 @@, 2 @, 3 other), degree with
 * hydrogens, charge + 5, hydrogens, radical electrons, hybridisation (0 sp, 1 sp2, 2 sp3,
 * 3 sp3d, 4 sp3d2), aromatic, in a ring.
 *
 * There are three differences from RDKit. Atoms are aromatic only if the SMILES writes them in
 * lower case; a ring written with alternating double bonds is not converted. Radical electrons
 * are 0. Hybridisation follows from bonds and neighbours (an N or O beside a double bond is
 * sp2). */
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
    bool bracketed; /* its hydrogens are only those that are written */
    bool isotope;
    uint8_t doubles, triples; /* bonds of that order */
    bool first;               /* no atom precedes it: its hydrogen counts as its first neighbour */
    uint8_t places;           /* neighbours written so far */
    bool beside_pi;           /* a neighbour has a double, triple or aromatic bond */
} assay__atom;

typedef struct assay__bond {
    int32_t from, to;
    uint8_t order;                /* 1 to 4, or 5 for aromatic */
    uint8_t from_place, to_place; /* position among the neighbours of each end, as written */
    bool closes;                  /* a pair of ring digits wrote it */
} assay__bond;

/* A molecule that is all zero is empty. The arrays are kept from one molecule to the next. */
typedef struct assay__molecule {
    assay__atom *atoms;
    assay__bond *bonds;
    size_t atom_count, atom_capacity, bond_count, bond_capacity;
} assay__molecule;

/* Replaces the molecule by the one that the text describes. ASSAY_E_FORMAT says what is wrong and
 * at which character, counted from 1; the molecule is then empty. */
ASSAY_MUST_USE assay_status assay__smiles_read(const char *text, assay_error *error,
                                               assay__molecule *molecule);
void assay__molecule_release(assay__molecule *molecule);

/* Writes the features of one atom, in the order given above. */
void assay__atom_features(const assay__molecule *molecule, size_t atom,
                          float features[ASSAY__ATOM_FEATURES]);

#endif
