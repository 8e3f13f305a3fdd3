/* words.h - the 64 words of a group, and the loop over groups that all samplers share.
 *
 * Blocks lie side by side in lanes of 64 bits, a 32-bit word of the counter in the lower half of
 * each: the multiplication of lower halves then gives both halves of the product where they are
 * wanted, and what stands in upper halves does not matter. */
#ifndef TD_RANDOM_WORDS_H
#define TD_RANDOM_WORDS_H
#include "cpu/random/random.h"

#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES_64 = 8 };
typedef __m512i lanes;
static inline lanes lanes_all(uint64_t x) { return _mm512_set1_epi64((int64_t)x); }
static inline lanes lanes_count(uint64_t x)
{
    return _mm512_add_epi64(lanes_all(x), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
}
static inline lanes lanes_mul(lanes a, lanes b) { return _mm512_mul_epu32(a, b); }
static inline lanes lanes_xor(lanes a, lanes b) { return _mm512_xor_si512(a, b); }
static inline lanes lanes_high(lanes a) { return _mm512_srli_epi64(a, 32); }
static inline void lanes_store(uint32_t *to, lanes a)
{
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi64_epi32(a));
}
#elif defined(__AVX2__)
#include <immintrin.h>
enum { LANES_64 = 4 };
typedef __m256i lanes;
static inline lanes lanes_all(uint64_t x) { return _mm256_set1_epi64x((int64_t)x); }
static inline lanes lanes_count(uint64_t x)
{
    return _mm256_add_epi64(lanes_all(x), _mm256_set_epi64x(3, 2, 1, 0));
}
static inline lanes lanes_mul(lanes a, lanes b) { return _mm256_mul_epu32(a, b); }
static inline lanes lanes_xor(lanes a, lanes b) { return _mm256_xor_si256(a, b); }
static inline lanes lanes_high(lanes a) { return _mm256_srli_epi64(a, 32); }
static inline void lanes_store(uint32_t *to, lanes a)
{
    lanes packed = _mm256_permutevar8x32_epi32(a, _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(packed));
}
#elif defined(__SSE2__)
#include <emmintrin.h>
enum { LANES_64 = 2 };
typedef __m128i lanes;
static inline lanes lanes_all(uint64_t x) { return _mm_set1_epi64x((int64_t)x); }
static inline lanes lanes_count(uint64_t x)
{
    return _mm_add_epi64(lanes_all(x), _mm_set_epi64x(1, 0));
}
static inline lanes lanes_mul(lanes a, lanes b) { return _mm_mul_epu32(a, b); }
static inline lanes lanes_xor(lanes a, lanes b) { return _mm_xor_si128(a, b); }
static inline lanes lanes_high(lanes a) { return _mm_srli_epi64(a, 32); }
static inline void lanes_store(uint32_t *to, lanes a)
{
    _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi32(a, 0x08));
}
#else
enum { LANES_64 = 1 };
typedef uint64_t lanes;
static inline lanes lanes_all(uint64_t x) { return x; }
static inline lanes lanes_count(uint64_t x) { return x; }
static inline lanes lanes_mul(lanes a, lanes b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
static inline lanes lanes_xor(lanes a, lanes b) { return a ^ b; }
static inline lanes lanes_high(lanes a) { return a >> 32; }
static inline void lanes_store(uint32_t *to, lanes a) { *to = (uint32_t)a; }
#endif

/* The keys of the ten rounds. */
typedef struct group_keys {
    lanes low[10], high[10];
} group_keys;

static inline group_keys keys_of(uint64_t seed)
{
    group_keys keys;
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    for (int i = 0; i < 10; i++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
        keys.low[i] = lanes_all(low);
        keys.high[i] = lanes_all(high);
    }
    return keys;
}

static inline void group_words(const group_keys *keys, uint64_t block, uint32_t w[TD_GROUP_WORDS])
{
    lanes m0 = lanes_all(0xD2511F53u), m1 = lanes_all(0xCD9E8D57u);
    for (int lane = 0; lane < TD_GROUP_BLOCKS; lane += LANES_64) {
        lanes c0 = lanes_count(block + (uint64_t)lane), c1 = lanes_high(c0), c2 = lanes_all(0),
              c3 = c2;
#pragma GCC unroll 10
        for (int i = 0; i < 10; i++) {
            lanes p0 = lanes_mul(c0, m0), p1 = lanes_mul(c2, m1);
            c0 = lanes_xor(lanes_xor(lanes_high(p1), c1), keys->low[i]);
            c2 = lanes_xor(lanes_xor(lanes_high(p0), c3), keys->high[i]);
            c1 = p1, c3 = p0;
        }
        lanes_store(w + lane, c0);
        lanes_store(w + 16 + lane, c1);
        lanes_store(w + 32 + lane, c2);
        lanes_store(w + 48 + lane, c3);
    }
}

/* Number i of a group: words i and i + 16, or i + 16 and i + 32 for the second half. */
static inline uint64_t group_number(const uint32_t w[TD_GROUP_WORDS], int i)
{
    int k = i < 16 ? i : i + 16;
    return (uint64_t)w[k] << 32 | w[k + 16];
}

/* BODY(out, w, first, params) turns one group into `PER` elements. A group that does not fill goes
 * through a buffer. */
#define SAMPLER(symbol, type, PER, params_type, BODY)                                          \
    static void symbol(void *data, int64_t first, int64_t n, td_stream s, const void *context) \
    {                                                                                          \
        const params_type *params = context;                                                   \
        const group_keys keys = keys_of(s.seed);                                               \
        type *out = data, last[PER];                                                           \
        uint32_t w[TD_GROUP_WORDS];                                                            \
        for (int64_t i = 0; i < n; i += PER, s.block += TD_GROUP_BLOCKS) {                     \
            group_words(&keys, s.block, w);                                                    \
            if (n - i >= PER) {                                                                \
                BODY(out + i, w, first + i, params);                                           \
                continue;                                                                      \
            }                                                                                  \
            BODY(last, w, first + i, params);                                                  \
            for (int64_t k = 0; k < n - i; k++) out[i + k] = last[k];                          \
        }                                                                                      \
    }

#endif
