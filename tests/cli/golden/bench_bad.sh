show bench
show bench --
show bench -- true -- -- true
show bench -- no-such-program
touch plain
show bench -- ./plain
show bench -- sh -c 'exit 3'
show bench -- sh -c 'kill -9 $$'
show bench --runs 3 -- true -- false
show bench --prepare false -- true
show bench --quiet --runs 1 --cleanup 'sh -c "exit 4"' -- true
show bench --command 'true | cat'
show bench --command "echo 'open"
show bench --command '""'
show bench --budget 0 -- true
show bench --precision 0% -- true
show bench --margin 100% -- true
show bench --runs 0 -- true
show bench --warmup x -- true
show bench --param size -- true
show bench --param 's ze=1' -- true
show bench --param =1 -- true
show bench --param size= -- echo {size}
show bench --param size=1,,2 -- echo {size}
for range in 1..4..0 1..4..x 1..4* 1..4*1 0..4*2 1..4*2..1 1..1025 1..1e9*1.001 1..1e14..1e13,1e15..2 0..1e14..1e13,1..1e12..1e11,0.0001..1e12..1e11; do
    show bench --param size=$range -- echo {size}
done
show bench --param size=1 --param size=2 -- echo {size}
show bench --param size=1,2 -- echo size
show bench --param a="$(seq -s, 40)" --param b="$(seq -s, 40)" -- echo {a} {b} | cut -c 1-70 | tail -2
show bench --label one -- true -- true
show bench --input missing -- true
show bench --json missing/file.json -- true
show bench --json both --output both -- true
echo kept >in.txt
show bench --runs 1 --input in.txt --output ./in.txt -- cat
show bench --runs 1 --input in.txt --json in.txt -- cat
cat in.txt
show bench --runs 1 --json - --output inherit -- echo
show bench --runs 1 --output - -- echo
show bench --runs 1 --pin 99999 -- true
show bench --runs 1 --pin 9999999 -- true
show bench --runs 524289 -- true
ls
