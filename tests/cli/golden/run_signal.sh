# Signals sent to assay reach the command; the report is still printed and nothing is left behind.
# (Background jobs of a script ignore SIGINT and SIGQUIT, which env undoes.)
for signal in INT TERM HUP QUIT USR1; do
    : >out.txt
    env --default-signal=INT,QUIT "$ASSAY" run --json $signal.json --output $signal.txt -- \
        sh -c 'trap "echo got '$signal'; exit 9" '$signal'; echo ready; for i in $(seq 200); do sleep 0.05; done' >out.txt 2>&1 &
    process=$!
    until grep -q ready out.txt; do sleep 0.01; done
    kill -$signal $process
    wait $process
    echo "exit $?: $(tail -n 1 out.txt)"
done
grep -h result INT.txt TERM.txt
ls -d assay-* 2>/dev/null || echo "nothing is left behind"
