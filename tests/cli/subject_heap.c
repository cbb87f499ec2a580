/* A known allocation pattern: a thousand blocks of 10 000 bytes at once, a hundred never freed. */
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1000, BLOCK_BYTES = 10000, LEAKED = 100 };

static void *volatile kept[BLOCKS];

int main(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        kept[i] = malloc(BLOCK_BYTES);
        if (kept[i] == NULL)
            return 1;
        memset(kept[i], i, BLOCK_BYTES);
    }
    for (int i = LEAKED; i < BLOCKS; i++)
        free(kept[i]);
    return 0;
}
