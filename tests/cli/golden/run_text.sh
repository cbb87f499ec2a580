show run -- sh -c 'echo to stdout; echo to stderr >&2' | mask
show run --name 'nightly build' -- sh -c 'kill -9 $$' | mask
show run --output summary.txt -- true
mask <summary.txt
show run -- "$(command -v sh)" -c 'exit 0' "$(printf 'a%.0s' {1..200})" | grep command | grep -cE '^.{79}$'
ls
