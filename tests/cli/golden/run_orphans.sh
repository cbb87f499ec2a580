# A process that outlives its parent but not the command is counted; one that outlives the command is
# left alone and mentioned.
"$ASSAY" run -q --json r.json -- sh -c '(sh -c "head -c 20000000 /dev/zero | tail -c 20000000 >/dev/null; touch done" &) ; while [ ! -e done ]; do sleep 0.02; done; sleep 0.1'
echo "exit $?"
python3 -c 'import json; r = json.load(open("r.json")); print(r["peak_rss_bytes"] > 15e6 and "its memory is counted")'
show run -q -- sh -c 'sleep 60 & echo $! >pid'
kill -0 "$(cat pid)" && echo "still runs" && kill "$(cat pid)"
