// Debian's Chromium through playwright-core, for the tests and the bench of pages. Where either is missing the
// program ends with 77 and the reason.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const chromiumPath = process.env.ASSAY_CHROMIUM ?? "/usr/bin/chromium";

export function skip(reason) {
    console.log(reason);
    process.exit(77);
}

export function need(name) {
    try {
        return require(name);
    } catch {
        return skip(`${name} is missing (npm ci in web/)`);
    }
}

// The sandbox of Chromium wants namespaces that containers and root do not have; the pages are our own. Fonts are
// drawn alike on every machine.
export async function launch() {
    const { chromium } = need("playwright-core");
    if (!existsSync(chromiumPath)) skip("chromium is missing");
    return chromium.launch({
        executablePath: chromiumPath,
        args: [
            "--no-sandbox",
            "--disable-lcd-text",
            "--font-render-hinting=none",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
        ],
    });
}
