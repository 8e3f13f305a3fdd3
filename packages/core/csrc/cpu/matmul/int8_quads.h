/* int8_quads.h - words of four int8 for the instruction that multiplies four pairs and adds them to
 * an int32 (AVX512-VNNI). Included by int8.c only.
 *
 * The instruction takes one factor without sign: A's numbers are stored 128 larger, and 128 times
 * the sums of B's columns go away again; they are a row behind each panel of B. */
#include "cpu/simd/gemm_vec.h"

#define TD_HAS_WORDS __attribute__((target("avx512vnni")))
#define WORD 4                /* numbers of a word */
#define MR 12                 /* rows of a tile */
#define NR 32                 /* its columns, two vectors */
#define KC 512                /* words along k in a panel: 64 KB of B */
#define PANEL (NR * (KC + 1)) /* words of a panel, and a row of what goes away again */
#define FOR_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)

TD_INLINE TD_HAS_WORDS __m512i quads(__m512i sum, __m512i a, __m512i b)
{
    return _mm512_dpbusd_epi32(sum, a, b);
}

TD_INLINE __mmask64 first_bytes(int64_t n)
{
    return n >= 64 ? ~(__mmask64)0 : n > 0 ? ((__mmask64)1 << n) - 1 : 0;
}

/* ---- packing ---- */

/* w <= 16 lines that are contiguous along k, as out[word][stride], each byte changed by `flip` */
static void pack_turned(uint32_t *out, int64_t stride, const int8_t *from, int64_t across,
                        int64_t w, int64_t k, uint32_t flip)
{
    __mmask16 lanes = (__mmask16)td_lanes(w, 16);
    for (int64_t p = 0; p < k; p += 64) {
        __m512 r[16];
        for (int q = 0; q < 16; q++)
            r[q] = q < w
                       ? (__m512)_mm512_maskz_loadu_epi8(first_bytes(k - p), from + q * across + p)
                       : _mm512_setzero_ps();
        vf_transpose(r);
        int64_t words = k - p >= 64 ? 16 : (k - p + 3) / 4;
        for (int64_t q = 0; q < words; q++) {
            __m512i word = _mm512_xor_si512((__m512i)r[q], _mm512_set1_epi32((int)flip));
            _mm512_mask_storeu_epi32(out + (p / 4 + q) * stride, lanes, word);
        }
    }
}

/* w <= NR columns side by side in memory, rows `along` apart */
static void pack_beside(uint32_t *out, const int8_t *from, int64_t along, int64_t w, int64_t k)
{
    __mmask32 lanes = td_lanes(w, 32);
    for (int64_t p = 0; p < k; p += 4, from += 4 * along, out += NR) {
        __m256i r[4];
        for (int q = 0; q < 4; q++) {
            TD_PREFETCH(from + (q + 16) * along);
            r[q] = p + q < k ? _mm256_maskz_loadu_epi8(lanes, from + q * along)
                             : _mm256_setzero_si256();
        }
        /* each half of a vector apart: columns 0 .. 15 and 16 .. 31 */
        __m256i a = _mm256_unpacklo_epi8(r[0], r[1]), b = _mm256_unpackhi_epi8(r[0], r[1]),
                c = _mm256_unpacklo_epi8(r[2], r[3]), d = _mm256_unpackhi_epi8(r[2], r[3]);
        __m256i w0 = _mm256_unpacklo_epi16(a, c), w1 = _mm256_unpackhi_epi16(a, c),
                w2 = _mm256_unpacklo_epi16(b, d), w3 = _mm256_unpackhi_epi16(b, d);
        _mm256_storeu_si256((void *)out, _mm256_permute2x128_si256(w0, w1, 0x20));
        _mm256_storeu_si256((void *)(out + 8), _mm256_permute2x128_si256(w2, w3, 0x20));
        _mm256_storeu_si256((void *)(out + 16), _mm256_permute2x128_si256(w0, w1, 0x31));
        _mm256_storeu_si256((void *)(out + 24), _mm256_permute2x128_si256(w2, w3, 0x31));
    }
}

/* [word][NR] for columns [col, col + width), then -128 times their sums; what lies past `width`
 * goes nowhere */
static TD_HAS_WORDS void pack_right(uint32_t *panel, const td_int8_gemm *g, int64_t k0, int64_t k,
                                    int64_t col, int64_t width)
{
    int64_t words = (k + 3) / 4;
    const int8_t *from = g->b + k0 * g->b_row + col * g->b_col;
    if (g->b_col == 1) pack_beside(panel, from, g->b_row, width, k);
    for (int64_t h = 0; h < NR; h += 16) {
        int64_t w = least(width - h, 16);
        if (w > 0 && g->b_col != 1)
            pack_turned(panel + h, NR, from + h * g->b_col, g->b_col, w, k, 0);
        __m512i sums = _mm512_setzero_si512();
        for (int64_t p = 0; w > 0 && p < words; p++)
            sums =
                quads(sums, _mm512_set1_epi32(0x01010101), _mm512_loadu_si512(panel + p * NR + h));
        sums = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(sums, 7));
        _mm512_storeu_si512(panel + words * NR + h, sums);
    }
}

/* panels of MR rows, each [word][MR], the last one narrower */
static void pack_left(uint32_t *out, const int8_t *a, int64_t a_row, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i += MR) {
        int64_t w = least(m - i, MR);
        pack_turned(out, w, a + i * a_row, a_row, w, k, 0x80808080u);
        out += w * ((k + 3) / 4);
    }
}

/* ---- tiles ---- */

TD_INLINE TD_HAS_WORDS void tile(const int mr, int64_t words, const uint32_t *a, const uint32_t *b,
                                 int32_t *c, int64_t c_row, int64_t width, bool add)
{
    __m512i acc[MR][2];
    const uint32_t *start = b + words * NR;
    TD_UNROLL for (int i = 0; i < mr; i++)
    {
        acc[i][0] = _mm512_loadu_si512(start);
        acc[i][1] = _mm512_loadu_si512(start + 16);
    }
    for (int64_t p = 0; p < words; p++, a += mr, b += NR) {
        __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 16);
        TD_PREFETCH(b + 8 * NR);
        TD_PREFETCH(b + 8 * NR + 16);
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            __m512i x = _mm512_set1_epi32((int)a[i]);
            acc[i][0] = quads(acc[i][0], x, left);
            acc[i][1] = quads(acc[i][1], x, right);
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < 2; j++)
    {
        __mmask16 bits = (__mmask16)td_lanes(width - 16 * j, 16);
        __m512i sum = acc[i][j];
        if (add)
            sum = _mm512_add_epi32(sum, _mm512_maskz_loadu_epi32(bits, c + i * c_row + 16 * j));
        _mm512_mask_storeu_epi32(c + i * c_row + 16 * j, bits, sum);
    }
}
