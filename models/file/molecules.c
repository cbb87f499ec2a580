/* Reads a table of molecules row by row and joins the molecules to one batch of graphs. Each bond
 * gives two edges, one in each direction, as in the published graphs. */
#include "models/file/molecules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "models/file/smiles.h"

enum { MAX_COLUMNS = 64, MAX_LABELS = 1024, MAX_BYTES = 1 << 28 };

typedef struct table {
    const char *name;
    assay_error *error;
    assay__csv csv;
    size_t columns, smiles, labels_column; /* labels_column is `columns` if there is none */
    assay__molecule molecule;
    float *nodes, *labels;
    int64_t *sources, *targets, *graphs;
    size_t node_count, node_room, edge_count, edge_room, graph_room, label_room, label_count;
    size_t width; /* labels of each molecule; 0 before the first row */
    int64_t graph_count;
} table;

static assay_status wrong(const table *self, const char *what)
{
    return assay__fail(self->error, ASSAY_E_FORMAT, "%s, line %zu: %s", self->name, self->csv.line,
                       what);
}

static assay_status fail_memory(const table *self)
{
    return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory while reading '%s'", self->name);
}

static assay_status read_header(table *self)
{
    char *fields[MAX_COLUMNS];
    if (!assay__csv_row(&self->csv, MAX_COLUMNS, fields, &self->columns) || self->columns == 0 ||
        self->columns > MAX_COLUMNS)
        return wrong(self, "no header with the names of the columns");
    self->smiles = self->labels_column = self->columns;
    for (size_t i = self->columns; i-- > 0;) {
        if (strcmp(fields[i], "smiles") == 0)
            self->smiles = i;
        if (strcmp(fields[i], "labels") == 0)
            self->labels_column = i;
    }
    return self->smiles < self->columns ? ASSAY_OK : wrong(self, "no column 'smiles'");
}

static assay_status take_atoms(table *self)
{
    const assay__molecule *molecule = &self->molecule;
    size_t first = self->node_count, room = self->graph_room;
    self->node_count += molecule->atom_count;
    if (!assay__grow(&self->nodes, &self->node_room, self->node_count,
                     ASSAY__ATOM_FEATURES * sizeof *self->nodes) ||
        !assay__grow(&self->graphs, &room, self->node_count, sizeof *self->graphs))
        return fail_memory(self);
    self->graph_room = room;
    for (size_t i = 0; i < molecule->atom_count; i++) {
        assay__atom_features(molecule, i, self->nodes + (first + i) * ASSAY__ATOM_FEATURES);
        self->graphs[first + i] = self->graph_count;
    }
    return ASSAY_OK;
}

static assay_status take_bonds(table *self)
{
    const assay__molecule *molecule = &self->molecule;
    int64_t first = (int64_t)(self->node_count - molecule->atom_count);
    size_t needed = self->edge_count + 2 * molecule->bond_count, room = self->edge_room;
    if (!assay__grow(&self->sources, &room, needed, sizeof *self->sources) ||
        !assay__grow(&self->targets, &self->edge_room, needed, sizeof *self->targets))
        return fail_memory(self);
    for (size_t i = 0; i < molecule->bond_count; i++) {
        const assay__bond *bond = &molecule->bonds[i];
        int64_t ends[] = {first + bond->from, first + bond->to};
        for (int side = 0; side < 2; side++) {
            self->sources[self->edge_count] = ends[side];
            self->targets[self->edge_count++] = ends[1 - side];
        }
    }
    return ASSAY_OK;
}

/* Reads a list such as "[0, 1, 0]". */
static assay_status take_labels(table *self, const char *field)
{
    size_t count = 0;
    field += strspn(field, " [");
    while (*field != '\0' && *field != ']') {
        char *end = NULL;
        double value = assay__text_number(field, &end);
        if (end == field || !isfinite(value) || count == MAX_LABELS)
            return wrong(self, "labels are no list of numbers");
        if (!assay__grow(&self->labels, &self->label_room, self->label_count + 1,
                         sizeof *self->labels))
            return fail_memory(self);
        self->labels[self->label_count++] = (float)value;
        count++;
        field = end + strspn(end, " ,");
    }
    if (count == 0)
        return wrong(self, "no labels");
    if (self->width != 0 && self->width != count)
        return wrong(self, "another number of labels than in the lines before");
    self->width = count;
    return ASSAY_OK;
}

/* Reads one molecule. Adds the file and line to the message if the SMILES is wrong. */
static assay_status read_molecule(table *self, const char *smiles)
{
    assay_error inner = {0};
    assay_status status = assay__smiles_read(smiles, &inner, &self->molecule);
    if (status == ASSAY_E_MEMORY)
        return fail_memory(self);
    return status == ASSAY_OK ? status : wrong(self, inner.message);
}

static assay_status read_rows(table *self, int64_t most)
{
    char *fields[MAX_COLUMNS];
    size_t count = 0;
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK && (most <= 0 || self->graph_count < most)) {
        if (!assay__csv_row(&self->csv, MAX_COLUMNS, fields, &count))
            return wrong(self, "a quote is not closed, or followed by text");
        if (count == 0)
            break;
        if (count != self->columns)
            return wrong(self, "another number of fields than in the header");
        status = read_molecule(self, fields[self->smiles]);
        if (status == ASSAY_OK)
            status = take_atoms(self);
        if (status == ASSAY_OK)
            status = take_bonds(self);
        if (status == ASSAY_OK && self->labels_column < self->columns)
            status = take_labels(self, fields[self->labels_column]);
        self->graph_count++;
    }
    return status == ASSAY_OK && self->graph_count == 0 ? wrong(self, "no molecule") : status;
}

/* Makes the tensors, which take over the arrays. */
static assay_status hand_over(table *self, assay_tensor tensors[3], assay_tensor *labels)
{
    size_t edges = self->edge_count;
    int64_t *both = reallocarray(self->sources, 2 * edges + 1, sizeof *both);
    if (both == NULL)
        return fail_memory(self);
    if (edges > 0)
        memcpy(both + edges, self->targets, edges * sizeof *both);
    tensors[0] = (assay_tensor){
        "nodes", ASSAY_F32, 2, {(int64_t)self->node_count, ASSAY__ATOM_FEATURES}, self->nodes};
    tensors[1] = (assay_tensor){"edges", ASSAY_I64, 2, {2, (int64_t)edges}, both};
    tensors[2] = (assay_tensor){"graphs", ASSAY_I64, 1, {(int64_t)self->node_count}, self->graphs};
    if (self->width > 0)
        *labels = (assay_tensor){
            "labels", ASSAY_F32, 2, {self->graph_count, (int64_t)self->width}, self->labels};
    self->nodes = self->labels = NULL;
    self->sources = self->graphs = NULL;
    return ASSAY_OK;
}

assay_status assay__molecules_read(const char *name, char *text, size_t length, int64_t most,
                                   assay_error *error, assay_tensor tensors[3],
                                   assay_tensor *labels)
{
    table self = {.name = name, .error = error};
    memset(tensors, 0, 3 * sizeof *tensors);
    *labels = (assay_tensor){0};
    assay__csv_init(&self.csv, text, length, ',');
    assay_status status = read_header(&self);
    if (status == ASSAY_OK)
        status = read_rows(&self, most);
    if (status == ASSAY_OK)
        status = hand_over(&self, tensors, labels);
    assay__molecule_release(&self.molecule);
    free(self.nodes);
    free(self.labels);
    free(self.sources);
    free(self.targets);
    free(self.graphs);
    return status;
}

/* Reads the file, and unpacks it if it is compressed. */
static assay_status read_file(const char *path, assay_error *error, assay__buffer *text)
{
    char block[16384];
    gzFile stream = gzopen(path, "rb");
    if (stream == NULL)
        return assay__fail_errno(error, "cannot read '%s'", path);
    int got;
    while ((got = gzread(stream, block, sizeof block)) > 0)
        assay__buffer_append(text, block, (size_t)got);
    int damaged = got < 0 ? 1 : gzclose_r(stream) != Z_OK;
    if (got < 0)
        gzclose_r(stream);
    if (damaged)
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' is damaged: it cannot be unpacked", path);
    if (text->status == ASSAY_E_MEMORY)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", path);
    if (text->status != ASSAY_OK)
        return assay__fail(error, text->status, "'%s' is larger than %d MiB", path,
                           MAX_BYTES >> 20);
    return ASSAY_OK;
}

assay_status assay_tensor_load_molecules(const char *path, int64_t most, assay_error *error,
                                         assay_tensor tensors[3], assay_tensor *labels)
{
    assay__buffer text;
    assay__buffer_init(&text, MAX_BYTES);
    memset(tensors, 0, 3 * sizeof *tensors);
    *labels = (assay_tensor){0};
    assay_status status = read_file(path, error, &text);
    if (status == ASSAY_OK && text.data == NULL)
        status = assay__fail(error, ASSAY_E_FORMAT, "'%s' is empty", path);
    if (status == ASSAY_OK)
        status = assay__molecules_read(path, text.data, text.length, most, error, tensors, labels);
    assay__buffer_release(&text);
    return status;
}
