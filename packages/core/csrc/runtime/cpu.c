/* cpu.c - the instruction set, asked once. */
#include "runtime/cpu.h"
#include <stdlib.h>
#include <string.h>

static td_isa_level detect(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("f16c"))
        return TD_ISA_GENERIC;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return TD_ISA_AVX512;
    return TD_ISA_AVX2;
#else
    return TD_ISA_GENERIC;
#endif
}

/* The variable can only ask for less than the machine has: more would end the process with an
 * illegal instruction. */
static td_isa_level choose(void)
{
    static const char *const names[] = {"generic", "avx2", "avx512"};
    td_isa_level best = detect();
    const char *wanted = getenv("TAEDA_ISA");
    for (int level = 0; wanted && level < (int)best; level++)
        if (!strcmp(wanted, names[level])) return (td_isa_level)level;
    return best;
}

td_isa_level td_isa(void)
{
    static int known = -1;
    int level = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (level < 0) {
        level = choose();
        __atomic_store_n(&known, level, __ATOMIC_RELAXED);
    }
    return (td_isa_level)level;
}
