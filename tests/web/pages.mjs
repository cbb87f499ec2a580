// Opens pages in Chromium and looks at them: pages.mjs FOLDER [--update]
//
// FOLDER holds NAME.html and, for each, NAME.json: a list of the documents whose figures the page shows. Every page is
// opened as a reader would, offline; nothing may be requested, logged or cut off, and the figures must be the
// record's. tests/web/golden/NAME.png is how it looked; --update takes new pictures.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { launch, need } from "./browser.mjs";
import { compare, findBarriers, findCutOff, findFigures, findMarkup, shorten, unfold } from "./look.mjs";

const [folder, update] = process.argv.slice(2);
const golden = new URL("golden/", import.meta.url);
const now = `${process.env.ASSAY_BUILD}/tests/web`;
const require = createRequire(new URL("../../web/package.json", import.meta.url));
need("axe-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const DIFFERENT = 0.01; // share of pixels, for letters that another version of Chromium draws otherwise
const FEWEST = { history: 4 }; // figures that a page must show; 5 elsewhere

let failed = false;
function complain(name, text) {
    console.log(`${name}: ${text}`);
    failed = true;
}

// A page that tells what it should not do.
async function open(browser, name, settings) {
    const context = await browser.newContext({ offline: true, colorScheme: "light", reducedMotion: "reduce", ...settings });
    const page = await context.newPage();
    const address = `file://${folder}/${name}.html`;
    page.on("console", (it) => {
        if (it.type() === "error" || it.type() === "warning") complain(name, `the console says: ${it.text()}`);
    });
    page.on("pageerror", (it) => complain(name, `an error: ${it.message}`));
    page.on("request", (it) => {
        if (it.url() !== address && !it.url().startsWith("data:")) complain(name, `it asks for ${it.url()}`);
    });
    await page.goto(address);
    await unfold(page);
    return page;
}

async function picture(page, name) {
    await page.evaluate(() => {
        for (const it of document.querySelectorAll("details")) it.open = false;
        scrollTo(0, 0);
    });
    await page.waitForTimeout(60);
    const taken = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width: 1000, height: 1500 }, animations: "disabled" });
    const file = new URL(`${name}.png`, golden);
    if (update === "--update") {
        writeFileSync(file, taken);
        return;
    }
    if (!existsSync(file)) {
        complain(name, `there is no picture golden/${name}.png; --update takes it`);
        return;
    }
    const blank = await page.context().newPage();
    const share = await compare(blank, readFileSync(file).toString("base64"), taken.toString("base64"));
    if (share > DIFFERENT) {
        mkdirSync(now, { recursive: true });
        writeFileSync(`${now}/${name}.png`, taken);
        complain(name, `${(100 * share).toFixed(1)} % of the pixels are not those of golden/${name}.png; it looks like ${now}/${name}.png`);
    }
}

async function look(browser, name) {
    const documents = JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
    const page = await open(browser, name, { viewport: { width: 1000, height: 900 }, deviceScaleFactor: 0.7 });
    const { complaints, checked } = await page.evaluate(findFigures, documents);
    for (const it of complaints) complain(name, it);
    if (checked < (FEWEST[name] ?? 5)) complain(name, `only ${checked} figures say where they come from`);
    for (const it of await page.evaluate(findMarkup)) complain(name, it);
    await page.evaluate(shorten);
    for (const it of await findBarriers(page, axe)) complain(name, it);
    await picture(page, name);
    await page.emulateMedia({ colorScheme: "dark" });
    for (const it of await findBarriers(page, axe, ["color-contrast"])) complain(name, `in dark colours, ${it}`);
    // 320 pixels are 1280 at 400 %
    for (const width of [360, 320]) {
        await page.setViewportSize({ width, height: width === 320 ? 256 : 640 });
        // charts take their new width with one of the next frames
        let found = await page.evaluate(findCutOff);
        for (let i = 0; i < 60 && found.length > 0; i++) {
            await page.waitForTimeout(50);
            found = await page.evaluate(findCutOff);
        }
        for (const it of found) complain(name, `at ${width} pixels, ${it}`);
    }
    await page.context().close();
    return checked;
}

const only = process.env.ASSAY_PAGES?.split(" ");
const names = readdirSync(folder)
    .filter((it) => it.endsWith(".html"))
    .map((it) => it.slice(0, -5))
    .filter((it) => only === undefined || only.includes(it));
const browser = await launch();
const waiting = [...names];
async function work() {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const begin = Date.now();
        try {
            const checked = await look(browser, name);
            console.log(`${name}: ${checked} figures, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
        } catch (error) {
            complain(name, error.message);
        }
    }
}
await Promise.all([work(), work()]);
await browser.close();
process.exit(failed ? 1 : 0);
