// What the views of the page compute, without a browser: views.mjs ASSAY
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = fileURLToPath(new URL("../../web/", import.meta.url));
const { build } = createRequire(join(web, "package.json"))("esbuild");
const work = mkdtempSync(join(tmpdir(), "views-"));
process.on("exit", () => rmSync(work, { recursive: true }));

// The modules expect a page and uPlot around them when they are loaded, and these functions do not use them.
writeFileSync(join(work, "nothing.mjs"), "export default class {}\n");
globalThis.window = { addEventListener() {} };
globalThis.document = { createElement: () => ({ setAttribute() {}, style: {} }) };
const modules = ["dom", "distribution", "format", "growth", "pairs", "study", "ticks", "tree", "words"];
await build({
    stdin: { contents: modules.map((it) => `export * as ${it} from "./src/${it}";`).join("\n"), resolveDir: web, loader: "ts" },
    bundle: true,
    alias: { uplot: join(work, "nothing.mjs") },
    format: "esm",
    outfile: join(work, "views.mjs"),
    logLevel: "warning",
});
const { dom, distribution, format, growth, pairs, study, ticks, tree, words } = await import(pathToFileURL(join(work, "views.mjs")).href);

// A random number that is the same each time (Park and Miller).
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

// The curve goes through what libassay fitted, for every class that it chooses.
const shapes = {
    1: () => 1, "log n": (n) => Math.log(n), n: (n) => n, "n log n": (n) => n * Math.log(n),
    "n^2": (n) => n ** 2, "n^3": (n) => n ** 3, power: (n) => n ** 1.5,
};
for (const [name, shape] of Object.entries(shapes)) {
    const rows = [100, 200, 400, 800, 1600, 3200, 6400, 12800].flatMap((n) =>
        Array.from({ length: 5 }, () => `${n},${1e-6 * shape(n) * (1 + 0.01 * (random() - 0.5))}`),
    );
    writeFileSync(join(work, "fit.csv"), `n,seconds\n${rows.join("\n")}\n`);
    const fitted = JSON.parse(execFileSync(process.argv[2], ["fit", join(work, "fit.csv"), "--json", "-"], { stdio: ["ignore", "pipe", "ignore"] }));
    assert.equal(fitted.class, name);
    const { x, y } = growth.curveOf(fitted);
    for (const [at, size] of [[0, fitted.sizes[0]], [x.length - 1, fitted.sizes.at(-1)]])
        assert.ok(Math.abs(y[at] / size.fitted_seconds - 1) < 1e-9, `${name}: ${y[at]} is not ${size.fitted_seconds}`);
}

// Bins lose no span and stand where the spans are.
const buckets = Array.from({ length: 500 }, (_, i) => [1e-6 * 1.016 ** i, 1 + Math.floor(random() * 9)]);
const bins = distribution.binsOf(buckets);
assert.equal(bins.y.reduce((a, b) => a + b), buckets.reduce((sum, [, count]) => sum + count, 0));
assert.ok(bins.x.length <= 63 && bins.x[1] <= buckets[0][0] && bins.x.at(-1) >= buckets.at(-1)[0]);
assert.equal(distribution.binsOf([[0.5, 3]]).y.reduce((a, b) => a + b), 3);
assert.deepEqual(distribution.binsOf([]).x, []);

// Pairs are samples of the same round; two subjects of one name are told apart; a disturbed sample marks its pair.
const subject = (samples, rounds, disturbed) => ({
    name: "a", samples_seconds: samples, rounds, measures: [{ metric: "disturbed", samples: disturbed }],
});
const found = pairs.pairsOf(
    { subjects: [subject([1, 2, 4], [1, 2, 4], [0, 0, 1]), subject([3, 3, 1], [2, 3, 4], [0, 1, 0])] },
    { baseline: "a", candidate: "a" },
);
assert.deepEqual(found, [{ round: 2, ratio: 1.5, disturbed: false }, { round: 4, ratio: 0.25, disturbed: true }]);

// Marks lie on the axis, ascend, and are neither too few nor too many.
for (let i = 0; i < 2000; i++) {
    const low = 10 ** (random() * 20 - 10);
    const range = { low, high: low * 10 ** (0.01 + random() ** 3 * 12), log: i % 2 === 0 };
    const marks = ticks.ticksOf(range, 6, i % 3 === 0);
    assert.ok(marks.length >= 1 && marks.length <= 19, `${marks.length} marks from ${range.low} to ${range.high}`);
    const slack = range.log ? 1e-6 * range.low : 1e-6 * (range.high - range.low);
    const good = (it, at) => it >= range.low - slack && it <= range.high * 1.000001 && (at === 0 || it > marks[at - 1]);
    assert.ok(marks.every(good), `${marks} from ${range.low} to ${range.high}`);
}

// Parents stand before their children, the most expensive first; a parent that comes later counts as none.
const nodes = tree.treeOf([
    { name: "a", parent: null, total_seconds: 1 }, { name: "b", parent: 0, total_seconds: 0.2 },
    { name: "c", parent: 0, total_seconds: 0.5 }, { name: "d", parent: 4, total_seconds: 2 }, { name: "e", parent: 2, total_seconds: 0.1 },
]);
assert.deepEqual(nodes.map((it) => it.path), ["d", "a", "a/c", "a/c/e", "a/b"]);

// Series that belong together share a picture, the truth last.
const series = (name, of, along = "step") => ({ name, of, along, unit: null, values: [1, 2, 3] });
const drawn = study.picturesOf([
    series("amplitude_truth", "test"), series("amplitude_forecast", "LSTM"), series("amplitude_forecast", "MVAR"),
    series("loss", "MLP on saddle", "epoch"), series("loss", "KAN on saddle", "epoch"), series("loss", "MLP on kink", "epoch"),
    series("median_seconds", "lstm", "num-layers"),
]);
assert.deepEqual(drawn.map((it) => [it.title, it.lines.map((line) => line.label)]), [
    ["loss, saddle", ["MLP", "KAN"]], ["loss, kink", ["MLP"]], ["amplitude", ["forecast, LSTM", "forecast, MVAR", "truth"]],
]);

assert.deepEqual(words.shortNames(["/x/a/r.json", "/x/b/r.json", "c.json", "c.json"]), ["a/r.json", "b/r.json", "c.json", "c.json"]);
assert.equal(dom.visible("a\u202eb\u0007\n"), "a\u2423b\u2423 ");
assert.equal(dom.visible("x".repeat(5000)).length, 300 + "… (5,000 characters)".length);
assert.deepEqual(
    [[0.0123456, "seconds"], [999.96e-6, "seconds"], [1536, "bytes"], [-0.5, "number"], [null, "number"], [1234567, "count"], [0.01, "share"]]
        .map(([value, unit]) => format.format(value, unit)),
    ["12.35 ms", "1.000 ms", "1.500 KiB", "\u22120.5000", "n/a", "1,234,567", "1 %"],
);
console.log("the views compute what they should");
