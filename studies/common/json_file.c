/* JSON files of the studies. Writing goes through assay_file_save(), which replaces a file only
 * when the new one is complete. */
#include "studies/common/json_file.h"

#include <stdio.h>

#include "assay/report.h"
#include "base/error.h"
#include "base/file.h"

enum { MAX_BYTES = 64 << 20 };

static assay_status print(const void *root, FILE *stream, assay_error *error)
{
    if (json_dumpf(root, stream, JSON_INDENT(2)) != 0 || fputc('\n', stream) == EOF)
        return assay__fail_errno(error, "cannot write the JSON");
    return ASSAY_OK;
}

assay_status assay__json_file_write(json_t *root, const char *path, assay_error *error)
{
    assay_status status = root == NULL ? assay__fail(error, ASSAY_E_MEMORY, "out of memory")
                                       : assay_file_save(path, print, root, error);
    json_decref(root);
    return status;
}

assay_status assay__json_file_read(const char *path, assay_error *error, json_t **root)
{
    json_error_t problem;
    assay__buffer bytes;
    *root = NULL;
    assay__buffer_init(&bytes, MAX_BYTES);
    assay_status status = assay__file_read(path, &bytes, error);
    if (status == ASSAY_OK) {
        *root = json_loadb(bytes.data != NULL ? bytes.data : "", bytes.length, 0, &problem);
        if (*root == NULL)
            status = assay__fail(error, ASSAY_E_FORMAT, "%s:%d:%d: %s", path, problem.line,
                                 problem.column, problem.text);
    }
    assay__buffer_release(&bytes);
    return status;
}
