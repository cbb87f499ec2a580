#!/bin/bash
# All golden tests of the command; see run.sh.
exec bash "$(dirname "$0")/run.sh" "$ASSAY_BUILD"
