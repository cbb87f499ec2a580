// The page of a history (cli/history_page.c): each benchmark over time, its change points, and the first run after each
// change.
import { type Chart, chart } from "./chart";
import { element, visible, whenSeen } from "./dom";
import { format, unitOf, words } from "./format";
import { type Column, names, table } from "./table";

export interface Change {
    at: number;
    before: number;
    after: number;
}

// A series with its points as columns. The earliest point comes first.
export interface HistorySeries {
    benchmark: string;
    metric: string;
    unit: string;
    machine: string;
    changes: Change[];
    runs: number[];
    created: string[];
    commits: string[];
    branches: string[];
    values: number[];
}

export interface HistoryData {
    series: HistorySeries[];
    left_out: number;
}

interface Shown extends HistorySeries {
    index: number;
}

function day(created: string | undefined): string {
    return (created ?? "").slice(0, 10);
}

function moment(created: string | undefined): string {
    return (created ?? "").slice(0, 16).replace("T", " ");
}

// A run in words, such as "run 71, 2026-03-15 12:00, commit abc046000000 of topic".
function runText(series: HistorySeries, at: number): string {
    const commit = series.commits[at] ?? "";
    const branch = series.branches[at] ?? "";
    return [
        `run ${series.runs[at] ?? "?"}`,
        moment(series.created[at]),
        `${commit === "" ? "" : `commit ${commit.slice(0, 12)}`}${branch === "" ? "" : ` of ${branch}`}`.trim(),
    ]
        .filter((it) => it !== "")
        .join(", ");
}

function share(change: Change): number | null {
    return change.before > 0 ? change.after / change.before - 1 : null;
}

function shareText(change: Change): string {
    const value = share(change);
    return value === null ? "n/a" : `${value > 0 ? "+" : ""}${format(value, "share")}`;
}

function titleOf(series: HistorySeries): string {
    return `${series.benchmark}, ${words(series.metric)} on ${series.machine}`;
}

// The relative change in a table cell. Every metric of the history is a cost, so a rise is bad.
function changeCell(change: Change): HTMLElement {
    const cell = element("span", { class: change.after > change.before ? "worse" : "better" });
    cell.textContent = shareText(change);
    const value = share(change);
    if (value !== null) cell.dataset.value = String(value);
    return cell;
}

function median(values: number[]): number {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    const upper = sorted[middle] ?? 0;
    return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

// ---- one benchmark --------------------------------------------------------------------------------------------------

function picture(series: HistorySeries): Chart {
    const unit = unitOf(series.metric, series.unit);
    const count = series.values.length;
    const begins = [0, ...series.changes.map((it) => it.at)];
    const levels = begins.map((begin, i) => ({
        label: "level (median)",
        x: [begin + 0.5, (begins[i + 1] ?? count) + 0.5],
        y: ((value) => [value, value])(
            series.changes[i - 1]?.after ?? series.changes[0]?.before ?? median(series.values),
        ),
        kind: "line" as const,
        colour: "s2",
        legend: i === 0,
    }));
    return {
        label: `${titleOf(series)}: ${count} runs, ${series.changes.length} change points`,
        x: {
            label: `runs, ${day(series.created[0])} to ${day(series.created[count - 1])}`,
            unit: "number",
        },
        y: { label: words(series.metric), unit },
        lines: [
            {
                label: "runs",
                x: series.values.map((_, i) => i + 1),
                y: series.values,
                kind: "points",
                colour: "s1",
            },
            ...levels,
        ],
        marks: series.changes.map((it) => ({ at: it.at + 0.5, label: shareText(it) })),
    };
}

function changesOf(series: Shown): HTMLElement {
    const unit = unitOf(series.metric, series.unit);
    const columns: Column<Change>[] = [
        names("since", (it) => runText(series, it.at)),
        { title: "before", unit, key: "before", value: (it) => it.before },
        { title: "after", unit, key: "after", value: (it) => it.after },
        { title: "change", cell: changeCell },
    ];
    return table(series.changes, columns, {
        caption: `Change points of ${titleOf(series)}`,
        compact: true,
        path: (_, index) => `series/${series.index}/changes/${index}`,
    });
}

function show(series: Shown): HTMLElement {
    const title = `series-${series.index}-title`;
    const section = element("section", { id: `series-${series.index}`, "aria-labelledby": title });
    section.append(element("h2", { id: title }, visible(titleOf(series))));
    section.append(
        series.changes.length > 0
            ? changesOf(series)
            : element("p", { class: "note" }, "No change point: the level stayed the same."),
    );
    const hole = element("div", { class: "chart-place" });
    section.append(hole);
    whenSeen(section, () => hole.replaceWith(chart(picture(series))));
    return section;
}

// ---- all benchmarks -------------------------------------------------------------------------------------------------

function lastChange(series: Shown): Change | undefined {
    return series.changes[series.changes.length - 1];
}

function overview(all: Shown[]): HTMLElement {
    const columns: Column<Shown>[] = [
        {
            title: "benchmark",
            kind: "name",
            cell: (it) => element("a", { href: `#series-${it.index}` }, visible(it.benchmark)),
        },
        { title: "metric", text: (it) => words(it.metric) },
        { title: "machine", text: (it) => it.machine },
        { title: "runs", unit: "count", value: (it) => it.values.length },
        {
            title: "last",
            cell: (it) => {
                const last = it.values[it.values.length - 1] ?? 0;
                return element(
                    "span",
                    {
                        "data-value": last,
                        "data-path": `series/${it.index}/values/${it.values.length - 1}`,
                    },
                    format(last, unitOf(it.metric, it.unit)),
                );
            },
        },
        {
            title: "last change",
            cell: (it) => {
                const change = lastChange(it);
                return change === undefined ? element("span", {}, "none") : changeCell(change);
            },
        },
        {
            title: "since",
            text: (it) => {
                const change = lastChange(it);
                return change === undefined ? "" : runText(it, change.at);
            },
        },
    ];
    return table(all, columns, {
        caption: "Benchmarks over time",
        search: (it) => `${it.benchmark} ${it.metric} ${it.machine}`,
    });
}

export function history(data: HistoryData): { contents: HTMLElement; body: HTMLElement } {
    const all: Shown[] = data.series.map((it, index) => ({ ...it, index }));
    const changed = all.filter((it) => it.changes.length > 0);
    const body = element("main", { id: "main" });
    body.append(
        element(
            "header",
            {},
            element("p", { class: "kind" }, "history"),
            element("h1", { class: "title" }, "Runs over time"),
            element(
                "p",
                { class: "where" },
                `${all.length} benchmark${all.length === 1 ? "" : "s"}, ${changed.length} of them with change points`,
            ),
        ),
        overview(all),
    );
    if (data.left_out > 0)
        body.append(
            element(
                "p",
                { class: "note" },
                `${data.left_out} more are left out; choose by name, metric or machine.`,
            ),
        );
    const list = element("ul");
    for (const series of all) {
        body.append(show(series));
        list.append(
            element(
                "li",
                {},
                element("a", { href: `#series-${series.index}` }, visible(titleOf(series), 60)),
            ),
        );
    }
    return { contents: element("nav", { "aria-label": "Contents" }, list), body };
}
