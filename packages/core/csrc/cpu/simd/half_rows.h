/* half_rows.h - dense rows of float16 and bfloat16 as float32 and back, a vector at a time, and the
 * single numbers at their ends. The numbers are those of half.h. */
#ifndef TD_HALF_ROWS_H
#define TD_HALF_ROWS_H
#include "cpu/simd/vec16.h"

/* One number as the processor converts it: a row's last ones have the bits of the others, NaN too.
 */
#ifdef __F16C__
static inline float td_f16_widen_1(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t td_f16_narrow_1(float f) { return _cvtss_sh(f, 0); }
#else
static inline float td_f16_widen_1(uint16_t h) { return td_f16_load(h); }
static inline uint16_t td_f16_narrow_1(float f) { return td_f16_store(f); }
#endif

#define TD_HALF_ROWS(name, v, WIDEN, NARROW)                                               \
    static inline void td_##name##_widen(float *restrict out, const uint16_t *restrict x,  \
                                         int64_t n)                                        \
    {                                                                                      \
        int64_t i = 0;                                                                     \
        for (; i + VF_WIDTH <= n; i += VF_WIDTH) vf_store(out + i, v##_load(x + i));       \
        for (; i < n; i++) out[i] = WIDEN(x[i]);                                           \
    }                                                                                      \
    static inline void td_##name##_narrow(uint16_t *restrict out, const float *restrict x, \
                                          int64_t n)                                       \
    {                                                                                      \
        int64_t i = 0;                                                                     \
        for (; i + VF_WIDTH <= n; i += VF_WIDTH) v##_store(out + i, vf_load(x + i));       \
        for (; i < n; i++) out[i] = NARROW(x[i]);                                          \
    }
TD_HALF_ROWS(f16, vh, td_f16_widen_1, td_f16_narrow_1)
TD_HALF_ROWS(bf16, vb, td_bf16_load, td_bf16_store)

#endif
