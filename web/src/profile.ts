// The view of profiles of models: the roofline, memory by use, and FLOPs by component under each convention.
import { type Chart, chart, type Line } from "./chart";
import { element, svg, visible } from "./dom";
import { format } from "./format";
import type { Entry, Flops, Model, Reading, RunRecord } from "./record";
import { type Column, figures, names, present, table } from "./table";
import { seriesName } from "./theme";
import type { View } from "./view";

function figure(record: RunRecord, name: string, of: string | null): Reading {
    return record.figures?.find((it) => it.name === name && it.of === of)?.value;
}

interface Pass {
    name: string;
    intensity: number;
    rate: number;
    share: Reading;
    roof: Reading;
}

function passesOf(record: RunRecord): Pass[] {
    return (record.figures ?? []).flatMap((it) => {
        if (it.name !== "flops_per_second" || it.of === null) return [];
        const intensity = figure(record, "flops_per_byte", it.of);
        if (typeof it.value !== "number" || typeof intensity !== "number") return [];
        return [
            {
                name: it.of,
                intensity,
                rate: it.value,
                share: figure(record, "share_of_peak", it.of),
                roof: figure(record, "roof_flops_per_second", it.of),
            },
        ];
    });
}

function roofline(record: RunRecord, into: HTMLElement): void {
    const passes = passesOf(record);
    if (passes.length === 0) return;
    const peak = figure(record, "peak_flops_per_second", null);
    const bandwidth = figure(record, "peak_bytes_per_second", null);
    const roofed = typeof peak === "number" && typeof bandwidth === "number" && bandwidth > 0;
    const lines: Line[] = passes.map((it, index) => ({
        label: it.name,
        x: [it.intensity],
        y: [it.rate],
        kind: "points",
        colour: seriesName(index),
    }));
    if (roofed) {
        const ridge = peak / bandwidth;
        const low = Math.min(ridge / 4, ...passes.map((it) => it.intensity / 2));
        const high = Math.max(ridge * 4, ...passes.map((it) => it.intensity * 2));
        lines.unshift({
            label: "measured peak of the machine",
            x: [low, ridge, high],
            y: [low * bandwidth, peak, peak],
            colour: "soft",
        });
    }
    const spec: Chart = {
        label: "Roofline: FLOPs a second of each pass over FLOPs a byte, on logarithmic axes.",
        x: { label: "FLOPs a byte", unit: "number", log: true },
        y: { label: "FLOP/s", unit: "flops", log: true },
        lines,
        height: 260,
    };
    const columns: Column<Pass>[] = present(passes, [
        names<Pass>("pass", (it) => it.name),
        figures("FLOP/s", "rate", "flops"),
        figures("FLOPs a byte", "intensity", "number"),
        figures("share of the roof", "share", "share"),
        figures("roof", "roof", "flops"),
    ]);
    into.append(
        element("h3", {}, "Roofline"),
        element(
            "div",
            { class: "beside" },
            chart(spec, false),
            element(
                "div",
                {},
                table(passes, columns, { caption: "Passes under the roof" }),
                roofed
                    ? null
                    : element(
                          "p",
                          { class: "note" },
                          "The peak of the machine was not measured, so there is no roof: assay doctor --measure.",
                      ),
            ),
        ),
    );
}

const USES: [keyof Model & string, string][] = [
    ["parameter_bytes", "parameters"],
    ["gradient_bytes", "gradients"],
    ["optimizer_bytes", "optimizer"],
    ["activation_bytes", "activations"],
    ["workspace_bytes", "workspace"],
];

function memoryBar(model: Model, largest: number): SVGSVGElement {
    const made = svg("svg", {
        class: "strip",
        width: 300,
        height: 18,
        viewBox: "0 0 300 18",
        role: "img",
        "aria-label": `Memory of ${visible(model.name, 60)} by use`,
    });
    let at = 0;
    USES.forEach(([key, name], index) => {
        const bytes = model[key];
        if (typeof bytes !== "number" || bytes <= 0) return;
        const width = (bytes / largest) * 300;
        const part = svg("rect", {
            x: at.toFixed(2),
            y: 2,
            width: Math.max(0.5, width - 0.5).toFixed(2),
            height: 14,
            class: `fill ${seriesName(index)}`,
        });
        part.append(svg("title", {}, `${name}: ${format(bytes, "bytes")}`));
        made.append(part);
        at += width;
    });
    return made;
}

function totalBytes(model: Model): number {
    return USES.reduce((sum, [key]) => sum + ((model[key] as Reading) ?? 0), 0);
}

function models(record: RunRecord, into: HTMLElement): void {
    const all = record.models ?? [];
    const largest = Math.max(1, ...all.map(totalBytes));
    const drawn = all.some((it) => totalBytes(it) > 0);
    const columns: Column<Model>[] = [
        names<Model>("model", (it) => it.name),
        { title: "class", text: (it) => it.class_name ?? "" },
        figures("parameters", "parameters", "count"),
        ...(drawn
            ? [
                  {
                      title: "memory by use",
                      kind: "picture" as const,
                      cell: (it: Model) => memoryBar(it, largest),
                  },
              ]
            : []),
        ...USES.map(([key, name]) =>
            figures<Model>(name === "parameters" ? "of parameters" : name, key, "bytes"),
        ),
    ];
    into.append(
        element("h3", {}, drawn ? "Memory by use" : "Models"),
        table(all, present(all, columns), {
            caption: "Models",
            path: (_, index) => `models/${index}`,
        }),
    );
    if (!drawn) return;
    const legend = element("ul", { class: "legend" });
    USES.forEach(([, name], index) => {
        legend.append(
            element("li", {}, element("i", { class: `swatch ${seriesName(index)}` }), name),
        );
    });
    into.append(legend);
}

interface ComponentRow {
    component: string;
    by: Map<string, { it: Flops; index: number }>;
}

function flopsOf(model: Model, at: number, into: HTMLElement): void {
    const flops = model.flops ?? [];
    if (flops.length === 0) return;
    const conventions = [...new Set(flops.map((it) => it.convention))];
    const rows = new Map<string, ComponentRow>();
    flops.forEach((it, index) => {
        const row = rows.get(it.component) ?? { component: it.component, by: new Map() };
        row.by.set(it.convention, { it, index });
        rows.set(it.component, row);
    });
    const all = [...rows.values()];
    const lead = conventions[0] ?? "";
    const most = Math.max(1, ...all.map((row) => row.by.get(lead)?.it.forward ?? 0));
    const columns: Column<ComponentRow>[] = [
        names<ComponentRow>("component", (row) => row.component),
        {
            title: `forward, ${lead}`,
            kind: "picture",
            cell: (row) => bar((row.by.get(lead)?.it.forward ?? 0) / most, row.component),
        },
        ...conventions.flatMap((convention) =>
            (["forward", "backward"] as const).map(
                (pass): Column<ComponentRow> => ({
                    title: `${pass}, ${convention}`,
                    kind: "picture",
                    cell: (row) => flopCell(row, convention, pass, at),
                    header: () =>
                        element("span", { class: "figure" }, visible(`${pass}, ${convention}`, 60)),
                }),
            ),
        ),
    ];
    into.append(
        element(
            "h3",
            {},
            `FLOPs of ${visible(model.name, 80)} by component, under each convention`,
        ),
        totals(all, conventions, lead),
        table(all, columns, {
            caption: `FLOPs of ${visible(model.name, 80)}`,
            search: (row) => row.component,
        }),
    );
}

function flopCell(
    row: ComponentRow,
    convention: string,
    pass: "forward" | "backward",
    model: number,
): HTMLElement {
    const found = row.by.get(convention);
    const value = found?.it[pass];
    const cell = element("span", { class: "figure" }, format(value, "flops"));
    if (typeof value === "number" && found !== undefined) {
        cell.dataset.value = String(value);
        cell.dataset.path = `models/${model}/flops/${found.index}/${pass}`;
    }
    return cell;
}

function bar(share: number, label: string): SVGSVGElement {
    const made = svg("svg", {
        class: "strip",
        width: 120,
        height: 14,
        viewBox: "0 0 120 14",
        role: "img",
        "aria-label": `${visible(label, 60)}: ${format(share, "share")} of the largest`,
    });
    made.append(
        svg("rect", { x: 0, y: 2, width: (share * 120).toFixed(2), height: 10, class: "fill s1" }),
    );
    return made;
}

function totals(rows: ComponentRow[], conventions: string[], lead: string): HTMLElement {
    const list = element("dl", { class: "tiles" });
    for (const convention of conventions) {
        const sum = (pass: "forward" | "backward"): number =>
            rows.reduce((total, row) => total + (row.by.get(convention)?.it[pass] ?? 0), 0);
        const [forward, backward] = [sum("forward"), sum("backward")];
        list.append(
            element(
                "div",
                {},
                element("dt", {}, visible(convention, 40)),
                element(
                    "dd",
                    { "data-value": String(forward), class: convention === lead ? "lead" : "" },
                    `${format(forward, "flops")} forward, ${format(backward, "flops")} backward`,
                ),
            ),
        );
    }
    return list;
}

function render(entry: Entry, into: HTMLElement): void {
    roofline(entry.record, into);
    if ((entry.record.models?.length ?? 0) > 0) models(entry.record, into);
    entry.record.models?.forEach((it, index) => {
        flopsOf(it, index, into);
    });
}

export const profile: View = {
    id: "models",
    title: "Models",
    applies: (entry) => (entry.record.models?.length ?? 0) > 0 || passesOf(entry.record).length > 0,
    render,
};
