/* cpu.h - which instruction set the kernels use. TAEDA_ISA=generic|avx2|avx512 in the environment
 * forces one (tests). */
#ifndef TD_CPU_H
#define TD_CPU_H
#include <stdbool.h>
typedef enum td_isa_level { TD_ISA_GENERIC, TD_ISA_AVX2, TD_ISA_AVX512 } td_isa_level;
td_isa_level td_isa(void); /* decided once */
/* Tile registers for products of bfloat16 and int8 (AMX), and the system lets this process use
 * them; asked once. TAEDA_ISA=avx512 does without. */
bool td_has_tiles(void);

/* The best instance of a symbol that every ISA build of a kernel file exports:
 * TD_PICK(td_gemm_kernels)->f32(...) */
#ifdef __x86_64__
#define TD_PICK(name)                           \
    (td_isa() == TD_ISA_AVX512 ? &name##_avx512 \
     : td_isa() == TD_ISA_AVX2 ? &name##_avx2   \
                               : &name##_generic)
/* the same of kernels that multiply four pairs of bytes at once (AVX512-VNNI), which not every
 * processor with AVX-512 does */
#define TD_PICK_QUADS(name)                                                            \
    (td_isa() == TD_ISA_AVX512 && !__builtin_cpu_supports("avx512vnni") ? &name##_avx2 \
                                                                        : TD_PICK(name))
#else
#define TD_PICK(name) (&name##_generic)
#define TD_PICK_QUADS(name) TD_PICK(name)
#endif
#endif
