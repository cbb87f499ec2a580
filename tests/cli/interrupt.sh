# For tests of studies: what is interrupted and goes on must end as if it had not been.

# interrupt_when LOG CONDITION COMMAND...: run a study, interrupt it once CONDITION holds, a command line that is asked for
# a minute at most, and leave its exit status in $interrupted: 130, or 0 where the machine was too fast and the study is
# complete. Anything else fails the test; needs fail(). LOG gets what the study prints.
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
