/* bf16.c - the serial product kernel of bfloat16, by the instruction that multiplies pairs and adds
 * both products to a float32 (AVX512-BF16). Its table is empty on every other instruction set.
 *
 * Two neighbours along k make a word of 32 bits. Panels hold words, so they are laid out as those
 * of float32 are; an odd k is filled up with a zero on both sides. Who makes B's panels himself
 * (`pack`) counts rows of words. The instruction reads numbers
 * below float32's normal range as 0, and gives 0 for sums there. */
#include "cpu/matmul/gemm.h"
#include "runtime/loops.h"

#if defined(__x86_64__) && defined(__AVX512F__)
#include "cpu/matmul/bf16_words.h"
#define TD_HAS_PAIRS __attribute__((target("avx512bf16")))
#define MR 12          /* rows of a tile */
#define KC 512         /* words along k in a panel: 64 KB of B */
#define MC (12 * MR)   /* rows of A packed at a time */
#define NC 3072        /* columns whose panels are kept: 6 MB */
#define DOT_SLICE 4096 /* elements along k, so that the few rows stay in the first cache */
#define DOT_ROWS 6
#define DOT_COLS 4

TD_INLINE TD_HAS_PAIRS __m512 pairs(__m512 sum, __m512i a, __m512i b)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}

/* ---- packing ---- */

/* panels of MR rows, each [word][MR], the last one narrower */
static void pack_left(uint32_t *out, const uint16_t *a, const td_gemm *g, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i += MR) {
        int64_t w = m - i < MR ? m - i : MR;
        pack_lines(out, w, a + i * g->a_row, g->a_col, g->a_row, w, k);
        out += w * ((k + 1) / 2);
    }
}

/* ---- tiles ---- */

TD_INLINE TD_HAS_PAIRS void tile(const int mr, int64_t words, const uint32_t *a, const uint32_t *b,
                                 float *c, int64_t c_row, int64_t width, const finish *f)
{
    __m512 acc[MR][2];
    __mmask16 bits[2] = {(__mmask16)td_lanes(width, 16), (__mmask16)td_lanes(width - 16, 16)};
    TD_UNROLL for (int i = 0; i < mr; i++) acc[i][0] = acc[i][1] = _mm512_setzero_ps();
    for (int64_t p = 0; p < words; p++, a += mr, b += NR) {
        __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 16);
        TD_PREFETCH(b + 8 * NR);
        TD_PREFETCH(b + 8 * NR + 16);
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            __m512i x = _mm512_set1_epi32((int)a[i]);
            acc[i][0] = pairs(acc[i][0], left, x);
            acc[i][1] = pairs(acc[i][1], right, x);
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < 2; j++)
    {
        __m512 sum = _mm512_mul_ps(acc[i][j], _mm512_set1_ps(f->alpha));
        if (f->plus)
            sum = _mm512_add_ps(sum,
                                _mm512_maskz_loadu_ps(bits[j], f->plus + i * f->plus_row + 16 * j));
        if (f->row_bias) sum = _mm512_add_ps(sum, _mm512_set1_ps(f->row_bias[i]));
        _mm512_mask_storeu_ps(c + i * c_row + 16 * j, bits[j], sum);
    }
}

typedef void (*tile_fn)(int64_t words, const uint32_t *a, const uint32_t *b, float *c,
                        int64_t c_row, int64_t width, const finish *f);
#define FOR_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#define TILE(mr)                                                                                \
    static TD_HAS_PAIRS void tile_##mr(int64_t words, const uint32_t *a, const uint32_t *b,     \
                                       float *c, int64_t c_row, int64_t width, const finish *f) \
    {                                                                                           \
        tile(mr, words, a, b, c, c_row, width, f);                                              \
    }
FOR_ROWS(TILE)
#define TILE_ENTRY(mr) [mr] = tile_##mr,
static const tile_fn tiles[MR + 1] = {FOR_ROWS(TILE_ENTRY)};

/* Both contiguous along k: vectors of partial sums, nothing packed. */
TD_INLINE TD_HAS_PAIRS void dot_tile(const int mr, const int nr, int64_t k, const uint16_t *a,
                                     int64_t a_row, const uint16_t *b, int64_t b_col, float *c,
                                     int64_t c_row, const finish *f)
{
    __m512 acc[DOT_ROWS][DOT_COLS];
    __m512i bb[DOT_COLS];
    TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < nr; j++) acc[i][j] =
        _mm512_setzero_ps();
    for (int64_t p = 0; p < k; p += 32) {
        __mmask32 here = k - p >= 32 ? 0xffffffffu : (1u << (k - p)) - 1;
        TD_UNROLL for (int j = 0; j < nr; j++)
        {
            bb[j] = _mm512_maskz_loadu_epi16(here, b + j * b_col + p);
            TD_PREFETCH(b + j * b_col + p + 256);
        }
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            __m512i x = _mm512_maskz_loadu_epi16(here, a + i * a_row + p);
            TD_UNROLL for (int j = 0; j < nr; j++) acc[i][j] = pairs(acc[i][j], x, bb[j]);
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < nr; j++)
    {
        float sum = f->alpha * vf_sum(acc[i][j]);
        if (f->plus) sum += f->plus[i * f->plus_row + j];
        if (f->row_bias) sum += f->row_bias[i];
        c[i * c_row + j] = sum;
    }
}

typedef void (*dot_fn)(int64_t k, const uint16_t *a, int64_t a_row, const uint16_t *b,
                       int64_t b_col, float *c, int64_t c_row, const finish *f);
#define FOR_DOT(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(1, 4) X(2, 4) X(3, 4) X(4, 4) X(5, 4) X(6, 4)
#define DOT(mr, nr)                                                                       \
    static TD_HAS_PAIRS void dot_##mr##_##nr(int64_t k, const uint16_t *a, int64_t a_row, \
                                             const uint16_t *b, int64_t b_col, float *c,  \
                                             int64_t c_row, const finish *f)              \
    {                                                                                     \
        dot_tile(mr, nr, k, a, a_row, b, b_col, c, c_row, f);                             \
    }
FOR_DOT(DOT)
#define DOT_ENTRY(mr, nr) [nr > 1][mr] = dot_##mr##_##nr,
static const dot_fn dots[2][DOT_ROWS + 1] = {FOR_DOT(DOT_ENTRY)};

/* ---- the loops around them ---- */

static void run_dot(const td_gemm *g)
{
    for (int64_t k0 = 0; k0 < g->k; k0 += DOT_SLICE) {
        const uint16_t *a = (const uint16_t *)g->a + k0, *b = (const uint16_t *)g->b + k0;
        int64_t kc = least(g->k - k0, DOT_SLICE);
        for (int64_t j = 0, w; j < g->n; j += w) {
            w = g->n - j < DOT_COLS ? 1 : DOT_COLS;
            for (int64_t i = 0; i < g->m; i += DOT_ROWS) {
                finish f = finish_at(g, k0, i, j);
                dots[w > 1][least(g->m - i, DOT_ROWS)](
                    kc, a + i * g->a_row, g->a_row, b + j * g->b_col, g->b_col,
                    (float *)g->c + i * g->c_row + j, g->c_row, &f);
            }
        }
    }
}

/* rows of A in a block: as equal as tiles allow */
static int64_t block_rows(const td_gemm *g)
{
    int64_t blocks = (g->m + MC - 1) / MC;
    return ((g->m + blocks - 1) / blocks + MR - 1) / MR * MR;
}

/* bytes of the packed rows, a multiple of a cache line */
static int64_t block_bytes(const td_gemm *g)
{
    int64_t words = least((g->k + 1) / 2, KC);
    return (least(g->m, block_rows(g)) * words * 4 + 63) / 64 * 64;
}

/* With one block of A every panel is used once: all are made in the same place. */
static int64_t panels_bytes(const td_gemm *g)
{
    int64_t words = least((g->k + 1) / 2, KC), panels = (least(g->n, NC) + NR - 1) / NR;
    return (g->m <= MC ? 1 : panels) * NR * words * 4;
}

static int64_t work(const td_gemm *g)
{
    if (g->way == TD_GEMM_DOT) return 0;
    return block_bytes(g) + panels_bytes(g) + g->pack_work;
}

static void fill_panel(const td_gemm *g, uint32_t *panel, int64_t k0, int64_t kc, int64_t col,
                       int64_t width, void *work)
{
    if (g->pack)
        g->pack(g->pack_context, panel, k0 / 2, (kc + 1) / 2, g->first_col + col, width, work);
    else pack_right(panel, (const uint16_t *)g->b + k0 * g->b_row + col * g->b_col, g, width, kc);
}

/* columns [n0, n0 + nc) and k0, k0 + kc: all rows */
static void run_slice(const td_gemm *g, void *scratch, int64_t n0, int64_t nc, int64_t k0,
                      int64_t kc)
{
    uint32_t *packed = scratch, *panels = (uint32_t *)((char *)scratch + block_bytes(g));
    void *work = (char *)panels + panels_bytes(g);
    int64_t rows = block_rows(g), words = (kc + 1) / 2;
    for (int64_t row = 0; row < g->m; row += rows) {
        int64_t mc = least(g->m - row, rows);
        pack_left(packed, (const uint16_t *)g->a + row * g->a_row + k0 * g->a_col, g, mc, kc);
        for (int64_t j = 0; j < nc; j += NR) {
            int64_t width = least(nc - j, NR), col = n0 + j;
            uint32_t *panel = g->m <= MC ? panels : panels + j * words;
            if (row == 0) fill_panel(g, panel, k0, kc, col, width, work);
            for (int64_t i = 0; i < mc; i += MR) {
                finish f = finish_at(g, k0, row + i, col);
                tiles[least(mc - i, MR)](words, packed + i * words, panel,
                                         (float *)g->c + (row + i) * g->c_row + col, g->c_row,
                                         width, &f);
            }
        }
    }
}

static void run_packed(const td_gemm *g, void *scratch)
{
    for (int64_t n0 = 0; n0 < g->n; n0 += NC)
        for (int64_t k0 = 0; k0 < g->k; k0 += 2 * KC)
            run_slice(g, scratch, n0, least(g->n - n0, NC), k0, least(g->k - k0, 2 * KC));
}

static void run(const td_gemm *g, void *scratch)
{
    if (g->m == 0 || g->n == 0) return;
    if (g->k == 0) run_empty(g);
    else if (g->way == TD_GEMM_DOT) run_dot(g);
    else run_packed(g, scratch);
}

static td_gemm_way plan(const td_gemm *g)
{
    if (g->pack) return TD_GEMM_PACKED;
    bool along = (g->b_row == 1 || g->k == 1) && (g->a_col == 1 || g->k == 1);
    return along && ((g->m <= MR && !td_batch_invariant) || g->n <= 4) ? TD_GEMM_DOT
                                                                       : TD_GEMM_PACKED;
}

const td_gemm_kernel TD_SYM(td_gemm_bf16) = {
    .mr = MR, .nr = NR, .plan = plan, .work = work, .run = run};
#else
const td_gemm_kernel TD_SYM(td_gemm_bf16) = {.run = NULL};
#endif
