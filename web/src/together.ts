// The view of several records side by side. The figures that differ most come first.
import { element, visible } from "./dom";
import { format, type Unit, unitOf, words } from "./format";
import { verdicts } from "./head";
import { ratioTable } from "./ratios";
import type { Difference, Entry, PageData, Reading, RunRecord } from "./record";
import { type Column, names, table } from "./table";
import { treeOf } from "./tree";
import { kindOf, shortNames, titleOf } from "./words";

interface Cell {
    value: number;
    path: string;
}

interface Row {
    name: string;
    unit: Unit;
    cells: Map<number, Cell>;
    spread: number;
}

const TOP: (keyof RunRecord & string)[] = [
    "wall_seconds",
    "user_seconds",
    "sys_seconds",
    "total_seconds",
    "peak_rss_bytes",
    "tree_peak_rss_bytes",
    "tree_peak_pss_bytes",
    "heap_peak_bytes",
    "heap_allocations",
    "energy_joules",
];

type Add = (name: string, unit: Unit, value: Reading, path: string) => void;

// Passes every figure of a record that other records may have too to `add`.
function collect(record: RunRecord, add: Add): void {
    for (const key of TOP) add(words(key), unitOf(key), record[key] as Reading, key);
    record.subjects?.forEach((it, i) => {
        add(`${it.name}, mean`, "seconds", it.mean_seconds, `subjects/${i}/mean_seconds`);
    });
    record.figures?.forEach((it, i) => {
        const of = it.of === null ? "" : `${it.of}, `;
        add(`${of}${words(it.name)}`, unitOf(it.name, it.unit), it.value, `figures/${i}/value`);
    });
    record.models?.forEach((it, i) => {
        add(`${it.name}, parameters`, "count", it.parameters, `models/${i}/parameters`);
    });
    for (const node of treeOf(record.operations ?? [])) {
        const path = `operations/${node.index}`;
        add(`${node.path}, total`, "seconds", node.it.total_seconds, `${path}/total_seconds`);
    }
}

function rowsOf(entries: Entry[]): Row[] {
    const rows = new Map<string, Row>();
    for (const entry of entries) {
        collect(entry.record, (name, unit, value, path) => {
            if (typeof value !== "number") return;
            const row = rows.get(name) ?? { name, unit, cells: new Map(), spread: 0 };
            if (!row.cells.has(entry.index)) row.cells.set(entry.index, { value, path });
            rows.set(name, row);
        });
    }
    const shared = [...rows.values()].filter((it) => it.cells.size > 1);
    for (const row of shared) {
        const values = [...row.cells.values()].map((it) => Math.abs(it.value));
        const low = values.reduce((a, b) => Math.min(a, b));
        const high = values.reduce((a, b) => Math.max(a, b));
        row.spread = high === low ? 1 : low > 0 ? high / low : Number.POSITIVE_INFINITY;
    }
    return shared.sort((a, b) => b.spread - a.spread);
}

function figureMatrix(entries: Entry[]): HTMLElement | null {
    const rows = rowsOf(entries);
    if (rows.length === 0) return null;
    const short = shortNames(entries.map((it) => it.about.origin));
    const columns: Column<Row>[] = [
        names<Row>("figure", (it) => it.name),
        ...entries.map(
            (entry): Column<Row> => ({
                title: visible(short[entry.index] ?? "", 60),
                kind: "picture",
                header: () =>
                    element("span", { class: "figure" }, visible(short[entry.index] ?? "", 60)),
                cell: (row) => {
                    const found = row.cells.get(entry.index);
                    if (found === undefined)
                        return element("span", { class: "figure missing" }, "n/a");
                    return element(
                        "span",
                        {
                            class: "figure",
                            "data-value": String(found.value),
                            "data-path": found.path,
                            "data-record": entry.index,
                        },
                        format(found.value, row.unit),
                    );
                },
            }),
        ),
        {
            title: "largest over smallest",
            unit: "ratio",
            value: (it) => (Number.isFinite(it.spread) ? it.spread : null),
        },
    ];
    return table(rows, columns, { caption: "Figures side by side", search: (it) => it.name });
}

function differences(all: Difference[]): HTMLElement | null {
    if (all.length === 0) return null;
    return table(
        all,
        [
            names<Difference>("what differs", (it) => it.what),
            { title: "baseline", kind: "prose", text: (it) => it.baseline ?? "n/a" },
            { title: "candidate", kind: "prose", text: (it) => it.candidate ?? "n/a" },
            { title: "in", kind: "name", text: (it) => it.candidate_origin ?? "" },
        ],
        { caption: "What differs besides the code", search: (it) => it.what },
    );
}

// A table that describes each record, with a link to it.
function overview(entries: Entry[]): HTMLElement {
    const short = shortNames(entries.map((it) => it.about.origin));
    return table(
        entries,
        [
            {
                title: "record",
                kind: "name",
                cell: (it) =>
                    element(
                        "a",
                        { href: `#record-${it.index}` },
                        visible(short[it.index] ?? "", 80),
                    ),
            },
            { title: "what", text: (it) => kindOf(it.record) },
            { title: "of", kind: "name", text: (it) => titleOf(it.record, it.about.origin) },
            { title: "when", text: (it) => it.record.created ?? "" },
        ],
        { caption: "Records" },
    );
}

// Whether all records are of the same kind. Otherwise their figures are not worth a comparison.
function areAlike(entries: Entry[]): boolean {
    const kinds = new Set(entries.map((it) => `${it.record.kind}|${it.record.study ?? ""}`));
    return kinds.size === 1;
}

export function together(data: PageData, entries: Entry[]): HTMLElement {
    const { comparison } = data;
    const into = element("article", { id: "together", "aria-labelledby": "together-title" });
    into.append(
        element(
            "header",
            {},
            element("p", { class: "kind" }, `${entries.length} records side by side`),
            element(
                "h1",
                { id: "together-title", class: "title" },
                comparison !== null || areAlike(entries) ? "What differs" : "Records",
            ),
            comparison === null
                ? element(
                      "p",
                      { class: "where" },
                      "The records have no benchmark in common, so there is no verdict between them.",
                  )
                : null,
            comparison !== null ? verdicts(comparison.comparisons ?? []) : null,
        ),
    );
    const section = (title: string, part: HTMLElement | null): void => {
        if (part === null) return;
        into.append(element("section", {}, element("h2", {}, title), part));
    };
    section(
        "Besides the code",
        comparison === null ? null : differences(comparison.differences ?? []),
    );
    if ((comparison?.comparisons?.length ?? 0) > 0 && comparison !== null) {
        const part = ratioTable(comparison);
        // The paths in this table refer to the comparison, which is not a record of the page.
        part.dataset.record = "comparison";
        section("Comparisons with the first record", part);
    }
    if (comparison !== null || areAlike(entries))
        section("Figures side by side, the largest difference first", figureMatrix(entries));
    section("Records", overview(entries));
    return into;
}
