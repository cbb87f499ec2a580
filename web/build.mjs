// Bundles the page into C: node build.mjs OUT.c
//
// The script and the style become two arrays of bytes in the command. Each has the hash by which the page's
// content-security policy allows it. esbuild writes plain ASCII, so that no encoding can change the hashed bytes.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [output] = process.argv.slice(2);
if (output === undefined) {
    console.error("usage: node build.mjs OUT.c");
    process.exit(64);
}

const { outputFiles } = await build({
    entryPoints: { page: join(here, "src/main.ts"), style: join(here, "style.css") },
    bundle: true,
    minify: true,
    write: false,
    outdir: join(here, "out"),
    format: "iife",
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
});

// The bundle must not contain "</script" or "</style", which would end the element that holds it, nor "<!--", which would
// begin a comment.
function text(suffix) {
    const file = outputFiles.find((it) => it.path.endsWith(suffix));
    const found = file.text.trimEnd();
    if (/<\/(script|style)|<!--/i.test(found)) {
        throw new Error(`the bundle ${suffix} holds markup that would end its element`);
    }
    return found;
}

function array(name, content) {
    const bytes = Buffer.from(content, "ascii");
    const hash = createHash("sha256").update(bytes).digest("base64");
    const rows = [];
    for (let i = 0; i < bytes.length; i += 32) {
        rows.push(`    ${Array.from(bytes.subarray(i, i + 32)).join(",")},`);
    }
    return [
        `static const unsigned char ${name}_bytes[] = {`,
        ...rows,
        "};",
        `const page_asset page_${name} = {${name}_bytes, sizeof ${name}_bytes, "sha256-${hash}"};`,
        "",
    ].join("\n");
}

writeFileSync(
    output,
    `/* Made by web/build.mjs; do not edit. */\n#include "cli/page_asset.h"\n\n${array("script", text("page.js"))}\n${array("style", text("style.css"))}`,
);
