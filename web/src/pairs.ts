// The view of pairs over time: for each round, the ratio of the two samples that were measured in it.
import { type Chart, chart } from "./chart";
import { element, freshId } from "./dom";
import type { Comparison, Entry, RunRecord, Subject } from "./record";
import type { View } from "./view";
import { comparisonLabel } from "./words";

interface Pair {
    round: number;
    ratio: number;
    disturbed: boolean;
}

function find(
    record: RunRecord,
    name: string,
    origin: string | null | undefined,
    not?: Subject,
): Subject | undefined {
    return record.subjects?.find(
        (it) => it !== not && it.name === name && (it.origin ?? null) === (origin ?? null),
    );
}

function isDisturbed(subject: Subject, index: number): boolean {
    return subject.measures?.find((it) => it.metric === "disturbed")?.samples[index] === 1;
}

export function pairsOf(record: RunRecord, comparison: Comparison): Pair[] {
    const baseline = find(record, comparison.baseline, comparison.baseline_origin);
    const candidate = find(record, comparison.candidate, comparison.candidate_origin, baseline);
    if (baseline?.rounds === undefined || candidate?.rounds === undefined) return [];
    const at = new Map(baseline.rounds.map((round, index) => [round, index]));
    return candidate.rounds.flatMap((round, index) => {
        const other = at.get(round);
        if (other === undefined) return [];
        const below = baseline.samples_seconds?.[other];
        const above = candidate.samples_seconds?.[index];
        if (typeof below !== "number" || typeof above !== "number" || below <= 0 || above <= 0)
            return [];
        const disturbed = isDisturbed(baseline, other) || isDisturbed(candidate, index);
        return [{ round, ratio: above / below, disturbed }];
    });
}

function pictureOf(comparison: Comparison, pairs: Pair[]): HTMLElement {
    const { candidate, baseline } = comparisonLabel(comparison);
    const margin = comparison.margin ?? 0;
    const part = (disturbed: boolean): Pair[] => pairs.filter((it) => it.disturbed === disturbed);
    const line = (label: string, colour: string, some: Pair[]) => ({
        label,
        x: some.map((it) => it.round),
        y: some.map((it) => it.ratio),
        kind: "points" as const,
        colour,
    });
    const spec: Chart = {
        label: `Ratio of wall times of ${candidate} over ${baseline}, pair by pair in the order of measuring; ${part(true).length} of ${pairs.length} pairs were disturbed.`,
        x: { label: "round", unit: "count" },
        y: { label: "ratio", unit: "ratio", log: true, reach: [1, 1 + margin, 1 / (1 + margin)] },
        lines: [line("pair", "s1", part(false)), line("disturbed pair", "s2", part(true))].filter(
            (it) => it.x.length > 0,
        ),
        band: [1 / (1 + margin), 1 + margin],
        level: 1,
    };
    return chart(spec);
}

function usable(record: RunRecord): { comparison: Comparison; pairs: Pair[] }[] {
    return (record.comparisons ?? [])
        .filter((it) => it.paired === true && (it.metric ?? "wall_seconds") === "wall_seconds")
        .map((comparison) => ({ comparison, pairs: pairsOf(record, comparison) }))
        .filter((it) => it.pairs.length > 0);
}

function render(entry: Entry, into: HTMLElement): void {
    const found = usable(entry.record);
    const picture = element("div");
    const show = (index: number): void => {
        const it = found[index];
        if (it !== undefined) picture.replaceChildren(pictureOf(it.comparison, it.pairs));
    };
    if (found.length > 1) {
        const id = freshId("pairs");
        const choose = element("select", { id });
        found.forEach((it, index) => {
            const { candidate, baseline } = comparisonLabel(it.comparison);
            choose.append(element("option", { value: index }, `${candidate} against ${baseline}`));
        });
        choose.addEventListener("change", () => show(Number(choose.value)));
        into.append(
            element("p", { class: "bar" }, element("label", { for: id }, "Comparison"), choose),
        );
    }
    into.append(picture);
    show(0);
}

export const pairs: View = {
    id: "pairs",
    title: "Pairs over time",
    applies: (entry) => usable(entry.record).length > 0,
    render,
};
