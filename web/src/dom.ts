// Makes all elements of the page; no other file does. Texts are inserted as text nodes, so that names from a record are
// never taken as markup.

export type Child = Node | string | null | undefined;
export type Attributes = { [name: string]: string | number | boolean | null | undefined };

const LONGEST = 300;

// A name that can be shown safely. Control and direction characters, which could hide or reorder text, become visible
// marks. A text that is too long is cut, and its length is told.
export function visible(text: string, longest = LONGEST): string {
    const cut = text.length > longest ? text.slice(0, longest) : text;
    const shown = cut.replace(
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
        /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        (it) => (it === "\n" || it === "\t" ? " " : "\u2423"),
    );
    if (cut.length === text.length) return shown;
    const length = text.length > 1000 ? ` (${text.length.toLocaleString("en")} characters)` : "";
    return `${shown}\u2026${length}`;
}

export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    set(made, attributes);
    append(made, children);
    return made;
}

export function svg<K extends keyof SVGElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): SVGElementTagNameMap[K] {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    set(made, attributes);
    append(made, children);
    return made;
}

function set(made: Element, attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === true) made.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined)
            made.setAttribute(name, String(value));
    }
}

function append(made: Element, children: Child[]): void {
    for (const child of children) {
        if (child !== null && child !== undefined) made.append(child);
    }
}

// The functions that wait until their element comes near the screen. Before printing all of them are called, also those
// that are added meanwhile.
const waiting = new Set<() => void>();
window.addEventListener("beforeprint", () => {
    for (const draw of waiting) draw();
});

// Calls `draw` one time, when the element comes near the screen or before the page is printed.
export function whenSeen(target: Element, draw: () => void): void {
    const observer = new IntersectionObserver(
        (entries) => {
            if (entries.some((it) => it.isIntersecting)) once();
        },
        { rootMargin: "600px" },
    );
    const once = (): void => {
        if (!waiting.delete(once)) return;
        observer.disconnect();
        draw();
    };
    waiting.add(once);
    observer.observe(target);
}

let ids = 0;

// A unique id for an element to which a label or a description refers.
export function freshId(prefix: string): string {
    ids += 1;
    return `${prefix}-${ids}`;
}
