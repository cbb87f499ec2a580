// A table that can be sorted by any column and searched. A long table makes its rows when the reader scrolls to them, so
// that thousands of rows cost nothing before they are seen.
//
// A cell with a figure has the full number in `data-value`. `data-path` says where the record has the number: a path of
// keys and indices such as "operations/3/total_seconds".
import { element, freshId, visible } from "./dom";
import { format, type Unit } from "./format";
import type { Reading, Unavailable } from "./record";

export interface Column<Row> {
    title: string;
    hint?: string;
    unit?: Unit;
    key?: string;
    value?: (row: Row) => Reading;
    text?: (row: Row) => string;
    cell?: (row: Row) => Node;
    header?: () => Node;
    kind?: "name" | "prose" | "picture";
    falling?: boolean;
}

export interface TableOptions<Row> {
    caption: string;
    search?: (row: Row) => string;
    path?: (row: Row, index: number) => string;
    pick?: (row: Row) => void;
    compact?: boolean;
}

const CHUNK = 80;
const SEARCH_FROM = 12;

// A column with the figure that each row has under `key`.
export function figures<Row>(title: string, key: keyof Row & string, unit: Unit): Column<Row> {
    return { title, key, unit, value: (row) => row[key] as Reading };
}

export function names<Row>(title: string, text: (row: Row) => string): Column<Row> {
    return { title, text, kind: "name" };
}

// The columns that have a value in at least one row.
export function present<Row>(rows: Row[], columns: Column<Row>[]): Column<Row>[] {
    return columns.filter(
        (column) =>
            column.cell !== undefined ||
            rows.some((row) =>
                column.value !== undefined
                    ? isFigure(column.value(row))
                    : (column.text?.(row) ?? "") !== "",
            ),
    );
}

function isFigure(value: Reading): value is number {
    return value !== null && value !== undefined && Number.isFinite(value);
}

function reasonOf<Row>(row: Row, key: string | undefined): string | undefined {
    const reasons = (row as { unavailable?: Unavailable }).unavailable;
    return key !== undefined ? reasons?.[key] : undefined;
}

export function figureCell<Row>(
    tag: "td" | "span" | "dd",
    row: Row,
    column: Column<Row>,
    path?: string,
): HTMLElement {
    const value = column.value?.(row);
    const cell = element(tag, { class: "num" });
    if (isFigure(value)) {
        cell.textContent = format(value, column.unit ?? "number");
        cell.dataset.value = String(value);
        if (path !== undefined && column.key !== undefined)
            cell.dataset.path = `${path}/${column.key}`;
    } else {
        cell.classList.add("missing");
        cell.textContent = "n/a";
        const why = reasonOf(row, column.key);
        if (why !== undefined) cell.title = why;
    }
    return cell;
}

class DataTable<Row> {
    readonly box: HTMLElement;
    private readonly scroller: HTMLElement;
    private readonly body = element("tbody");
    private readonly status = element("span", { class: "status", role: "status" });
    private readonly heads: HTMLTableCellElement[] = [];
    private readonly order: number[];
    private shown: number[] = [];
    private made = 0;
    private sorted = -1;
    private falling = false;
    private wanted = "";

    constructor(
        private readonly rows: Row[],
        private readonly columns: Column<Row>[],
        private readonly options: TableOptions<Row>,
    ) {
        this.order = rows.map((_, index) => index);
        const captionId = freshId("caption");
        const searchable = options.search !== undefined && rows.length > SEARCH_FROM;
        const head = element("tr");
        columns.forEach((column, index) => {
            head.append(this.headCell(column, index));
        });
        this.scroller = element(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": captionId },
            element(
                "table",
                { "aria-rowcount": rows.length + 1 },
                element("caption", { id: captionId, class: "unseen" }, options.caption),
                element("thead", {}, head),
                this.body,
            ),
        );
        this.box = element("div", { class: "table" });
        if (options.compact) this.box.classList.add("compact");
        if (searchable) this.box.append(this.searchBar());
        this.box.append(this.scroller);
        this.scroller.addEventListener("scroll", () => this.fill());
        window.addEventListener("beforeprint", () => this.make(Math.min(1000, this.shown.length)));
        this.refresh();
    }

    private searchBar(): HTMLElement {
        const input = element("input", {
            type: "search",
            placeholder: "Search",
            "aria-label": `Search: ${this.options.caption}`,
        });
        input.addEventListener("input", () => {
            this.wanted = input.value.trim().toLowerCase();
            this.refresh();
        });
        return element("div", { class: "bar" }, input, this.status);
    }

    private headCell(column: Column<Row>, index: number): HTMLTableCellElement {
        const cell = element("th", { scope: "col", class: classOf(column) });
        this.heads.push(cell);
        if (column.cell !== undefined) {
            cell.append(column.header?.() ?? column.title);
            return cell;
        }
        const sort = element("button", { type: "button", title: column.hint }, column.title);
        sort.addEventListener("click", () => this.sort(index));
        cell.append(sort);
        return cell;
    }

    private sort(index: number): void {
        const column = this.columns[index];
        if (column === undefined) return;
        const first = column.value !== undefined;
        if (this.sorted !== index) {
            this.sorted = index;
            this.falling = first;
        } else if (this.falling === first) {
            this.falling = !first;
        } else {
            this.sorted = -1;
        }
        this.order.sort((a, b) => (this.sorted < 0 ? a - b : this.compare(column, a, b)));
        this.heads.forEach((head, at) => {
            if (at === this.sorted)
                head.setAttribute("aria-sort", this.falling ? "descending" : "ascending");
            else head.removeAttribute("aria-sort");
        });
        this.refresh();
    }

    private compare(column: Column<Row>, a: number, b: number): number {
        const [left, right] = [this.rows[a] as Row, this.rows[b] as Row];
        const way = this.falling ? -1 : 1;
        if (column.value !== undefined) {
            const [x, y] = [column.value(left), column.value(right)];
            if (!isFigure(x) || !isFigure(y)) return Number(isFigure(y)) - Number(isFigure(x));
            return x === y ? a - b : way * (x - y);
        }
        const [x, y] = [column.text?.(left) ?? "", column.text?.(right) ?? ""];
        return way * x.localeCompare(y, "en", { numeric: true }) || a - b;
    }

    private refresh(): void {
        const { search } = this.options;
        this.shown =
            this.wanted === "" || search === undefined
                ? this.order
                : this.order.filter((index) =>
                      search(this.rows[index] as Row)
                          .toLowerCase()
                          .includes(this.wanted),
                  );
        this.made = 0;
        this.body.replaceChildren();
        this.scroller.scrollTop = 0;
        this.make(CHUNK);
        this.status.textContent =
            this.shown.length === this.rows.length
                ? `${this.rows.length.toLocaleString("en-US")} rows`
                : `${this.shown.length.toLocaleString("en-US")} of ${this.rows.length.toLocaleString("en-US")} rows`;
    }

    private fill(): void {
        const { scrollTop, clientHeight, scrollHeight } = this.scroller;
        if (scrollTop + clientHeight > scrollHeight - 400) this.make(this.made + CHUNK);
    }

    private make(upTo: number): void {
        const end = Math.min(upTo, this.shown.length);
        const rows: HTMLElement[] = [];
        for (; this.made < end; this.made++) rows.push(this.row(this.shown[this.made] as number));
        this.body.append(...rows);
    }

    private row(index: number): HTMLElement {
        const row = this.rows[index] as Row;
        const path = this.options.path?.(row, index);
        const made = element("tr", {
            "aria-rowindex": this.order.length > CHUNK ? index + 2 : null,
        });
        this.columns.forEach((column, at) => {
            made.append(this.cell(row, column, at, path));
        });
        return made;
    }

    private cell(row: Row, column: Column<Row>, at: number, path?: string): HTMLElement {
        if (column.cell !== undefined)
            return element("td", { class: classOf(column) }, column.cell(row));
        if (column.value !== undefined) return figureCell("td", row, column, path);
        const text = visible(column.text?.(row) ?? "");
        const cell = element(at === 0 ? "th" : "td", { class: classOf(column) });
        if (at === 0) cell.setAttribute("scope", "row");
        const { pick } = this.options;
        if (at === 0 && pick !== undefined) {
            const button = element("button", { type: "button", class: "pick" }, text);
            button.addEventListener("click", () => pick(row));
            cell.append(button);
        } else cell.append(column.kind === "name" ? element("span", {}, text) : text);
        return cell;
    }
}

function classOf<Row>(column: Column<Row>): string {
    return column.kind ?? (column.value !== undefined ? "num" : "text");
}

export function table<Row>(
    rows: Row[],
    columns: Column<Row>[],
    options: TableOptions<Row>,
): HTMLElement {
    return new DataTable(rows, columns, options).box;
}

// A table of keys and values, such as the facts about a machine, or settings.
export function facts(
    entries: [string, string | number | boolean | null | undefined][],
    caption: string,
): HTMLElement {
    const list = element("dl", { class: "facts", "aria-label": caption });
    for (const [key, value] of entries) {
        const cell = element("dd", {}, visible(value === null ? "n/a" : String(value)));
        if (typeof value === "number") cell.dataset.value = String(value);
        list.append(element("div", {}, element("dt", {}, visible(key)), cell));
    }
    return list;
}
