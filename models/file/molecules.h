/* Tables of molecules: CSV with a header, a column "smiles" and a column "labels", whose fields are
 * lists such as "[0, 1, 0]". So the Long Range Graph Benchmark publishes peptides-func
 * (peptide_multi_class_dataset.csv.gz). */
#ifndef ASSAY_MODELS_FILE_MOLECULES_H
#define ASSAY_MODELS_FILE_MOLECULES_H

#include "assay/model.h"

/* As assay_tensor_load_molecules, over text that ends with a terminator and is changed. `name` is
 * for messages. */
ASSAY_MUST_USE assay_status assay__molecules_read(const char *name, char *text, size_t length,
                                                  int64_t most, assay_error *error,
                                                  assay_tensor tensors[3], assay_tensor *labels);

#endif
