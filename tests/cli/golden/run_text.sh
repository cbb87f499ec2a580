show run -- sh -c 'echo to stdout; echo to stderr >&2' | mask
show run --name 'nightly build' -- sh -c 'kill -9 $$' | mask
show run --output summary.txt -- true
mask <summary.txt
# The command can be pasted, whatever its length.
show run --output long.txt -- sh -c 'exit 0' '' "it's" 'a  b' "$(printf 'a%.0s' {1..200})" last
grep ^command long.txt
ls
