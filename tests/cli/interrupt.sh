# For tests of studies: what is interrupted and goes on must end as if it had not been.

# interrupt_at FILE COMMAND...: run a study, interrupt it once FILE stands, and check how it ends. Where the machine
# is too fast for that, the study is complete and there is nothing to resume. Needs $folder and fail().
interrupt_at() {
    local file=$1 runner status=0
    shift
    "$@" >>"$folder/log" 2>&1 &
    runner=$!
    for _ in $(seq 2000); do
        [ -e "$file" ] && break
        sleep 0.005
    done
    kill -INT $runner 2>/dev/null || true
    wait $runner || status=$?
    [ $status = 130 ] || [ $status = 0 ] || fail "an interrupted study exits with $status"
    echo "interrupted with exit $status"
}
