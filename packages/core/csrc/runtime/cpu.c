/* cpu.c - the instruction set, asked once. */
#include "runtime/cpu.h"
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

#if defined(__x86_64__) && defined(__linux__)
#define ASK_FOR_STATE 0x1023 /* ARCH_REQ_XCOMP_PERM of arch_prctl */
#define TILE_DATA 18         /* the state that holds tile registers */

static bool has_instructions(void)
{
    unsigned a, b, c, d, tiles = 1u << 24, bf16 = 1u << 22, int8 = 1u << 25;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & tiles) && (d & bf16) && (d & int8);
}

/* The system saves the registers of those processes only that have asked; children may use them. */
static bool ask_for_tiles(void)
{
    const char *wanted = getenv("TAEDA_ISA");
    if (td_isa() != TD_ISA_AVX512 || (wanted && !strcmp(wanted, "avx512"))) return false;
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni") &&
           has_instructions() && syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
}
#else
static bool ask_for_tiles(void) { return false; }
#endif

bool td_has_tiles(void)
{
    static int known = -1;
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (has < 0) {
        has = ask_for_tiles();
        __atomic_store_n(&known, has, __ATOMIC_RELAXED);
    }
    return has;
}
