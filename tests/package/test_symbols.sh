#!/bin/bash
# What the built libraries show and what they call. They export what the public headers declare, under
# the version ASSAY_1, and nothing else; each function is exported by one of them, and libassay by no
# more than it promises. They never end the process, print to a stream they
# were not given, or install signal handlers, and none of their code uses the unbounded string functions.
set -u
libraries="$ASSAY_BUILD/lib/libassay.so $ASSAY_BUILD/lib/libassay_models.so"
failed=0

# The most functions libassay exports: a new one has to push out an old one, or argue.
MOST_EXPORTS=230

declared() { # headers...: the functions and variables they declare, sorted
    (cd "$ASSAY_SOURCE/include/assay" && cat "$@") | tr '\n' ' ' | sed -e 's@/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/@@g' |
        grep -oE 'ASSAY_API[^;{]*' | grep -oE 'assay_[a-z0-9_]+ *(\(| __attribute__)' |
        grep -oE '^assay_[a-z0-9_]+' | sort -u
}
exported() { # library
    nm -D --defined-only "$1" | awk '{ sub(/@@ASSAY_1$/, "", $NF); print $NF }' | grep -vx ASSAY_1 | sort -u
}
of_models='model.h flops.h profile.h model_scaling.h runtime.h trajectories.h'
of_libassay=$(cd "$ASSAY_SOURCE/include/assay" && ls | grep -vxF "$(tr ' ' '\n' <<<"$of_models")")

same() { # library, headers...
    local library=$1 difference
    shift
    if ! difference=$(diff <(declared "$@") <(exported "$ASSAY_BUILD/lib/$library")); then
        echo "$library exports (>) other names than its headers declare (<):"
        grep '^[<>]' <<<"$difference"
        failed=1
    fi
}
same libassay.so $of_libassay
same libassay_models.so $of_models
count=$(exported "$ASSAY_BUILD/lib/libassay.so" | wc -l)
if [ "$count" -gt $MOST_EXPORTS ]; then
    echo "libassay.so exports $count names, more than $MOST_EXPORTS"
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
