// Chooses the tick marks of an axis: round numbers, on a linear or a logarithmic axis.

function roundStep(raw: number): number {
    const power = 10 ** Math.floor(Math.log10(raw));
    const lead = raw / power;
    return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

export function linearTicks(low: number, high: number, count: number): number[] {
    if (!(high > low)) return [low];
    const step = roundStep((high - low) / Math.max(1, count));
    const found: number[] = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
        found.push(Number((i * step).toPrecision(12)));
    }
    return found;
}

// Tick marks of a logarithmic axis: decades if there are many, also 2 and 5 (or 3) times each decade if there are few, and
// linear marks if the range is less than a decade.
export function logTicks(low: number, high: number, count: number): number[] {
    const decades = Math.log10(high / low);
    if (decades < 0.8) return linearTicks(low, high, count);
    const leads = decades * 3 <= count ? [1, 2, 5] : decades * 2 <= count ? [1, 3] : [1];
    const stride = leads.length > 1 ? 1 : Math.max(1, Math.ceil(decades / count));
    const found: number[] = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        if (leads.length === 1 && e % stride !== 0) continue;
        for (const lead of leads) {
            const at = Number(`${lead}e${e}`);
            if (at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9)) found.push(at);
        }
    }
    return found.length > 0 ? found : linearTicks(low, high, count);
}

// Tick marks at powers of two, for bytes: 4 KiB and not 4.8828 KiB.
function binaryTicks(low: number, high: number, count: number): number[] {
    const doublings = Math.log2(high / low);
    const stride = [1, 2, 5, 10, 20].find((it) => doublings / it <= count) ?? 20;
    const found: number[] = [];
    for (let e = Math.ceil(Math.log2(low) - 1e-9); e <= Math.log2(high) + 1e-9; e++) {
        if (e % stride === 0) found.push(2 ** e);
    }
    return found.length > 1 ? found : linearTicks(low, high, count);
}

export interface Range {
    low: number;
    high: number;
    log: boolean;
}

// A range that contains all finite values, with some room. It is logarithmic only if all values are above zero.
export function rangeOf(values: Iterable<number | null | undefined>, log: boolean): Range {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const value of values) {
        if (value === null || value === undefined || !Number.isFinite(value)) continue;
        if (log && value <= 0) continue;
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (low > high) return { low: log ? 1 : 0, high: log ? 10 : 1, log };
    if (log) {
        const room = Math.max((high / low) ** 0.04, 1.02);
        return { low: low / room, high: high * room, log };
    }
    const room = high > low ? (high - low) * 0.04 : Math.abs(high) * 0.1 || 1;
    return { low: low - room, high: high + room, log };
}

// The share of the range that is below a value: 0 at its low end, 1 at its high end.
export function place(range: Range, value: number): number {
    const { low, high, log } = range;
    return log
        ? Math.log(Math.max(value, Number.MIN_VALUE) / low) / Math.log(high / low)
        : (value - low) / (high - low);
}

export function ticksOf(range: Range, count: number, binary = false): number[] {
    if (binary && range.log) return binaryTicks(range.low, range.high, count);
    if (binary && range.high > 1024) {
        const unit = 1024 ** Math.floor(Math.log(range.high) / Math.log(1024));
        return linearTicks(range.low / unit, range.high / unit, count).map((it) => it * unit);
    }
    return range.log
        ? logTicks(range.low, range.high, count)
        : linearTicks(range.low, range.high, count);
}
