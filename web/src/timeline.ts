// The timeline of a trace. Each thread, task, stream or row of processes is a lane, and its spans are stacked as they nest.
//
// The picture is a canvas that can be used with a pointer or with keys. A table shows the lanes and what they did, for
// screen readers: a picture of a million spans cannot be read out.
import { readBytes } from "./block";
import { element, freshId, visible, whenSeen } from "./dom";
import { format } from "./format";
import type { Entry } from "./record";
import { type Column, names, table } from "./table";
import { onTheme } from "./theme";
import { AXIS, draw, type Layout, type Line, layOut, lineAt, type Picture } from "./timeline_draw";
import { decode, firstAfter, type Trace, type TraceLane } from "./trace";
import type { View } from "./view";

const HIGHEST = 460; // the largest height in pixels; further lanes are reached by scrolling
const FEWEST = 20; // the fewest units of time that the picture shows when it is zoomed in

const HELP =
    "Drag, or press the left and right arrow keys, to move. Press + and \u2212 to zoom, or turn the wheel while the " +
    "picture has the focus (or with Ctrl). Shift with an arrow key goes from span to span, Enter zooms to it, 0 shows all.";

function block(entry: Entry): HTMLElement | null {
    return document.getElementById(`trace-${entry.index}`);
}

function laneName(entry: Entry, lane: number): string {
    const lanes = entry.record.lanes ?? [];
    const it = lanes[lane];
    if (it === undefined) return "processes";
    const several = lanes.some((other) => other.process_id !== it.process_id);
    const where = [it.device, it.host, it.rank_count ? `rank ${it.rank}` : null]
        .filter((text) => text !== undefined && text !== null)
        .join(", ");
    return `${it.name ?? it.kind}${several ? ` (process ${it.process_id})` : ""}${where === "" ? "" : `, ${where}`}`;
}

// ---- the table ------------------------------------------------------------------------------------------------------

function tableOf(entry: Entry, trace: Trace): HTMLElement {
    const busy = (lane: TraceLane): number => (lane.rows[0]?.busy.at(-1) ?? 0) * trace.unit;
    const whole = trace.length * trace.unit;
    const columns: Column<TraceLane>[] = [
        names("lane", (it) => laneName(entry, it.lane)),
        { title: "kind", text: (it) => entry.record.lanes?.[it.lane]?.kind ?? "process" },
        { title: "spans", unit: "count", value: (it) => it.count },
        { title: "deepest", unit: "count", value: (it) => it.rows.length },
        { title: "busy", unit: "seconds", value: busy },
        { title: "busy share", unit: "share", value: (it) => (whole > 0 ? busy(it) / whole : 0) },
    ];
    return table(trace.lanes, columns, {
        caption: "Lanes of the timeline: what was traced, and how busy they were",
        compact: true,
    });
}

// ---- the picture ----------------------------------------------------------------------------------------------------

class Timeline {
    private readonly layout: Layout;
    private readonly canvas: HTMLCanvasElement;
    private readonly box: HTMLElement;
    private readonly details = element("output", { class: "timeline-details" });
    private readonly picture: Picture;
    private waiting = false;
    private dragged: { x: number; y: number } | null = null;

    constructor(
        private readonly trace: Trace,
        names: string[],
        into: HTMLElement,
    ) {
        this.layout = layOut(trace);
        const height = Math.min(HIGHEST, AXIS + this.layout.height);
        const help = freshId("timeline-help");
        this.canvas = element("canvas", {
            class: "timeline",
            tabindex: 0,
            role: "application",
            "aria-roledescription": "timeline",
            "aria-label": `Timeline of ${trace.count.toLocaleString("en")} spans in ${trace.lanes.length} lanes`,
            "aria-describedby": help,
        });
        this.canvas.style.height = `${height}px`;
        const space = element("div", { class: "timeline-space" });
        space.style.height = `${AXIS + this.layout.height}px`;
        this.box = element("div", { class: "timeline-box" }, this.canvas, space);
        this.box.style.height = `${height}px`;
        this.picture = {
            trace,
            layout: this.layout,
            names,
            width: 1,
            height,
            scroll: 0,
            shown: { begin: 0, end: Math.max(1, trace.length) },
            selected: null,
        };
        into.append(
            this.buttons(),
            this.box,
            this.details,
            element("p", { id: help, class: "note" }, HELP),
        );
        this.listen();
    }

    private buttons(): HTMLElement {
        const bar = element("div", {
            class: "timeline-buttons",
            role: "toolbar",
            "aria-label": "Timeline",
        });
        const add = (text: string, label: string, act: () => void): void => {
            const button = element(
                "button",
                { type: "button", "aria-label": label, title: label },
                text,
            );
            button.addEventListener("click", act);
            bar.append(button);
        };
        add("+", "Zoom in", () => this.zoom(0.5));
        add("\u2212", "Zoom out", () => this.zoom(2));
        add("\u2190", "Move to earlier", () => this.pan(-0.25));
        add("\u2192", "Move to later", () => this.pan(0.25));
        add("All", "Show all", () => this.show(0, this.trace.length));
        return bar;
    }

    private listen(): void {
        const { canvas, box } = this;
        box.addEventListener("scroll", () => this.later());
        new ResizeObserver(() => this.later()).observe(box);
        onTheme(() => this.later());
        canvas.addEventListener("keydown", (event) => this.press(event));
        canvas.addEventListener("focus", () => this.later());
        canvas.addEventListener(
            "wheel",
            (event) => {
                if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
                event.preventDefault();
                if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
                    this.pan(event.deltaX / this.picture.width);
                else this.zoom(1.002 ** event.deltaY, event.offsetX / this.picture.width);
            },
            { passive: false },
        );
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            this.dragged = { x: event.clientX, y: event.clientY };
        });
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", () => {
            this.dragged = null;
        });
        canvas.addEventListener("pointercancel", () => {
            this.dragged = null;
        });
    }

    // Draws with the next frame. Several calls before that frame draw only once.
    private later(): void {
        if (this.waiting) return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            const { canvas, picture } = this;
            const context = canvas.getContext("2d");
            const ratio = Math.min(window.devicePixelRatio || 1, 3);
            const width = Math.max(1, this.box.clientWidth);
            if (canvas.width !== Math.round(width * ratio))
                canvas.width = Math.round(width * ratio);
            const height = Math.round(picture.height * ratio);
            if (canvas.height !== height) canvas.height = height;
            picture.width = width;
            picture.scroll = this.box.scrollTop;
            if (context !== null) draw(context, picture);
        });
    }

    private show(begin: number, end: number): void {
        const most = Math.max(1, this.trace.length);
        const length = Math.min(most, Math.max(Math.min(FEWEST, most), end - begin));
        const from = Math.min(Math.max(0, begin), most - length);
        this.picture.shown = { begin: from, end: from + length };
        this.later();
    }

    private pan(share: number): void {
        const { begin, end } = this.picture.shown;
        const by = share * (end - begin);
        this.show(begin + by, end + by);
    }

    private zoom(factor: number, at = 0.5): void {
        const { begin, end } = this.picture.shown;
        const fixed = begin + at * (end - begin);
        this.show(fixed - (fixed - begin) * factor, fixed + (end - fixed) * factor);
    }

    private move(event: PointerEvent): void {
        if (this.dragged !== null) {
            this.pan((this.dragged.x - event.clientX) / this.picture.width);
            this.box.scrollTop += this.dragged.y - event.clientY;
            this.dragged = { x: event.clientX, y: event.clientY };
            return;
        }
        const line = lineAt(this.layout, event.offsetY - AXIS + this.box.scrollTop);
        const { begin, end } = this.picture.shown;
        const time = begin + (event.offsetX / this.picture.width) * (end - begin);
        const pixel = (end - begin) / this.picture.width;
        if (line?.row) {
            const index = firstAfter(line.row, time - pixel / 2);
            const starts = line.row.begin[index];
            if (starts !== undefined && starts <= time + pixel / 2) this.select(line, index);
        }
    }

    private select(line: Line, index: number): void {
        const { trace, picture } = this;
        const row = line.row;
        if (row === null || index < 0 || index >= row.begin.length) return;
        if (picture.selected?.line === line && picture.selected.index === index) return;
        picture.selected = { line, index };
        const begin = (row.begin[index] ?? 0) * trace.unit;
        const took = ((row.end[index] ?? 0) - (row.begin[index] ?? 0)) * trace.unit;
        const name = visible(trace.names[row.name[index] ?? 0] ?? "", 120);
        const open = row.open[index] === 1 ? ", which had not ended" : "";
        this.details.textContent = `${name}: ${format(took, "seconds", 6)} from ${format(trace.origin + begin, "seconds", 9)}${open}; ${visible(picture.names[line.lane] ?? "", 80)}, depth ${row.depth + 1}`;
        this.later();
    }

    // Moves the shown part in time, and scrolls, so that the selected slice is visible.
    private reveal(): void {
        const { selected, shown } = this.picture;
        if (!selected?.line.row) return;
        const begin = selected.line.row.begin[selected.index] ?? 0;
        const end = selected.line.row.end[selected.index] ?? 0;
        if (begin < shown.begin || end > shown.end) {
            const half = (shown.end - shown.begin) / 2;
            this.show((begin + end) / 2 - half, (begin + end) / 2 + half);
        }
        const top = selected.line.top;
        if (top < this.box.scrollTop) this.box.scrollTop = top;
        const low = top + AXIS + 20 - this.picture.height;
        if (low > this.box.scrollTop) this.box.scrollTop = low;
    }

    private step(event: KeyboardEvent): void {
        const { selected, shown } = this.picture;
        const rows = this.layout.lines.filter((it) => it.row !== null);
        const down = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        const right = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        const old = selected?.line.row;
        const time = old && selected ? (old.begin[selected.index] ?? 0) : shown.begin;
        const place = selected === null ? 0 : rows.indexOf(selected.line) + down;
        const line = rows[place];
        if (!line?.row) return;
        const index =
            selected === null || down !== 0 ? firstAfter(line.row, time) : selected.index + right;
        this.select(line, Math.min(index, line.row.begin.length - 1));
        this.reveal();
    }

    private press(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const { selected } = this.picture;
        if (event.shiftKey && event.key.startsWith("Arrow")) this.step(event);
        else if (event.key === "ArrowLeft") this.pan(-0.1);
        else if (event.key === "ArrowRight") this.pan(0.1);
        else if (event.key === "+" || event.key === "=") this.zoom(0.7);
        else if (event.key === "-" || event.key === "\u2212") this.zoom(1 / 0.7);
        else if (event.key === "0") this.show(0, this.trace.length);
        else if (event.key === "Enter" && selected?.line.row) {
            const begin = selected.line.row.begin[selected.index] ?? 0;
            const end = selected.line.row.end[selected.index] ?? 0;
            this.show(begin - 0.1 * (end - begin), end + 0.1 * (end - begin));
        } else return;
        event.preventDefault();
    }
}

// ---- the view -------------------------------------------------------------------------------------------------------

function notes(entry: Entry, trace: Trace): string {
    const dropped = entry.record.integrity?.dropped_events ?? 0;
    const rounded =
        trace.unit > 1.5e-9 ? `Times are rounded to ${format(trace.unit, "seconds", 3)}. ` : "";
    return dropped > 0
        ? `${rounded}The first ${format(dropped, "count")} events were overwritten, since a trace is bounded.`
        : rounded;
}

async function fill(entry: Entry, into: HTMLElement): Promise<void> {
    const data = block(entry);
    try {
        const trace = decode(await readBytes(data?.textContent ?? ""));
        data?.remove();
        const names = trace.lanes.map((it) => laneName(entry, it.lane));
        const text = notes(entry, trace);
        into.replaceChildren();
        new Timeline(trace, names, into);
        if (text !== "") into.append(element("p", { class: "note" }, text));
        into.append(
            element(
                "details",
                {},
                element("summary", {}, "Lanes as a table"),
                tableOf(entry, trace),
            ),
        );
        into.dataset.ready = "true";
    } catch (error) {
        into.replaceChildren(
            element(
                "p",
                {},
                `The timeline cannot be shown: ${error instanceof Error ? error.message : error}.`,
            ),
        );
    }
}

export const timeline: View = {
    id: "timeline",
    title: "Timeline",
    applies: (entry) => block(entry) !== null,
    render: (entry, section) => {
        const into = element(
            "div",
            { class: "timeline-figure" },
            element("p", {}, "Reading the trace\u2026"),
        );
        section.append(into);
        whenSeen(section, () => void fill(entry, into));
    },
};
