/* core.h - the loops around the tiles. Included per type, as gemm_tile.h.
 *
 *   for each KC rows of B:  for each MC rows of A: pack them
 *       for each panel of NR columns: pack it if not yet done, then run the tiles of all row panels on it
 *
 * A packed block of A (MC x KC) stays in the second cache, one panel of B (KC x NR) in the first.
 * Where B is a few panels wide and rows of A lie in memory along k, only the last few rows of A are
 * packed: tiles read the others in place. */

#define KC TD_GEMM_KC
#define MC (12 * MR)
#define NC TD_GEMM_NC
#define DOT_SLICE 4096

/* the finish of the tile at (row, col), in the slice of k that begins at k0 */
TD_INLINE G(finish) G(finish_at)(const td_gemm *g, int64_t k0, int64_t row, int64_t col)
{
    G(finish) f = {(REAL)g->alpha, G(zeros), 0, G(zeros), 0};
    if (k0 > 0 || g->add) {
        f.plus = (const REAL *)g->c + row * g->c_row + col;
        f.plus_row = g->c_row;
    } else if (g->col_bias) {
        f.plus = (const REAL *)g->col_bias + col;
    }
    if (k0 == 0 && g->row_bias) f.row_bias = (const REAL *)g->row_bias + row;
    f.plain = f.plus == G(zeros) && f.row_bias == G(zeros) && f.alpha == 1;
    return f;
}

static void G(run_small)(const td_gemm *g)
{
    const REAL *a = g->a, *b = g->b;
    REAL *c = g->c;
    const int64_t wide = LANES * (int64_t)(sizeof G(small) / sizeof G(small)[0]);
    const int64_t tall = (int64_t)(sizeof G(small)[0] / sizeof G(small)[0][0]) - 1;
    for (int64_t j = 0; j < g->n; j += wide) {
        int64_t w = g->n - j < wide ? g->n - j : wide, nv = (w + LANES - 1) / LANES;
        for (int64_t i = 0; i < g->m; i += tall) {
            int64_t h = g->m - i < tall ? g->m - i : tall;
            G(finish) f = G(finish_at)(g, 0, i, j);
            G(small_fn) tile = G(small)[nv - 1][h];
            tile(g->k, a + i * g->a_row, g->a_row, g->a_col, b + j, g->b_row, c + i * g->c_row + j,
                 g->c_row, w, &f);
        }
    }
}

/* k == 1: every number of A times the row of B, nothing to sum */
static void G(run_outer)(const td_gemm *g)
{
    const REAL *b = g->b;
    for (int64_t i = 0; i < g->m; i++) {
        VEC x = V(set1)(((const REAL *)g->a)[i * g->a_row]);
        REAL *c = (REAL *)g->c + i * g->c_row;
        int64_t j = 0;
        if (G(finish_at)(g, 0, i, 0).plain)
            for (; j + LANES <= g->n; j += LANES)
                V(store)(c + j, V(fma)(x, V(load)(b + j), V(zero)()));
        for (; j < g->n; j += LANES) {
            uint32_t bits = td_lanes(g->n - j, LANES);
            G(finish) f = G(finish_at)(g, 0, i, j);
            G(put)(c + j, bits, V(fma)(x, V(load_part)(bits, b + j), V(zero)()), &f, 0, 0);
        }
    }
}

/* m <= MR: for each slice of k, pack the few rows of A and pass over B once */
static void G(run_direct)(const td_gemm *g, void *scratch)
{
    REAL *packed = scratch, *c = g->c;
    int64_t step = G(direct_width)[g->m];
    for (int64_t k0 = 0; k0 < g->k; k0 += KC) {
        int64_t kc = g->k - k0 < KC ? g->k - k0 : KC;
        const REAL *b = (const REAL *)g->b + k0 * g->b_row;
        G(pack_a)(packed, (const REAL *)g->a + k0 * g->a_col, g->a_row, g->a_col, g->m, kc);
        for (int64_t j = 0; j < g->n; j += step) {
            G(finish) f = G(finish_at)(g, k0, 0, j);
            G(direct)[g->m](kc, packed, b + j, g->b_row, NULL, c + j, g->c_row, g->n - j, &f);
        }
    }
}

/* slices of k, so that the few rows stay in the first cache while the others stream by */
static void G(run_dot)(const td_gemm *g)
{
    const int64_t tall = (int64_t)(sizeof G(dot)[0] / sizeof G(dot)[0][0]) - 1,
                  wide = TD_MR == 12 ? 4 : 2;
    for (int64_t k0 = 0; k0 < g->k; k0 += DOT_SLICE) {
        const REAL *a = (const REAL *)g->a + k0, *b = (const REAL *)g->b + k0;
        int64_t kc = g->k - k0 < DOT_SLICE ? g->k - k0 : DOT_SLICE;
        for (int64_t j = 0, w; j < g->n; j += w) {
            w = g->n - j < wide ? 1 : wide;
            for (int64_t i = 0; i < g->m; i += tall) {
                int64_t h = g->m - i < tall ? g->m - i : tall;
                G(finish) f = G(finish_at)(g, k0, i, j);
                G(dot_fn) tile = G(dot)[w > 1][h];
                tile(kc, a + i * g->a_row, g->a_row, b + j * g->b_col, g->b_col,
                     (REAL *)g->c + i * g->c_row + j, g->c_row, &f);
            }
        }
    }
}

/* How many of mc rows of A are read in place: whole tiles, where packing them would cost more than
 * so few panels bring. */
static int64_t G(rows_in_place)(const td_gemm *g, int64_t mc)
{
    return g->a_col == 1 && g->n <= 4 * NR ? mc / MR * MR : 0;
}

/* one panel of B against rows [first, mc) of A, of which those from `in_place` on are packed */
TD_INLINE void G(run_panel)(const td_gemm *g, const REAL *packed, const REAL *panel, int64_t row,
                            int64_t first, int64_t in_place, int64_t mc, int64_t k0, int64_t kc,
                            int64_t col, int64_t width)
{
    int64_t vectors = (width - 1) / LANES;
    const REAL *a = (const REAL *)g->a + row * g->a_row + k0 * g->a_col;
    for (int64_t i = first; i < mc; i += MR) {
        int64_t h = mc - i < MR ? mc - i : MR;
        REAL *c = (REAL *)g->c + (row + i) * g->c_row + col;
        G(finish) f = G(finish_at)(g, k0, row + i, col);
        G(unpacked_fn) unpacked = G(unpacked)[vectors];
        if (i < in_place)
            unpacked(kc, a + i * g->a_row, g->a_row, g->a_col, panel, c, g->c_row, width, &f);
        else G(packed)[vectors][h](kc, packed + i * kc, panel, c, g->c_row, width, &f);
    }
}

static void G(panel)(int64_t m, int64_t k, double alpha, const void *packed, const void *panel,
                     void *c, int64_t c_row, int64_t width, int add)
{
    td_gemm g = {.c = c, .c_row = c_row, .alpha = alpha, .add = add};
    G(run_panel)(&g, packed, panel, 0, 0, 0, m, 0, k, 0, width);
}

/* Fill a panel of B. Where B's rows lie in memory, the first tile reads them there and stores the
 * panel on its way, if its rows of A are packed; returns the rows of A already done. */
static int64_t G(fill_panel)(const td_gemm *g, const REAL *packed, REAL *panel, int64_t rows,
                             int64_t k0, int64_t kc, int64_t col, int64_t width, void *work)
{
    const REAL *b = (const REAL *)g->b + k0 * g->b_row + col * g->b_col;
    if (g->pack) {
        g->pack(g->pack_context, panel, k0, kc, g->first_col + col, width, work);
    } else if (g->b_col == 1 && rows >= MR) {
        G(finish) f = G(finish_at)(g, k0, 0, col);
        G(direct)[MR](kc, packed, b, g->b_row, panel, (REAL *)g->c + col, g->c_row, width, &f);
        return MR;
    } else {
        G(pack_b)(panel, b, g->b_row, g->b_col, kc, width);
    }
    return 0;
}

/* With one block of A every panel is used once: all are made in the same place, which stays in the
 * caches. */
static int64_t G(panel_elements)(const td_gemm *g)
{
    int64_t n = g->m <= MC ? NR : g->n < NC ? (g->n + NR - 1) / NR * NR : NC;
    return (g->k < KC ? g->k : KC) * n;
}

/* rows of A in a block: as equal as tiles allow, so that no pass over the panels serves a few rows
 * only */
static int64_t G(block_rows)(const td_gemm *g)
{
    int64_t blocks = (g->m + MC - 1) / MC;
    return ((g->m + blocks - 1) / blocks + MR - 1) / MR * MR;
}

static int64_t G(block_elements)(const td_gemm *g)
{
    int64_t elements = (g->m < MR ? g->m : G(block_rows)(g)) * (g->k < KC ? g->k : KC);
    return (elements + LANES + 15) / 16 * 16; /* the panels behind it stay aligned */
}

static void G(run_packed)(const td_gemm *g, void *scratch)
{
    REAL *packed = scratch, *panels = packed + G(block_elements)(g);
    void *work = panels + G(panel_elements)(g);
    int64_t rows = G(block_rows)(g);
    for (int64_t n0 = 0; n0 < g->n; n0 += NC)
        for (int64_t k0 = 0; k0 < g->k; k0 += KC) {
            int64_t nc = g->n - n0 < NC ? g->n - n0 : NC, kc = g->k - k0 < KC ? g->k - k0 : KC;
            for (int64_t row = 0; row < g->m; row += rows) {
                int64_t mc = g->m - row < rows ? g->m - row : rows,
                        in_place = G(rows_in_place)(g, mc);
                const REAL *a = (const REAL *)g->a + (row + in_place) * g->a_row + k0 * g->a_col;
                G(pack_a)(packed + in_place * kc, a, g->a_row, g->a_col, mc - in_place, kc);
                for (int64_t j = 0; j < nc; j += NR) {
                    int64_t width = nc - j < NR ? nc - j : NR, done = 0;
                    REAL *panel = g->m <= MC ? panels : panels + j * kc;
                    if (row == 0)
                        done = G(fill_panel)(g, packed, panel, mc - in_place, k0, kc, n0 + j, width,
                                             work);
                    G(run_panel)(g, packed, panel, row, done, in_place, mc, k0, kc, n0 + j, width);
                }
            }
        }
}

/* nothing to multiply: C = C * add, or the biases */
static void G(run_empty)(const td_gemm *g)
{
    for (int64_t i = 0; i < g->m; i++) {
        REAL *c = (REAL *)g->c + i * g->c_row,
             rest = g->row_bias ? ((const REAL *)g->row_bias)[i] : 0;
        for (int64_t j = 0; j < g->n; j++)
            c[j] = (g->add ? c[j] : g->col_bias ? ((const REAL *)g->col_bias)[j] : 0) + rest;
    }
}

/* four chains of sums, so that one addition does not wait for the last */
static double G(dot_of)(int64_t n, const void *left, int64_t a_step, const void *right,
                        int64_t b_step)
{
    const REAL *a = left, *b = right;
    VEC sum[4];
    REAL rest = 0;
    int64_t i = 0;
    for (int j = 0; j < 4; j++) sum[j] = V(zero)();
    if (a_step == 1 && b_step == 1)
        for (; i + 4 * LANES <= n; i += 4 * LANES)
            TD_UNROLL for (int j = 0; j < 4; j++) sum[j] =
                V(fma)(V(load)(a + i + j * LANES), V(load)(b + i + j * LANES), sum[j]);
    for (; i < n; i++) rest += a[i * a_step] * b[i * b_step];
    return (double)V(sum)(V(add)(V(add)(sum[0], sum[1]), V(add)(sum[2], sum[3]))) + rest;
}

/* The same whatever m is. Direct and packed products add along k in the same order. */
static td_gemm_way G(plan_invariant)(const td_gemm *g)
{
    if (g->b_row == 1 && g->a_col == 1 && g->n == 1) return TD_GEMM_DOT;
    if (g->b_col != 1) return TD_GEMM_PACKED;
    if (g->k * g->n * (int64_t)sizeof(REAL) <= TD_SMALL_BYTES && g->k <= KC) return TD_GEMM_SMALL;
    return g->m <= MR ? TD_GEMM_DIRECT : TD_GEMM_PACKED;
}

static td_gemm_way G(plan)(const td_gemm *g)
{
    const int64_t item = sizeof(REAL);
    if (g->pack) return TD_GEMM_PACKED;
    if (td_batch_invariant) return G(plan_invariant)(g);
    if (g->b_row == 1 && g->a_col == 1 && (g->n == 1 || (g->m == 1 && g->b_col != 1)))
        return TD_GEMM_DOT;
    if (g->b_col == 1) {
        if (g->k * g->n * item <= TD_SMALL_BYTES &&
            (g->a_col == 1 || g->m * g->k * item <= TD_SMALL_BYTES))
            return TD_GEMM_SMALL;
        if (g->m <= MR) return TD_GEMM_DIRECT;
    }
    if (g->b_row == 1 && g->a_col == 1 && (g->m <= 4 * MR || g->n <= 4)) {
        if (g->k >= 512 || (g->k >= 6 * LANES && g->m <= MR) || g->m <= 2 || g->n <= 2)
            return TD_GEMM_DOT;
    }
    return TD_GEMM_PACKED;
}

static int64_t G(work)(const td_gemm *g)
{
    if (g->way == TD_GEMM_SMALL || g->way == TD_GEMM_DOT) return 0;
    int64_t elements = G(block_elements)(g) + (g->way == TD_GEMM_PACKED ? G(panel_elements)(g) : 0);
    return elements * (int64_t)sizeof(REAL) + g->pack_work;
}

static void G(run)(const td_gemm *g, void *scratch)
{
    if (g->m == 0 || g->n == 0) return;
    if (g->k == 0) G(run_empty)(g);
    else if (g->k == 1 && g->b_col == 1 && !g->pack) G(run_outer)(g);
    else if (g->way == TD_GEMM_SMALL) G(run_small)(g);
    else if (g->way == TD_GEMM_DOT) G(run_dot)(g);
    else if (g->way == TD_GEMM_DIRECT) G(run_direct)(g, scratch);
    else G(run_packed)(g, scratch);
}

#undef KC
#undef MC
#undef NC
#undef DOT_SLICE
