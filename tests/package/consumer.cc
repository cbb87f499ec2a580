/* A program outside the repository: only what the installed headers and libraries give. */
#include <assay/record.h>
#include <stdio.h>

int main(void)
{
    printf("consumer: %s\n", assay_status_name(ASSAY_E_FORMAT));
    return 0;
}
