# ASSAY_CPU: a level of this machine is taken, recorded and listed; anything else is refused, and nothing runs.
levels() { "$ASSAY" doctor --json - | grep -A3 '"cpu_level"' | grep finding; }
lowest=$(levels | sed 's/.*this machine has \([^," ]*\).*/\1/')
ASSAY_CPU=$lowest levels | grep -c "the models use $lowest"
ASSAY_CPU=$lowest "$ASSAY" run --quiet --json run.json -- true
grep -c "\"cpu_level\": \"$lowest\"" run.json
for bad in x86-64-v9 avx2 ' ' "$(printf %02000d 0)"; do
    ASSAY_CPU=$bad "$ASSAY" run -- touch ran 2>&1 | sed 's/it has .*/it has .../'
    ASSAY_CPU=$bad "$ASSAY" profile --model lstm >out.txt 2>err.txt
    echo "exit $?"
    ASSAY_CPU=$bad "$ASSAY" doctor >out.txt 2>err.txt
    echo "exit $?"
    grep -c "it has .*$lowest" err.txt
done
for command in run bench compare journal report fit history model profile study "study rom" "study pde" doctor; do
    # The help must not depend on the environment.
    ASSAY_CPU=avx2 "$ASSAY" $command --help | head -n 1
    ASSAY_CPU=avx2 "$ASSAY" help ${command% *} | cmp - <("$ASSAY" help ${command% *})
done
ASSAY_CPU= "$ASSAY" run --quiet -- true
echo "exit $?"
ls
