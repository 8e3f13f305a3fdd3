/* indexing_masks.h - the true elements of masks, counted, picked and listed: a part of indexing.c.
 */
#ifndef TD_INDEXING_MASKS_H
#define TD_INDEXING_MASKS_H
#include <stdint.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* Blocks of bytes that are moved, not computed with. A block of several small elements may begin at
 * any address. */
typedef uint16_t u16_anywhere __attribute__((aligned(1), may_alias));
typedef uint32_t u32_anywhere __attribute__((aligned(1), may_alias));
typedef uint64_t u64_anywhere __attribute__((aligned(1), may_alias));
typedef struct pair {
    uint64_t low, high;
} __attribute__((packed, may_alias)) pair;

#define SIZES(X) \
    X(u8, uint8_t) X(u16, u16_anywhere) X(u32, u32_anywhere) X(u64, u64_anywhere) X(u128, pair)

static int64_t count(const uint8_t *mask, int64_t n)
{
    int64_t total = 0;
    for (; n > 0; n -= 128, mask += 128) { /* so few fit a byte */
        uint8_t some = 0;
        for (int64_t i = 0; i < (n < 128 ? n : 128); i++) some += mask[i] != 0;
        total += some;
    }
    return total;
}

/* Copies n <= MASK_BLOCK bytes of a mask, and returns how many of the copy are true, `most` at
 * most: a loop over the copy finds so many, whatever another thread writes to the mask. */
#define MASK_BLOCK 1024
static int64_t take_mask(uint8_t *restrict to, const uint8_t *mask, int64_t n, int64_t most)
{
    memcpy(to, mask, (size_t)n);
    int64_t found = count(to, n);
    return found < most ? found : most;
}

/* `one` for blocks of n bytes of the mask, `in` and `out` bytes an element; the rest is 0. */
typedef void (*pick)(char *to, const char *from, const uint8_t *mask, int64_t found);
static inline __attribute__((always_inline)) void by_masks(char *to, const char *from,
                                                           const uint8_t *mask, int64_t n,
                                                           int64_t found, int64_t size, pick one)
{
    uint8_t taken[MASK_BLOCK];
    for (; n > 0 && found > 0; n -= MASK_BLOCK, mask += MASK_BLOCK, from += MASK_BLOCK * size) {
        int64_t here = take_mask(taken, mask, n < MASK_BLOCK ? n : MASK_BLOCK, found);
        one(to, from, taken, here);
        found -= here;
        to += here * size;
    }
    if (found) memset(to, 0, (size_t)(found * size));
}

/* Without branches: every element is written, the place moves on after a true one only. */
#define PICK(suffix, type)                                                            \
    static void pick_scalar_##suffix(char *to, const char *from, const uint8_t *mask, \
                                     int64_t found)                                   \
    {                                                                                 \
        type *out = (type *)to;                                                       \
        const type *in = (const type *)from;                                          \
        for (int64_t i = 0, k = 0; k < found; i++) {                                  \
            out[k] = in[i];                                                           \
            k += mask[i] != 0;                                                        \
        }                                                                             \
    }
SIZES(PICK)

#if defined __AVX512F__ && defined __AVX512BW__ && defined __AVX512VL__
static void pick_u32(char *to, const char *from, const uint8_t *mask, int64_t found)
{
    while (found >= 16) { /* so that 16 mask bytes are there to read */
        __m128i truth = _mm_loadu_si128((const __m128i *)mask);
        __mmask16 m = _mm_test_epi8_mask(truth, truth);
        __m512i v = _mm512_maskz_compress_epi32(m, _mm512_loadu_si512(from));
        int k = __builtin_popcount(m);
        _mm512_mask_storeu_epi32(to, (__mmask16)((1u << k) - 1), v);
        to += 4 * k;
        found -= k;
        from += 64;
        mask += 16;
    }
    pick_scalar_u32(to, from, mask, found);
}

static void pick_u64(char *to, const char *from, const uint8_t *mask, int64_t found)
{
    while (found >= 8) {
        __m128i truth = _mm_loadl_epi64((const __m128i *)mask);
        __mmask8 m = (__mmask8)_mm_test_epi8_mask(truth, truth);
        __m512i v = _mm512_maskz_compress_epi64(m, _mm512_loadu_si512(from));
        int k = __builtin_popcount(m);
        _mm512_mask_storeu_epi64(to, (__mmask8)((1u << k) - 1), v);
        to += 8 * k;
        found -= k;
        from += 64;
        mask += 8;
    }
    pick_scalar_u64(to, from, mask, found);
}
#else
#define pick_u32 pick_scalar_u32
#define pick_u64 pick_scalar_u64
#endif
#define pick_u8 pick_scalar_u8
#define pick_u16 pick_scalar_u16
#define pick_u128 pick_scalar_u128

#define COMPRESS(suffix, type)                                                                \
    static void compress_##suffix(char *to, const char *from, const uint8_t *mask, int64_t n, \
                                  int64_t found)                                              \
    {                                                                                         \
        by_masks(to, from, mask, n, found, (int64_t)sizeof(type), pick_##suffix);             \
    }
SIZES(COMPRESS)

static void positions(int64_t *to, const uint8_t *mask, int64_t first, int64_t n, int64_t found)
{
    uint8_t taken[MASK_BLOCK];
    for (; n > 0 && found > 0; n -= MASK_BLOCK, mask += MASK_BLOCK, first += MASK_BLOCK) {
        int64_t here = take_mask(taken, mask, n < MASK_BLOCK ? n : MASK_BLOCK, found);
        for (int64_t i = 0, k = 0; k < here; i++) {
            to[k] = first + i;
            k += taken[i] != 0;
        }
        found -= here;
        to += here;
    }
    if (found) memset(to, 0, (size_t)found * sizeof *to);
}

#endif
