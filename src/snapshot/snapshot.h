/* Snapshots of journals that are already open as views. */
#ifndef ASSAY_SNAPSHOT_SNAPSHOT_H
#define ASSAY_SNAPSHOT_SNAPSHOT_H

#include "assay/snapshot.h"
#include "journal/reader.h"

ASSAY_MUST_USE assay_status assay__snapshot_views(const assay__journal_view *views, size_t count,
                                                  const assay_snapshot_options *options,
                                                  assay_error *error, assay_record **record);

#endif
