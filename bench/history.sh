#!/bin/bash
# How fast the history is. The bar: from a history of 10^6 runs with 50 figures each, `assay history show BENCHMARK`
# gives the series of one benchmark within 50 ms, from SQLite and from PostgreSQL. This includes the start of the
# command and the search for change points. 1000 benchmarks were run 1000 times; their figures are 50 million rows
# in 50 000 series. Each of 25 benchmarks is requested once, so that no cache except the kernel's contains it; the
# median counts.
#
# It needs 14 GB of disk below TMPDIR for some minutes and frees them afterwards.
#   history.sh [RUNS_OF_EACH_BENCHMARK]
set -eu
rounds=${1:-1000}
benchmarks=1000
figures=50
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
. "$ASSAY_SOURCE/tests/postgresql.sh"
trap 'postgresql_stop; rm -rf "$work"' EXIT

command -v sqlite3 >/dev/null || { echo "sqlite3 is missing" >&2; exit 77; }
free=$(df --output=avail -k "$work" | tail -n 1)
[ "$free" -gt $((rounds * 14 * 1024)) ] || { echo "less than $((rounds * 14 / 1000)) GB free in $work" >&2; exit 77; }

# The rows are inserted in the order in which runs would have made them. The SQL works in both databases.
fill="
DELETE FROM assay_figure; DELETE FROM assay_series; DELETE FROM assay_run; DELETE FROM assay_document;
INSERT INTO assay_run (id, token, created, kind, name, machine, commit_id, branch)
    SELECT t.value * $benchmarks + b.value + 1, 'token ' || (t.value * $benchmarks + b.value), 1600000000 + t.value * 3600,
        'bench', 'benchmark ' || b.value, 'machine', 'commit ' || t.value, 'main'
    FROM generate_series(0, $rounds - 1) t(value), generate_series(0, $benchmarks - 1) b(value);
INSERT INTO assay_series (id, benchmark, metric, unit, machine)
    SELECT s.value + 1, 'benchmark ' || (s.value / $figures), 'metric ' || (s.value % $figures), 's', 'machine'
    FROM generate_series(0, $benchmarks * $figures - 1) s(value);
INSERT INTO assay_figure (series, created, run, value)
    SELECT s.value + 1, 1600000000 + t.value * 3600, t.value * $benchmarks + s.value / $figures + 1,
        0.01 + 0.0000005 * ((t.value * 7919 + CAST(s.value AS BIGINT) * 104729) % 1000)
    FROM ORDERED;"

# fetch NAME: prints the median over 25 benchmarks as a row
fetch() {
    local times=() start end i
    for ((i = 0; i < 25; i++)); do
        start=$EPOCHREALTIME
        "$assay" history show "benchmark $((i * 37 % benchmarks))" --metric "metric $i" --json "$work/series.json"
        end=$EPOCHREALTIME
        times+=($((${end/./} - ${start/./})))
        [ "$(grep -c '"value"' "$work/series.json")" = "$rounds" ] || { echo "not all points" >&2; exit 1; }
    done
    printf '%s\n' "${times[@]}" | sort -n | awk -v name="$1" 'NR == 13 {
        printf "{\"name\": \"series of one benchmark among 10^6 runs of 50 figures, %s\", \"value\": %.1f, \"unit\": \"ms\", \"bar\": 50, \"ok\": %s}\n",
            name, $1 / 1000, $1 <= 50000 ? "true" : "false" }'
}

echo '{"results": [{"command": "first", "times": [1, 2]}]}' >"$work/first.json"
export ASSAY_HISTORY=$work/history.sqlite
"$assay" history import "$work/first.json" >/dev/null
ordered="generate_series(0, $benchmarks * $figures - 1) s, generate_series(0, $rounds - 1) t"
sqlite3 "$ASSAY_HISTORY" >/dev/null <<SQL
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;
$(sed -e "s/ORDERED/$ordered/" -e 's/) \([stb]\)(value)/) \1/g' <<<"$fill")
SQL
echo "SQLite: $(du -h "$ASSAY_HISTORY" | cut -f 1)" >&2
fetch SQLite
rm "$ASSAY_HISTORY"

if ! postgresql_start "$work" -c fsync=off -c max_wal_size=8GB -c maintenance_work_mem=1GB -c autovacuum=off; then
    echo "no PostgreSQL server: $postgresql_reason" >&2
    exit 0
fi
export ASSAY_HISTORY=$postgresql_url
"$assay" history import "$work/first.json" >/dev/null
ordered="generate_series(0, $rounds - 1) t(value), generate_series(0, $benchmarks * $figures - 1) s(value)"
postgresql_sql -q <<SQL
ALTER TABLE assay_figure DROP CONSTRAINT assay_figure_pkey;
$(sed "s/ORDERED/$ordered/" <<<"$fill")
ALTER TABLE assay_figure ADD PRIMARY KEY (series, created, run) INCLUDE (value);
VACUUM ANALYZE;
SQL
echo "PostgreSQL: $(du -sh "$work/postgresql" | cut -f 1)" >&2
fetch PostgreSQL
