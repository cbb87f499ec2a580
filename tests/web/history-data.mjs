// The data of a page of a history, after a look whether they are what `assay history show --json` says:
// history-data.mjs PAGE JSON
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [page, json] = process.argv.slice(2);
const data = JSON.parse(readFileSync(page, "utf8").match(/id="history">([^<]*)</)[1]);
const { series } = JSON.parse(json);
assert.equal(data.series.length, series.length);
assert.ok(series.some((it) => it.changes.length > 0), "no change point to look at");
for (const [i, it] of series.entries()) {
    const shown = data.series[i];
    assert.equal(shown.benchmark, it.benchmark);
    assert.deepEqual(shown.values, it.points.map((point) => point.value));
    assert.deepEqual(shown.commits, it.points.map((point) => point.commit));
    assert.deepEqual(
        shown.changes.map((change) => [shown.runs[change.at], change.before, change.after]),
        it.changes.map((change) => [change.run, change.before, change.after]),
    );
}
console.log(JSON.stringify([data]));
