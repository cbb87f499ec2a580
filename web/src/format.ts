// Formats figures for readers: four significant digits and a unit. The attribute `data-value` of the element has the full
// number.

export type Unit =
    | "seconds"
    | "bytes"
    | "count"
    | "number"
    | "ratio"
    | "share"
    | "joules"
    | "flops"
    | "id"
    | "text";

const MISSING = "n/a";
const MINUS = "\u2212";

function digits(value: number, count: number): string {
    if (value === 0) return "0";
    const size = Math.abs(Number(value.toPrecision(count))); // 0.99996 is rounded to 1 before its decimals are chosen
    if (size >= 1e6 || size < 1e-3) return value.toExponential(count - 1).replace("e+", "e");
    const decimals = Math.max(0, count - 1 - Math.floor(Math.log10(size)));
    return value.toFixed(Math.min(decimals, 12));
}

function scaled(value: number, steps: [number, string][], count: number): string {
    const size = Math.abs(value);
    for (const [factor, unit] of steps) {
        if (size >= factor * 0.99995) return `${digits(value / factor, count)} ${unit}`;
    }
    const [factor, unit] = steps[steps.length - 1] ?? [1, ""];
    return `${digits(value / factor, count)} ${unit}`;
}

const SECONDS: [number, string][] = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "\u00b5s"],
    [1e-9, "ns"],
];
const BYTES: [number, string][] = [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
    [1, "B"],
];
const JOULES: [number, string][] = [
    [1e3, "kJ"],
    [1, "J"],
    [1e-3, "mJ"],
    [1e-6, "\u00b5J"],
];
const FLOPS: [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
];

function plain(value: number, unit: Unit, count: number): string {
    switch (unit) {
        case "seconds":
            return value === 0 ? "0 s" : scaled(value, SECONDS, count);
        case "bytes":
            return Math.abs(value) < 1024
                ? `${digits(value, count)} B`
                : scaled(value, BYTES, count);
        case "joules":
            return value === 0 ? "0 J" : scaled(value, JOULES, count);
        case "flops":
            return value === 0 ? "0" : scaled(value, FLOPS, count).trim();
        case "count":
            return Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value, count);
        case "share":
            return `${Number((value * 100).toPrecision(3))} %`;
        case "id":
            return String(value);
        case "ratio":
            return digits(value, count);
        default:
            return Number.isInteger(value) && Math.abs(value) < 1e6
                ? value.toLocaleString("en-US")
                : digits(value, count);
    }
}

export function format(value: number | null | undefined, unit: Unit, count = 4): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
    return plain(value, unit, count).replace("-", MINUS);
}

// The unit of a figure, from the unit that the record gives or from the end of its key.
export function unitOf(key: string, unit?: string | null): Unit {
    if (unit === "s" || key.endsWith("_seconds") || key === "epoch_time") return "seconds";
    if (unit === "bytes" || key.endsWith("_bytes")) return "bytes";
    if (unit === "J" || key.endsWith("_joules")) return "joules";
    if (/(_id|status)$/.test(key)) return "id";
    return "number";
}

const WORDS: { [key: string]: string } = {
    wall_seconds: "wall time",
    cpu_seconds: "processor time",
    user_seconds: "user time",
    sys_seconds: "system time",
    peak_rss_bytes: "peak memory",
    heap_peak_bytes: "heap peak",
    heap_allocations: "allocations",
    energy_joules: "energy",
};

// A key in words: "peak_rss_bytes" becomes "peak memory", and "training_seconds" becomes "training".
export function words(key: string): string {
    return (
        WORDS[key] ??
        key
            .replace(/_(seconds|bytes|joules)$/, "")
            .replace(/[_-]/g, " ")
            .trim()
    );
}
