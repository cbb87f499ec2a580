// The call tree as an icicle graph. The width of an operation is its share of the total time, its children are below it,
// and the free space below it is its self time. Boxes that are too narrow to see are not made.
//
// The arrow keys move through the tree, Enter makes the operation fill the width, and Escape goes back.
import { element, svg, visible } from "./dom";
import { format } from "./format";
import type { Node } from "./tree";

const ROW = 22;
const NARROWEST = 1;
const MOST_ROWS = 24;

export class Icicle {
    readonly box: HTMLElement;
    private readonly picture = svg("svg", { role: "presentation", "aria-hidden": "true" });
    private readonly told = element("p", { class: "told", "aria-live": "polite" });
    private readonly tops: Node[];
    private root: Node | null = null;
    private current: Node | null = null;
    private width = 0;

    constructor(
        nodes: Node[],
        private readonly pick: (node: Node) => void,
    ) {
        this.tops = nodes.filter((it) => it.parent === null);
        const keys = element(
            "div",
            {
                class: "icicle",
                tabindex: 0,
                role: "application",
                "aria-label":
                    "Icicle graph of the call tree. Arrow keys walk it, Enter zooms in, Escape zooms out. The table has the same figures.",
            },
            this.picture,
        );
        const out = element("button", { type: "button", class: "quiet" }, "Whole tree");
        out.addEventListener("click", () => this.zoom(null));
        keys.addEventListener("keydown", (event) => this.key(event));
        this.box = element("div", {}, keys, element("div", { class: "bar" }, this.told, out));
        this.told.textContent = "Select an operation for its distribution.";
        new ResizeObserver(() => {
            const width = Math.floor(keys.clientWidth);
            if (width === this.width) return;
            this.width = width;
            this.draw();
        }).observe(keys);
    }

    select(node: Node): void {
        this.current = node;
        this.told.textContent = `${visible(node.path, 160)}: ${format(node.it.total_seconds, "seconds")} in ${format(node.it.count, "count")} spans`;
        this.draw();
    }

    private zoom(node: Node | null): void {
        this.root = node;
        this.draw();
    }

    private key(event: KeyboardEvent): void {
        const at = this.current ?? this.tops[0];
        if (at === undefined) return;
        const beside = at.parent === null ? this.tops : at.parent.children;
        const position = beside.indexOf(at);
        const steps: { [key: string]: Node | null | undefined } = {
            ArrowDown: at.children[0],
            ArrowUp: at.parent,
            ArrowLeft: beside[position - 1],
            ArrowRight: beside[position + 1],
        };
        if (event.key === "Enter") this.zoom(at);
        else if (event.key === "Escape") this.zoom(null);
        else if (event.key in steps) this.pick(steps[event.key] ?? at);
        else return;
        event.preventDefault();
    }

    private draw(): void {
        const roots = this.root === null ? this.tops : [this.root];
        const total = roots.reduce((sum, it) => sum + it.it.total_seconds, 0);
        const base = this.root?.depth ?? 0;
        const boxes: SVGElement[] = [];
        let rows = 1;
        const lay = (node: Node, left: number, width: number): void => {
            const row = node.depth - base;
            if (width < NARROWEST || row >= MOST_ROWS) return;
            rows = Math.max(rows, row + 1);
            boxes.push(this.boxOf(node, left, row, width));
            // The times of children on several threads may add up to more than the time of their parent. Then they share
            // the width of the parent.
            const inside = node.children.reduce((sum, it) => sum + it.it.total_seconds, 0);
            const scale = width / Math.max(node.it.total_seconds, inside, Number.MIN_VALUE);
            let at = left;
            for (const child of node.children) {
                lay(child, at, child.it.total_seconds * scale);
                at += child.it.total_seconds * scale;
            }
        };
        let at = 0;
        for (const node of roots) {
            const width = total > 0 ? (node.it.total_seconds / total) * this.width : 0;
            lay(node, at, width);
            at += width;
        }
        this.picture.setAttribute("width", String(this.width));
        this.picture.setAttribute("height", String(rows * ROW));
        this.picture.replaceChildren(...boxes);
    }

    private boxOf(node: Node, left: number, row: number, width: number): SVGElement {
        const shade = node.depth % 4;
        const group = svg("g", { class: `box d${shade}${node === this.current ? " on" : ""}` });
        const frame = {
            x: left.toFixed(2),
            y: row * ROW,
            width: Math.max(0.5, width - 1).toFixed(2),
            height: ROW - 1,
        };
        group.append(
            svg("title", {}, `${visible(node.path)}: ${format(node.it.total_seconds, "seconds")}`),
            svg("rect", frame),
        );
        const letters = Math.floor((width - 8) / 6.4);
        if (letters >= 3) {
            const name = visible(node.it.name, 200);
            const text = name.length > letters ? `${name.slice(0, letters - 1)}\u2026` : name;
            group.append(svg("text", { x: (left + 5).toFixed(2), y: row * ROW + 15 }, text));
        }
        group.addEventListener("click", () => this.pick(node));
        group.addEventListener("dblclick", () => this.zoom(node));
        return group;
    }
}
