// Charts of lines, points and distributions, drawn by uPlot on a canvas. A chart has a description in words, a legend with
// the names of its lines, and its figures as a table for readers who cannot see it.
import uPlot from "uplot";
import { element, visible, whenSeen } from "./dom";
import { format, type Unit } from "./format";
import type { Reading } from "./record";
import { names, table } from "./table";
import { colour, onTheme, seriesName } from "./theme";
import { rangeOf, ticksOf } from "./ticks";

export interface Axis {
    label: string;
    unit: Unit;
    log?: boolean;
    // Values that the axis must include besides the values of the lines.
    reach?: number[];
}

export interface Line {
    label: string;
    x: number[];
    y: Reading[];
    kind?: "line" | "points" | "steps" | "dashed" | "faint";
    // The name of a colour in style.css. By default the next colour of the series.
    colour?: string;
    legend?: boolean;
}

export interface Mark {
    at: number;
    label: string;
}

export interface Chart {
    // A description in words, for readers who cannot see the chart.
    label: string;
    x: Axis;
    y: Axis;
    lines: Line[];
    marks?: Mark[];
    // Two values of y between which the chart is shaded.
    band?: [number, number];
    level?: number;
    height?: number;
}

const FONT = "11px system-ui, sans-serif";

// The shortest text of a tick mark: "100 µs" and not "100.0 µs".
export function tickText(value: number, unit: Unit): string {
    return format(value, unit, 6)
        .replace(/(\.\d*?)0+(?=\D|$)/, "$1")
        .replace(/\.(?=\D|$)/, "");
}

function lineColour(line: Line, index: number): string {
    return line.colour ?? seriesName(index);
}

function axisOf(axis: Axis, side: 2 | 3, grid: boolean): uPlot.Axis {
    return {
        side,
        font: FONT,
        labelFont: FONT,
        label: axis.label,
        labelSize: 18,
        size: (_u, values) =>
            side === 2 ? 26 : 16 + 6.2 * Math.max(4, ...(values ?? []).map((it) => it.length)),
        stroke: () => colour("soft"),
        grid: { show: grid, stroke: () => colour("line"), width: 1 },
        ticks: { show: false },
        splits: (u, _axis, low, high) => {
            const room =
                side === 2
                    ? u.bbox.width / devicePixelRatio / 64
                    : u.bbox.height / devicePixelRatio / 28;
            const range = { low, high, log: axis.log === true };
            return ticksOf(range, Math.max(2, Math.floor(room)), axis.unit === "bytes");
        },
        filter: (_u, splits) => splits,
        values: (_u, splits) => splits.map((it) => tickText(it, axis.unit)),
    };
}

function seriesOf(line: Line, index: number): uPlot.Series {
    const name = lineColour(line, index);
    const points = line.kind === "points";
    const series: uPlot.Series = {
        label: line.label,
        stroke: () => colour(name),
        width: line.kind === "faint" ? 1 : 1.75,
        spanGaps: true,
        pxAlign: 0,
        points: { show: points, size: 5, fill: () => colour(name), stroke: () => colour(name) },
    };
    if (points) series.paths = () => null;
    if (line.kind === "dashed") series.dash = [5, 4];
    if (line.kind === "steps") {
        const stepped = uPlot.paths.stepped?.({ align: 1 });
        if (stepped !== undefined) series.paths = stepped;
        series.fill = () => colour(name, 0.2);
        series.width = 1;
    }
    return series;
}

function drawMarks(u: uPlot, chart: Chart): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    let free = Number.NEGATIVE_INFINITY;
    let row = 0;
    for (const mark of chart.marks ?? []) {
        const x = u.valToPos(mark.at, "x", true);
        if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
        ctx.strokeStyle = colour("ink");
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        const width = ctx.measureText(mark.label).width + 8 * devicePixelRatio;
        const flip = x + width > bbox.left + bbox.width;
        row = (flip ? x - width : x) < free ? row + 1 : 0;
        ctx.fillStyle = colour("ink");
        ctx.textAlign = flip ? "right" : "left";
        ctx.fillText(
            mark.label,
            x + (flip ? -4 : 4) * devicePixelRatio,
            bbox.top + (11 + 13 * row) * devicePixelRatio,
        );
        free = flip ? x : x + width;
    }
    ctx.restore();
}

function drawBack(u: uPlot, chart: Chart): void {
    const { ctx, bbox } = u;
    ctx.save();
    if (chart.band !== undefined) {
        const [top, bottom] = [
            u.valToPos(chart.band[1], "y", true),
            u.valToPos(chart.band[0], "y", true),
        ];
        ctx.fillStyle = colour("band");
        ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
    }
    if (chart.level !== undefined) {
        const y = u.valToPos(chart.level, "y", true);
        ctx.fillStyle = colour("soft");
        ctx.fillRect(bbox.left, y - devicePixelRatio / 2, bbox.width, devicePixelRatio);
    }
    ctx.restore();
}

function options(chart: Chart, width: number, readout: HTMLElement): uPlot.Options {
    const xs = rangeOf(
        [...chart.lines.flatMap((it) => it.x), ...(chart.x.reach ?? [])],
        chart.x.log === true,
    );
    const ys = rangeOf(
        [...chart.lines.flatMap((it) => it.y), ...(chart.y.reach ?? [])],
        chart.y.log === true,
    );
    if (!ys.log && chart.lines.some((it) => it.kind === "steps")) ys.low = 0;
    return {
        width,
        height: chart.height ?? 220,
        padding: [8, 12, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        scales: {
            x: { time: false, distr: xs.log ? 3 : 1, range: [xs.low, xs.high] },
            y: { distr: ys.log ? 3 : 1, range: [ys.low, ys.high] },
        },
        axes: [axisOf(chart.x, 2, false), axisOf(chart.y, 3, true)],
        series: [{}, ...chart.lines.map(seriesOf)],
        hooks: {
            drawClear: [(u) => drawBack(u, chart)],
            draw: [(u) => drawMarks(u, chart)],
            setCursor: [(u) => tell(u, chart, readout)],
        },
    };
}

// Shows the figures under the pointer in a line below the chart.
function tell(u: uPlot, chart: Chart, readout: HTMLElement): void {
    const at = u.cursor.idx;
    const x = at === null || at === undefined ? undefined : u.data[0][at];
    if (at === null || at === undefined || x === undefined) {
        readout.textContent = "\u00a0";
        return;
    }
    const values = chart.lines
        .map((line, index) => ({ line, value: u.data[index + 1]?.[at] }))
        .filter((it) => it.value !== null && it.value !== undefined && it.line.legend !== false)
        .slice(0, 8)
        .map((it) => `${visible(it.line.label, 40)} ${format(it.value, chart.y.unit)}`);
    readout.textContent = `${chart.x.label} ${format(x, chart.x.unit)}: ${values.join(", ")}`;
}

function aligned(chart: Chart): uPlot.AlignedData {
    const tables = chart.lines.map((line) => {
        const order = line.x.map((_, i) => i).sort((a, b) => (line.x[a] ?? 0) - (line.x[b] ?? 0));
        const usable = (value: Reading): number | null =>
            value === undefined || value === null || (chart.y.log === true && value <= 0)
                ? null
                : value;
        return [
            order.map((i) => line.x[i] ?? 0),
            order.map((i) => usable(line.y[i])),
        ] as uPlot.AlignedData;
    });
    return tables.length === 1 ? (tables[0] as uPlot.AlignedData) : uPlot.join(tables);
}

function paint(chart: Chart, into: HTMLElement, readout: HTMLElement): void {
    const width = (): number => Math.max(160, Math.floor(into.clientWidth));
    const made = new uPlot(options(chart, width(), readout), aligned(chart), into);
    new ResizeObserver(() => {
        if (made.width !== width()) made.setSize({ width: width(), height: chart.height ?? 220 });
    }).observe(into);
    onTheme(() => made.redraw());
}

function legendOf(chart: Chart): HTMLElement | null {
    const shown = chart.lines
        .map((line, index) => ({ line, index }))
        .filter((it) => it.line.legend !== false);
    if (shown.length < 2) return null;
    const list = element("ul", { class: "legend" });
    for (const { line, index } of shown) {
        const swatch = element("i", {
            class: `swatch ${lineColour(line, index)} ${line.kind ?? ""}`,
        });
        list.append(element("li", {}, swatch, visible(line.label, 80)));
    }
    return list;
}

// The table of the figures of a chart. It is made when the reader opens it.
function figuresOf(chart: Chart): HTMLElement {
    const details = element("details", {}, element("summary", {}, "Figures"));
    details.addEventListener(
        "toggle",
        () => {
            const rows = chart.lines.flatMap((line) =>
                line.x.map((x, i) => ({ label: line.label, x, y: line.y[i] })),
            );
            details.append(
                table(
                    rows,
                    [
                        names("line", (it) => it.label),
                        { title: chart.x.label, unit: chart.x.unit, value: (it) => it.x },
                        { title: chart.y.label, unit: chart.y.unit, value: (it) => it.y },
                    ],
                    { caption: chart.label, compact: true },
                ),
            );
        },
        { once: true },
    );
    return details;
}

// Makes a chart. Pass false for `figures` if a table beside the chart has the figures already.
export function chart(it: Chart, figures = true): HTMLElement {
    const canvas = element("div", { class: "plot", role: "img", "aria-label": visible(it.label) });
    canvas.style.minHeight = `${it.height ?? 220}px`;
    const readout = element("p", { class: "readout", "aria-hidden": "true" }, "\u00a0");
    const made = element("figure", { class: "chart" }, legendOf(it), canvas, readout);
    if (figures) made.append(figuresOf(it));
    whenSeen(canvas, () => paint(it, canvas, readout));
    return made;
}
