/* Reads the text in one pass, with a stack of branches and a table of open rings. Then it adds the
 * hydrogens that are not written, and finds the rings: a bond is in a ring unless it is a bridge
 * (Tarjan 1974). */
#include "models/file/smiles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

enum { MAX_BRANCHES = 1024, RINGS = 100, AROMATIC = 5, NO_ATOM = -1 };

static const char *const symbols[] = {
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",
    "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn",
    "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh",
    "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
    "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re",
    "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th",
    "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db",
    "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};
enum { ELEMENTS = sizeof symbols / sizeof *symbols };

enum { H = 1, B = 5, C = 6, N = 7, O = 8, F = 9, P = 15, S = 16, CL = 17, BR = 35, I = 53 };

typedef struct ring {
    int32_t atom; /* NO_ATOM if this number is not open */
    uint8_t order, place;
} ring;

typedef struct reader {
    const char *text, *at;
    assay__molecule *molecule;
    assay_error *error;
    int32_t last;  /* the atom to which the next one is bound, or NO_ATOM */
    uint8_t order; /* of that bond; 0 if not written */
    int32_t branches[MAX_BRANCHES];
    size_t depth;
    ring rings[RINGS];
} reader;

static assay_status wrong(const reader *self, const char *what)
{
    return assay__fail(self->error, ASSAY_E_FORMAT, "%s at character %zu of SMILES '%.60s'", what,
                       (size_t)(self->at - self->text) + 1, self->text);
}

static assay_status fail_memory(const reader *self)
{
    return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory for a molecule");
}

/* Counts up, but not past what a byte holds: no real molecule has so many. */
static void count_up(uint8_t *counter, bool one)
{
    if (one && *counter < UINT8_MAX)
        (*counter)++;
}

/* ---- bonds and atoms ---- */

/* Returns the position of the next neighbour of an atom among its neighbours as written, and counts
 * it. */
static uint8_t next_place(reader *self, int32_t atom)
{
    uint8_t place = self->molecule->atoms[atom].places;
    count_up(&self->molecule->atoms[atom].places, true);
    return place;
}

static assay_status bind(reader *self, int32_t from, uint8_t from_place, int32_t to, uint8_t order)
{
    assay__molecule *molecule = self->molecule;
    if (from == to)
        return wrong(self, "an atom is bound to itself");
    bool both = molecule->atoms[from].aromatic && molecule->atoms[to].aromatic;
    if (order == 0)
        order = both ? AROMATIC : 1;
    if (!assay__grow(&molecule->bonds, &molecule->bond_capacity, molecule->bond_count + 1,
                     sizeof *molecule->bonds))
        return fail_memory(self);
    uint8_t to_place = next_place(self, to);
    molecule->bonds[molecule->bond_count++] = (assay__bond){
        .from = from, .to = to, .order = order, .from_place = from_place, .to_place = to_place};
    return ASSAY_OK;
}

static assay_status add_atom(reader *self, assay__atom atom)
{
    assay__molecule *molecule = self->molecule;
    if (molecule->atom_count >= ASSAY__SMILES_MAX_ATOMS)
        return wrong(self, "too many atoms");
    if (!assay__grow(&molecule->atoms, &molecule->atom_capacity, molecule->atom_count + 1,
                     sizeof *molecule->atoms))
        return fail_memory(self);
    int32_t added = (int32_t)molecule->atom_count++;
    atom.first = self->last == NO_ATOM;
    molecule->atoms[added] = atom;
    assay_status status =
        atom.first ? ASSAY_OK
                   : bind(self, self->last, next_place(self, self->last), added, self->order);
    self->last = added;
    self->order = 0;
    return status;
}

/* Reads an element of the organic subset, which is written without brackets. */
static assay_status read_plain(reader *self)
{
    static const struct {
        const char *symbol;
        uint8_t element;
        bool aromatic;
    } subset[] = {{"Cl", CL, false}, {"Br", BR, false}, {"B", B, false}, {"C", C, false},
                  {"N", N, false},   {"O", O, false},   {"P", P, false}, {"S", S, false},
                  {"F", F, false},   {"I", I, false},   {"b", B, true},  {"c", C, true},
                  {"n", N, true},    {"o", O, true},    {"p", P, true},  {"s", S, true}};
    for (size_t i = 0; i < sizeof subset / sizeof *subset; i++) {
        size_t length = strlen(subset[i].symbol);
        if (strncmp(self->at, subset[i].symbol, length) == 0) {
            assay_status status = add_atom(
                self, (assay__atom){.element = subset[i].element, .aromatic = subset[i].aromatic});
            self->at += length;
            return status;
        }
    }
    return wrong(self, "no atom, bond or branch");
}

static int read_digits(reader *self, int longest)
{
    int value = 0;
    for (int i = 0; i < longest && isdigit((unsigned char)*self->at); i++)
        value = 10 * value + (*self->at++ - '0');
    return value;
}

/* Reads the symbol in brackets. Symbols of two letters are tried before those of one; aromatic
 * atoms are in lower case. */
static bool read_symbol(reader *self, assay__atom *atom)
{
    char typed[3] = {self->at[0], '\0', '\0'};
    if (typed[0] == '\0')
        return false;
    atom->aromatic = islower((unsigned char)typed[0]) != 0;
    typed[0] = (char)toupper((unsigned char)typed[0]);
    if (islower((unsigned char)self->at[1]))
        typed[1] = self->at[1];
    for (size_t length = typed[1] != '\0' ? 2 : 1; length > 0; length--) {
        typed[length] = '\0';
        for (size_t i = 0; i < ELEMENTS; i++)
            if (strcmp(symbols[i], typed) == 0) {
                atom->element = (uint8_t)(i + 1);
                self->at += length;
                return true;
            }
    }
    return false;
}

static void read_chirality(reader *self, assay__atom *atom)
{
    if (*self->at != '@')
        return;
    self->at++;
    atom->chirality = 2;
    if (*self->at == '@') {
        self->at++;
        atom->chirality = 1;
    } else if (isupper((unsigned char)self->at[0]) && isupper((unsigned char)self->at[1])) {
        self->at += 2; /* TH, AL, SP, TB, OH and a number */
        (void)read_digits(self, 2);
        atom->chirality = 3;
    }
}

static bool read_charge(reader *self, assay__atom *atom)
{
    char sign = *self->at;
    int charge = 0;
    if (sign != '+' && sign != '-')
        return true;
    while (*self->at == sign && charge < 16) {
        self->at++;
        charge++;
    }
    if (charge == 1 && isdigit((unsigned char)*self->at))
        charge = read_digits(self, 2);
    atom->charge = (int8_t)(sign == '+' ? charge : -charge);
    return charge < 16;
}

static assay_status read_bracket(reader *self)
{
    assay__atom atom = {.bracketed = true};
    self->at++;
    atom.isotope = isdigit((unsigned char)*self->at) != 0;
    (void)read_digits(self, 3);
    if (!read_symbol(self, &atom))
        return wrong(self, "no element");
    read_chirality(self, &atom);
    if (*self->at == 'H') {
        self->at++;
        atom.hydrogens =
            isdigit((unsigned char)*self->at) ? (uint8_t)read_digits(self, 1) : (uint8_t)1;
    }
    if (!read_charge(self, &atom))
        return wrong(self, "a charge too large");
    if (*self->at == ':') { /* the class of the atom, which has no chemical meaning */
        self->at++;
        (void)read_digits(self, 9);
    }
    if (*self->at != ']')
        return wrong(self, "the bracket is not closed");
    assay_status status = add_atom(self, atom);
    self->at++;
    return status;
}

/* ---- rings, branches, bond signs ---- */

static assay_status read_ring(reader *self)
{
    int number;
    if (self->last == NO_ATOM)
        return wrong(self, "a ring without an atom");
    if (*self->at == '%') {
        if (!isdigit((unsigned char)self->at[1]) || !isdigit((unsigned char)self->at[2]))
            return wrong(self, "no two digits");
        self->at++;
        number = read_digits(self, 2);
    } else {
        number = read_digits(self, 1);
    }
    ring *open = &self->rings[number];
    assay_status status = ASSAY_OK;
    if (open->atom == NO_ATOM) {
        *open = (ring){self->last, self->order, next_place(self, self->last)};
    } else {
        if (self->order != 0 && open->order != 0 && self->order != open->order)
            return wrong(self, "the two ends of a ring have different bonds");
        status = bind(self, open->atom, open->place, self->last,
                      self->order != 0 ? self->order : open->order);
        if (status == ASSAY_OK)
            self->molecule->bonds[self->molecule->bond_count - 1].closes = true;
        open->atom = NO_ATOM;
    }
    self->order = 0;
    return status;
}

static assay_status read_branch(reader *self)
{
    if (*self->at == '(') {
        if (self->last == NO_ATOM)
            return wrong(self, "a branch without an atom");
        if (self->depth == MAX_BRANCHES)
            return wrong(self, "branches too deep");
        self->branches[self->depth++] = self->last;
    } else {
        if (self->depth == 0)
            return wrong(self, "a branch ends that did not begin");
        self->last = self->branches[--self->depth];
        self->order = 0;
    }
    self->at++;
    return ASSAY_OK;
}

static bool read_bond(reader *self)
{
    static const char signs[] = "-=#$:/\\";
    static const uint8_t orders[] = {1, 2, 3, 4, AROMATIC, 1, 1};
    const char *found = strchr(signs, *self->at);
    if (found == NULL || *self->at == '\0')
        return false;
    self->order = orders[found - signs];
    self->at++;
    return true;
}

static assay_status read_text(reader *self)
{
    assay_status status = ASSAY_OK;
    while (*self->at != '\0' && status == ASSAY_OK) {
        if (*self->at == '[') {
            status = read_bracket(self);
        } else if (*self->at == '(' || *self->at == ')') {
            status = read_branch(self);
        } else if (*self->at == '%' || isdigit((unsigned char)*self->at)) {
            status = read_ring(self);
        } else if (*self->at == '.') {
            self->last = NO_ATOM;
            self->order = 0;
            self->at++;
        } else if (!read_bond(self)) {
            status = read_plain(self);
        }
    }
    for (int i = 0; i < RINGS && status == ASSAY_OK; i++)
        if (self->rings[i].atom != NO_ATOM)
            status = wrong(self, "a ring is not closed");
    if (status == ASSAY_OK && self->depth > 0)
        status = wrong(self, "a branch is not closed");
    if (status == ASSAY_OK && self->molecule->atom_count == 0)
        status = wrong(self, "no atom");
    return status;
}

/* ---- what is not written ---- */

/* A hydrogen written as an atom of its own belongs to its neighbour, as in RDKit. */
static bool is_plain_hydrogen(const assay__atom *atom)
{
    return atom->element == H && atom->charge == 0 && !atom->isotope && atom->hydrogens == 0;
}

static void merge_hydrogens(assay__molecule *molecule, int32_t *moved)
{
    size_t kept_atoms = 0, kept_bonds = 0;
    for (size_t i = 0; i < molecule->bond_count; i++) {
        const assay__bond *bond = &molecule->bonds[i];
        assay__atom *ends[] = {&molecule->atoms[bond->from], &molecule->atoms[bond->to]};
        for (int side = 0; side < 2; side++)
            if (is_plain_hydrogen(ends[side]) && ends[1 - side]->element != H) {
                if (ends[1 - side]->bracketed && ends[1 - side]->hydrogens < UINT8_MAX)
                    ends[1 - side]->hydrogens++;
                ends[side]->element = 0; /* gone */
            }
    }
    for (size_t i = 0; i < molecule->atom_count; i++) {
        bool gone = molecule->atoms[i].element == 0;
        moved[i] = gone ? NO_ATOM : (int32_t)kept_atoms;
        if (!gone)
            molecule->atoms[kept_atoms++] = molecule->atoms[i];
    }
    for (size_t i = 0; i < molecule->bond_count; i++) {
        assay__bond bond = molecule->bonds[i];
        bond.from = moved[bond.from];
        bond.to = moved[bond.to];
        if (bond.from != NO_ATOM && bond.to != NO_ATOM)
            molecule->bonds[kept_bonds++] = bond;
    }
    molecule->atom_count = kept_atoms;
    molecule->bond_count = kept_bonds;
}

/* Returns the lowest usual valence of the element that leaves room for its bonds, or 0 if there is
 * none. For an aromatic atom it is the lowest usual valence. */
static int valence_of(const assay__atom *atom, int used)
{
    static const struct {
        uint8_t element;
        int8_t valences[3];
    } usual[] = {{B, {3}},       {C, {4}}, {N, {3, 5}}, {O, {2}},  {P, {3, 5}},
                 {S, {2, 4, 6}}, {F, {1}}, {CL, {1}},   {BR, {1}}, {I, {1}}};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        for (int k = 0; usual[i].element == atom->element && k < 3; k++)
            if (usual[i].valences[k] >= used || atom->aromatic)
                return usual[i].valences[k];
    return 0;
}

/* Returns whether the atom makes its neighbours planar. Double bonds of sulphur and phosphorus do
 * not. */
static bool has_pi(const assay__atom *atom)
{
    return atom->aromatic || (atom->element <= F && (atom->doubles > 0 || atom->triples > 0));
}

/* Counts the bonds of each atom, and computes its hydrogens and `beside_pi`. Bonds are counted in
 * halves, because an aromatic bond is one and a half. */
static void fill_atoms(assay__molecule *molecule, int32_t *halves)
{
    static const int32_t halves_of[] = {0, 2, 4, 6, 8, 3};
    memset(halves, 0, molecule->atom_count * sizeof *halves);
    for (size_t i = 0; i < molecule->bond_count; i++) {
        const assay__bond *bond = &molecule->bonds[i];
        const int32_t ends[] = {bond->from, bond->to};
        for (int side = 0; side < 2; side++) {
            assay__atom *atom = &molecule->atoms[ends[side]];
            halves[ends[side]] += halves_of[bond->order];
            count_up(&atom->degree, true);
            count_up(&atom->doubles, bond->order == 2);
            count_up(&atom->triples, bond->order == 3);
        }
    }
    for (size_t i = 0; i < molecule->atom_count; i++) {
        assay__atom *atom = &molecule->atoms[i];
        int used = halves[i] / 2; /* rounds down: three aromatic bonds count as four */
        int missing = valence_of(atom, used) - used;
        if (!atom->bracketed && missing > 0)
            atom->hydrogens = (uint8_t)missing;
    }
    for (size_t i = 0; i < molecule->bond_count; i++) {
        assay__atom *from = &molecule->atoms[molecule->bonds[i].from];
        assay__atom *to = &molecule->atoms[molecule->bonds[i].to];
        from->beside_pi |= has_pi(to);
        to->beside_pi |= has_pi(from);
    }
}

static void turn(assay__atom *atom, bool odd)
{
    if (odd && (atom->chirality == 1 || atom->chirality == 2))
        atom->chirality = (uint8_t)(3 - atom->chirality);
}

/* Converts the chirality. SMILES defines it by the order of the neighbours in the text. OGB's
 * feature is RDKit's, which goes by the order of the bonds, with the ring closures after all
 * others. Each exchange of a pair turns @ into @@, and so does a hydrogen that is written before
 * three neighbours. */
static void turn_chirality(assay__molecule *molecule, int32_t *seen)
{
    memset(seen, 0, molecule->atom_count * sizeof *seen);
    for (size_t i = 0; i < 2 * molecule->bond_count; i++) {
        const assay__bond *bond = &molecule->bonds[i % molecule->bond_count];
        const int32_t ends[] = {bond->from, bond->to};
        const uint8_t places[] = {bond->from_place, bond->to_place};
        for (int side = 0; side < 2 && bond->closes == (i >= molecule->bond_count); side++) {
            if (places[side] > 30)
                continue;
            uint32_t later = (uint32_t)seen[ends[side]] >> places[side];
            turn(&molecule->atoms[ends[side]], __builtin_popcount(later) % 2 == 1);
            seen[ends[side]] |= (int32_t)1 << places[side];
        }
    }
    for (size_t i = 0; i < molecule->atom_count; i++) {
        assay__atom *atom = &molecule->atoms[i];
        turn(atom, atom->first && atom->hydrogens == 1 && atom->degree == 3);
    }
}

/* ---- rings ---- */

typedef struct walk {
    const int32_t *first, *next; /* the bonds of each atom: bond * 2 + side */
    int32_t *order, *low, *came; /* by atom; `came` is the bond through which it was reached */
    int32_t *stack, *at;
} walk;

static int32_t far_end(const assay__molecule *molecule, int32_t half)
{
    const assay__bond *bond = &molecule->bonds[half / 2];
    return half % 2 == 0 ? bond->to : bond->from;
}

/* Walks depth first from one atom, without recursion. `low` is the earliest atom that can be
 * reached without the bond in `came`. Where `low` is later than the atom at the other end of that
 * bond, the bond is a bridge. */
static void walk_from(assay__molecule *molecule, walk *w, int32_t start, int32_t *clock)
{
    int32_t depth = 0;
    w->stack[0] = start;
    w->came[start] = NO_ATOM;
    w->order[start] = w->low[start] = ++*clock;
    while (depth >= 0) {
        int32_t atom = w->stack[depth], half = w->at[atom];
        if (half == NO_ATOM) {
            depth--;
            if (depth >= 0 && w->low[atom] < w->low[w->stack[depth]])
                w->low[w->stack[depth]] = w->low[atom];
            continue;
        }
        w->at[atom] = w->next[half];
        int32_t to = far_end(molecule, half);
        if (half / 2 == w->came[atom])
            continue;
        if (w->order[to] == 0) {
            w->order[to] = w->low[to] = ++*clock;
            w->came[to] = half / 2;
            w->stack[++depth] = to;
        } else if (w->order[to] < w->low[atom]) {
            w->low[atom] = w->order[to];
        }
    }
}

static void mark_rings(assay__molecule *molecule, const walk *w)
{
    for (size_t i = 0; i < molecule->bond_count; i++) {
        const assay__bond *bond = &molecule->bonds[i];
        int32_t bond_index = (int32_t)i, from = bond->from, to = bond->to;
        bool bridge = (w->came[to] == bond_index && w->low[to] > w->order[from]) ||
                      (w->came[from] == bond_index && w->low[from] > w->order[to]);
        if (!bridge)
            molecule->atoms[from].in_ring = molecule->atoms[to].in_ring = true;
    }
}

static assay_status find_rings(const reader *self)
{
    assay__molecule *molecule = self->molecule;
    size_t atoms = molecule->atom_count, halves = 2 * molecule->bond_count;
    int32_t *room = calloc(6 * atoms + halves + 1, sizeof *room);
    if (room == NULL)
        return fail_memory(self);
    int32_t *first = room, *next = room + 6 * atoms, clock = 0;
    walk w = {
        first,           next, room + atoms, room + 2 * atoms, room + 3 * atoms, room + 4 * atoms,
        room + 5 * atoms};
    for (size_t i = 0; i < atoms; i++)
        first[i] = NO_ATOM;
    for (size_t i = halves; i-- > 0;) {
        const assay__bond *bond = &molecule->bonds[i / 2];
        int32_t atom = i % 2 == 0 ? bond->from : bond->to;
        next[i] = first[atom];
        first[atom] = (int32_t)i;
    }
    memcpy(w.at, first, atoms * sizeof *first);
    for (size_t i = 0; i < atoms; i++)
        if (w.order[i] == 0)
            walk_from(molecule, &w, (int32_t)i, &clock);
    mark_rings(molecule, &w);
    free(room);
    return ASSAY_OK;
}

static assay_status complete(const reader *self)
{
    assay__molecule *molecule = self->molecule;
    int32_t *scratch = calloc(molecule->atom_count + 1, sizeof *scratch);
    if (scratch == NULL)
        return fail_memory(self);
    merge_hydrogens(molecule, scratch);
    fill_atoms(molecule, scratch);
    turn_chirality(molecule, scratch);
    free(scratch);
    return find_rings(self);
}

assay_status assay__smiles_read(const char *text, assay_error *error, assay__molecule *molecule)
{
    reader self = {.text = text, .at = text, .molecule = molecule, .error = error, .last = NO_ATOM};
    for (int i = 0; i < RINGS; i++)
        self.rings[i].atom = NO_ATOM;
    molecule->atom_count = molecule->bond_count = 0;
    assay_status status = read_text(&self);
    if (status == ASSAY_OK)
        status = complete(&self);
    if (status != ASSAY_OK)
        molecule->atom_count = molecule->bond_count = 0;
    return status;
}

void assay__molecule_release(assay__molecule *molecule)
{
    free(molecule->atoms);
    free(molecule->bonds);
    *molecule = (assay__molecule){0};
}

/* ---- features ---- */

static int hybridisation(const assay__molecule *molecule, size_t index)
{
    enum { SP, SP2, SP3, SP3D, SP3D2 };
    const assay__atom *atom = &molecule->atoms[index];
    int total = atom->degree + atom->hydrogens;
    if (total > 4)
        return total > 5 ? SP3D2 : SP3D;
    if (atom->triples > 0 || (atom->doubles > 1 && total == 2))
        return SP;
    if (atom->aromatic || (atom->doubles > 0 && total < (atom->element <= F ? 4 : 3)))
        return SP2;
    bool lone_pair = (atom->element == N && atom->charge <= 0) || atom->element == O;
    return lone_pair && total < 4 && atom->beside_pi ? SP2 : SP3;
}

void assay__atom_features(const assay__molecule *molecule, size_t index,
                          float features[ASSAY__ATOM_FEATURES])
{
    const assay__atom *atom = &molecule->atoms[index];
    const int values[ASSAY__ATOM_FEATURES] = {atom->element - 1,
                                              atom->chirality,
                                              atom->degree + atom->hydrogens,
                                              atom->charge + 5,
                                              atom->hydrogens,
                                              0,
                                              hybridisation(molecule, index),
                                              atom->aromatic,
                                              atom->in_ring};
    for (int i = 0; i < ASSAY__ATOM_FEATURES; i++)
        features[i] = (float)values[i];
}
