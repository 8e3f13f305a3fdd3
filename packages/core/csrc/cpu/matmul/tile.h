/* tile.h - register tiles: the inner loops of every product. Included by gemm.c once per element
 * type, with
 *   REAL the type, VEC its vector, V(op) an operation of gemm_vec.h, LANES, and G(name) a name of
 * that type.
 *
 *              b  nv vectors          A tile holds mr x nv accumulators. Each step of k loads nv vectors of B and
 *            ┌─┬─┐                    broadcasts mr numbers of A. Sums run over k in order, one rounding a step, so an
 *   a  mr    ├─┼─┤  c                 element of C does not depend on the tile that computed it.
 */

/* What happens to the sums at the end: alpha * sum + plus[row][col] + row_bias[row]. One form
 * without branches for all products: absent parts point to zeros. */
typedef struct G(finish) {
    REAL alpha;
    const REAL *plus; /* C itself, a bias per column, or zeros */
    int64_t plus_row;
    const REAL *row_bias;
    int plain; /* nothing but the sum */
} G(finish);
static const REAL G(zeros)[8 * LANES];

TD_INLINE void G(put)(REAL *c, uint32_t bits, VEC sum, const G(finish) * f, int row, int col)
{
    VEC plus = V(load_part)(bits, f->plus + row * f->plus_row + col);
    plus = V(add)(plus, V(set1)(f->row_bias[row]));
    V(store_part)(c, bits, V(fma)(sum, V(set1)(f->alpha), plus));
}

TD_INLINE void G(put_all)(const int mr, const int nv, REAL *c, int64_t c_row, const uint32_t *bits,
                          VEC acc[12][8], const G(finish) * f)
{
    if (f->plain)
        TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < nv; j++)
            V(store_part)(c + i * c_row + j * LANES, bits[j], acc[i][j]);
    else
        TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < nv; j++)
            G(put)(c + i * c_row + j * LANES, bits[j], acc[i][j], f, i, j * LANES);
}

/* one step of k: row i of A at a + i * a_row */
TD_INLINE void G(step)(const int mr, const int nv, VEC acc[12][8], const REAL *a, int64_t a_row,
                       const VEC *b)
{
    TD_UNROLL for (int i = 0; i < mr; i++)
    {
        VEC x = V(set1)(a[i * a_row]);
        TD_UNROLL for (int j = 0; j < nv; j++) acc[i][j] = V(fma)(x, b[j], acc[i][j]);
    }
}

/* How a tile reads B: a packed panel, rows of whole vectors in memory, or rows that may end within
 * a vector. */
typedef enum G(b_form) { G(PANEL), G(WHOLE), G(PARTIAL) } G(b_form);

/* B in memory at rows of b_row elements. keep: also store what was read there, as a packed panel.
 */
TD_INLINE void G(tile)(const int mr, const int nv, const G(b_form) form, int64_t k, const REAL *a,
                       int64_t a_row, int64_t a_col, const REAL *b, int64_t b_row, REAL *keep,
                       REAL *c, int64_t c_row, int64_t width, const G(finish) * f)
{
    const int partial = form == G(PARTIAL);
    VEC acc[12][8], bb[8];
    uint32_t bits[8];
    TD_UNROLL for (int j = 0; j < nv; j++)
    {
        bits[j] = td_lanes(width - j * LANES, LANES);
        TD_UNROLL for (int i = 0; i < mr; i++) acc[i][j] = V(zero)();
    }
    const REAL *out = c;
    int64_t p = 0;
    if (form == G(PANEL))
        for (; p < k && p < mr; p++) { /* the first steps fetch the tile's part of C, a row each */
            TD_UNROLL for (int j = 0; j < nv; j++)
            {
                bb[j] = V(load)(b + j * LANES);
                TD_PREFETCH(out + j * LANES);
            }
            out += c_row;
            G(step)(mr, nv, acc, a, a_row, bb);
            b += b_row;
            a += a_col;
        }
    for (; p < k; p++) {
        TD_UNROLL for (int j = 0; j < nv; j++)
        {
            bb[j] = partial ? V(load_part)(bits[j], b + j * LANES) : V(load)(b + j * LANES);
            TD_PREFETCH(b + j * LANES + 8 * b_row);
            if (partial && keep) V(store)(keep + j * LANES, bb[j]);
        }
        /* rows of B may lie pages apart: ask for the next panel's part while here */
        if (partial && keep) {
            TD_UNROLL for (int j = 0; j < nv; j++) TD_PREFETCH_L2(b + (nv + j) * LANES);
            keep += nv * LANES;
        }
        TD_PREFETCH(a + 8 * a_col);
        if (sizeof(REAL) == 8) TD_PREFETCH(a + 8 * a_col + 8);
        G(step)(mr, nv, acc, a, a_row, bb);
        b += b_row;
        a += a_col;
    }
    G(put_all)(mr, nv, c, c_row, bits, acc, f);
}

/* Tiles with both operands packed: a[k][mr], b[k][NR]. */
typedef void (*G(packed_fn))(int64_t k, const REAL *a, const REAL *b, REAL *c, int64_t c_row,
                             int64_t width, const G(finish) * f);
#define PACKED(mr, nv)                                                                   \
    static void G(packed_##mr##_##nv)(int64_t k, const REAL *a, const REAL *b, REAL *c,  \
                                      int64_t c_row, int64_t width, const G(finish) * f) \
    {                                                                                    \
        G(tile)(mr, nv, G(PANEL), k, a, 1, mr, b, NR, NULL, c, c_row, width, f);         \
    }
/* B packed, whole tiles of A in place, at rows of a_row elements. */
typedef void (*G(unpacked_fn))(int64_t k, const REAL *a, int64_t a_row, int64_t a_col,
                               const REAL *b, REAL *c, int64_t c_row, int64_t width,
                               const G(finish) * f);
#define UNPACKED(nv)                                                                       \
    static void G(unpacked_##nv)(int64_t k, const REAL *a, int64_t a_row, int64_t a_col,   \
                                 const REAL *b, REAL *c, int64_t c_row, int64_t width,     \
                                 const G(finish) * f)                                      \
    {                                                                                      \
        G(tile)(TD_MR, nv, G(PANEL), k, a, a_row, a_col, b, NR, NULL, c, c_row, width, f); \
    }
/* A packed, B in place. */
typedef void (*G(direct_fn))(int64_t k, const REAL *a, const REAL *b, int64_t b_row, REAL *keep,
                             REAL *c, int64_t c_row, int64_t width, const G(finish) * f);
#define DIRECT(mr, nv)                                                                             \
    static void G(direct_##mr)(int64_t k, const REAL *a, const REAL *b, int64_t b_row, REAL *keep, \
                               REAL *c, int64_t c_row, int64_t width, const G(finish) * f)         \
    {                                                                                              \
        if (mr == TD_MR && keep)                                                                   \
            G(tile)(mr, nv, G(PARTIAL), k, a, 1, mr, b, b_row, keep, c, c_row, width, f);          \
        else if (TD_MASKS_COST && width >= nv * LANES)                                             \
            G(tile)(mr, nv, G(WHOLE), k, a, 1, mr, b, b_row, NULL, c, c_row, width, f);            \
        else G(tile)(mr, nv, G(PARTIAL), k, a, 1, mr, b, b_row, NULL, c, c_row, width, f);         \
    }
/* Both in place: for products too small to pack anything. */
typedef void (*G(small_fn))(int64_t k, const REAL *a, int64_t a_row, int64_t a_col, const REAL *b,
                            int64_t b_row, REAL *c, int64_t c_row, int64_t width,
                            const G(finish) * f);
#define SMALL(mr, nv)                                                                             \
    static void G(small_##mr##_##nv)(int64_t k, const REAL *a, int64_t a_row, int64_t a_col,      \
                                     const REAL *b, int64_t b_row, REAL *c, int64_t c_row,        \
                                     int64_t width, const G(finish) * f)                          \
    {                                                                                             \
        if (TD_MASKS_COST && width == nv * LANES)                                                 \
            G(tile)(mr, nv, G(WHOLE), k, a, a_row, a_col, b, b_row, NULL, c, c_row, width, f);    \
        else G(tile)(mr, nv, G(PARTIAL), k, a, a_row, a_col, b, b_row, NULL, c, c_row, width, f); \
    }

/* NAME(rows, vectors) for each tile that exists; WIDE is how many vectors wide a direct tile of few
 * rows may be */
#if TD_MR == 12
#define FOR_ROWS(X, nv) \
    X(1, nv)            \
    X(2, nv)            \
    X(3, nv) X(4, nv) X(5, nv) X(6, nv) X(7, nv) X(8, nv) X(9, nv) X(10, nv) X(11, nv) X(12, nv)
#define FOR_DIRECT(X) \
    X(1, 8)           \
    X(2, 8)           \
    X(3, 8)           \
    X(4, 4)           \
    X(5, 4)           \
    X(6, 4)           \
    X(7, 2)           \
    X(8, 2)           \
    X(9, 2)           \
    X(10, 2)          \
    X(11, 2)          \
    X(12, 2)
#define FOR_SMALL_ROWS(X, nv) X(1, nv) X(2, nv) X(3, nv) X(4, nv) X(5, nv) X(6, nv)
#define FOR_SMALL(X) \
    FOR_SMALL_ROWS(X, 1) FOR_SMALL_ROWS(X, 2) FOR_SMALL_ROWS(X, 3) FOR_SMALL_ROWS(X, 4)
#define SMALL_ROWS 6
#define SMALL_VECTORS 4
#elif TD_NV == 2
#define FOR_ROWS(X, nv) X(1, nv) X(2, nv) X(3, nv) X(4, nv) X(5, nv) X(6, nv)
#define FOR_DIRECT(X) X(1, 8) X(2, 4) X(3, 4) X(4, 2) X(5, 2) X(6, 2)
#define FOR_SMALL_ROWS(X, nv) X(1, nv) X(2, nv) X(3, nv) X(4, nv)
#define FOR_SMALL(X) FOR_SMALL_ROWS(X, 1) FOR_SMALL_ROWS(X, 2)
#define SMALL_ROWS 4
#define SMALL_VECTORS 2
#else
#define FOR_ROWS(X, nv) X(1, nv) X(2, nv) X(3, nv) X(4, nv) X(5, nv) X(6, nv)
#define FOR_DIRECT(X) X(1, 4) X(2, 2) X(3, 2) X(4, 1) X(5, 1) X(6, 1)
#define FOR_SMALL_ROWS(X, nv) X(1, nv) X(2, nv) X(3, nv) X(4, nv)
#define FOR_SMALL(X) FOR_SMALL_ROWS(X, 1)
#define SMALL_ROWS 4
#define SMALL_VECTORS 1
#endif

FOR_ROWS(PACKED, 1)
UNPACKED(1)
#if TD_NV == 2
FOR_ROWS(PACKED, 2)
UNPACKED(2)
#endif
FOR_DIRECT(DIRECT)
FOR_SMALL(SMALL)

#define ROW_OF(name, mr, nv) [mr] = G(name##_##mr##_##nv),
#define PACKED_ENTRY(mr, nv) [nv - 1][mr] = G(packed_##mr##_##nv),
#define DIRECT_ENTRY(mr, nv) [mr] = G(direct_##mr),
#define DIRECT_WIDTH(mr, nv) [mr] = nv * LANES,
#define SMALL_ENTRY(mr, nv) [nv - 1][mr] = G(small_##mr##_##nv),

static const G(packed_fn) G(packed)[TD_NV][TD_MR + 1] = {FOR_ROWS(PACKED_ENTRY, 1)
#if TD_NV == 2
                                                             FOR_ROWS(PACKED_ENTRY, 2)
#endif
};
static const G(unpacked_fn) G(unpacked)[TD_NV] = {
    G(unpacked_1),
#if TD_NV == 2
    G(unpacked_2),
#endif
};
static const G(direct_fn) G(direct)[TD_MR + 1] = {FOR_DIRECT(DIRECT_ENTRY)};
static const int16_t G(direct_width)[TD_MR + 1] = {FOR_DIRECT(DIRECT_WIDTH)};
static const G(small_fn) G(small)[SMALL_VECTORS][SMALL_ROWS + 1] = {FOR_SMALL(SMALL_ENTRY)};

/* Rows of A times rows of B, both contiguous along k: vectors of partial sums, nothing packed. */
TD_INLINE void G(dot_tile)(const int mr, const int nr, int64_t k, const REAL *a, int64_t a_row,
                           const REAL *b, int64_t b_col, REAL *c, int64_t c_row,
                           const G(finish) * f)
{
    VEC acc[12][8], bb[8];
    TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < nr; j++) acc[i][j] =
        V(zero)();
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        TD_UNROLL for (int j = 0; j < nr; j++) bb[j] = V(load)(b + j * b_col + p);
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            VEC x = V(load)(a + i * a_row + p);
            TD_UNROLL for (int j = 0; j < nr; j++) acc[i][j] = V(fma)(x, bb[j], acc[i][j]);
        }
    }
    if (p < k) {
        uint32_t bits = td_lanes(k - p, LANES);
        TD_UNROLL for (int j = 0; j < nr; j++) bb[j] = V(load_part)(bits, b + j * b_col + p);
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            VEC x = V(load_part)(bits, a + i * a_row + p);
            TD_UNROLL for (int j = 0; j < nr; j++) acc[i][j] = V(fma)(x, bb[j], acc[i][j]);
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++) TD_UNROLL for (int j = 0; j < nr; j++)
    {
        REAL plus = f->plus[i * f->plus_row + j] + f->row_bias[i];
        c[i * c_row + j] = f->alpha * V(sum)(acc[i][j]) + plus;
    }
}

typedef void (*G(dot_fn))(int64_t k, const REAL *a, int64_t a_row, const REAL *b, int64_t b_col,
                          REAL *c, int64_t c_row, const G(finish) * f);
#define DOT(mr, nr)                                                                            \
    static void G(dot_##mr##_##nr)(int64_t k, const REAL *a, int64_t a_row, const REAL *b,     \
                                   int64_t b_col, REAL *c, int64_t c_row, const G(finish) * f) \
    {                                                                                          \
        G(dot_tile)(mr, nr, k, a, a_row, b, b_col, c, c_row, f);                               \
    }
#if TD_MR == 12
#define DOT_ROWS 6
#define FOR_DOT(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(1, 4) X(2, 4) X(3, 4) X(4, 4) X(5, 4) X(6, 4)
#define DOT_COLS 4
#else
#define DOT_ROWS 3
#define FOR_DOT(X) X(1, 1) X(2, 1) X(3, 1) X(1, 2) X(2, 2) X(3, 2)
#define DOT_COLS 2
#endif
FOR_DOT(DOT)
#define DOT_ENTRY(mr, nr) [nr > 1][mr] = G(dot_##mr##_##nr),
static const G(dot_fn) G(dot)[2][DOT_ROWS + 1] = {FOR_DOT(DOT_ENTRY)};

#undef PACKED
#undef UNPACKED
#undef DIRECT
#undef SMALL
#undef ROW_OF
#undef PACKED_ENTRY
#undef DIRECT_ENTRY
#undef DIRECT_WIDTH
#undef SMALL_ENTRY
#undef DOT
#undef DOT_ENTRY
#undef FOR_ROWS
#undef FOR_DIRECT
#undef FOR_SMALL
#undef FOR_SMALL_ROWS
#undef FOR_DOT
#undef SMALL_ROWS
#undef SMALL_VECTORS
#undef DOT_ROWS
#undef DOT_COLS
