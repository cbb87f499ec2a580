/* xoshiro256++, and the distributions drawn from it. Normal numbers come from the method of Box and
 * Muller. Only one of its two results is used, so the generator keeps no other state. */
#include "base/random.h"

#include <math.h>
#include <string.h>

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void assay__random_init(assay__random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix64(&seed);
}

uint64_t assay__random_next(assay__random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double assay__random_uniform(assay__random *random)
{
    return ((double)(assay__random_next(random) >> 12) + 0.5) * 0x1p-52;
}

uint64_t assay__random_below(assay__random *random, uint64_t bound)
{
    uint64_t reject_below = (0 - bound) % bound; /* 2^64 mod bound */
    uint64_t value;
    do
        value = assay__random_next(random);
    while (value < reject_below);
    return value % bound;
}

double assay__random_normal(assay__random *random)
{
    double radius = sqrt(-2 * log(assay__random_uniform(random)));
    return radius * cos(6.283185307179586 * assay__random_uniform(random));
}

void assay__random_shuffle(assay__random *random, void *items, size_t count, size_t size)
{
    unsigned char *bytes = items;
    uint64_t kept = 0;
    for (size_t i = count; i > 1; i--) {
        unsigned char *last = bytes + (i - 1) * size;
        unsigned char *chosen = bytes + (size_t)assay__random_below(random, i) * size;
        memcpy(&kept, last, size);
        memmove(last, chosen, size); /* they may be the same */
        memcpy(chosen, &kept, size);
    }
}
