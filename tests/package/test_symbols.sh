#!/bin/bash
# What the built library shows and what it calls. It exports assay_* under the version ASSAY_0 and
# nothing else. It never ends the process, prints to a stream it was not given, or installs signal
# handlers, and none of its code uses the unbounded string functions.
set -u
library=$ASSAY_BUILD/lib/libassay.so
failed=0

if foreign=$(nm -D --defined-only "$library" | awk '{ print $NF }' |
    grep -Ev '^assay_[a-z0-9_]+(@@ASSAY_0)?$|^ASSAY_0(@@ASSAY_0)?$'); then
    echo "exported, but not part of the contract:" $foreign
    failed=1
fi

banned() { # file, names as an extended regular expression, why
    local found
    if found=$(nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
        grep -Ex "$2"); then
        echo "$(basename "$1") calls" $found": $3"
        failed=1
    fi
}

banned "$library" 'exit|_exit|_Exit|quick_exit|abort|atexit' "a guest does not end the process"
banned "$library" 'printf|vprintf|puts|putchar|perror|err|warn|syslog' "results go where the caller says"
banned "$library" 'signal|sigaction|sigprocmask|pthread_sigmask' "signals belong to the program"
banned "$library" 'setenv|putenv|unsetenv|setlocale|chdir|umask|srand|srandom' "process-wide state"
for file in "$library" "$ASSAY_BUILD/assay"; do
    [ -e "$file" ] && banned "$file" 'sprintf|vsprintf|strcpy|strcat|gets|strtok|tmpnam|mktemp' \
        "unbounded or unsafe"
done
exit $failed
