// Opens pages in Chromium and prints figures as rows (bench/page.sh): node page.mjs EMPTY.html BIG.html
import { statSync } from "node:fs";
import { launch } from "../tests/web/browser.mjs";

const [empty, big] = process.argv.slice(2);

function row(name, value, unit, bar, ok) {
    console.log(JSON.stringify({ name, value: Number(value.toPrecision(3)), unit, bar, ok }));
}

function median(values) {
    return values.sort((a, b) => a - b)[values.length >> 1];
}

// Opens the big page and measures the seconds until its timeline is drawn and responds.
async function open(browser) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const begin = performance.now();
    await page.goto(`file://${big}`);
    await page.waitForSelector("[id^=timeline]", { state: "attached", timeout: 20000 }); // views appear after the page has loaded
    await page.evaluate(async () => {
        document.querySelector("[id^=timeline]").scrollIntoView();
        const ready = () => document.querySelector(".timeline-figure[data-ready]");
        while (!ready()) await new Promise((done) => setTimeout(done, 10));
        const canvas = document.querySelector("canvas.timeline");
        canvas.focus();
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    });
    return { page, seconds: (performance.now() - begin) / 1000 };
}

// The frames per second while the timeline is dragged to and fro, after `presses` presses of "+".
function pan(page, presses) {
    return page.evaluate(async (count) => {
        const canvas = document.querySelector("canvas.timeline");
        const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
        const drag = (type, x) =>
            canvas.dispatchEvent(
                new PointerEvent(type, { pointerId: 1, clientX: x, clientY: 300, bubbles: true }),
            );
        canvas.setPointerCapture = () => {};
        press("0");
        for (let i = 0; i < count; i++) press("+");
        drag("pointerdown", 600);
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        await frame();
        const begin = performance.now();
        let frames = 0;
        for (; performance.now() - begin < 3000; frames++) {
            drag("pointermove", 600 + 300 * Math.sin(frames / 15));
            await frame();
        }
        const seconds = (performance.now() - begin) / 1000;
        drag("pointerup", 600);
        return frames / seconds;
    }, presses);
}

row("an empty page", statSync(empty).size / 1e3, "KB", 300, statSync(empty).size <= 300e3);
row("a page of 5,000 operations and 10^6 events", statSync(big).size / 1e6, "MB", 8, statSync(big).size <= 8e6);
const browser = await launch();
const seconds = [];
const frames = { "all of it": [], "a tenth of it": [], "a thousandth of it": [] };
const presses = [1, 6, 19]; // each press shows 0.7 of the range before
for (let i = 0; i < 3; i++) {
    const opened = await open(browser);
    seconds.push(opened.seconds);
    for (const [k, values] of Object.values(frames).entries()) values.push(await pan(opened.page, presses[k]));
    await opened.page.close();
}
await browser.close();
const opening = median(seconds);
row("from opening that page until its timeline answers", opening, "s", 2, opening <= 2);
for (const [name, values] of Object.entries(frames)) {
    const rate = median(values);
    row(`panning a timeline of 10^6 events, ${name} in view`, rate, "frames/s", 30, rate >= 30);
}
