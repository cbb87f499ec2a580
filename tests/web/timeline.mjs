// The timeline of FOLDER/timeline.html: its slices are those of the Chrome trace FOLDER/timeline.trace, the index
// answers as a search through all slices does, and keys, wheel and pointer do what the page says: timeline.mjs FOLDER
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { launch, need } from "./browser.mjs";

const [folder] = process.argv.slice(2);
const { buildSync } = need("esbuild");
const source = (name) => new URL(`../../web/src/${name}.ts`, import.meta.url).pathname;
const { outputFiles } = buildSync({
    stdin: { contents: `export * from "${source("trace")}"; export * from "${source("block")}";`, resolveDir: folder },
    bundle: true,
    format: "esm",
    write: false,
});
writeFileSync(`${folder}/trace.mjs`, outputFiles[0].text);
const { busyBetween, decode, firstAfter, longestBetween, readBytes } = await import(`${folder}/trace.mjs`);

// ---- the slices ----

const html = readFileSync(`${folder}/timeline.html`, "utf8");
const trace = decode(await readBytes(html.match(/id="trace-0">([^<]*)</)[1]));
const events = JSON.parse(readFileSync(`${folder}/timeline.trace`, "utf8")).traceEvents.filter((it) => it.ph === "X");
const tids = [...new Set(events.map((it) => it.tid))].sort((a, b) => a - b);
const key = (it) => it.join(" ");
const wanted = events.map((it) => key([tids.indexOf(it.tid), Math.round(it.ts * 1e3), Math.round(it.dur * 1e3), it.name]));
const found = trace.lanes.flatMap((lane) =>
    lane.rows.flatMap((row) =>
        Array.from(row.begin, (begin, i) => key([lane.lane, Math.round(1e9 * (trace.origin + begin * trace.unit)), row.end[i] - begin, trace.names[row.name[i]]])),
    ),
);
assert.ok(events.length > 4000);
assert.equal(trace.unit, 1e-9);
assert.deepEqual(found.sort(), wanted.sort());

// ---- the index ----

const row = trace.lanes[0].rows.at(-2);
const count = row.begin.length;
const took = (i) => row.end[i] - row.begin[i];
for (let k = 0; k < 400; k++) {
    const from = (k * 7919) % count;
    const to = from + 1 + ((k * 104729) % (count - from));
    let longest = from;
    for (let i = from; i < to; i++) if (took(i) > took(longest)) longest = i;
    assert.equal(took(longestBetween(row, from, to)), took(longest));
    const [begin, end] = [trace.length * (k / 500), trace.length * (k / 500 + 0.13 * ((k % 7) + 1) * 0.1)];
    assert.equal(firstAfter(row, begin), row.end.findIndex((it) => it > begin) < 0 ? count : row.end.findIndex((it) => it > begin));
    const first = firstAfter(row, begin);
    assert.equal(firstAfter(row, end, first), firstAfter(row, end));
    let busy = 0;
    for (let i = 0; i < count; i++) busy += Math.max(0, Math.min(end, row.end[i]) - Math.max(begin, row.begin[i]));
    assert.ok(Math.abs(busyBetween(row, firstAfter(row, begin), firstAfter(row, end), begin, end) - busy) < 1e-3);
}

// ---- hands ----

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
await page.goto(`file://${folder}/timeline.html`);
await page.locator("#timeline-0").scrollIntoViewIfNeeded();
await page.waitForSelector(".timeline-figure[data-ready]");
const canvas = page.locator("canvas.timeline");
const look = () => canvas.evaluate((it) => it.toDataURL());
const settle = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const details = () => page.locator(".timeline-details").textContent();
async function changes(what, act) {
    const before = await look();
    await act();
    await settle();
    assert.notEqual(await look(), before, what);
}
await settle();
const whole = await look();
await canvas.focus();
await changes("+ zooms", () => page.keyboard.press("+"));
await changes("the right arrow moves", () => page.keyboard.press("ArrowRight"));
await changes("the wheel zooms", async () => {
    await canvas.hover();
    await page.mouse.wheel(0, -300);
});
await changes("a drag moves", async () => {
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 500, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 350, box.y + 100, { steps: 3 });
    await page.mouse.up();
});
await page.getByRole("button", { name: "Show all" }).click();
await canvas.focus();
await page.mouse.move(5, 5);
await page.keyboard.press("Shift+ArrowDown");
await settle();
const step = await details();
assert.match(step, /^step: [\d.]+ ms from .*worker \d, depth 1$/);
await page.keyboard.press("Shift+ArrowRight");
assert.match(await details(), /^step: /);
assert.notEqual(await details(), step);
await page.keyboard.press("Shift+ArrowDown");
assert.match(await details(), /^forward: .*depth 2$/);
await changes("Enter zooms to the span", () => page.keyboard.press("Enter"));
await page.keyboard.press("0");
await settle();
assert.notEqual(await look(), whole, "the selected span is marked");
const rows = await page.locator(".timeline-figure tbody tr").evaluateAll((all) => all.map((it) => Number(it.querySelector("[data-value]").dataset.value)));
assert.deepEqual(rows, trace.lanes.map((it) => it.count));
await browser.close();
