/* Packs the large data of a page: zlib compresses them, and base64 makes them text. */
#include "cli/page_pack.h"

#include <stdlib.h>
#include <zlib.h>

assay_status page_compress(const void *bytes, size_t count, unsigned char **compressed,
                           size_t *size)
{
    uLongf room = compressBound((uLong)count);
    *compressed = malloc(room);
    if (*compressed == NULL ||
        compress2(*compressed, &room, bytes, (uLong)count, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(*compressed);
        *compressed = NULL;
        return ASSAY_E_MEMORY;
    }
    *size = room;
    return ASSAY_OK;
}

void page_print_base64(const unsigned char *bytes, size_t count, FILE *stream)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t have = count - i < 3 ? count - i : 3;
        unsigned bits = (unsigned)bytes[i] << 16 | (have > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                        (have > 2 ? bytes[i + 2] : 0);
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        have > 1 ? digits[bits >> 6 & 63] : '=',
                        have > 2 ? digits[bits & 63] : '='};
        fwrite(four, 1, sizeof four, stream);
    }
}
