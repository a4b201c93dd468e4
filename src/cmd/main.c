#include <stdio.h>
int main(void)
{
    puts("patra " PATRA_VERSION);
    return 0;
}
