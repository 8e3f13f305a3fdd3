/* pack.h - copying blocks of A and B into the panels that tiles read in order. Included per type,
 * as gemm_tile.h.
 *
 *   A, mc x kc:  panels of MR rows, each [kc][MR]; the last one is as narrow as its rows
 *   B, kc x nc:  panels of NR columns, each [kc][NR], the last one filled up with zeros
 */

#define AHEAD                                                                                 \
    (4 * LANES) /* rows lie pages apart, and so many streams the processor does not follow by \
                   itself */

/* w rows (<= LANES) of length k, contiguous along k, to out[k][stride]; returns how much of k is
 * done */
TD_INLINE int64_t G(turn_blocks)(REAL *out, int64_t stride, const REAL *from, int64_t row,
                                 const int w, int64_t k, uint32_t bits)
{
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        VEC r[LANES];
        TD_UNROLL for (int q = 0; q < w; q++)
        {
            r[q] = V(load)(from + q * row + p);
            TD_PREFETCH(from + q * row + p + AHEAD);
        }
        TD_UNROLL for (int q = w; q < LANES; q++) r[q] = V(zero)();
        V(transpose)(r);
        TD_UNROLL for (int q = 0; q < LANES; q++) V(store_part)(out + (p + q) * stride, bits, r[q]);
    }
    return p;
}
#undef AHEAD

/* w rows (<= LANES) of length k, contiguous along k, to out[k][stride] */
TD_INLINE void G(pack_turned)(REAL *out, int64_t stride, const REAL *from, int64_t row, int64_t w,
                              int64_t k, uint32_t bits)
{
    const int tile = MR % LANES; /* what a tile of A has besides whole vectors */
    int64_t p = 0;
    if (w == LANES) p = G(turn_blocks)(out, stride, from, row, LANES, k, bits);
    else if (w == tile) p = G(turn_blocks)(out, stride, from, row, tile, k, bits);
    for (; p < k; p += LANES) {
        VEC r[LANES];
        uint32_t here = td_lanes(k - p, LANES);
        for (int q = 0; q < w; q++) r[q] = V(load_part)(here, from + q * row + p);
        for (int64_t q = w; q < LANES; q++) r[q] = V(zero)();
        V(transpose)(r);
        int64_t steps = k - p < LANES ? k - p : LANES;
        for (int64_t q = 0; q < steps; q++) V(store_part)(out + (p + q) * stride, bits, r[q]);
    }
}

static void G(pack_a_panel)(REAL *out, const REAL *a, int64_t row, int64_t col, int64_t w,
                            int64_t k)
{
    if (col == 1)
        for (int64_t i = 0; i < w; i += LANES) {
            int64_t h = w - i < LANES ? w - i : LANES;
            G(pack_turned)(out + i, w, a + i * row, row, h, k, td_lanes(h, LANES));
        }
    else
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < w; i++) *out++ = a[i * row + p * col];
}

/* Rows side by side in memory: one pass for all panels, so that a line of A is read once and whole.
 */
static void G(pack_a_wide)(REAL *out, const REAL *a, int64_t col, int64_t m, int64_t k)
{
    uint32_t tile[(MR + LANES - 1) / LANES], rest[(MR + LANES - 1) / LANES];
    int64_t whole = m / MR * MR, left = m - whole;
    for (int64_t i = 0; i < MR; i += LANES) {
        tile[i / LANES] = td_lanes(MR - i, LANES);
        rest[i / LANES] = td_lanes(left > i ? left - i : 0, LANES);
    }
    for (int64_t p = 0; p < k; p++, a += col) {
        for (int64_t i = 0; i < whole; i += MR)
            for (int64_t j = 0; j < MR; j += LANES)
                V(store_part)(out + i * k + p * MR + j, tile[j / LANES],
                              V(load_part)(tile[j / LANES], a + i + j));
        for (int64_t j = 0; j < left; j += LANES)
            V(store_part)(out + whole * k + p * left + j, rest[j / LANES],
                          V(load_part)(rest[j / LANES], a + whole + j));
    }
}

static void G(pack_a)(void *packed, const void *from, int64_t row, int64_t col, int64_t m,
                      int64_t k)
{
    REAL *out = packed;
    const REAL *a = from;
    if (row == 1) {
        G(pack_a_wide)(out, a, col, m, k);
        return;
    }
    for (int64_t i = 0; i < m; i += MR) {
        int64_t w = m - i < MR ? m - i : MR;
        G(pack_a_panel)(out, a + i * row, row, col, w, k);
        out += w * k;
    }
}

/* rows of B as they are, `width` of each */
static void G(pack_b_rows)(REAL *out, const REAL *b, int64_t row, int64_t k, int64_t width)
{
    if (width == NR) {
        for (int64_t p = 0; p < k; p++, out += NR, b += row)
            TD_UNROLL for (int j = 0; j < TD_NV; j++)
                V(store)(out + j * LANES, V(load)(b + j * LANES));
        return;
    }
    uint32_t bits[TD_NV];
    for (int j = 0; j < TD_NV; j++) bits[j] = td_lanes(width - j * LANES, LANES);
    for (int64_t p = 0; p < k; p++, out += NR, b += row)
        TD_UNROLL for (int j = 0; j < TD_NV; j++)
            V(store)(out + j * LANES, V(load_part)(bits[j], b + j * LANES));
}

static void G(pack_b)(void *panel, const void *from, int64_t row, int64_t col, int64_t k,
                      int64_t width)
{
    REAL *out = panel;
    const REAL *b = from;
    if (col == 1) {
        G(pack_b_rows)(out, b, row, k, width);
    } else if (row == 1) {
        const uint32_t all = td_lanes(LANES, LANES);
        for (int h = 0; h < NR; h += LANES) {
            int64_t w = width - h < 0 ? 0 : width - h > LANES ? LANES : width - h;
            G(pack_turned)(out + h, NR, b + h * col, col, w, k, all);
        }
    } else {
        for (int64_t p = 0; p < k; p++, out += NR)
            for (int64_t j = 0; j < NR; j++) out[j] = j < width ? b[p * row + j * col] : 0;
    }
}
