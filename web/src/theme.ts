// The light or dark theme: the one that the reader's system prefers, until the reader chooses another.
import { element } from "./dom";

const listeners = new Set<() => void>();

// Registers a function that is called when the colours have changed, so that a canvas can be painted again.
export function onTheme(listener: () => void): void {
    listeners.add(listener);
}

function changed(): void {
    for (const listener of listeners) listener();
}

const probe = element("i", { hidden: true });
const known = new Map<string, string>();
onTheme(() => known.clear());

// A colour of style.css in a form that a canvas takes. The style sheet defines each colour for light and dark together, so
// the browser computes the one that applies.
export function colour(name: string, alpha = 1): string {
    let found = known.get(name);
    if (found === undefined) {
        if (!probe.isConnected) document.body.append(probe);
        probe.style.color = `var(--${name})`;
        found = getComputedStyle(probe).color;
        known.set(name, found);
    }
    return alpha === 1 ? found : found.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);
}

// The number of colours for series. They can be told apart without seeing red and green, and are the same as in
// `assay report --plot`.
export const SERIES = 6;
export function seriesName(index: number): string {
    return `s${(index % SERIES) + 1}`;
}

function isDark(): boolean {
    const chosen = document.documentElement.dataset.theme;
    return chosen === undefined
        ? matchMedia("(prefers-color-scheme: dark)").matches
        : chosen === "dark";
}

export function themeToggle(): HTMLElement {
    const toggle = element("button", { type: "button", class: "quiet", id: "theme" });
    const label = (): void => {
        toggle.textContent = isDark() ? "Light" : "Dark";
        toggle.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
    };
    toggle.addEventListener("click", () => {
        document.documentElement.dataset.theme = isDark() ? "light" : "dark";
        label();
        changed();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        label();
        changed();
    });
    label();
    return toggle;
}
