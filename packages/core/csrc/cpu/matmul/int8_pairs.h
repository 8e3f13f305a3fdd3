/* int8_pairs.h - words of two int16 for the instruction that multiplies two pairs and adds them to
 * each other (AVX2). Included by int8.c only. */
#include "cpu/simd/gemm_vec.h"
#include <string.h>

#define TD_HAS_WORDS
#define WORD 2          /* numbers of a word */
#define MR 6            /* rows of a tile */
#define NR 16           /* its columns, two vectors */
#define KC 256          /* words along k in a panel: 16 KB of B */
#define PANEL (NR * KC) /* words of a panel */
#define FOR_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)

/* 16 int8 as int16, of which the first n are there; the rest is 0 */
TD_INLINE __m256i widened(const int8_t *from, int64_t n)
{
    int8_t part[16] = {0};
    if (n >= 16) return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)from));
    if (n > 0) memcpy(part, from, (size_t)n);
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)part));
}

/* ---- packing ---- */

/* w <= 8 lines that are contiguous along k, as out[word][stride] */
static void pack_turned(uint32_t *out, int64_t stride, const int8_t *from, int64_t across,
                        int64_t w, int64_t k)
{
    for (int64_t p = 0; p < k; p += 16) {
        vf r[8];
        uint32_t words[8];
        for (int q = 0; q < 8; q++)
            r[q] = q < w ? (vf)widened(from + q * across + p, k - p) : vf_zero();
        vf_transpose(r);
        int64_t count = k - p >= 16 ? 8 : (k - p + 1) / 2;
        for (int64_t q = 0; q < count; q++) {
            _mm256_storeu_ps((float *)words, r[q]);
            memcpy(out + (p / 2 + q) * stride, words, (size_t)w * sizeof *words);
        }
    }
}

/* w <= NR columns side by side in memory, rows `along` apart */
static void pack_beside(uint32_t *out, const int8_t *from, int64_t along, int64_t w, int64_t k)
{
    for (int64_t p = 0; p < k; p += 2, from += 2 * along, out += NR) {
        __m256i a = widened(from, w), b = p + 1 < k ? widened(from + along, w) : (__m256i)vf_zero();
        /* each half of a vector apart: columns 0 .. 7 and 8 .. 15 */
        __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
        _mm256_storeu_si256((void *)out, _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_storeu_si256((void *)(out + 8), _mm256_permute2x128_si256(low, high, 0x31));
    }
}

/* [word][NR] for columns [col, col + width); what lies past `width` goes nowhere */
static void pack_right(uint32_t *panel, const td_int8_gemm *g, int64_t k0, int64_t k, int64_t col,
                       int64_t width)
{
    const int8_t *from = g->b + k0 * g->b_row + col * g->b_col;
    if (g->b_col == 1) {
        pack_beside(panel, from, g->b_row, width, k);
        return;
    }
    for (int64_t h = 0; h < width; h += 8)
        pack_turned(panel + h, NR, from + h * g->b_col, g->b_col, least(width - h, 8), k);
}

/* panels of MR rows, each [word][MR], the last one narrower */
static void pack_left(uint32_t *out, const int8_t *a, int64_t a_row, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i += MR) {
        int64_t w = least(m - i, MR);
        pack_turned(out, w, a + i * a_row, a_row, w, k);
        out += w * ((k + 1) / 2);
    }
}

/* ---- tiles ---- */

/* the first `width` sums of a row, perhaps onto those that are there */
TD_INLINE void put(int32_t *c, const __m256i sums[2], int64_t width, bool add)
{
    uint32_t row[NR];
    _mm256_storeu_si256((void *)row, sums[0]);
    _mm256_storeu_si256((void *)(row + 8), sums[1]);
    for (int64_t j = 0; j < least(width, NR); j++)
        c[j] = (int32_t)(add ? (uint32_t)c[j] + row[j] : row[j]);
}

TD_INLINE void tile(const int mr, int64_t words, const uint32_t *a, const uint32_t *b, int32_t *c,
                    int64_t c_row, int64_t width, bool add)
{
    __m256i acc[MR][2];
    TD_UNROLL for (int i = 0; i < mr; i++) acc[i][0] = acc[i][1] = _mm256_setzero_si256();
    for (int64_t p = 0; p < words; p++, a += mr, b += NR) {
        __m256i left = _mm256_loadu_si256((const void *)b),
                right = _mm256_loadu_si256((const void *)(b + 8));
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            __m256i x = _mm256_set1_epi32((int)a[i]);
            acc[i][0] = _mm256_add_epi32(acc[i][0], _mm256_madd_epi16(x, left));
            acc[i][1] = _mm256_add_epi32(acc[i][1], _mm256_madd_epi16(x, right));
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++) put(c + i * c_row, acc[i], width, add);
}
