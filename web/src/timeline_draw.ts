// Draws the rows of a trace into a canvas. A slice wider than a pixel is a box of its own. Slices that share a pixel become
// one column, with the colour of the longest slice and a strength that shows how busy the pixel is. So a frame takes at
// most one box for each pixel and row.
import { visible } from "./dom";
import { format } from "./format";
import { busyBetween, firstAfter, longestBetween, type Row, type Trace } from "./trace";

export const AXIS = 22;
const HEAD = 18;
const LINE = 16;
const GAP = 8;
const LETTER = 6.2; // the approximate width of a letter in pixels

// A line of the picture: the name of a lane, or one of its rows. Positions are in pixels below the axis.
export interface Line {
    top: number;
    lane: number; // index into trace.lanes
    row: Row | null; // null for the name
}

export interface Layout {
    lines: Line[];
    height: number;
}

// The part of the trace that is shown, in units of the trace.
export interface Stretch {
    begin: number;
    end: number;
}

export interface Selection {
    line: Line;
    index: number;
}

export interface Picture {
    trace: Trace;
    layout: Layout;
    names: string[]; // of the lanes
    width: number;
    height: number;
    scroll: number; // pixels
    shown: Stretch;
    selected: Selection | null;
}

export function layOut(trace: Trace): Layout {
    const lines: Line[] = [];
    let top = 0;
    trace.lanes.forEach((lane, index) => {
        lines.push({ top, lane: index, row: null });
        top += HEAD;
        for (const row of lane.rows) {
            lines.push({ top, lane: index, row });
            top += LINE;
        }
        top += GAP;
    });
    return { lines, height: top };
}

// The line at a position below the axis; null between lines.
export function lineAt(layout: Layout, y: number): Line | null {
    const below = layout.lines.findIndex((it) => it.top > y);
    const line = layout.lines.at(below < 0 ? -1 : below - 1);
    return line !== undefined && y >= line.top && y < line.top + (line.row === null ? HEAD : LINE)
        ? line
        : null;
}

const COLOURS: [number, number, number][] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [120, 120, 200],
];
const STRENGTHS = 4;

function colourOf(name: string): number {
    let hash = 5381;
    for (let i = 0; i < name.length && i < 200; i++)
        hash = (Math.imul(33, hash) + name.charCodeAt(i)) >>> 0;
    return hash % COLOURS.length;
}

// Collects boxes by style, because changing the colour of a canvas is slow, and filling another box is fast.
class Boxes {
    private readonly boxes: number[][] = Array.from(
        { length: COLOURS.length * STRENGTHS },
        () => [],
    );
    private readonly colours: Uint8Array;

    constructor(names: string[]) {
        this.colours = Uint8Array.from(names, colourOf);
    }

    add(name: number, strength: number, left: number, top: number, width: number): void {
        const boxes = this.boxes[(this.colours[name] ?? 0) * STRENGTHS + strength];
        if (boxes === undefined) return;
        const last = boxes.length;
        if (last > 0 && boxes[last - 2] === top && boxes[last - 3] === left && width === 1) {
            boxes[last - 3] = left + width;
            boxes[last - 1] = (boxes[last - 1] ?? 0) + width;
        } else boxes.push(left + width, top, width);
    }

    paint(context: CanvasRenderingContext2D): void {
        this.boxes.forEach((boxes, style) => {
            const [red, green, blue] = COLOURS[Math.floor(style / STRENGTHS)] ?? [0, 0, 0];
            const opacity = 0.16 + 0.13 * ((style % STRENGTHS) + 1);
            context.fillStyle = `rgba(${red},${green},${blue},${opacity})`;
            for (let i = 0; i < boxes.length; i += 3) {
                const right = boxes[i] ?? 0;
                const width = boxes[i + 2] ?? 0;
                context.fillRect(right - width, (boxes[i + 1] ?? 0) + 1, width, LINE - 2);
            }
            boxes.length = 0;
        });
    }
}

interface Label {
    text: string;
    left: number;
    top: number;
    room: number;
}

function drawRow(picture: Picture, row: Row, top: number, boxes: Boxes, labels: Label[]): void {
    const { shown, width, trace } = picture;
    const scale = (shown.end - shown.begin) / width;
    let free = 0; // the pixels before this one are drawn already
    for (let i = firstAfter(row, shown.begin); i < row.begin.length; ) {
        const left = ((row.begin[i] ?? 0) - shown.begin) / scale;
        const right = ((row.end[i] ?? 0) - shown.begin) / scale;
        if (left >= width) return;
        const name = row.name[i] ?? 0;
        if (right - left >= 1.5) {
            const from = Math.max(left, 0);
            const to = Math.min(right, width);
            boxes.add(name, STRENGTHS - 1, from, top, Math.max(0.5, to - from - 0.5));
            if (to - from > 28)
                labels.push({ text: trace.names[name] ?? "", left: from, top, room: to - from });
            free = Math.floor(to);
            i++;
            continue;
        }
        const pixel = Math.max(free, Math.floor(left));
        const from = shown.begin + pixel * scale;
        const last = Math.max(i + 1, firstAfter(row, from + scale, i));
        const busy = busyBetween(row, i, last, from, from + scale) / scale;
        const strength = Math.min(STRENGTHS - 1, Math.max(0, Math.floor(busy * STRENGTHS)));
        boxes.add(row.name[longestBetween(row, i, last)] ?? 0, strength, pixel, top, 1);
        free = pixel + 1;
        i = last;
    }
}

// Draws the axis. Its tick marks are multiples of 1, 2 or 5 times a power of ten, at least 90 pixels apart.
function drawAxis(context: CanvasRenderingContext2D, picture: Picture, grid: string): void {
    const { shown, trace, width, height } = picture;
    const seconds = (shown.end - shown.begin) * trace.unit;
    const least = (seconds * 90) / width;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * ([1, 2, 5].find((it) => it * power >= least) ?? 10);
    const start = trace.origin + shown.begin * trace.unit;
    const digits = Math.min(15, Math.max(3, Math.ceil(Math.log10((start + seconds) / step)) + 1));
    for (let k = Math.ceil(start / step); k * step <= start + seconds; k++) {
        const x = Math.round(((k * step - start) / seconds) * width) + 0.5;
        context.strokeStyle = grid;
        context.beginPath();
        context.moveTo(x, 14);
        context.lineTo(x, height);
        context.stroke();
        const text = k === 0 ? "0" : format(k * step, "seconds", digits);
        if (x < width - LETTER * text.length) context.fillText(text, x + 3, 12);
    }
}

function drawSelection(context: CanvasRenderingContext2D, picture: Picture): void {
    const { selected, shown, width, scroll } = picture;
    if (selected === null || selected.line.row === null) return;
    const scale = (shown.end - shown.begin) / width;
    const left = ((selected.line.row.begin[selected.index] ?? 0) - shown.begin) / scale;
    const right = ((selected.line.row.end[selected.index] ?? 0) - shown.begin) / scale;
    if (right < 0 || left > width) return;
    context.lineWidth = 2;
    const top = AXIS + selected.line.top - scroll;
    context.strokeRect(
        Math.max(left, -4),
        top,
        Math.max(2, Math.min(right, width + 4) - left),
        LINE,
    );
    context.lineWidth = 1;
}

let boxes: { of: Trace; made: Boxes } | null = null;

export function draw(context: CanvasRenderingContext2D, picture: Picture): void {
    const { trace, layout, width, height, scroll } = picture;
    if (boxes === null || boxes.of !== trace) boxes = { of: trace, made: new Boxes(trace.names) };
    const style = getComputedStyle(context.canvas);
    const ratio = context.canvas.width / width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `11px ${style.fontFamily}`;
    context.fillStyle = context.strokeStyle = style.color;
    drawAxis(context, picture, style.borderTopColor);
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    const labels: Label[] = [];
    for (const line of layout.lines) {
        const top = AXIS + line.top - scroll;
        if (top + HEAD < AXIS || top > height) continue;
        if (line.row === null)
            labels.push({ text: picture.names[line.lane] ?? "", left: 0, top, room: width });
        else drawRow(picture, line.row, top, boxes.made, labels);
    }
    boxes.made.paint(context);
    context.fillStyle = context.strokeStyle = style.color;
    for (const it of labels) {
        const letters = Math.floor((it.room - 4) / LETTER);
        const text = visible(it.text.slice(0, 400));
        const cut =
            text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}\u2026` : text;
        context.fillText(cut, it.left + 3, it.top + 12);
    }
    drawSelection(context, picture);
    context.restore();
}
