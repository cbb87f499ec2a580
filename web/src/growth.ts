// The view of growth: times over sizes on two logarithmic axes, with the fitted class of each series.
import { type Chart, chart, type Line } from "./chart";
import { element, visible } from "./dom";
import type { Entry, Growth, GrowthClass, Scaling, Sweep } from "./record";
import { figures, names, present, table } from "./table";
import { seriesName } from "./theme";
import type { View } from "./view";

const CURVE = 40;

const SHAPES: { [name: string]: (n: number, exponent: number) => number } = {
    "1": () => 1,
    "log n": (n) => Math.log(n),
    n: (n) => n,
    "n log n": (n) => n * Math.log(n),
    "n^2": (n) => n * n,
    "n^3": (n) => n * n * n,
    power: (n, exponent) => n ** exponent,
};

function chosen(growth: Growth): GrowthClass | undefined {
    return growth.classes?.find((it) => it.class === growth.class);
}

export function curveOf(growth: Growth): { x: number[]; y: number[] } | null {
    const sizes = growth.sizes ?? [];
    const [first, last] = [sizes[0]?.n, sizes[sizes.length - 1]?.n];
    const fit = chosen(growth);
    const shape = SHAPES[growth.class ?? ""];
    if (first === undefined || last === undefined || fit === undefined || shape === undefined)
        return null;
    const x = Array.from({ length: CURVE }, (_, i) => first * (last / first) ** (i / (CURVE - 1)));
    const exponent = fit.exponent ?? growth.exponent ?? 1;
    const y = x.map(
        (n) => (fit.overhead_seconds ?? 0) + (fit.coefficient ?? 0) * shape(n, exponent),
    );
    return { x, y };
}

function label(growth: Growth): string {
    return visible(growth.name !== undefined && growth.name !== "" ? growth.name : "time", 80);
}

function picture(sweep: Sweep, parameter: string): HTMLElement {
    const lines: Line[] = sweep.series.slice(0, 6).flatMap((growth, index) => {
        const colour = seriesName(index);
        const sizes = growth.sizes ?? [];
        const curve = curveOf(growth);
        const points: Line = {
            label: `${label(growth)}: ${growth.class ?? "no class"}`,
            x: sizes.map((it) => it.n),
            y: sizes.map((it) => it.median_seconds),
            kind: "points",
            colour,
        };
        const fitted: Line[] =
            curve === null ? [] : [{ label: "fitted", ...curve, colour, legend: false }];
        return [...fitted, points];
    });
    const spec: Chart = {
        label: `Median times over ${parameter} on logarithmic axes, with the fitted classes: ${sweep.series.map((it) => `${label(it)} grows as ${it.class ?? "no known class"}`).join("; ")}.`,
        x: { label: parameter, unit: "number", log: true },
        y: { label: "time", unit: "seconds", log: true },
        lines,
        height: 260,
    };
    return chart(spec, false);
}

function classesOf(growth: Growth): HTMLElement {
    return element(
        "details",
        {},
        element("summary", {}, `All classes for ${label(growth)}`),
        table(
            growth.classes ?? [],
            [
                names<GrowthClass>("class", (it) => it.class),
                figures("probability", "probability", "share"),
                figures("p of the fit", "p_value", "number"),
                figures("relative error", "relative_error", "share"),
                { title: "fit", text: (it) => (it.rejected === true ? "rejected" : "") },
            ],
            { caption: `Classes for ${label(growth)}`, compact: true },
        ),
        table(
            growth.sizes ?? [],
            [
                { title: "n", unit: "number", value: (it) => it.n },
                figures("median", "median_seconds", "seconds"),
                figures("fitted", "fitted_seconds", "seconds"),
                figures("values", "values", "count"),
            ],
            { caption: `Sizes of ${label(growth)}`, compact: true },
        ),
    );
}

function sweepPart(sweep: Sweep, into: HTMLElement): void {
    const parameter = visible(sweep.about.parameter ?? "n", 60);
    into.append(element("h3", {}, `Over ${parameter}`));
    into.append(
        element(
            "div",
            { class: "beside" },
            picture(sweep, parameter),
            element(
                "div",
                {},
                table(
                    sweep.series,
                    present(sweep.series, [
                        names<Growth>("series", label),
                        { title: "class", text: (it) => it.class ?? "none" },
                        figures("exponent", "exponent", "ratio"),
                        figures("from", "low", "ratio"),
                        figures("to", "high", "ratio"),
                        figures("noise", "noise", "share"),
                        {
                            title: "conclusive",
                            kind: "prose",
                            text: (it) => (it.conclusive ? "yes" : `no: ${it.reason ?? ""}`),
                        },
                    ]),
                    { caption: `Growth over ${parameter}` },
                ),
                ...sweep.series.slice(0, 6).map(classesOf),
            ),
        ),
    );
}

function scalingTable(scalings: Scaling[]): HTMLElement {
    return table(
        scalings,
        present(scalings, [
            names<Scaling>("grows with", (it) => it.name),
            { title: "of", text: (it) => it.of ?? "" },
            { title: "class", text: (it) => it.growth_class ?? "none fits" },
            figures("exponent", "exponent", "ratio"),
            figures("from", "low", "ratio"),
            figures("to", "high", "ratio"),
            { title: "conclusive", text: (it) => (it.conclusive === true ? "yes" : "no") },
        ]),
        { caption: "Scalings of the record", path: (_, index) => `scalings/${index}` },
    );
}

function render(entry: Entry, into: HTMLElement): void {
    const scalings = entry.record.scalings ?? [];
    if (scalings.length > 0) into.append(scalingTable(scalings));
    if (scalings.length > 0 && entry.growths.length > 0)
        into.append(
            element(
                "p",
                { class: "note" },
                "The table above is what the record says. The curves below are fitted to all samples of the benchmarks, as assay report --plot growth does.",
            ),
        );
    for (const sweep of entry.growths) sweepPart(sweep, into);
}

export const growth: View = {
    id: "growth",
    title: "Growth",
    applies: (entry) => entry.growths.length > 0 || (entry.record.scalings?.length ?? 0) > 0,
    render,
};
