# The command keeps stdin and stdout; ours goes to stderr, or after it when asked for.
echo from stdin | "$ASSAY" run -q -- cat
"$ASSAY" run -- echo only this 2>/dev/null
"$ASSAY" run -q --json - -- echo first | sed -n '1p;2p;3p'
