/* Tables of molecules: CSV files with a header, a column "smiles" and a column "labels" whose
 * fields are lists such as "[0, 1, 0]". The Long Range Graph Benchmark publishes peptides-func in
 * this form (peptide_multi_class_dataset.csv.gz). */
#ifndef ASSAY_MODELS_FILE_MOLECULES_H
#define ASSAY_MODELS_FILE_MOLECULES_H

#include "assay/model.h"

/* Does the work of assay_tensor_load_molecules() on a text, which must end with a zero byte and is
 * changed. `name` stands for the file in messages. */
ASSAY_MUST_USE assay_status assay__molecules_read(const char *name, char *text, size_t length,
                                                  int64_t most, assay_error *error,
                                                  assay_tensor tensors[3], assay_tensor *labels);

#endif
