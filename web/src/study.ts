// The view of studies: their series as charts, and their figures as tables.
//
// Series in one chart have the same axis and the same positions along it. They also have the same name (such as the loss of
// each model), or they are of the same thing (such as the true and the recovered conductivity). "MLP on saddle" means the
// model MLP on the task saddle; each task has a chart of its own.
import { type Chart, chart, type Line } from "./chart";
import { element, visible } from "./dom";
import { format, type Unit, unitOf, words } from "./format";
import type { Figure, Series } from "./record";
import { isMapSeries, routeMap } from "./routes";
import { type Column, names, table } from "./table";
import type { View } from "./view";

interface Picture {
    title: string;
    along: string;
    unit: Unit;
    log: boolean;
    lines: Line[];
}

const ENDINGS = /^(.*)_(true|recovered|truth|forecast|solution|predicted)$/;
const ROLES: { [ending: string]: string } = { truth: "truth", true: "true" };

function isError(name: string): boolean {
    return /loss|error/.test(name);
}

// The chart to which a series belongs (its key and title), and the label of the line in it.
function roleOf(it: Series): { key: string; title: string; label: string } {
    const ending = ENDINGS.exec(it.name);
    const where = it.along ?? "";
    if (ending !== null) {
        const role = ROLES[ending[2] ?? ""] ?? ending[2] ?? "";
        const of = ending[2] === "forecast" && it.of !== null ? `${role}, ${it.of}` : role;
        return { key: `${ending[1]}|${where}`, title: words(ending[1] ?? it.name), label: of };
    }
    const task = / on (.+)$/.exec(it.of ?? "")?.[1];
    if (task !== undefined) {
        const model = (it.of ?? "").slice(0, -(task.length + 4));
        return {
            key: `${it.name}|${where}|${task}`,
            title: `${words(it.name)}, ${task}`,
            label: model,
        };
    }
    if (where === "epoch" && /loss$/.test(it.name))
        return {
            key: `loss|${where}`,
            title: "loss",
            label:
                it.name === "loss" ? (it.of ?? "loss") : `${it.of ?? ""} ${words(it.name)}`.trim(),
        };
    if (unitOf(it.name, it.unit) === "bytes" && it.of === null)
        return {
            key: `bytes|${where}`,
            title: `memory over ${words(where)}`,
            label: words(it.name),
        };
    return { key: `${it.name}|${where}`, title: words(it.name), label: it.of ?? words(it.name) };
}

function lineOf(it: Series, label: string): Line {
    const x = it.places ?? it.values.map((_, i) => i + 1);
    const role = ENDINGS.exec(it.name)?.[2];
    const line: Line = { label, x, y: it.values };
    if (role === "true" || role === "truth") line.colour = "ink";
    if (role === "true" || role === "truth") line.kind = "dashed";
    else if (x.length <= 8 && it.along === "x") line.kind = "line";
    return line;
}

export function picturesOf(series: Series[]): Picture[] {
    const found = new Map<string, Picture>();
    for (const it of series) {
        // Shapes are not worth a chart, and the view of growth already shows medians over a size.
        if (it.along === "dimension" || it.name === "median_seconds") continue;
        if (isMapSeries(it) || it.values.length < 2) continue;
        const { key, title, label } = roleOf(it);
        const unit = unitOf(it.name, it.unit);
        const picture = found.get(key) ?? {
            title,
            along: it.along ?? "position",
            unit,
            log: isError(it.name) || unit === "bytes",
            lines: [],
        };
        picture.lines.push(lineOf(it, visible(label, 60)));
        found.set(key, picture);
    }
    // True values are drawn last, above the lines that should meet them. Charts of losses and errors, which have a
    // logarithmic axis, come first.
    const all = [...found.values()];
    for (const it of all)
        it.lines.sort((a, b) => Number(a.kind === "dashed") - Number(b.kind === "dashed"));
    return [...all.filter((it) => it.log), ...all.filter((it) => !it.log)];
}

function draw(it: Picture): HTMLElement {
    const sized = /num|nodes|layers|dim|batch-size/.test(it.along);
    const spec: Chart = {
        label: `${it.title} along ${words(it.along)}: ${it.lines.map((line) => line.label).join(", ")}.`,
        x: { label: words(it.along), unit: "number", log: sized },
        y: { label: it.title.replace(/,.*| over .*/, ""), unit: it.unit, log: it.log || sized },
        lines: it.lines.slice(0, 12),
        height: 190,
    };
    return element("div", {}, element("h3", {}, it.title), chart(spec));
}

interface Row {
    name: string;
    figures: Map<string, { it: Figure; index: number }>;
    covers: string;
}

// A table of figures with a row for each name and a column for each model.
function matrix(all: Figure[]): HTMLElement {
    const columns = [...new Set(all.map((it) => it.of ?? ""))];
    const rows = new Map<string, Row>();
    const repeated = new Map<string, number>();
    all.forEach((it, index) => {
        const name = it.name;
        const of = it.of ?? "";
        const count = (repeated.get(`${name}|${of}`) ?? 0) + 1;
        repeated.set(`${name}|${of}`, count);
        const key = count === 1 ? name : `${name} (${count})`;
        const row = rows.get(key) ?? { name: key, figures: new Map(), covers: "" };
        row.figures.set(of, { it, index });
        if (it.covers !== undefined) row.covers = it.covers;
        rows.set(key, row);
    });
    const listed = [...rows.values()];
    if (columns.length > 14) return list(all);
    const cells: Column<Row>[] = [
        names<Row>("figure", (row) => words(row.name)),
        ...columns.map(
            (of): Column<Row> => ({
                title: of === "" ? "all" : of,
                kind: "picture",
                header: () =>
                    element("span", { class: "figure" }, visible(of === "" ? "value" : of, 60)),
                cell: (row) => figureText(row.figures.get(of)),
            }),
        ),
    ];
    if (listed.some((row) => row.covers !== ""))
        cells.push({ title: "covers", kind: "prose", text: (row) => row.covers });
    return table(listed, cells, { caption: "Figures", search: (row) => row.name });
}

function figureText(found: { it: Figure; index: number } | undefined): HTMLElement {
    if (found === undefined) return element("span", { class: "figure missing" }, "");
    const { it, index } = found;
    const unit = unitOf(it.name, it.unit);
    const value = format(it.value, unit);
    const known = it.value !== null && it.value !== undefined;
    const told =
        known && unit === "number" && it.unit !== null ? `${value} ${visible(it.unit, 20)}` : value;
    const cell = element("span", { class: known ? "figure" : "figure missing" }, told);
    if (known) {
        cell.dataset.value = String(it.value);
        cell.dataset.path = `figures/${index}/value`;
    } else if (it.unavailable?.value !== undefined) cell.title = it.unavailable.value;
    return cell;
}

function list(all: Figure[]): HTMLElement {
    const rows = all.map((it, index) => ({ it, index }));
    return table(
        rows,
        [
            names("figure", (row) => words(row.it.name)),
            { title: "of", text: (row) => row.it.of ?? "" },
            { title: "value", kind: "picture", cell: (row) => figureText(row) },
            { title: "covers", kind: "prose", text: (row) => row.it.covers ?? "" },
        ],
        { caption: "Figures", search: (row) => `${row.it.name} ${row.it.of ?? ""}` },
    );
}

const OF_THE_PROFILE = /^(flops_per|peak_flops|peak_bytes_per|share_of_peak|roof_flops|left_out)/;

export const pictures: View = {
    id: "pictures",
    title: "Series",
    applies: ({ record }) =>
        picturesOf(record.series ?? []).length > 0 || (record.series ?? []).some(isMapSeries),
    render: ({ record }, into) => {
        const series = record.series ?? [];
        const map = routeMap(series);
        if (map !== null) into.append(map);
        const grid = element("div", { class: "grid" });
        for (const it of picturesOf(series)) grid.append(draw(it));
        into.append(grid);
    },
};

export const figuresView: View = {
    id: "figures",
    title: "Figures",
    applies: ({ record }) => (record.figures ?? []).length > 0,
    render: ({ record }, into) => {
        const all = record.figures ?? [];
        const plain = all.some((it) => OF_THE_PROFILE.test(it.name));
        into.append(plain ? list(all) : matrix(all));
    },
};
