#!/bin/bash
# assay run on programs whose cost is known, and compared with /usr/bin/time on the same machine.
[ -x /usr/bin/time ] || { echo "/usr/bin/time is missing"; exit 77; }
python3=$(command -v /usr/bin/python3 || command -v python3) || { echo "python3 is missing"; exit 77; }
exec "$python3" "$(dirname "$0")/check_run.py" "$ASSAY_BUILD"
