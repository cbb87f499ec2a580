# Slips of the fingers get a suggestion, everything else a way to the help; nothing runs.
show
show rnu
show frobnicate
show help jurnal
show --json x
show run --jsn x -- touch ran
show run --qiet -- touch ran
show run --frobnicate -- touch ran
show run -x -- touch ran
show run
show run --
show run --json
show run --interval soon -- touch ran
show run --interval -1s -- touch ran
show run --interval 0 -- touch ran
show run --trace_events 0 -- touch ran
show run --quiet=yes -- touch ran
show run --json '' -- touch ran
show run --json a --trace a -- touch ran
show journal
show journal a b
show report
show report a b --json c
show doctor everything
ls
# A unit where both s and ms are likely; hints for a whole command line in one word; suggestions only when near.
show run --interval 10 -- touch ran
show run 'ls -la'
show bench --runs 2 'gzip f' 'zstd f'
show foo
show comp
show bnech
show run --jsn x -- true
show run --xyz x -- true
show bench --runs 99999999999999999999 -- true
show study rom --seed 99999999999999999999
show bench --runs 1.5 -- true
