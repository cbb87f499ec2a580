#!/bin/bash
# Every C file is as clang-format 14 leaves it.
exec "$ASSAY_SOURCE/tools/check-format"
