# The same option in all its spellings; the program's own options stay its own.
show run -q --trace-events 10 -- echo one
show run -q --trace_events=10 echo two
show run -qi10ms -- echo three
show run -q --interval 0.01s sh -c 'echo "$@"' sh --json x -- -q
