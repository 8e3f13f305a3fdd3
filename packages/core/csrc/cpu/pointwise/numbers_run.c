/* numbers_run.c - loops of short floats that take a number of float32, by their name. */
#include <string.h>
#include "cpu/pointwise/wide_run.h"
#include "runtime/cpu.h"

#define NUMBERS(isa)                                                                        \
    extern const td_number_loops td_binary_numbers_##isa[], td_binary_real_numbers_##isa[], \
        td_ternary_numbers_##isa[];
NUMBERS(generic)
#ifdef __x86_64__
NUMBERS(avx2)
NUMBERS(avx512)
#endif

const td_number_loops *td_find_numbers(const char *name)
{
    const td_number_loops *tables[] = {*TD_PICK(td_binary_numbers),
                                       *TD_PICK(td_binary_real_numbers),
                                       *TD_PICK(td_ternary_numbers)};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const td_number_loops *found = tables[i]; found->name; found++)
            if (strcmp(found->name, name) == 0) return found;
    return NULL;
}
