// The head of a record: what was measured, on which machine and when, and the verdicts in words.
import { element, visible } from "./dom";
import { format, type Unit, unitOf, words } from "./format";
import type { Comparison, Entry, Facts, Reading, RunRecord } from "./record";
import { facts } from "./table";
import { kindOf, titleOf, verdictSentence } from "./words";

const TILES: (keyof RunRecord & string)[] = [
    "wall_seconds",
    "total_seconds",
    "user_seconds",
    "sys_seconds",
    "peak_rss_bytes",
    "tree_peak_rss_bytes",
    "tree_peak_pss_bytes",
    "heap_peak_bytes",
    "heap_allocations",
    "energy_joules",
];
const TILE_NAMES: { [key: string]: string } = {
    total_seconds: "in spans",
    tree_peak_rss_bytes: "peak of the tree",
    tree_peak_pss_bytes: "tree, shared once",
};

// The lower and upper bound of a figure; null if the record has none.
function bounds(record: RunRecord, key: string, unit: Unit): HTMLElement | null {
    const [low, high] = ["low", "high"].map(
        (end) => record[`${key}_${end}` as keyof RunRecord] as Reading,
    );
    if (typeof low !== "number" || typeof high !== "number") return null;
    const end = (name: string, value: number): HTMLElement =>
        element(
            "span",
            { "data-value": String(value), "data-path": `${key}_${name}` },
            format(value, unit),
        );
    return element("dd", { class: "bounds" }, end("low", low), " \u2026 ", end("high", high));
}

function tile(name: string, value: Reading, unit: Unit, path: string): HTMLElement {
    const figure = element("dd", { "data-value": String(value), "data-path": path });
    figure.textContent = format(value, unit);
    return element("div", {}, element("dt", {}, name), figure);
}

function tiles(record: RunRecord): HTMLElement | null {
    const list = element("dl", { class: "tiles" });
    for (const key of TILES) {
        const value = record[key] as Reading;
        if (value === null || value === undefined) continue;
        const made = tile(TILE_NAMES[key] ?? words(key), value, unitOf(key), key);
        made.append(bounds(record, key, unitOf(key)) ?? "");
        list.append(made);
    }
    return list.childElementCount > 0 ? list : null;
}

function known(value: unknown): string | undefined {
    return value === null || value === undefined || typeof value === "object"
        ? undefined
        : visible(String(value), 80);
}

function where(machine: Facts): string {
    const parts: string[] = [];
    const cores = known(machine.cores);
    for (const text of [known(machine.hostname), known(machine.cpu)]) {
        if (text !== undefined) parts.push(text);
    }
    if (cores !== undefined) parts.push(`${cores} ${cores === "1" ? "core" : "cores"}`);
    const memory = machine.memory_bytes;
    if (typeof memory === "number") parts.push(format(memory, "bytes", 3));
    for (const text of [known(machine.os), known(machine.virtualization)]) {
        if (text !== undefined && text !== "none") parts.push(text);
    }
    return parts.join(" \u00b7 ");
}

function when(record: RunRecord): string {
    const stamp = known(record.created)?.replace("T", " ").replace(/Z$/, " UTC");
    const commit = known(record.git?.commit)?.slice(0, 12);
    const branch = known(record.git?.branch);
    return [
        stamp,
        commit !== undefined
            ? `commit ${commit}${branch !== undefined ? ` of ${branch}` : ""}`
            : "",
        record.assay_version !== null && record.assay_version !== undefined
            ? `assay ${visible(record.assay_version, 40)}`
            : "",
    ]
        .filter((it) => it !== undefined && it !== "")
        .join(" \u00b7 ");
}

function entriesOf(group: Facts | undefined): [string, string | number | boolean | null][] {
    return Object.entries(group ?? {})
        .filter(([key]) => key !== "unavailable")
        .map(([key, value]) => [
            key.replace(/_/g, " "),
            typeof value === "object" && value !== null ? JSON.stringify(value) : value,
        ]);
}

function conditions(record: RunRecord): HTMLElement | null {
    const groups: [string, Facts | undefined][] = [
        ["Settings", record.settings],
        ["Machine", record.machine],
        ["Build", record.build],
        ["Source", record.git],
        ["Clock", record.clock],
    ];
    const details = element("details", { class: "conditions" });
    details.append(element("summary", {}, "Settings, machine and build"));
    let found = false;
    for (const [name, group] of groups) {
        const entries = entriesOf(group);
        if (entries.length === 0) continue;
        found = true;
        details.append(element("h3", {}, name), facts(entries, name));
    }
    return found ? details : null;
}

export function verdictMark(verdict: string): HTMLElement {
    return element("span", { class: `verdict ${verdict}`, "data-verdict": verdict }, verdict);
}

const SENTENCES = 6;

// The leading comparisons, each as a sentence with its reason below. If there are many, the reader can unfold the others.
export function verdicts(comparisons: Comparison[]): HTMLElement | null {
    const leading = comparisons.filter((it) => it.beside !== true);
    if (leading.length === 0) return null;
    const items = leading.map((it) =>
        element(
            "li",
            {},
            verdictMark(it.verdict),
            element(
                "div",
                {},
                verdictSentence(it),
                typeof it.reason === "string"
                    ? element("p", { class: "reason" }, visible(it.reason, 600))
                    : null,
            ),
        ),
    );
    const list = element("ul", { class: "verdicts", "aria-label": "Verdicts" });
    list.append(...items.slice(0, SENTENCES));
    if (items.length <= SENTENCES) return list;
    const rest = element("ul", { class: "verdicts", "aria-label": "Further verdicts" });
    rest.append(...items.slice(SENTENCES));
    const more = element(
        "details",
        {},
        element("summary", {}, `${items.length - SENTENCES} further verdicts`),
        rest,
    );
    return element("div", {}, list, more);
}

const LOSSES: { [key: string]: string } = {
    dropped_spans: "spans had no room for their operation",
    dropped_events: "events were overwritten in the bounded trace",
    mismatched_ends: "spans ended without a begin, or out of order",
    abandoned_spans: "spans never ended while an enclosing one did",
    torn_operations: "operations were being updated when the journal was read",
    unreadable_journals: "journals could not be read",
    full_journals: "journals could not grow: the disk was full",
    displaced_spans: "spans were counted in a neighbouring bucket",
    dropped_metrics: "blocks count in their operation but were not recorded one by one",
};

// A list of what could not be recorded; null if nothing was lost.
function losses(record: RunRecord): HTMLElement | null {
    const list = element("ul", { class: "losses" });
    for (const [key, value] of Object.entries(record.integrity ?? {})) {
        if (typeof value !== "number" || value === 0) continue;
        list.append(
            element(
                "li",
                { "data-value": String(value), "data-path": `integrity/${key}` },
                `${format(value, "count")} ${LOSSES[key] ?? words(key)}.`,
            ),
        );
    }
    return list.childElementCount > 0 ? list : null;
}

function outcome(record: RunRecord): string | null {
    const it = record.process;
    if (it === undefined) return null;
    if (it.finished === false) return "It had not finished when the record was written.";
    if (typeof it.signal === "number" && it.signal !== 0) return `Signal ${it.signal} ended it.`;
    return typeof it.exit_status === "number"
        ? `It ended with exit status ${it.exit_status}.`
        : null;
}

export function head(entry: Entry): HTMLElement {
    const { record } = entry;
    const ended = outcome(record);
    return element(
        "header",
        {},
        element("p", { class: "kind" }, kindOf(record)),
        element("h1", { class: "title" }, titleOf(record, entry.about.origin)),
        element("p", { class: "origin" }, visible(entry.about.origin, 200)),
        element("p", { class: "where" }, where(record.machine ?? {})),
        element("p", { class: "where" }, when(record)),
        ended !== null ? element("p", { class: "where" }, ended) : null,
        tiles(record),
        verdicts(record.comparisons ?? []),
        losses(record),
        conditions(record),
    );
}
