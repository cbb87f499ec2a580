// What is looked at in a page. The functions that begin with "find" run inside the page and return complaints.

// Everything that waits for the reader: sections below the screen, and what is folded.
export async function unfold(page) {
    await page.waitForSelector("html[data-ready]");
    await page.evaluate(async () => {
        const pause = (ms) => new Promise((done) => setTimeout(done, ms));
        for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
            scrollTo(0, y);
            await pause(15);
        }
        for (const it of document.querySelectorAll("details")) it.open = true;
        await pause(30);
        for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
            scrollTo(0, y);
            await pause(15);
        }
        scrollTo(0, 0);
        while ([...document.querySelectorAll(".timeline-figure")].some((it) => it.dataset.ready === undefined))
            await pause(20);
        await pause(50);
    });
}

// Rows of long tables are alike: what is found in the first ones is found in all.
export function shorten() {
    for (const it of document.querySelectorAll("tbody > tr:nth-child(n + 9)")) it.remove();
}

// Figures in the page against those of the record that holds them, or of the last document for the
// comparison of several records. A text may have lost digits, not its size: it is read back.
export function findFigures(documents) {
    const units = {
        s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
        kJ: 1e3, J: 1, mJ: 1e-3, "µJ": 1e-6, "%": 0.01, T: 1e12, G: 1e9, M: 1e6, k: 1e3,
    };
    const complaints = [];
    let checked = 0;
    const read = (text) => {
        const match = text.replace("\u2212", "-").replaceAll(",", "").match(/^\+?(-?[\d.]+(?:e-?\d+)?)\s*(\S+)?/);
        return match === null ? Number.NaN : Number(match[1]) * (units[match[2]] ?? 1);
    };
    for (const cell of document.querySelectorAll("[data-value]")) {
        const value = Number(cell.dataset.value);
        const text = cell.textContent.trim();
        const shown = read(text);
        if (cell.dataset.path === undefined) continue;
        const of = documents[cell.closest("[data-record]")?.dataset.record ?? 0] ?? documents.at(-1);
        const truth = cell.dataset.path.split("/").reduce((it, key) => it?.[key], of);
        checked++;
        if (truth !== value) complaints.push(`${cell.dataset.path} is ${truth}, the page has ${value}`);
        else if (!(Math.abs(shown - value) <= 2e-3 * Math.abs(value) + 1e-12))
            complaints.push(`${cell.dataset.path} is ${value}, the page shows '${text}'`);
    }
    return { complaints: complaints.slice(0, 5), checked };
}

// What sticks out of the screen, but for what can be scrolled to within its own box.
export function findCutOff() {
    const wide = document.documentElement.clientWidth;
    const complaints = [];
    if (document.documentElement.scrollWidth > wide)
        complaints.push(`the page is ${document.documentElement.scrollWidth} wide, the screen ${wide}`);
    const scrolls = (it) => {
        for (let box = it.parentElement; box !== null; box = box.parentElement)
            if (/auto|scroll/.test(getComputedStyle(box).overflowX) && box.getBoundingClientRect().right <= wide + 1)
                return true;
        return false;
    };
    for (const it of document.querySelectorAll("body *")) {
        const box = it.getBoundingClientRect();
        if (box.width === 0 || box.height === 0 || it.closest(".skip, .unseen") !== null) continue;
        if ((box.right > wide + 1 || box.left < -1) && !scrolls(it))
            complaints.push(`${it.tagName.toLowerCase()}.${it.getAttribute("class") ?? ""} reaches from ${Math.round(box.left)} to ${Math.round(box.right)} of ${wide}`);
        const style = getComputedStyle(it);
        if (/hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis" && it.scrollWidth > it.clientWidth + 1 && it.closest("svg") === null)
            complaints.push(`${it.tagName.toLowerCase()}.${it.getAttribute("class") ?? ""} hides ${it.scrollWidth - it.clientWidth} pixels of its content`);
    }
    return complaints.slice(0, 5);
}

// Markup from names: elements that no view makes.
export function findMarkup() {
    return [...document.querySelectorAll("img, iframe, object, embed, form, base, marquee, body script:not([type]) ~ script, [onerror], [onclick]")]
        .map((it) => `a name became the element ${it.tagName.toLowerCase()}`)
        .concat(window.hacked ? ["a name ran as a script"] : []);
}

// Serious and critical findings of axe-core.
export async function findBarriers(page, axe, rules) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(
        (only) => window.axe.run(document, { resultTypes: ["violations"], ...(only ? { runOnly: only } : {}) }),
        rules,
    );
    return violations
        .filter((it) => it.impact === "serious" || it.impact === "critical")
        .map((it) => `axe: ${it.id} (${it.help}): ${it.nodes.slice(0, 2).map((node) => node.html.slice(0, 120)).join("; ")}`);
}

// The share of pixels that differ by more than an eye forgives, of two pictures as base64; 1 for other sizes.
export function compare(page, before, after) {
    return page.evaluate(
        async ([a, b]) => {
            const pixels = async (base64) => {
                const bytes = Uint8Array.from(atob(base64), (it) => it.charCodeAt(0));
                const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
                context.drawImage(image, 0, 0);
                return context.getImageData(0, 0, image.width, image.height);
            };
            const [left, right] = [await pixels(a), await pixels(b)];
            if (left.width !== right.width || left.height !== right.height) return 1;
            let different = 0;
            for (let i = 0; i < left.data.length; i += 4) {
                let most = 0;
                for (let k = 0; k < 3; k++) most = Math.max(most, Math.abs(left.data[i + k] - right.data[i + k]));
                different += most > 40;
            }
            return different / (left.data.length / 4);
        },
        [before, after],
    );
}
