// The view of benchmarks: the samples, box and interval of each subject on one axis, with its figures beside them.
import { element, visible } from "./dom";
import type { Entry, Subject } from "./record";
import { axisOf, finite, samplesOf } from "./strip";
import { type Column, figures, present, table } from "./table";
import { rangeOf } from "./ticks";
import type { View } from "./view";
import { subjectLabels } from "./words";

const STOPPED: { [why: string]: string } = {
    precision: "precise enough",
    verdict: "verdict reached",
    budget: "time was up",
    noise: "too noisy",
    count: "as many as asked",
    interrupted: "interrupted",
};

function columnsOf(subjects: Subject[]): Column<Subject>[] {
    const labels = subjectLabels(subjects);
    const name = new Map(subjects.map((it, i) => [it, labels[i] ?? it.name]));
    const values = subjects.flatMap((it) => [
        ...finite(it.samples_seconds),
        ...finite([it.low_seconds, it.high_seconds, it.mean_seconds]),
    ]);
    const plain = rangeOf(values, false);
    const wide = values.length > 0 && Math.min(...extremes(values)) > 0 && ratio(values) > 8;
    const range = wide ? rangeOf(values, true) : plain;
    return [
        { title: "subject", kind: "name", text: (it) => name.get(it) ?? it.name },
        { title: "origin", kind: "name", text: (it) => it.origin ?? "" },
        {
            title: "samples, box, mean with 95 % interval",
            kind: "picture",
            header: () => axisOf(range, "seconds", "Axis of the samples, in seconds"),
            cell: (it) => samplesOf(it, visible(name.get(it) ?? it.name, 80), range),
        },
        figures("mean", "mean_seconds", "seconds"),
        figures("from", "low_seconds", "seconds"),
        figures("to", "high_seconds", "seconds"),
        figures("median", "median_seconds", "seconds"),
        figures("std", "std_seconds", "seconds"),
        figures("min", "min_seconds", "seconds"),
        figures("max", "max_seconds", "seconds"),
        { title: "samples", unit: "count", value: (it) => it.samples_seconds?.length ?? null },
        figures("disturbed", "disturbed_samples", "count"),
        figures("failed", "failed_runs", "count"),
        figures("user", "user_seconds", "seconds"),
        figures("system", "sys_seconds", "seconds"),
        figures("peak memory", "peak_rss_bytes", "bytes"),
        { title: "stopped", text: (it) => STOPPED[it.stopped ?? ""] ?? it.stopped ?? "" },
        { title: "covers", kind: "prose", text: (it) => it.covers ?? "" },
        { title: "in doubt", kind: "prose", text: (it) => it.doubt ?? "" },
    ];
}

function extremes(values: number[]): [number, number] {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const it of values) {
        if (it < low) low = it;
        if (it > high) high = it;
    }
    return [low, high];
}

function ratio(values: number[]): number {
    const [low, high] = extremes(values);
    return high / low;
}

function render(entry: Entry, into: HTMLElement): void {
    const subjects = entry.record.subjects ?? [];
    into.append(
        table(subjects, present(subjects, columnsOf(subjects)), {
            caption: "Subjects",
            search: (it) => `${it.name} ${it.origin ?? ""}`,
            path: (_, index) => `subjects/${index}`,
        }),
        element(
            "p",
            { class: "note" },
            "Dots are samples, the box holds the middle half of them with the median as a line; the mark below is the mean with its 95 % interval.",
        ),
    );
}

export const subjects: View = {
    id: "subjects",
    title: "Benchmarks",
    applies: (entry) => (entry.record.subjects?.length ?? 0) > 0,
    render,
};
