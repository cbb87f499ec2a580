// The distribution of the durations of an operation's spans, from the buckets of its sketch.
import { type Chart, chart } from "./chart";
import { element, visible } from "./dom";
import type { Operation } from "./record";

const BINS = 60;

interface Bins {
    x: number[];
    y: number[];
}

// Merges the buckets, which are 0.8 % wide, into at most BINS bins of equal width on a logarithmic axis.
export function binsOf(buckets: [number, number][]): Bins {
    const counted = buckets.filter(([seconds, count]) => seconds > 0 && count > 0);
    const first = counted[0]?.[0];
    const last = counted[counted.length - 1]?.[0];
    if (first === undefined || last === undefined) return { x: [], y: [] };
    const width = Math.max(Math.log(last / first) / BINS, Math.log(1.016));
    const bins = Math.floor(Math.log(last / first) / width) + 1;
    const y = new Array<number>(bins + 2).fill(0);
    for (const [seconds, count] of counted) {
        const at = Math.min(bins - 1, Math.floor(Math.log(seconds / first) / width));
        y[at + 1] = (y[at + 1] ?? 0) + count;
    }
    const x = y.map((_, i) => first * Math.exp((i - 1) * width - width / 2));
    return { x, y };
}

export function distribution(it: Operation): HTMLElement {
    const { x, y } = binsOf(it.buckets ?? []);
    if (x.length === 0)
        return element("p", { class: "note" }, "The record has no distribution of this operation.");
    const marks = (
        [
            ["p50", it.p50_seconds],
            ["p95", it.p95_seconds],
            ["p99", it.p99_seconds],
        ] as const
    ).flatMap(([label, at]) => (typeof at === "number" && at > 0 ? [{ at, label }] : []));
    const spec: Chart = {
        label: `Distribution of the durations of ${visible(it.name, 80)}: number of spans over their duration on a logarithmic axis; p50, p95 and p99 are marked where they are known.`,
        x: { label: "duration", unit: "seconds", log: true, reach: marks.map((mark) => mark.at) },
        y: { label: "spans", unit: "count" },
        lines: [{ label: "spans", x, y, kind: "steps" }],
        marks,
        height: 200,
    };
    return chart(spec);
}
