// The view of spans: the call tree as an icicle graph beside a table, and the distribution of the selected operation.
import { distribution } from "./distribution";
import { element, visible } from "./dom";
import { Icicle } from "./icicle";
import type { Entry, Operation } from "./record";
import { type Column, present, table } from "./table";
import { type Node, treeOf } from "./tree";
import type { View } from "./view";

function of(
    title: string,
    key: keyof Operation & string,
    unit: Column<Node>["unit"],
): Column<Node> {
    const column: Column<Node> = { title, key, value: (row) => row.it[key] as number | null };
    if (unit !== undefined) column.unit = unit;
    return column;
}

const COLUMNS: Column<Node>[] = [
    {
        title: "operation",
        kind: "name",
        text: (row) => `${"\u2003".repeat(Math.min(row.depth, 12))}${row.it.name}`,
    },
    of("count", "count", "count"),
    of("total", "total_seconds", "seconds"),
    of("self", "self_seconds", "seconds"),
    of("mean", "mean_seconds", "seconds"),
    of("p50", "p50_seconds", "seconds"),
    of("p95", "p95_seconds", "seconds"),
    of("p99", "p99_seconds", "seconds"),
    of("max", "max_seconds", "seconds"),
    of("on GPU", "gpu_seconds", "seconds"),
    of("GPU from", "gpu_seconds_low", "seconds"),
    of("GPU to", "gpu_seconds_high", "seconds"),
    of("energy", "energy_joules", "joules"),
    of("energy from", "energy_joules_low", "joules"),
    of("energy to", "energy_joules_high", "joules"),
    of("peak memory", "rss_peak_bytes", "bytes"),
    of("heap peak", "heap_peak_bytes", "bytes"),
    of("allocations", "heap_allocations", "count"),
    of("GPU peak", "gpu_peak_bytes", "bytes"),
    of("failed", "failed_spans", "count"),
];

function render(entry: Entry, into: HTMLElement): void {
    const nodes = treeOf(entry.record.operations ?? []);
    const chosen = element("div", { class: "chosen" });
    const show = (node: Node): void => {
        icicle.select(node);
        chosen.replaceChildren(
            element("h3", {}, `Distribution of ${visible(node.path, 100)}`),
            distribution(node.it),
        );
    };
    const icicle = new Icicle(nodes, show);
    const list = table(nodes, present(nodes, COLUMNS), {
        caption: "Operations",
        search: (row) => row.path,
        path: (row) => `operations/${row.index}`,
        pick: show,
    });
    into.append(
        element("div", { class: "beside spans" }, element("div", {}, icicle.box, chosen), list),
    );
    const first = nodes.reduce<Node | undefined>(
        (best, it) => (best === undefined || it.it.self_seconds > best.it.self_seconds ? it : best),
        undefined,
    );
    if (first !== undefined) show(first);
}

export const spans: View = {
    id: "spans",
    title: "Spans",
    applies: (entry) => (entry.record.operations?.length ?? 0) > 0,
    render,
};
