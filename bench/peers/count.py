"""Count the false alarms among the comparisons of identical subjects that bench/peers.sh made."""
import json
import sys

from scipy import stats

sys.path.insert(0, "/usr/share/benchmark")
trials = int(sys.argv[1])


def load(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def u_test(trial):
    """The U test of Google Benchmark's compare.py on two files, by its own code if it is installed."""
    sides = [load(f"gb-{trial}-{side}.json") for side in "ab"]
    if None in sides:
        return None
    times = [[row["real_time"] for row in side["benchmarks"] if row["run_type"] == "iteration"] for side in sides]
    try:
        from gbench import report
        return report.calc_utest(times, times)[2] < 0.05
    except ImportError:
        return stats.mannwhitneyu(*times, alternative="two-sided").pvalue < 0.05


def welch(trial):
    """The Welch test of hyperfine's welch_ttest.py on one file."""
    results = load(f"hf-{trial}.json")
    if results is None:
        return None
    times = [result["times"] for result in results["results"]]
    return stats.ttest_ind(*times, equal_var=False).pvalue < 0.05


def ours(kind):
    def verdict(trial):
        record = load(f"{kind}-{trial}-assay.json")
        if record is None or not record.get("comparisons"):
            return None
        return record["comparisons"][0]["verdict"] in ("faster", "slower")
    return verdict


for name, judge in (("Google Benchmark + U test", u_test),
                    ("the same files, assay compare", ours("gb")),
                    ("hyperfine + Welch test", welch),
                    ("the same commands, assay bench", ours("hf"))):
    verdicts = [judge(trial) for trial in range(1, trials + 1)]
    known = [verdict for verdict in verdicts if verdict is not None]
    if not known:
        print(f"peers: no figures for {name}", file=sys.stderr)
        continue
    share = 100 * sum(known) / len(known)
    print(json.dumps({"name": f"identical called different: {name}", "value": round(share, 2), "unit": "%",
                      "bar": None, "ok": True}))
