/* assay_file_save(): prints to a file that is replaced atomically, or to standard output for "-".
 */
#include <errno.h>
#include <string.h>

#include "assay/report.h"
#include "base/error.h"
#include "base/file.h"

static assay_status write_stdout(assay_file_printer print, const void *subject, assay_error *error)
{
    errno = 0;
    assay_status status = print(subject, stdout, error);
    if (fflush(stdout) != 0 || ferror(stdout))
        status = assay__fail_errno(error, "cannot write standard output");
    return status;
}

assay_status assay_file_save(const char *path, assay_file_printer print, const void *subject,
                             assay_error *error)
{
    if (path != NULL && strcmp(path, "-") == 0)
        return write_stdout(print, subject, error);
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    errno = 0;
    status = print(subject, output.stream, error);
    if (ferror(output.stream)) /* the printer cannot know the path */
        status = assay__fail_errno(error, "cannot write '%s'", path);
    if (status != ASSAY_OK) {
        assay__output_abort(&output);
        return status;
    }
    return assay__output_commit(&output, error);
}
