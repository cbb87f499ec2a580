// Describes records and comparisons in words.
import { visible } from "./dom";
import { format, words } from "./format";
import type { Comparison, RunRecord, Subject } from "./record";

export function metricName(metric: string | null | undefined): string {
    return words(metric ?? "wall_seconds");
}

export function kindOf(record: RunRecord): string {
    const subjects = record.subjects?.length ?? 0;
    switch (record.kind) {
        case "run":
            return "Run of a command";
        case "bench":
            return subjects === 1 ? "Benchmark" : `Benchmark of ${subjects} subjects`;
        case "compare":
            return "Comparison of records";
        case "profile":
            return "Profile of a model";
        case "study":
            return "Study";
        case "journal":
            return "Journal of a program";
        case "monitor":
            return "Monitored program";
        default:
            return visible(record.kind, 40);
    }
}

export function titleOf(record: RunRecord, origin: string): string {
    const command = record.process?.command?.join(" ");
    const models = record.models?.map((it) => it.name).join(", ");
    const subjects = record.subjects?.map((it) => it.name);
    const title =
        record.name ??
        (record.study !== null && record.study !== undefined ? record.study : undefined) ??
        command ??
        (record.kind === "profile" && models !== undefined && models !== "" ? models : undefined) ??
        (subjects !== undefined && subjects.length > 0 && subjects.length <= 3
            ? subjects.join(" · ")
            : undefined) ??
        origin;
    return visible(title, 120);
}

// Distinct names for subjects: if a name occurs again, it gets a number.
export function subjectLabels(subjects: Subject[]): string[] {
    const seen = new Map<string, number>();
    return subjects.map((it) => {
        const count = (seen.get(it.name) ?? 0) + 1;
        seen.set(it.name, count);
        return count === 1 ? it.name : `${it.name} (${count})`;
    });
}

// The shortest end of each path that tells the paths apart, such as "a/record.json" and "b/record.json".
export function shortNames(paths: string[]): string[] {
    return paths.map((path) => {
        const parts = path.split("/");
        for (let count = 1; count < parts.length; count++) {
            const tail = parts.slice(-count).join("/");
            const alike = paths.filter((it) => it === tail || it.endsWith(`/${tail}`));
            if (alike.every((it) => it === path)) return tail;
        }
        return path;
    });
}

// The names of both sides of a comparison. If two records are compared by one subject, the sides are the records, and
// `subject` is the name of that subject.
export function comparisonLabel(it: Comparison): {
    candidate: string;
    baseline: string;
    subject: string;
} {
    const [before, after] = [it.baseline_origin ?? "", it.candidate_origin ?? ""];
    const between = before !== "" && after !== "" && before !== after;
    if (!between)
        return {
            candidate: visible(it.candidate, 80),
            baseline: visible(it.baseline, 80),
            subject: "",
        };
    const [baseline, candidate] = shortNames([before, after]);
    const same = it.baseline === it.candidate;
    return {
        candidate: visible(same ? (candidate ?? "") : `${it.candidate} in ${candidate}`, 80),
        baseline: visible(same ? (baseline ?? "") : `${it.baseline} in ${baseline}`, 80),
        subject: same ? visible(it.baseline, 80) : "",
    };
}

// A verdict as a sentence: "new is faster than old: 0.620 times the wall time (95 % interval 0.600 … 0.640)".
export function verdictSentence(it: Comparison): string {
    const label = comparisonLabel(it);
    const candidate =
        label.subject === "" ? label.candidate : `${label.subject}: ${label.candidate}`;
    const { baseline } = label;
    const metric = metricName(it.metric);
    const time = it.metric === null || it.metric === undefined || it.metric.endsWith("_seconds");
    const interval =
        it.low !== null && it.high !== null && it.low !== undefined && it.high !== undefined
            ? ` (95 % interval ${format(it.low, "ratio")} \u2026 ${format(it.high, "ratio")})`
            : "";
    const size =
        it.ratio === null || it.ratio === undefined
            ? ""
            : `${format(it.ratio, "ratio")} times the ${metric}${interval}`;
    switch (it.verdict) {
        case "faster":
            return `${candidate} ${time ? "is faster than" : "takes less than"} ${baseline}: ${size}`;
        case "slower":
            return `${candidate} ${time ? "is slower than" : "takes more than"} ${baseline}: ${size}`;
        case "same":
            return `${candidate} takes the same ${metric} as ${baseline}: ${size}`;
        default:
            return `${candidate} against ${baseline} is inconclusive${size === "" ? "" : `: ${size}`}`;
    }
}
