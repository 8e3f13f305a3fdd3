/* random_words.h - the 64 words of a group, and the loop over groups that all samplers share. */
#ifndef TD_RANDOM_WORDS_H
#define TD_RANDOM_WORDS_H
#include "random.h"

/* Ten rounds written out, so that the loop over lanes holds nothing else and becomes vector code. */
#define ROUND(k)                                                                           \
    do {                                                                                   \
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;         \
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ (key0 + (k) * 0x9E3779B9u);              \
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ (key1 + (k) * 0xBB67AE85u);              \
        c1 = (uint32_t)p1, c3 = (uint32_t)p0, c0 = n0, c2 = n2;                            \
    } while (0)

static inline void group_words(uint64_t seed, uint64_t block, uint32_t w[TD_GROUP_WORDS])
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32), low = (uint32_t)block, high = (uint32_t)(block >> 32);
    for (uint32_t lane = 0; lane < TD_GROUP_BLOCKS; lane++) {
        uint32_t c0 = low + lane, c1 = high + (c0 < low), c2 = 0, c3 = 0;
        ROUND(0); ROUND(1); ROUND(2); ROUND(3); ROUND(4); ROUND(5); ROUND(6); ROUND(7); ROUND(8); ROUND(9);
        w[lane] = c0, w[16 + lane] = c1, w[32 + lane] = c2, w[48 + lane] = c3;
    }
}

/* Number i of a group: words i and i + 16, or i + 16 and i + 32 for the second half. */
static inline uint64_t group_number(const uint32_t w[TD_GROUP_WORDS], int i)
{
    int k = i < 16 ? i : i + 16;
    return (uint64_t)w[k] << 32 | w[k + 16];
}

/* BODY(out, w, first, params) turns one group into `PER` elements. A group that does not fill goes through a buffer. */
#define SAMPLER(symbol, type, PER, params_type, BODY)                                                          \
    static void symbol(void *data, int64_t first, int64_t n, td_stream s, const void *context)                 \
    {                                                                                                          \
        const params_type *params = context;                                                                   \
        type *out = data, last[PER];                                                                           \
        uint32_t w[TD_GROUP_WORDS];                                                                            \
        for (int64_t i = 0; i < n; i += PER, s.block += TD_GROUP_BLOCKS) {                                     \
            group_words(s.seed, s.block, w);                                                                   \
            if (n - i >= PER) {                                                                                \
                BODY(out + i, w, first + i, params);                                                           \
                continue;                                                                                      \
            }                                                                                                  \
            BODY(last, w, first + i, params);                                                                  \
            for (int64_t k = 0; k < n - i; k++) out[i + k] = last[k];                                          \
        }                                                                                                      \
    }

#endif
