/* isa.h - the register tile of each instruction set: MR rows of A times NV vectors of B. Panels of
 * packed B are NV vectors wide, so whoever packs them must know it too. */
#ifndef TD_GEMM_ISA_H
#define TD_GEMM_ISA_H
#if defined(__AVX512F__)
#define TD_MR 12
#define TD_NV 2
#elif defined(__AVX2__)
#define TD_MR 6
#define TD_NV 2
#else
#define TD_MR 6
#define TD_NV 1
#endif
#define TD_GEMM_KC 512 /* depth of a panel */
#endif
