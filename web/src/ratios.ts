// The view of comparisons: one row for each comparison and metric, with the ratio, its interval and the margin.
import { element, visible } from "./dom";
import { format } from "./format";
import { verdictMark } from "./head";
import type { Comparison, Entry, RunRecord } from "./record";
import { axisOf, ratioOf } from "./strip";
import { type Column, figures, present, table } from "./table";
import { rangeOf } from "./ticks";
import type { View } from "./view";
import { comparisonLabel, metricName } from "./words";

function columnsOf(comparisons: Comparison[]): Column<Comparison>[] {
    const range = rangeOf(
        [1, ...comparisons.flatMap((it) => [it.ratio, it.low, it.high, 1 + (it.margin ?? 0)])],
        true,
    );
    return [
        { title: "benchmark", kind: "name", text: (it) => comparisonLabel(it).subject },
        { title: "candidate", kind: "name", text: (it) => comparisonLabel(it).candidate },
        { title: "baseline", kind: "name", text: (it) => comparisonLabel(it).baseline },
        { title: "metric", text: (it) => metricName(it.metric) },
        { title: "verdict", kind: "picture", cell: (it) => verdictMark(it.verdict) },
        {
            title: "ratio with 95 % interval, margin shaded",
            kind: "picture",
            header: () => axisOf(range, "ratio", "Axis of the ratios"),
            cell: (it) => ratioOf(it, range),
        },
        figures("ratio", "ratio", "ratio"),
        figures("from", "low", "ratio"),
        figures("to", "high", "ratio"),
        figures("margin", "margin", "share"),
        figures("pairs", "pairs", "count"),
        figures("decided at", "decision_level", "share"),
        { title: "remark", kind: "prose", text: (it) => it.reason ?? "" },
    ];
}

export function ratioTable(record: RunRecord): HTMLElement {
    const comparisons = record.comparisons ?? [];
    const margin = comparisons[0]?.margin;
    return element(
        "div",
        {},
        table(comparisons, present(comparisons, columnsOf(comparisons)), {
            caption: "Comparisons",
            search: (it) => `${it.candidate} ${it.baseline} ${it.metric ?? ""} ${it.verdict}`,
            path: (_, index) => `comparisons/${index}`,
        }),
        element(
            "p",
            { class: "note" },
            `A ratio is the candidate's cost over the baseline's. It is called faster or slower only if the 99 % interval lies wholly beyond 1 \u00b1 ${visible(format(margin ?? 0.01, "share"))}; same if the 95 % interval lies wholly within; otherwise inconclusive.`,
        ),
    );
}

export const ratios: View = {
    id: "ratios",
    title: "Comparisons",
    applies: (entry: Entry) => (entry.record.comparisons?.length ?? 0) > 0,
    render: (entry, into) => into.append(ratioTable(entry.record)),
};
