// Small pictures in the cells of a table, which share one axis: all samples of a subject with box and interval, or a ratio
// with its interval and the margin.
import { tickText } from "./chart";
import { svg } from "./dom";
import { format, type Unit } from "./format";
import type { Comparison, Reading, Subject } from "./record";
import { place, type Range, ticksOf } from "./ticks";

export const WIDTH = 300;
const HEIGHT = 26;
const PAD = 8;

function at(range: Range, value: number): number {
    return PAD + place(range, value) * (WIDTH - 2 * PAD);
}

function picture(height: number, label: string): SVGSVGElement {
    return svg("svg", {
        class: "strip",
        width: WIDTH,
        height,
        viewBox: `0 0 ${WIDTH} ${height}`,
        role: "img",
        "aria-label": label,
    });
}

export function axisOf(range: Range, unit: Unit, title: string): SVGSVGElement {
    const made = picture(30, title);
    for (const tick of ticksOf(range, 4)) {
        const x = at(range, tick);
        made.append(
            svg("line", { x1: x, x2: x, y1: 24, y2: 30, class: "tick" }),
            svg("text", { x, y: 20, "text-anchor": "middle" }, tickText(tick, unit)),
        );
    }
    return made;
}

function quantile(sorted: number[], q: number): number {
    const where = q * (sorted.length - 1);
    const low = Math.floor(where);
    const [a, b] = [sorted[low] ?? 0, sorted[Math.min(low + 1, sorted.length - 1)] ?? 0];
    return a + (b - a) * (where - low);
}

export function finite(samples: Reading[] | undefined): number[] {
    return (samples ?? []).filter((it): it is number => typeof it === "number");
}

// Draws every sample as a dot, the quartiles as a box with the median, and below them the mean with its 95 % interval.
export function samplesOf(subject: Subject, label: string, range: Range): SVGSVGElement {
    const samples = finite(subject.samples_seconds);
    const made = picture(HEIGHT, `${label}: ${samples.length} samples with box and interval`);
    // The dots are spread by a fixed sequence, so that the picture is the same each time.
    const dots = samples.map((it, i) => {
        const y = 3 + ((i * 0.618034) % 1) * 11;
        return `M${at(range, it).toFixed(1)} ${y.toFixed(1)}h0`;
    });
    made.append(
        svg("path", { d: dots.join(""), class: samples.length > 400 ? "dots many" : "dots" }),
    );
    if (samples.length >= 4) {
        const sorted = Float64Array.from(samples).sort();
        const [q1, q2, q3] = [0.25, 0.5, 0.75].map((q) => at(range, quantile([...sorted], q)));
        if (q1 !== undefined && q2 !== undefined && q3 !== undefined) {
            made.append(
                svg("rect", { x: q1, y: 2, width: Math.max(1, q3 - q1), height: 13, class: "box" }),
                svg("line", { x1: q2, x2: q2, y1: 2, y2: 15, class: "median" }),
            );
        }
    }
    const { mean_seconds: mean, low_seconds: low, high_seconds: high } = subject;
    if (typeof low === "number" && typeof high === "number")
        made.append(
            svg("line", {
                x1: at(range, low),
                x2: at(range, high),
                y1: 21,
                y2: 21,
                class: "interval",
            }),
        );
    if (typeof mean === "number")
        made.append(svg("circle", { cx: at(range, mean), cy: 21, r: 3, class: "mean" }));
    return made;
}

export function ratioOf(it: Comparison, range: Range): SVGSVGElement {
    const made = picture(
        HEIGHT,
        `ratio ${format(it.ratio, "ratio")}, interval ${format(it.low, "ratio")} to ${format(it.high, "ratio")}`,
    );
    const margin = it.margin ?? 0;
    const [left, right, one] = [at(range, 1 / (1 + margin)), at(range, 1 + margin), at(range, 1)];
    made.append(
        svg("rect", {
            x: left,
            y: 0,
            width: Math.max(1, right - left),
            height: HEIGHT,
            class: "margin",
        }),
        svg("line", { x1: one, x2: one, y1: 0, y2: HEIGHT, class: "tick" }),
    );
    if (typeof it.low === "number" && typeof it.high === "number")
        made.append(
            svg("line", {
                x1: at(range, it.low),
                x2: at(range, it.high),
                y1: HEIGHT / 2,
                y2: HEIGHT / 2,
                class: `interval ${it.verdict}`,
            }),
        );
    if (typeof it.ratio === "number")
        made.append(
            svg("circle", {
                cx: at(range, it.ratio),
                cy: HEIGHT / 2,
                r: 3.5,
                class: `mean ${it.verdict}`,
            }),
        );
    return made;
}
