// Light or dark: what the reader's system prefers, until the reader says otherwise.
import { element } from "./dom";

const listeners = new Set<() => void>();

// Called when colours have changed, so that what is painted on a canvas can be painted again.
export function onTheme(listener: () => void): void {
    listeners.add(listener);
}

function changed(): void {
    for (const listener of listeners) listener();
}

const probe = element("i", { hidden: true });
const known = new Map<string, string>();
onTheme(() => known.clear());

// A colour of style.css as a canvas takes it. The style sheet says it for light and dark at once, so the browser is
// asked which one holds.
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

// Six colours that can be told apart without seeing red and green, the same as those of `assay report --plot`.
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
