/* Where a program comes from: the build of this library, and the git work tree. */
#ifndef ASSAY_INSTRUMENT_PROVENANCE_H
#define ASSAY_INSTRUMENT_PROVENANCE_H

#include <stdbool.h>

#include "assay/instrument.h"

enum { ASSAY__FACT_BYTES = 512 }; /* room for the value of a fact */

/* The processor that the text of /proc/cpuinfo speaks of; where cores differ, the first one. False
 * if it names none. */
bool assay__cpu_name(const char *cpuinfo, char value[ASSAY__FACT_BYTES]);

/* assay_version, compiler, build_flags, libc (the one running), architecture. */
void assay__build_describe(assay_fact_sink emit, void *context);

/* commit, branch, dirty of the git work tree that holds `directory` (NULL: the working directory),
 * read from its .git without running git. `dirty` would need the whole index and tree compared, so
 * it is always "not measured". Outside a work tree all are "not enough data". */
void assay__git_describe(const char *directory, assay_fact_sink emit, void *context);

#endif
