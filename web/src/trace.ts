// Reads the trace of a record from the block that cli/page_trace.c writes, and makes an index to draw it at any zoom.
//
// A row holds the slices of one lane at one depth of its stack. The slices do not overlap and are sorted. So the slice at a
// given time is found by bisection, the busy part of an interval is computed from running sums, and the longest slice of an
// interval is found in a tree with eight children per node. Each query takes at most some dozens of steps, however many
// slices there are.

export interface Row {
    depth: number;
    begin: Float64Array; // in units since the origin
    end: Float64Array;
    name: Uint32Array;
    open: Uint8Array; // 1 if the slice had not ended
    busy: Float64Array; // busy[i] is the total duration of all slices before i
    longest: Uint32Array[]; // by level: the longest slice of each 8, 64, 512, … slices
}

export interface TraceLane {
    lane: number; // index into the record's lanes; a larger number is a row of processes
    count: number;
    rows: Row[]; // by depth
}

export interface Trace {
    unit: number; // seconds
    origin: number; // seconds since the start of the run
    length: number; // units
    names: string[];
    lanes: TraceLane[];
    count: number;
}

class Reader {
    private at = 0;
    constructor(private readonly bytes: Uint8Array) {}

    // Reads a whole number of up to 53 bits. It multiplies, because bit operators work only up to 32 bits.
    number(): number {
        let value = 0;
        let factor = 1;
        for (;;) {
            const byte = this.bytes[this.at++];
            if (byte === undefined) throw new Error("the timeline ends too early");
            value += (byte & 127) * factor;
            if (byte < 128) return value;
            factor *= 128;
        }
    }

    take(): Uint8Array {
        const count = this.number();
        if (this.at + count > this.bytes.length) throw new Error("the timeline ends too early");
        this.at += count;
        return this.bytes.subarray(this.at - count, this.at);
    }
}

// The slices of one lane while they are read, until it is known how many there are at each depth.
interface Pile {
    begin: number[];
    end: number[];
    name: number[];
    open: number[];
}

function rowOf(pile: Pile, depth: number): Row {
    const count = pile.begin.length;
    const row: Row = {
        depth,
        begin: Float64Array.from(pile.begin),
        end: Float64Array.from(pile.end),
        name: Uint32Array.from(pile.name),
        open: Uint8Array.from(pile.open),
        busy: new Float64Array(count + 1),
        longest: [],
    };
    for (let i = 0; i < count; i++)
        row.busy[i + 1] = at(row.busy, i) + at(row.end, i) - at(row.begin, i);
    let below: Uint32Array = Uint32Array.from({ length: count }, (_, i) => i);
    while (below.length > 8) {
        const nodes = new Uint32Array(Math.ceil(below.length / 8));
        for (let i = 0; i < nodes.length; i++)
            nodes[i] = longestOf(row, below, 8 * i, Math.min(8 * i + 8, below.length));
        row.longest.push(nodes);
        below = nodes;
    }
    return row;
}

function at(array: Float64Array | Uint32Array | Uint8Array, index: number): number {
    return array[index] ?? 0;
}

function duration(row: Row, index: number): number {
    return at(row.end, index) - at(row.begin, index);
}

function longestOf(row: Row, nodes: Uint32Array, from: number, to: number): number {
    let best = at(nodes, from);
    for (let i = from + 1; i < to; i++) {
        const other = at(nodes, i);
        if (duration(row, other) > duration(row, best)) best = other;
    }
    return best;
}

// The longest of the slices from `from` up to but not including `to`. There must be at least one.
export function longestBetween(row: Row, from: number, to: number): number {
    let best = from;
    let left = from;
    let right = to;
    const consider = (index: number): void => {
        if (duration(row, index) > duration(row, best)) best = index;
    };
    // On each level, take single nodes at both ends until the rest consists of whole nodes of the level above.
    for (let level = -1; left < right; level++) {
        const nodes = level < 0 ? null : row.longest[level];
        const above = row.longest[level + 1];
        const all = above === undefined;
        for (; left < right && (all || left % 8 !== 0); left++)
            consider(nodes ? at(nodes, left) : left);
        for (; left < right && (all || right % 8 !== 0); right--)
            consider(nodes ? at(nodes, right - 1) : right - 1);
        left /= 8;
        right /= 8;
    }
    return best;
}

// The first slice that ends after `time`. No slice before `from` may do so. The search begins near `from`.
export function firstAfter(row: Row, time: number, from = 0): number {
    const count = row.end.length;
    let low = from;
    let step = from === 0 ? count : 1;
    while (low + step < count && at(row.end, low + step) <= time) {
        low += step;
        step *= 2;
    }
    let high = Math.min(count, low + step);
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (at(row.end, middle) > time) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The busy part of the time from `from` to `to`. `first` and `last` are the results of firstAfter() for `from` and `to`.
export function busyBetween(
    row: Row,
    first: number,
    last: number,
    from: number,
    to: number,
): number {
    let busy = at(row.busy, last) - at(row.busy, first);
    if (first < row.begin.length) busy -= Math.max(0, from - at(row.begin, first));
    if (last < row.begin.length) busy += Math.max(0, to - at(row.begin, last));
    return busy;
}

function readLane(columns: Reader[], lane: number, count: number): TraceLane {
    const [ended, names, gaps, durations] = columns as [Reader, Reader, Reader, Reader];
    const piles: Pile[] = [];
    const begins: number[] = [];
    const ends: number[] = [];
    for (let i = 0; i < count; i++) {
        let since = begins.length > 0 ? (begins[begins.length - 1] ?? 0) : 0;
        for (let gone = ended.number(); gone > 0; gone--) {
            begins.pop();
            since = ends.pop() ?? 0;
        }
        const begin = since + gaps.number();
        const end = begin + durations.number();
        const name = names.number();
        let pile = piles[begins.length];
        if (pile === undefined) {
            pile = { begin: [], end: [], name: [], open: [] };
            piles.push(pile);
        }
        pile.begin.push(begin);
        pile.end.push(end);
        pile.name.push(Math.floor(name / 2));
        pile.open.push(name % 2);
        begins.push(begin);
        ends.push(end);
    }
    return { lane, count, rows: piles.map(rowOf) };
}

export function decode(bytes: Uint8Array): Trace {
    const reader = new Reader(bytes);
    if (reader.number() !== 1) throw new Error("the timeline has a form that is not known here");
    const unit = reader.number() / 1e9;
    const zigzag = reader.number();
    const origin = (zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2) / 1e9;
    const length = reader.number();
    const text = new TextDecoder();
    const names = Array.from({ length: reader.number() }, () => text.decode(reader.take()));
    const groups = Array.from({ length: reader.number() }, () => [
        reader.number(),
        reader.number(),
    ]);
    const columns = Array.from({ length: 4 }, () => new Reader(reader.take()));
    const lanes = groups.map(([lane = 0, count = 0]) => readLane(columns, lane, count));
    const count = lanes.reduce((sum, it) => sum + it.count, 0);
    return { unit, origin, length, names, lanes, count };
}
