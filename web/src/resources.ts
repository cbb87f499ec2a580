// The view of the resources of a command: its process tree, devices, and the functions and lines of its Python programs.
import { element, svg, visible } from "./dom";
import { unitOf, words } from "./format";
import type {
    Allocation,
    Code,
    Device,
    Entry,
    Process,
    Python,
    Reading,
    RunRecord,
} from "./record";
import { type Column, figureCell, figures, names, present, table } from "./table";
import type { View } from "./view";

function span(it: Process, end: number): SVGSVGElement {
    const made = svg("svg", {
        class: "strip",
        width: 200,
        height: 16,
        viewBox: "0 0 200 16",
        role: "img",
        "aria-label": `When ${visible(it.name ?? "the process", 60)} ran`,
    });
    const from = ((it.start_seconds ?? 0) / end) * 200;
    const to = ((it.end_seconds ?? end) / end) * 200;
    made.append(
        svg("rect", {
            x: from.toFixed(2),
            y: 3,
            width: Math.max(1, to - from).toFixed(2),
            height: 10,
            class: it.running === true ? "fill s2" : "fill s1",
        }),
    );
    return made;
}

function processes(all: Process[], into: HTMLElement): void {
    const end = all.reduce(
        (last, it) => Math.max(last, it.end_seconds ?? 0, it.start_seconds ?? 0),
        0,
    );
    const timed = end > 0 && all.some((it) => typeof it.start_seconds === "number");
    const columns: Column<Process>[] = [
        names<Process>("process", (it) => it.name ?? `process ${it.process_id}`),
        figures("id", "process_id", "id"),
        ...(timed
            ? [
                  {
                      title: "when it ran",
                      kind: "picture" as const,
                      cell: (it: Process) => span(it, end),
                  },
              ]
            : []),
        figures("start", "start_seconds", "seconds"),
        figures("end", "end_seconds", "seconds"),
        figures("user", "user_seconds", "seconds"),
        figures("system", "sys_seconds", "seconds"),
        figures("peak memory", "peak_rss_bytes", "bytes"),
        figures("heap peak", "heap_peak_bytes", "bytes"),
        figures("allocations", "heap_allocations", "count"),
        figures("spans", "spans", "count"),
        { title: "remark", kind: "prose", text: remark },
    ];
    into.append(
        element("h3", {}, "Processes"),
        table(all, present(all, columns), {
            caption: "Processes",
            search: (it) => `${it.name ?? ""} ${it.process_id}`,
            path: (_, index) => `processes/${index}`,
        }),
    );
}

function remark(it: Process): string {
    return [it.running === true ? "outlived the command" : "", it.unseen ?? ""]
        .filter((text) => text !== "")
        .join("; ");
}

// The single figures of the process, as the record has them.
function command(record: RunRecord, into: HTMLElement): void {
    const it = record.process;
    if (it === undefined) return;
    const list = element("dl", { class: "facts" });
    for (const [key, value] of Object.entries(it)) {
        if (typeof value !== "number" || key === "signal") continue;
        const column: Column<typeof it> = {
            title: key,
            key,
            unit: unitOf(key),
            value: (row) => row[key] as Reading,
        };
        const cell = figureCell("dd", it, column, "process");
        list.append(element("div", {}, element("dt", {}, words(key)), cell));
    }
    const line = it.command?.join(" ");
    into.append(element("h3", {}, "Command"));
    if (line !== undefined) into.append(element("p", {}, element("code", {}, visible(line, 2000))));
    into.append(list);
}

function devices(all: Device[], into: HTMLElement): void {
    const columns: Column<Device>[] = [
        names<Device>("device", (it) => `${it.id}${it.name !== null ? `, ${it.name}` : ""}`),
        { title: "driver", text: (it) => it.driver ?? "" },
        figures("memory", "memory_bytes", "bytes"),
        figures("peak", "peak_bytes", "bytes"),
        figures("busy", "busy_seconds", "seconds"),
        figures("energy", "energy_joules", "joules"),
    ];
    into.append(
        element("h3", {}, "Devices"),
        table(all, present(all, columns), {
            caption: "Devices",
            path: (_, index) => `devices/${index}`,
        }),
    );
}

function place(it: { file: string; line: number }): string {
    return `${it.file.split("/").pop() ?? it.file}:${it.line}`;
}

function python(it: Python, into: HTMLElement): void {
    const code = (title: string, key: "functions" | "lines"): void => {
        const rows = it[key] ?? [];
        if (rows.length === 0) return;
        const columns: Column<Code>[] = [
            names<Code>("function", (row) => row.name),
            { title: "place", kind: "name", text: place },
            figures("self", "self_seconds", "seconds"),
            figures("total", "total_seconds", "seconds"),
            figures("native", "native_seconds", "seconds"),
            figures("waiting", "waiting_seconds", "seconds"),
            figures("samples", "samples", "count"),
            { title: "source", kind: "name", text: (row) => row.source ?? "" },
        ];
        into.append(
            element("h3", {}, title),
            table(rows, present(rows, columns), {
                caption: title,
                search: (row) => `${row.name} ${row.file} ${row.source ?? ""}`,
                path: (_, index) => `python/${key}/${index}`,
            }),
        );
    };
    code("Python functions", "functions");
    code("Python lines", "lines");
    const rows = it.allocations ?? [];
    if (rows.length === 0) return;
    into.append(
        element("h3", {}, "Python lines that allocate"),
        table(
            rows,
            present(rows, [
                names<Allocation>("function", (row) => row.name),
                { title: "place", kind: "name", text: place },
                figures("allocated", "bytes", "bytes"),
                figures("blocks", "blocks", "count"),
                figures("at the peak", "peak_bytes", "bytes"),
                figures("at the end", "live_bytes", "bytes"),
                { title: "source", kind: "name", text: (row) => row.source ?? "" },
            ]),
            {
                caption: "Python lines that allocate",
                search: (row) => `${row.name} ${row.file} ${row.source ?? ""}`,
                path: (_, index) => `python/allocations/${index}`,
            },
        ),
    );
}

function render({ record }: Entry, into: HTMLElement): void {
    command(record, into);
    if ((record.processes?.length ?? 0) > 0) processes(record.processes ?? [], into);
    if ((record.devices?.length ?? 0) > 0) devices(record.devices ?? [], into);
    if (record.python !== undefined) python(record.python, into);
}

export const resources: View = {
    id: "resources",
    title: "Processes and devices",
    applies: ({ record }) =>
        record.process !== undefined ||
        record.python !== undefined ||
        (record.processes?.length ?? 0) > 0 ||
        (record.devices?.length ?? 0) > 0,
    render,
};
