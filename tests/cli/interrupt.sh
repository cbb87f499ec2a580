# For tests of studies: a study that is interrupted and resumed must end with the same results as one that is not.

# interrupt_when LOG CONDITION COMMAND...: run a study and interrupt it once CONDITION holds. CONDITION is a command line
# that is tried again for at most a minute. $interrupted receives the exit status: 130, or 0 if the machine was too fast and
# the study is complete. Any other status fails the test, by fail(), which the caller defines. LOG receives the output.
interrupt_when() {
    local log=$1 condition=$2 runner
    shift 2
    "$@" >"$log" 2>&1 &
    runner=$!
    for _ in $(seq 12000); do
        eval "$condition" && break
        sleep 0.005
    done
    kill -INT $runner 2>/dev/null || true
    interrupted=0
    wait $runner || interrupted=$?
    [ $interrupted = 130 ] || [ $interrupted = 0 ] || fail "an interrupted study exits with $interrupted"
}
