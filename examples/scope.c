/* Measures one block of code without a monitor; it prints one line after the block.
 *
 *     cc scope.c $(pkg-config --cflags --libs assay) -lm -o scope && ./scope */
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/performance.h>

enum { LIMIT = 2000000 };

/* The sieve of Eratosthenes: the largest prime below LIMIT. */
static int largest_prime(unsigned char *composite)
{
    int largest = 2;
    for (int i = 2; i < LIMIT; i++) {
        if (composite[i])
            continue;
        largest = i;
        for (long k = (long)i * i; k < LIMIT; k += i)
            composite[k] = 1;
    }
    return largest;
}

int main(void)
{
    unsigned char *composite = NULL;
    int prime = 0;

    ASSAY_TRACK_PERFORMANCE("allocate and sieve", stdout) {
        composite = calloc(LIMIT, 1);
        if (composite == NULL)
            return 1; /* the line is printed here too */
        prime = largest_prime(composite);
    }

    printf("largest prime below %d: %d\n", LIMIT, prime);
    free(composite);
    return 0;
}
