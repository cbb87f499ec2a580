// Writes a record of 5,000 operations and 10⁶ events, like that of a training job with eight threads: node page_record.mjs OUT.json [EVENTS]
import { createWriteStream } from "node:fs";

const [out, events = "1000000"] = process.argv.slice(2);
let seed = 1;
function random() {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed + 0.5) / 2 ** 32;
}
function normal() {
    return Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
}

// 50 stages of 100 layers, all below "step".
const operations = [{ name: "step", parent: null }];
for (let stage = 0; operations.length < 5000; stage++) {
    const parent = operations.length;
    operations.push({ name: `stage ${stage}`, parent: 0 });
    for (let layer = 0; layer < 99 && operations.length < 5000; layer++)
        operations.push({ name: `layer ${stage}.${layer}`, parent });
}
const samples = operations.map(() => []);
const lanes = Array.from({ length: 8 }, (_, i) => ({ name: `worker ${i}`, clock: 1e-5 * i, spans: 0 }));
const rows = [];
function add(operation, lane, start, end) {
    const from = Math.round(start * 1e9) / 1e9;
    const took = (Math.round(end * 1e9) - Math.round(start * 1e9)) / 1e9;
    rows.push(["span", operation, lane, from, took]);
    samples[operation].push(took);
    lanes[lane].spans++;
}
while (rows.length < Number(events)) {
    for (let lane = 0; lane < lanes.length; lane++) {
        const begin = lanes[lane].clock;
        let now = begin;
        for (let stage = 0; stage < 50; stage++) {
            const first = 1 + 100 * stage;
            const stageBegin = (now += 2e-7 * random());
            for (let layer = 1; layer < 100 && first + layer < operations.length; layer++) {
                const start = (now += 5e-8 + 1e-7 * random());
                now += 2e-5 * (1 + (layer % 7)) * Math.exp(0.1 * normal());
                add(first + layer, lane, start, now);
            }
            add(first, lane, stageBegin, (now += 1e-7));
        }
        add(0, lane, begin, (now += 1e-7));
        lanes[lane].clock = now + 1e-4 * random();
    }
}
rows.length = Number(events);

function describe(it, index) {
    const taken = samples[index].sort((a, b) => a - b);
    const total = taken.reduce((sum, value) => sum + value, 0);
    const buckets = new Map();
    for (const value of taken) {
        const place = Math.exp(Math.round(Math.log(value) / 0.016) * 0.016);
        buckets.set(place, (buckets.get(place) ?? 0) + 1);
    }
    return {
        ...it,
        count: taken.length,
        total_seconds: total,
        self_seconds: total,
        min_seconds: taken[0],
        max_seconds: taken.at(-1),
        mean_seconds: total / taken.length,
        p50_seconds: taken[taken.length >> 1],
        p95_seconds: taken[Math.floor(taken.length * 0.95)],
        p99_seconds: taken[Math.floor(taken.length * 0.99)],
        buckets: [...buckets],
        samples_seconds: [],
        samples_dropped: 0,
    };
}
rows.sort((a, b) => a[2] - b[2] || a[3] - b[3]);
const file = createWriteStream(out);
file.write(
    JSON.stringify({
        schema: "assay-record",
        version: 2,
        kind: "monitor",
        name: "a training job",
        created: "2026-11-16T12:00:00Z",
        operations: operations.map(describe),
        metrics: [],
        counters: [],
        lanes: lanes.map((it, i) => ({ name: it.name, kind: "thread", process_id: 4711, thread_id: 4711 + i, spans: it.spans, ended: false })),
    }).slice(0, -1),
);
file.write(',"events":[');
for (let i = 0; i < rows.length; i += 10000)
    file.write((i > 0 ? "," : "") + rows.slice(i, i + 10000).map((it) => JSON.stringify(it)).join(","));
file.end("]}\n");
