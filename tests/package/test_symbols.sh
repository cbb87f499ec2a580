#!/bin/bash
# What the built libraries show and what they call. They export assay_* under the version ASSAY_0 and
# nothing else (libassay_models: what concerns models). They never end the process, print to a stream they
# were not given, or install signal handlers, and none of their code uses the unbounded string functions.
set -u
libraries="$ASSAY_BUILD/lib/libassay.so $ASSAY_BUILD/lib/libassay_models.so"
failed=0

exports_only() { # file, names as an extended regular expression
    local foreign
    if foreign=$(nm -D --defined-only "$1" | awk '{ print $NF }' |
        grep -Ev "^($2)(@@ASSAY_0)?\$|^ASSAY_0(@@ASSAY_0)?\$"); then
        echo "exported by $(basename "$1"), but not part of the contract:" $foreign
        failed=1
    fi
}
exports_only "$ASSAY_BUILD/lib/libassay.so" 'assay_[a-z0-9_]+'
exports_only "$ASSAY_BUILD/lib/libassay_models.so" 'assay_(model|models|tensor)_[a-z0-9_]+'

banned() { # file, names as an extended regular expression, why
    local found
    if found=$(nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
        grep -Ex "$2"); then
        echo "$(basename "$1") calls" $found": $3"
        failed=1
    fi
}

for library in $libraries; do
    banned "$library" 'exit|_exit|_Exit|quick_exit|abort|atexit' "a guest does not end the process"
    banned "$library" 'printf|vprintf|puts|putchar|perror|err|warn|syslog' "results go where the caller says"
    banned "$library" 'signal|sigaction|sigprocmask|pthread_sigmask' "signals belong to the program"
    banned "$library" 'setenv|putenv|unsetenv|setlocale|chdir|umask|srand|srandom' "process-wide state"
done
for file in $libraries "$ASSAY_BUILD/assay"; do
    [ -e "$file" ] && banned "$file" 'sprintf|vsprintf|strcpy|strcat|gets|strtok|tmpnam|mktemp' \
        "unbounded or unsafe"
done
exit $failed
