/* Describes where a program comes from: the build of this library, and the git work tree. */
#ifndef ASSAY_INSTRUMENT_PROVENANCE_H
#define ASSAY_INSTRUMENT_PROVENANCE_H

#include <stdbool.h>

#include "assay/instrument.h"

enum { ASSAY__FACT_BYTES = 512 }; /* room for the value of a fact */

/* Find the name of the processor in the text of /proc/cpuinfo. If the cores differ, it is the first
 * one. False if the text names none. */
bool assay__cpu_name(const char *cpuinfo, char value[ASSAY__FACT_BYTES]);

/* Emit the facts assay_version, compiler, build_flags, libc (the one in use) and architecture. */
void assay__build_describe(assay_fact_sink emit, void *context);

/* Emit the facts commit, branch and dirty of the git work tree that contains `directory` (NULL: the
 * working directory). They are read from its .git without running git. `dirty` is always "not
 * measured", because it would need a comparison of the whole index and tree. Outside of a work tree
 * all are "not enough data". */
void assay__git_describe(const char *directory, assay_fact_sink emit, void *context);

#endif
