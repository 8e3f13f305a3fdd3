/* bf16_tiles.c - the serial product kernel of bfloat16 by tile registers (AMX-BF16). Its table is
 * empty on every other instruction set.
 *
 * A register holds 16 rows of 16 words, a word two neighbours along k, or 16 x 16 sums in float32.
 * An instruction multiplies one of A and one of B and adds to one of sums: 16 words of k at a time.
 * It adds products of even places and of odd ones apart, and both to the sum after 16 words; it
 * knows no numbers below float32's normal range, as the instruction for pairs does not. */
#include "cpu/matmul/gemm.h"
#include "runtime/loops.h"

#if defined(__x86_64__) && defined(__AVX512F__)
#include <string.h>
#include "cpu/matmul/bf16_words.h"
#include "cpu/simd/tiles.h"

#define SIDE 16          /* rows of a register, and words in one of its rows */
#define REGISTER 256     /* words of a register */
#define MR (2 * SIDE)    /* rows of a tile */
#define KC 2048          /* words along k in a panel */
#define BLOCK (1 << 19)  /* bytes of rows of A packed at a time */
#define PANELS (1 << 21) /* bytes of panels of B that are kept */
#define FEW 4            /* rows or columns that go without tiles */
#define NEAR (8 * NR)    /* columns whose panels are filled at a time */

/* all eight registers: 16 rows of 64 bytes */
static const td_tile_shapes shapes = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE},
};

/* ---- packing ---- */

/* of two rows of 32 numbers: which make the first 16 words, and which the others */
static const uint16_t pair_places[2][32] __attribute__((aligned(64))) = {
    {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
     8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47},
    {16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
     24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63},
};

static int64_t up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/* 16 rows, `k` numbers of each, as registers one after the other; rows past m are 0 */
static void pack_rows(uint32_t *out, const uint16_t *a, const td_gemm *g, int64_t m, int64_t k)
{
    for (int64_t p = 0; p < k; p += 2 * SIDE, out += REGISTER) {
        int64_t some = least(k - p, 2 * SIDE);
        __mmask32 here = some == 32 ? 0xffffffffu : (1u << some) - 1;
        const uint16_t *from = a + p * g->a_col;
        if (g->a_col == 1) {
            for (int i = 0; i < SIDE; i++)
                _mm512_storeu_si512(out + i * SIDE, _mm512_maskz_loadu_epi16(i < m ? here : 0,
                                                                             from + i * g->a_row));
            continue;
        }
        uint32_t turned[REGISTER] = {0};
        __m512 r[SIDE];
        pack_lines(turned, SIDE, from, g->a_col, g->a_row, m, some);
        for (int i = 0; i < SIDE; i++) r[i] = _mm512_loadu_ps(turned + i * SIDE);
        vf_transpose(r);
        for (int i = 0; i < SIDE; i++) _mm512_storeu_ps(out + i * SIDE, r[i]);
    }
}

static void pack_left(uint32_t *out, const uint16_t *a, const td_gemm *g, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i += SIDE, out += SIDE * up((k + 1) / 2, SIDE))
        pack_rows(out, a + i * g->a_row, g, least(m - i, SIDE), k);
}

/* ---- tiles ---- */

/* 32 rows and 32 columns: registers 0 to 3 hold sums, 4 and 5 rows of A, 6 and 7 columns of B.
 * a: 16 rows, then `next` words on the other 16. */
static void large_tile(int64_t words, const uint32_t *a, int64_t next, const uint32_t *b,
                       float *sums, int64_t row)
{
    int64_t bytes = row * (int64_t)sizeof *sums;
    TD_TILE_ZERO(0);
    TD_TILE_ZERO(1);
    TD_TILE_ZERO(2);
    TD_TILE_ZERO(3);
    for (int64_t p = 0; p < words; p += SIDE, a += REGISTER, b += SIDE * NR) {
        TD_TILE_LOAD(6, b, NR * 4);
        TD_TILE_LOAD(4, a, SIDE * 4);
        TD_TILE_PAIRS(0, 4, 6);
        TD_TILE_LOAD(7, b + SIDE, NR * 4);
        TD_TILE_PAIRS(1, 4, 7);
        TD_TILE_LOAD(5, a + next, SIDE * 4);
        TD_TILE_PAIRS(2, 5, 6);
        TD_TILE_PAIRS(3, 5, 7);
    }
    TD_TILE_STORE(0, sums, bytes);
    TD_TILE_STORE(1, sums + SIDE, bytes);
    TD_TILE_STORE(2, sums + SIDE * row, bytes);
    TD_TILE_STORE(3, sums + SIDE * row + SIDE, bytes);
}

/* the same of 16 rows */
static void small_tile(int64_t words, const uint32_t *a, const uint32_t *b, float *sums)
{
    TD_TILE_ZERO(0);
    TD_TILE_ZERO(1);
    for (int64_t p = 0; p < words; p += SIDE, a += REGISTER, b += SIDE * NR) {
        TD_TILE_LOAD(4, a, SIDE * 4);
        TD_TILE_LOAD(6, b, NR * 4);
        TD_TILE_LOAD(7, b + SIDE, NR * 4);
        TD_TILE_PAIRS(0, 4, 6);
        TD_TILE_PAIRS(1, 4, 7);
    }
    TD_TILE_STORE(0, sums, NR * 4);
    TD_TILE_STORE(1, sums + SIDE, NR * 4);
}

/* as td_bf16_store */
static __m256i rounded(__m512 x)
{
    __m512i u = _mm512_castps_si512(x),
            odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    u = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    u = _mm512_srli_epi32(u, 16);
    __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(u, nan, _mm512_set1_epi32(0x7fc0)));
}

/* c: float32, or bfloat16 */
static void put(const float *sums, char *c, bool rounds, int64_t c_row, int64_t rows, int64_t width,
                const finish *f)
{
    __mmask16 bits[2] = {(__mmask16)td_lanes(width, 16), (__mmask16)td_lanes(width - 16, 16)};
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++) {
            __m512 sum =
                _mm512_mul_ps(_mm512_loadu_ps(sums + i * NR + 16 * j), _mm512_set1_ps(f->alpha));
            if (f->plus)
                sum = _mm512_add_ps(
                    sum, _mm512_maskz_loadu_ps(bits[j], f->plus + i * f->plus_row + 16 * j));
            if (f->row_bias) sum = _mm512_add_ps(sum, _mm512_set1_ps(f->row_bias[i]));
            int64_t at = i * c_row + 16 * j;
            if (rounds) _mm256_mask_storeu_epi16(c + at * 2, bits[j], rounded(sum));
            else _mm512_mask_storeu_ps(c + at * 4, bits[j], sum);
        }
}

/* 32 x 32 sums turned, in place */
static void turn(float *sums)
{
    for (int i = 0; i < MR; i += SIDE)
        for (int j = 0; j <= i; j += SIDE) {
            __m512 one[SIDE], other[SIDE];
            for (int q = 0; q < SIDE; q++) {
                one[q] = _mm512_loadu_ps(sums + (i + q) * NR + j);
                other[q] = _mm512_loadu_ps(sums + (j + q) * NR + i);
            }
            vf_transpose(one);
            vf_transpose(other);
            for (int q = 0; q < SIDE; q++) {
                _mm512_storeu_ps(sums + (j + q) * NR + i, one[q]);
                _mm512_storeu_ps(sums + (i + q) * NR + j, other[q]);
            }
        }
}

/* A product as its tiles are made: of `g` itself, or of its transpose. */
typedef struct job {
    const td_gemm *g;
    td_gemm made;
    bool turned;
} job;

/* Rows of A are copied where neighbours along k lie side by side, and columns of B are turned then:
 * so A is what has more of them. Either way an element is the same sum in the same order. */
static job job_of(const td_gemm *g)
{
    job j = {.g = g, .made = *g};
    j.turned = !g->pack && g->b_row == 1 && (g->a_col != 1 || g->m < g->n);
    if (!j.turned) return j;
    j.made.m = g->n;
    j.made.n = g->m;
    j.made.a = g->b;
    j.made.b = g->a;
    j.made.a_row = g->b_col;
    j.made.a_col = g->b_row;
    j.made.b_row = g->a_col;
    j.made.b_col = g->a_row;
    return j;
}

/* words: of k, a multiple of 16; what is stored at once is what `put` would store */
static void tile(const job *j, int64_t words, const uint32_t *a, const uint32_t *b, int64_t k0,
                 int64_t row, int64_t col, int64_t rows, int64_t width)
{
    const td_gemm *g = j->g;
    int64_t c_row = g->c_row, at = j->turned ? col * c_row + row : row * c_row + col;
    float sums[MR * NR];
    char *c = (char *)g->c + at * (g->rounds ? 2 : 4);
    finish f = j->turned ? finish_at(g, k0, col, row) : finish_at(g, k0, row, col);
    bool plain = f.alpha == 1 && !f.plus && !f.row_bias && !g->rounds;
    if (!j->turned && rows == MR && width == NR && plain) {
        large_tile(words, a, SIDE * words, b, (float *)c, c_row);
        return;
    }
    if (rows > SIDE) large_tile(words, a, SIDE * words, b, sums, NR);
    else small_tile(words, a, b, sums);
    if (j->turned) turn(sums);
    if (j->turned) put(sums, c, g->rounds, c_row, width, rows, &f);
    else put(sums, c, g->rounds, c_row, rows, width, &f);
}

/* ---- the loops around them ---- */

/* of a slice of k, in whole registers: at least one */
static int64_t words_of(const td_gemm *g)
{
    return g->k ? up(least((g->k + 1) / 2, KC), SIDE) : SIDE;
}

/* rows of A packed at a time: the more words they have, the fewer */
static int64_t block_rows(const td_gemm *g)
{
    int64_t rows = BLOCK / (words_of(g) * 4) / MR * MR;
    return rows < 2 * MR ? 2 * MR : least(rows, 8 * MR);
}

/* columns whose panels are kept; with one block of rows every panel is used once, and some are made
 * in the same place */
static int64_t kept_columns(const td_gemm *g)
{
    int64_t columns = PANELS / (words_of(g) * 4) / NEAR * NEAR;
    return g->m <= block_rows(g) || columns < NEAR ? NEAR : columns;
}

static int64_t block_bytes(const td_gemm *g)
{
    return up(least(g->m, block_rows(g)), SIDE) * words_of(g) * 4;
}

static int64_t panels_bytes(const td_gemm *g)
{
    return up(least(g->n, kept_columns(g)), NR) * words_of(g) * 4;
}

static int64_t work(const td_gemm *g)
{
    if (g->way == TD_GEMM_DOT) return TD_PICK(td_gemm_bf16)->work(g);
    job j = job_of(g);
    return block_bytes(&j.made) + panels_bytes(&j.made) + g->pack_work;
}

/* rows of words past k are 0 in B as they are in A: what lay there may be no number */
static void fill_panel(const td_gemm *g, uint32_t *panel, int64_t k0, int64_t kc, int64_t col,
                       int64_t width, void *work)
{
    int64_t words = (kc + 1) / 2;
    if (g->pack) g->pack(g->pack_context, panel, k0 / 2, words, g->first_col + col, width, work);
    else pack_right(panel, (const uint16_t *)g->b + k0 * g->b_row + col * g->b_col, g, width, kc);
    memset(panel + words * NR, 0, (size_t)((up(words, SIDE) - words) * NR) * 4);
}

/* Two rows of B, neighbouring columns in one, as words of all panels of these columns. */
static void pack_two_rows(uint32_t *out, int64_t panel, const uint16_t *one, const uint16_t *other,
                          int64_t columns)
{
    const __m512i low = _mm512_load_si512(pair_places[0]), high = _mm512_load_si512(pair_places[1]);
    for (int64_t n = 0; n < columns; n += NR, out += panel) {
        int64_t some = least(columns - n, NR);
        __mmask32 here = some == NR ? 0xffffffffu : (1u << some) - 1;
        __m512i first = _mm512_maskz_loadu_epi16(here, one + n),
                second = other ? _mm512_maskz_loadu_epi16(here, other + n) : _mm512_setzero_si512();
        _mm512_storeu_si512(out, _mm512_permutex2var_epi16(first, low, second));
        _mm512_storeu_si512(out + SIDE, _mm512_permutex2var_epi16(first, high, second));
    }
}

/* panels of columns [col, col + columns), each of `words` rows, as long as memory has them in rows
 */
static void fill_panels(const td_gemm *g, uint32_t *panels, int64_t words, int64_t k0, int64_t kc,
                        int64_t col, int64_t columns, void *work)
{
    if (g->pack || g->b_col != 1) {
        for (int64_t n = 0; n < columns; n += NR)
            fill_panel(g, panels + n * words, k0, kc, col + n, least(columns - n, NR), work);
        return;
    }
    const uint16_t *from = (const uint16_t *)g->b + k0 * g->b_row + col;
    for (int64_t p = 0; p < kc; p += 2, from += 2 * g->b_row)
        pack_two_rows(panels + p / 2 * NR, NR * words, from, p + 1 < kc ? from + g->b_row : NULL,
                      columns);
    int64_t filled = (kc + 1) / 2;
    for (int64_t n = 0; n < columns; n += NR)
        memset(panels + n * words + filled * NR, 0, (size_t)((words - filled) * NR) * 4);
}

/* columns [n0, n0 + nc) and k0, k0 + kc: all rows. Panels are filled for some columns at a time;
 * with one block of rows they are used once, and the next ones lie in the same place. */
static void run_slice(const job *j, void *scratch, int64_t n0, int64_t nc, int64_t k0, int64_t kc)
{
    const td_gemm *g = &j->made;
    uint32_t *packed = scratch, *panels = (uint32_t *)((char *)scratch + block_bytes(g));
    void *work = (char *)panels + panels_bytes(g);
    int64_t words = up((kc + 1) / 2, SIDE), rows = block_rows(g);
    for (int64_t row = 0; row < g->m; row += rows) {
        int64_t mc = least(g->m - row, rows);
        pack_left(packed, (const uint16_t *)g->a + row * g->a_row + k0 * g->a_col, g, mc, kc);
        for (int64_t n = 0; n < nc; n += NR) {
            int64_t width = least(nc - n, NR), col = n0 + n;
            uint32_t *panel = panels + (g->m <= rows ? n % NEAR : n) * words;
            if (row == 0 && n % NEAR == 0)
                fill_panels(g, panel, words, k0, kc, col, least(nc - n, NEAR), work);
            for (int64_t i = 0; i < mc; i += MR)
                tile(j, words, packed + i * words, panel, k0, row + i, col, least(mc - i, MR),
                     width);
        }
    }
}

static void run(const td_gemm *g, void *scratch)
{
    if (g->m == 0 || g->n == 0) return;
    if (g->k == 0) {
        run_empty(g);
    } else if (g->way == TD_GEMM_DOT) {
        TD_PICK(td_gemm_bf16)->run(g, scratch);
    } else {
        job j = job_of(g);
        bool once = j.made.m <= block_rows(&j.made);
        int64_t columns = once ? j.made.n : kept_columns(&j.made);
        TD_TILES_BEGIN(shapes);
        for (int64_t n0 = 0; n0 < j.made.n; n0 += columns)
            for (int64_t k0 = 0; k0 < g->k; k0 += 2 * KC)
                run_slice(&j, scratch, n0, least(j.made.n - n0, columns), k0,
                          least(g->k - k0, 2 * KC));
        TD_TILES_END();
    }
}

/* For few rows, or columns, memory is what counts: the kernel without tiles reads it once. */
static td_gemm_way plan(const td_gemm *g)
{
    bool few = (g->m <= FEW && !td_batch_invariant) || g->n <= FEW;
    return few ? TD_PICK(td_gemm_bf16)->plan(g) : TD_GEMM_PACKED;
}

/* sums of all of k are in registers, so they can be rounded there */
static bool fits(const td_gemm *g)
{
    return g->k > 0 && g->k <= 2 * KC && !g->add && plan(g) != TD_GEMM_DOT;
}

const td_gemm_kernel TD_SYM(td_gemm_bf16_tiles) = {
    .mr = MR, .nr = NR, .plan = plan, .work = work, .run = run, .fits = fits};
#else
const td_gemm_kernel TD_SYM(td_gemm_bf16_tiles) = {.run = NULL};
#endif
