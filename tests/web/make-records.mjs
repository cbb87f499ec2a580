// Records that are easier made than kept: make-records.mjs FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = `${process.argv[2]}/made`;
mkdirSync(folder);
const save = (name, record) => writeFileSync(`${folder}/${name}`, typeof record === "string" ? record : JSON.stringify(record));
let seed = 1;
function random() {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed + 0.5) / 2 ** 32;
}
const head = { schema: "assay-record", version: 2, created: "2026-11-16T12:00:00Z" };
const operation = (name, parent, samples) => ({
    name, parent, count: samples.length, total_seconds: samples.reduce((a, b) => a + b, 0), self_seconds: samples[0],
    min_seconds: Math.min(...samples), max_seconds: Math.max(...samples), mean_seconds: samples[0], p50_seconds: samples[0],
    buckets: [...new Set(samples)].sort((a, b) => a - b).map((it) => [it, samples.filter((other) => other === it).length]), samples_seconds: [], samples_dropped: 0,
});

// Names as an enemy would choose them.
const names = [
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "<!--<script>",
    "\u001b[31m\u202ereversed\u0007",
    "'\"&amp;{{7*7}}${window.hacked=1}",
    "n".repeat(131072), // the longest that a record may have
];
const kept = (name) => JSON.parse(readFileSync(new URL(`records/${name}.json`, import.meta.url), "utf8"));
const run = kept("run");
const bench = kept("bench");
const profile = kept("profile");
const named = (like) => names.map((name, i) => ({ ...like, name, process_id: i + 1, thread_id: i + 1, parent: like.parent === undefined ? undefined : null }));
save("hostile.json", {
    ...run,
    name: names[1],
    machine: { ...run.machine, cpu: names[0], hostname: names[4] },
    git: { branch: names[0] },
    process: { ...run.process, command: names },
    processes: named(run.processes[0]),
    operations: names.map((name, i) => operation(name, null, [0.001 * (i + 1), 0.002])),
    lanes: named(run.lanes[0]),
    open_spans: [],
    subjects: names.map((name) => ({ ...bench.subjects[0], name, parameters: { [name.slice(0, 99)]: name.slice(0, 99) } })),
    comparisons: bench.comparisons.map((it) => ({ ...it, baseline: names[0], candidate: names[2], reason: names[1] })),
    figures: names.map((name) => ({ name, of: names[0], value: 1.25, unit: null })),
    series: [{ name: "loss", of: names[1], unit: null, along: "epoch", values: [3, 2, 1] }],
    models: profile.models.map((it) => ({ ...it, name: names[0], class_name: names[2], settings: { size: names[1] }, flops: it.flops.map((count) => ({ ...count, component: names[0] })) })),
    counters: [],
    events: names.map((_, i) => ["span", i, i, 0.1 * i, 0.05]),
});

save("longer.json", { ...run, name: "n".repeat(1 << 20) });

// Four lanes of nested spans, thousands of them short.
const tree = [["step", null], ["forward", 0], ["backward", 0], ["attention", 1], ["matmul", 3]];
const events = [];
for (let lane = 0; lane < 4; lane++) {
    let now = 0.001 * lane;
    for (let step = 0; step < 40; step++) {
        const begin = now;
        for (const part of [1, 2]) {
            const start = (now += 1e-5);
            for (let k = 0; part === 1 && k < 20; k++) {
                const inner = (now += 2e-6 * random());
                now += 5e-5 * (1 + random());
                events.push(["span", 3, lane, inner, now - inner]);
                if (k % 2) events.push(["span", 4, lane, inner + 1e-5, 2e-5]);
            }
            now += 0.001 * (1 + random());
            events.push(["span", part, lane, start, now - start]);
        }
        events.push(["span", 0, lane, begin, (now += 1e-5) - begin]);
    }
}
events.sort((a, b) => a[2] - b[2] || a[3] - b[3]);
save("timeline.json", {
    ...head, kind: "monitor", name: "training", total_seconds: 0.75,
    operations: tree.map(([name, parent], i) => operation(name, parent, events.filter((it) => it[1] === i).map((it) => it[4]))),
    lanes: [0, 1, 2, 3].map((i) => ({ name: i < 3 ? `worker ${i}` : "stream 7", kind: i < 3 ? "thread" : "gpu-stream", process_id: 4711, thread_id: 4711 + i, spans: events.filter((it) => it[2] === i).length, ended: false })),
    events,
});

save("version1.json", readFileSync(new URL("../records/version1/monitor.json", import.meta.url), "utf8"));

// The same benchmark twice, a tenth slower.
save("before.json", bench);
const slower = structuredClone(bench);
for (const it of slower.subjects) {
    it.samples_seconds = it.samples_seconds.map((value) => value * 1.1);
    for (const key of ["mean_seconds", "median_seconds", "low_seconds", "high_seconds", "min_seconds", "max_seconds"]) it[key] *= 1.1;
}
save("after.json", slower);

// 60 runs of two benchmarks; one becomes a tenth slower with run 36.
const lines = [];
for (let i = 0; i < 60; i++) {
    const subject = (name, time) => ({
        name, samples_seconds: [time, time * 1.01, time * 0.99], mean_seconds: time, iterations: 1, warmup_samples: 0, rejected_samples: 0,
        disturbed_samples: 0, failed_runs: 0, source: "assay",
    });
    lines.push(JSON.stringify({
        ...head, kind: "bench", name: "nightly", created: new Date(Date.UTC(2026, 0, 1 + i, 12)).toISOString().replace(".000", ""),
        machine: { hostname: "build7" }, git: { commit: `abc${i.toString(16).padStart(3, "0")}${"0".repeat(34)}`, branch: "main" },
        subjects: [
            subject("parse", (i < 35 ? 0.01 : 0.011) * (1 + 0.02 * (random() - 0.5))),
            subject("<b>write</b>", 0.02 * (1 + 0.05 * (random() - 0.5))),
        ],
    }));
}
save("runs.jsonl", `${lines.join("\n")}\n`);
