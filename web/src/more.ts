// The other data of a monitor: spans that were recorded one by one, counters, lanes, and spans that are still open.
import { element } from "./dom";
import type { Counter, Lane, Metric, OpenSpan } from "./record";
import { type Column, figures, names, present, table } from "./table";
import type { View } from "./view";

function part<Row>(
    title: string,
    key: string,
    rows: Row[] | undefined,
    columns: Column<Row>[],
    into: HTMLElement,
): void {
    if (rows === undefined || rows.length === 0) return;
    const first = columns[0]?.text;
    into.append(
        element("h3", {}, title),
        table(rows, present(rows, columns), {
            caption: title,
            ...(first !== undefined ? { search: first } : {}),
            path: (_, index) => `${key}/${index}`,
        }),
    );
}

export const more: View = {
    id: "more",
    title: "Threads, counters and single spans",
    applies: ({ record }) =>
        [record.metrics, record.counters, record.lanes, record.open_spans].some(
            (it) => (it?.length ?? 0) > 0,
        ),
    render: ({ record }, into) => {
        part<Metric>(
            "Spans recorded one by one",
            "metrics",
            record.metrics,
            [
                names("operation", (it) => it.operation),
                figures("depth", "depth", "count"),
                figures("start", "start_seconds", "seconds"),
                figures("duration", "duration_seconds", "seconds"),
                figures("memory gained", "cpu_delta_bytes", "bytes"),
                figures("GPU memory gained", "gpu_delta_bytes", "bytes"),
                figures("GPU peak", "gpu_peak_bytes", "bytes"),
            ],
            into,
        );
        part<Counter>(
            "Counters",
            "counters",
            record.counters,
            [
                names("counter", (it) => it.name),
                figures("values", "count", "count"),
                figures("last", "last", "number"),
                figures("min", "min", "number"),
                figures("max", "max", "number"),
                figures("mean", "mean", "number"),
            ],
            into,
        );
        part<Lane>(
            "Threads, tasks and streams",
            "lanes",
            record.lanes,
            [
                names("lane", (it) => it.name),
                { title: "kind", text: (it) => it.kind },
                figures("process", "process_id", "id"),
                figures("thread", "thread_id", "id"),
                figures("spans", "spans", "count"),
                { title: "host", text: (it) => it.host ?? "" },
                { title: "device", text: (it) => it.device ?? "" },
                figures("rank", "rank", "id"),
            ],
            into,
        );
        part<OpenSpan>(
            "Spans that had not ended",
            "open_spans",
            record.open_spans,
            [
                names("operation", (it) => it.operation),
                figures("lane", "lane", "id"),
                figures("depth", "depth", "count"),
                figures("start", "start_seconds", "seconds"),
            ],
            into,
        );
    },
};
