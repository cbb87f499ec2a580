/* The importer of hyperfine's JSON; import.h describes the target. */
#include "tests/fuzz/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_import(data, size, assay__import_hyperfine);
}
