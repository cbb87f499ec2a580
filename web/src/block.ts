// Reads the blocks of data that cli/page.c writes into the page. A block is plain JSON, or bytes that were compressed with
// zlib and written as base64.

export async function readBytes(base64: string): Promise<Uint8Array> {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The text of a block, plain or compressed; "" if there is no such block.
export async function readText(id: string): Promise<string> {
    const block = document.getElementById(id);
    const text = block?.textContent ?? "";
    return block?.getAttribute("type") === "application/octet-stream"
        ? new TextDecoder().decode(await readBytes(text))
        : text;
}
