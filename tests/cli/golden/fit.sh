table() { # awk expression of n and the noise e: nine sizes, three values each
    echo "n,seconds"
    awk "BEGIN {
        split(\"0.6 -1.1 0.4 -0.2 1.3 -0.9 0.1 0.8 -0.5\", noise, \" \")
        for (i = 0; i < 27; i++) {
            n = 2 ^ (5 + int(i / 3)); e = 1 + 0.02 * noise[1 + (i * 5 + int(i / 9)) % 9]
            printf \"%d,%.5g\n\", n, $1
        }
    }"
}
table "1e-8 * n * log(n) * e" >nlogn.csv
show fit nlogn.csv
table "(2e-6 + 3e-9 * n ^ 1.5) * e" | show fit - --json - | head -n 12 | mask
table "5e-3 * e" >constant.csv
show fit constant.csv | head -n 4
table "(1e-3 + 1e-9 * n) * e" | show fit - | head -n 6
{ table "1e-8 * n * (1 + 20 * (e - 1))"; echo 32,1; } | show fit - | sed -n '/^data/,/^$/p'
awk 'BEGIN { for (i = 0; i < 30000; i++) print 10 * 2 ^ (i % 6) "," 2 ^ (i % 6) * (1 + i % 7 / 100) }' | show fit - | sed -n '/^data/,/^$/p'
printf 'run;size;time_ms\nann;10;1,5\nbob;20;2,5\nann;30;3,7\n' >other.csv
show fit other.csv
show fit other.csv -n size --seconds-column time_ms | head -n 6
printf 'n,seconds\n10,1\n10,1.1\n' >few.csv
show fit few.csv --json -
printf 'n,seconds\n10,1\n20,oops\n' >bad.csv
show fit bad.csv
printf '10,1\n\n20,-2\n' | show fit -
printf '' | show fit -
show fit no-such.csv
show fit
show fit nlogn.csv few.csv
show fit nlogn.csv --json no/such/folder/fit.json
show fit nlogn.csv --json fit.json
grep -c '"class": "n log n"' fit.json
show fit --no-such nlogn.csv
