// The page: reads the data block and shows the views that apply to each record.
import { readText } from "./block";
import { element, visible, whenSeen } from "./dom";
import { growth } from "./growth";
import { head } from "./head";
import { type HistoryData, history } from "./history";
import { more } from "./more";
import { pairs } from "./pairs";
import { profile } from "./profile";
import { ratios } from "./ratios";
import type { Entry, PageData } from "./record";
import { resources } from "./resources";
import { spans } from "./spans";
import { figuresView, pictures } from "./study";
import { subjects } from "./subjects";
import { themeToggle } from "./theme";
import { timeline } from "./timeline";
import { together } from "./together";
import type { View } from "./view";
import { shortNames, titleOf } from "./words";

const views: View[] = [
    pictures,
    spans,
    timeline,
    ratios,
    subjects,
    pairs,
    growth,
    profile,
    figuresView,
    resources,
    more,
];

function show(entry: Entry, into: HTMLElement): void {
    into.append(head(entry));
    for (const view of views) {
        if (!view.applies(entry)) continue;
        const title = `${view.id}-${entry.index}-title`;
        const section = element("section", {
            id: `${view.id}-${entry.index}`,
            "aria-labelledby": title,
        });
        section.append(element("h2", { id: title }, view.title));
        into.append(section);
        view.render(entry, section);
    }
}

function contents(entries: Entry[]): HTMLElement {
    const list = element("ul");
    const link = (id: string, text: string, sub = false): void => {
        list.append(
            element("li", { class: sub ? "sub" : "" }, element("a", { href: `#${id}` }, text)),
        );
    };
    const short = shortNames(entries.map((it) => it.about.origin));
    if (entries.length > 1) link("together", "Side by side");
    for (const entry of entries) {
        link(
            `record-${entry.index}`,
            entries.length > 1 ? visible(short[entry.index] ?? "", 60) : "Overview",
        );
        if (entries.length > FEW) continue;
        for (const view of views) {
            if (view.applies(entry))
                link(`${view.id}-${entry.index}`, view.title, entries.length > 1);
        }
    }
    return element("nav", { "aria-label": "Contents" }, list);
}

// Up to this many records are shown at once. With more, each record is shown when the reader scrolls to it.
const FEW = 4;

function article(entry: Entry, few: boolean): HTMLElement {
    const made = element("article", {
        id: `record-${entry.index}`,
        "data-record": entry.index,
        "aria-label": visible(entry.about.origin, 200),
    });
    if (few) show(entry, made);
    else {
        made.classList.add("waiting");
        whenSeen(made, () => {
            made.classList.remove("waiting");
            show(entry, made);
        });
    }
    return made;
}

// Makes the parts that every page has around its content.
function frame(title: string, nav: HTMLElement, body: HTMLElement): void {
    document.title = `${title} \u2013 assay`;
    document.body.append(
        element("a", { href: "#main", class: "skip" }, "Skip to the content"),
        element(
            "div",
            { class: "top", role: "banner" },
            element("span", { class: "brand" }, "assay"),
            themeToggle(),
        ),
        element("div", { class: "frame" }, nav, body),
    );
}

function showRecords(data: PageData): void {
    const entries: Entry[] = data.records.map((it, index) => ({ ...it, index }));
    const first = entries[0];
    const single = entries.length === 1;
    const title =
        single && first !== undefined
            ? titleOf(first.record, first.about.origin)
            : `${entries.length} records`;
    const body = element("main", { id: "main" });
    frame(title, contents(entries), body);
    if (!single) body.append(together(data, entries));
    for (const entry of entries) body.append(article(entry, entries.length <= FEW));
}

async function start(): Promise<void> {
    if (document.getElementById("history") !== null) {
        const page = history(JSON.parse(await readText("history")) as HistoryData);
        frame("Runs over time", page.contents, page.body);
    } else showRecords(JSON.parse(await readText("data")) as PageData);
    document.documentElement.dataset.ready = "true";
}

void start();
