/* mask.c - samplers of zeros and ones, and dropout, which multiplies by them in the same pass.
 * A dropped element is multiplied by 0, so that NaN and infinity in the input stay visible. */
#include <complex.h>
#include "cpu/random/random.h"
#include "runtime/loops.h"
#include "cpu/simd/half.h"
#include "cpu/random/words.h"

#define EACH(i, n) for (int i = 0; i < (n); i++)

/* ---- one probability ---- */
#define COIN(name, type)                                                                   \
    static inline void name(type *restrict out, const uint32_t *restrict w, int64_t first, \
                            const td_coin_params *p)                                       \
    {                                                                                      \
        type one = (type)p->one;                                                           \
        if (p->threshold >> 32) {                                                          \
            EACH(i, TD_GROUP_WORDS) out[i] = one;                                          \
            return;                                                                        \
        }                                                                                  \
        uint32_t threshold = (uint32_t)p->threshold;                                       \
        EACH(i, TD_GROUP_WORDS) out[i] = w[i] < threshold ? one : 0;                       \
    }                                                                                      \
    SAMPLER(sample_##name, type, TD_GROUP_WORDS, td_coin_params, name)
COIN(coin_1, uint8_t)
COIN(coin_2, uint16_t)
COIN(coin_4, uint32_t)
COIN(coin_8, uint64_t)

/* ---- a probability per element ---- */
#define COINS(name, type)                                                             \
    static void sample_##name(void *data, int64_t first, int64_t n, td_stream s,      \
                              const void *context)                                    \
    {                                                                                 \
        const type *p = (const type *)((const td_coins_params *)context)->p + first;  \
        const group_keys keys = keys_of(s.seed);                                      \
        uint8_t *out = data;                                                          \
        uint32_t w[TD_GROUP_WORDS];                                                   \
        for (int64_t i = 0; i < n; i += TD_GROUP_WORDS, s.block += TD_GROUP_BLOCKS) { \
            group_words(&keys, s.block, w);                                           \
            int m = n - i < TD_GROUP_WORDS ? (int)(n - i) : TD_GROUP_WORDS;           \
            EACH(k, m) out[i + k] = (double)w[k] < (double)p[i + k] * 0x1p32;         \
        }                                                                             \
    }
COINS(coins_f32, float)
COINS(coins_f64, double)

/* ---- dropout ---- */
#define SAME(x) (x)

#define DROPOUT(name, type, real, LOAD, STORE)                                                     \
    static inline void name##_group(type *restrict out, uint8_t *restrict mask,                    \
                                    const type *restrict in, const uint32_t *restrict w,           \
                                    uint32_t threshold, real scale, int m)                         \
    {                                                                                              \
        real factor[TD_GROUP_WORDS];                                                               \
        EACH(i, TD_GROUP_WORDS) factor[i] = w[i] < threshold ? scale : 0;                          \
        EACH(i, m) mask[i] = w[i] < threshold;                                                     \
        EACH(i, m) out[i] = STORE(LOAD(in[i]) * factor[i]);                                        \
    }                                                                                              \
    static void sample_##name(void *data, int64_t first, int64_t n, td_stream s,                   \
                              const void *context)                                                 \
    {                                                                                              \
        const td_dropout_params *p = context;                                                      \
        const group_keys keys = keys_of(s.seed);                                                   \
        const type *in = (const type *)p->input + first;                                           \
        type *out = data;                                                                          \
        uint8_t *mask = p->mask + first;                                                           \
        uint32_t w[TD_GROUP_WORDS], threshold = p->threshold;                                      \
        int64_t i = 0;                                                                             \
        for (; n - i >= TD_GROUP_WORDS; i += TD_GROUP_WORDS, s.block += TD_GROUP_BLOCKS) {         \
            group_words(&keys, s.block, w);                                                        \
            name##_group(out + i, mask + i, in + i, w, threshold, (real)p->scale, TD_GROUP_WORDS); \
        }                                                                                          \
        if (i == n) return;                                                                        \
        group_words(&keys, s.block, w);                                                            \
        name##_group(out + i, mask + i, in + i, w, threshold, (real)p->scale, (int)(n - i));       \
    }                                                                                              \
    static void scale_##name(void *data, const void *input, const uint8_t *mask, double factor,    \
                             int64_t n)                                                            \
    {                                                                                              \
        type *restrict out = data;                                                                 \
        const type *restrict in = input;                                                           \
        real scale = (real)factor;                                                                 \
        for (int64_t i = 0; i < n; i++) out[i] = STORE(LOAD(in[i]) * (mask[i] ? scale : 0));       \
    }
DROPOUT(dropout_f16, uint16_t, float, td_f16_load, td_f16_store)
DROPOUT(dropout_bf16, uint16_t, float, td_bf16_load, td_bf16_store)
DROPOUT(dropout_f32, float, float, SAME, SAME)
DROPOUT(dropout_f64, double, double, SAME, SAME)
DROPOUT(dropout_c64, float complex, float, SAME, SAME)
DROPOUT(dropout_c128, double complex, double, SAME, SAME)

const td_mask_kernels TD_SYM(td_mask_kernels) = {
    .coin = {sample_coin_1, sample_coin_2, sample_coin_4, sample_coin_8},
    .coins_f32 = sample_coins_f32,
    .coins_f64 = sample_coins_f64,
    .dropout = {[TD_DROP_F16] = sample_dropout_f16,
                [TD_DROP_BF16] = sample_dropout_bf16,
                [TD_DROP_F32] = sample_dropout_f32,
                [TD_DROP_F64] = sample_dropout_f64,
                [TD_DROP_C64] = sample_dropout_c64,
                [TD_DROP_C128] = sample_dropout_c128},
    .scale = {[TD_DROP_F16] = scale_dropout_f16,
              [TD_DROP_BF16] = scale_dropout_bf16,
              [TD_DROP_F32] = scale_dropout_f32,
              [TD_DROP_F64] = scale_dropout_f64,
              [TD_DROP_C64] = scale_dropout_c64,
              [TD_DROP_C128] = scale_dropout_c128},
};
