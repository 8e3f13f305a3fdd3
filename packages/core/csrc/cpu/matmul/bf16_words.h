/* bf16_words.h - what the products of bfloat16 share: lines of numbers as words of two neighbours
 * along k, panels of B, and what is added to a tile. Included by bf16.c and bf16_tiles.c only. */
#include "cpu/matmul/gemm.h"
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#define NR 32 /* columns of a tile, two vectors */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- packing ---- */

/* w <= 16 lines that are contiguous along k, as out[word][stride] */
static void pack_turned(uint32_t *out, int64_t stride, const uint16_t *from, int64_t across,
                        int64_t w, int64_t k)
{
    __mmask16 lanes = (__mmask16)td_lanes(w, 16);
    for (int64_t p = 0; p < k; p += 32) {
        __mmask32 here = k - p >= 32 ? 0xffffffffu : (1u << (k - p)) - 1;
        __m512 r[16];
        for (int q = 0; q < 16; q++)
            r[q] = q < w ? (__m512)_mm512_maskz_loadu_epi16(here, from + q * across + p)
                         : _mm512_setzero_ps();
        vf_transpose(r);
        int64_t words = k - p >= 32 ? 16 : (k - p + 1) / 2;
        for (int64_t q = 0; q < words; q++)
            _mm512_mask_storeu_ps(out + (p / 2 + q) * stride, lanes, r[q]);
    }
}

/* w <= 16 lines side by side in memory */
static void pack_beside(uint32_t *out, int64_t stride, const uint16_t *from, int64_t along,
                        int64_t w, int64_t k)
{
    __mmask16 lanes = (__mmask16)td_lanes(w, 16);
    for (int64_t p = 0; p < k; p += 2, from += 2 * along, out += stride) {
        __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from));
        __m512i high = _mm512_setzero_si512();
        if (p + 1 < k) high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from + along));
        _mm512_mask_storeu_epi32(out, lanes, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
}

static void pack_any(uint32_t *out, int64_t stride, const uint16_t *from, int64_t along,
                     int64_t across, int64_t w, int64_t k)
{
    for (int64_t p = 0; p < k; p += 2, out += stride)
        for (int64_t i = 0; i < w; i++) {
            const uint16_t *at = from + p * along + i * across;
            out[i] = at[0] | (p + 1 < k ? (uint32_t)at[along] << 16 : 0);
        }
}

static void pack_lines(uint32_t *out, int64_t stride, const uint16_t *from, int64_t along,
                       int64_t across, int64_t w, int64_t k)
{
    if (along == 1) pack_turned(out, stride, from, across, w, k);
    else if (across == 1) pack_beside(out, stride, from, along, w, k);
    else pack_any(out, stride, from, along, across, w, k);
}

/* a panel, [word][NR]; lanes past `width` keep what they had, and go nowhere */
static void pack_right(uint32_t *out, const uint16_t *b, const td_gemm *g, int64_t width, int64_t k)
{
    for (int64_t h = 0; h < width; h += 16)
        pack_lines(out + h, NR, b + h * g->b_col, g->b_row, g->b_col,
                   width - h < 16 ? width - h : 16, k);
}

/* ---- what is added ---- */

typedef struct finish { /* of the tile at one place, in one slice of k */
    float alpha;
    const float *plus; /* NULL: nothing is added */
    int64_t plus_row;
    const float *row_bias; /* NULL: none */
} finish;

static finish finish_at(const td_gemm *g, int64_t k0, int64_t row, int64_t col)
{
    finish f = {.alpha = (float)g->alpha};
    if (k0 > 0 || g->add) {
        f.plus = (const float *)g->c + row * g->c_row + col;
        f.plus_row = g->c_row;
    } else if (g->col_bias) {
        f.plus = (const float *)g->col_bias + col;
    }
    if (k0 == 0 && g->row_bias) f.row_bias = (const float *)g->row_bias + row;
    return f;
}

/* nothing to multiply: C = C * add, or the biases */
static void run_empty(const td_gemm *g)
{
    for (int64_t i = 0; i < g->m; i++) {
        float *c = (float *)g->c + i * g->c_row;
        float rest = g->row_bias ? ((const float *)g->row_bias)[i] : 0;
        for (int64_t j = 0; j < g->n; j++)
            c[j] = (g->add ? c[j] : g->col_bias ? ((const float *)g->col_bias)[j] : 0) + rest;
    }
}
