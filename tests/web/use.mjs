// The page in use, by mouse and by keyboard: use.mjs FOLDER, with use.html of a tree of many operations
import assert from "node:assert/strict";
import { launch } from "./browser.mjs";

const browser = await launch();
const page = await (await browser.newContext({ offline: true, viewport: { width: 1300, height: 900 } })).newPage();
await page.goto(`file://${process.argv[2]}/use.html`);
await page.waitForSelector("html[data-ready]");
const table = page.locator("#spans-0 .table");
const first = () => table.locator("tbody tr").first().locator("th").textContent();
const column = (n) => table.locator(`tbody tr td:nth-child(${n})`).evaluateAll((all) => all.map((it) => Number(it.dataset.value)));

// Sorted by a figure: falling, then rising, then as the tree is. Rows come as the reader scrolls.
assert.equal((await first()).trim(), "root");
assert.ok((await table.locator("tbody tr").count()) < 200, "rows are made before they are seen");
const total = table.getByRole("button", { name: "total", exact: true });
await total.click();
const falling = await column(3);
assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
assert.equal(await table.locator("thead th:nth-child(3)").getAttribute("aria-sort"), "descending");
await total.press("Enter");
const rising = await column(3);
assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
assert.ok(rising[0] < falling.at(-1), "only the rows that were there are sorted");
await total.click();
assert.equal((await first()).trim(), "root");
await table.locator(".scroll").evaluate(async (it) => {
    for (let i = 0; i < 100; i++) {
        it.scrollTop = it.scrollHeight;
        await new Promise((done) => setTimeout(done, 5));
    }
});
assert.equal(await table.locator("tbody tr").count(), 600);

// Found by a part of the path, in any case.
await table.getByRole("searchbox").fill("OPERATION 59");
assert.equal(await table.locator("tbody tr").count(), 19); // 59, what ran in it, and 590 to 599
assert.match(await table.getByRole("status").textContent(), /^19 of 600 rows/);
await table.getByRole("searchbox").fill("");

// A row shows its distribution, and so does the tree by its keys.
const heading = page.locator("#spans-0 .chosen h3");
await table.getByRole("button", { name: "root", exact: true }).click();
assert.equal(await heading.textContent(), "Distribution of root");
await page.locator(".icicle").focus();
await page.keyboard.press("ArrowDown");
const child = await heading.textContent();
assert.match(child, /^Distribution of root\/operation/);
await page.keyboard.press("ArrowRight");
assert.notEqual(await heading.textContent(), child);
await page.keyboard.press("Enter");
assert.ok(!(await page.locator(".icicle").textContent()).includes("root:"), "Enter does not zoom");
await page.keyboard.press("Escape");
await page.keyboard.press("ArrowUp");
assert.equal(await heading.textContent(), "Distribution of root");
await page.waitForSelector("#spans-0 .chosen canvas");

// Light and dark by the button, on the canvas too.
const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const painted = () => page.locator("#spans-0 .chosen canvas").evaluate((it) => it.toDataURL());
const [light, before] = [await ground(), await painted()];
await page.getByRole("button", { name: "Use dark colours" }).click();
assert.notEqual(await ground(), light);
assert.notEqual(await painted(), before);
await page.getByRole("button", { name: "Use light colours" }).click();
assert.equal(await ground(), light);
assert.equal(await painted(), before);

// Printed, every chart is drawn.
await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
assert.equal(await page.locator(".plot").count(), await page.locator(".plot canvas").count());
await browser.close();
console.log("tables, tree and colours answer to mouse and keyboard");
