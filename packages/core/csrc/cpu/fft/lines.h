/* lines.h - lines into lanes and out of them. Included by fft.c per element type (fft_numbers.h).
 */

static void G(load)(void *split, const td_fft_end *in, int64_t n, int64_t lanes)
{
    const REAL *p = in->data;
    VEC sign = V(set1)((REAL)in->im);
    for (int64_t k = 0; k < n; k++) {
        CV a = G(load_some)(p + k * in->point, lanes);
        a.i = a.i * sign;
        G(store_split)((REAL *)split + k * SPLIT, a);
    }
}

static void G(store)(const void *split, const td_fft_end *out, int64_t n, int64_t lanes)
{
    REAL *p = out->data;
    VEC re = V(set1)((REAL)out->re), im = V(set1)((REAL)out->im);
    for (int64_t k = 0; k < n; k++)
        G(store_some)(p + k * out->point,
                      G(scaled)(G(load_split)((const REAL *)split + k * SPLIT), re, im), lanes);
}

/* Split memory is the transpose of the rows, taken as real numbers: a tile is `rows` of them and
 * `width` numbers of each. */
TD_INLINE void G(gather_tile)(REAL *to, const REAL *from, int64_t stride, const int64_t rows,
                              const int64_t width, VEC sign)
{
    VEC tile[LANES];
    const uint32_t mask = td_lanes(width, LANES);
    TD_UNROLL for (int64_t r = 0; r < LANES; r++) tile[r] =
        rows == LANES && width == LANES ? V(load)(from + r * stride)
                                        : V(load_part)(r < rows ? mask : 0, from + r * stride);
    V(transpose)(tile);
    TD_UNROLL for (int64_t j = 0; j < LANES; j++)
    {
        if (j % 2) tile[j] = tile[j] * sign;
        if (j < width) V(store)(to + j * LANES, tile[j]);
    }
}

static void G(gather)(void *split, const td_fft_rows *in, int64_t n)
{
    const REAL *from = in->data;
    VEC sign = V(set1)((REAL)in->im);
    int64_t stride = in->stride, rows = in->count, c = 0;
    for (; rows == LANES && c + LANES <= 2 * n; c += LANES)
        G(gather_tile)((REAL *)split + c * LANES, from + c, stride, LANES, LANES, sign);
    for (; c < 2 * n; c += LANES)
        G(gather_tile)((REAL *)split + c * LANES, from + c, stride, rows, 2 * n - c, sign);
}

TD_INLINE void G(scatter_tile)(REAL *to, int64_t stride, const REAL *from, const int64_t rows,
                               const int64_t width, VEC re, VEC im)
{
    VEC tile[LANES];
    const uint32_t mask = td_lanes(width, LANES);
    TD_UNROLL for (int64_t j = 0; j < LANES; j++) tile[j] =
        V(load)(from + (j < width ? j : 0) * LANES) * (j % 2 ? im : re);
    V(transpose)(tile);
    TD_UNROLL for (int64_t r = 0; r < LANES; r++) if (width >= LANES && r < rows)
        V(store)(to + r * stride, tile[r]);
    else if (r < rows) V(store_part)(to + r * stride, mask, tile[r]); }

static void G(scatter)(const void *split, const td_fft_rows *out, int64_t n)
{
    REAL *to = out->data;
    VEC re = V(set1)((REAL)out->re), im = V(set1)((REAL)out->im);
    int64_t stride = out->stride, rows = out->count, c = 0;
    for (; rows == LANES && c + LANES <= 2 * n; c += LANES)
        G(scatter_tile)(to + c, stride, (const REAL *)split + c * LANES, LANES, LANES, re, im);
    for (; c < 2 * n; c += LANES)
        G(scatter_tile)(to + c, stride, (const REAL *)split + c * LANES, rows, 2 * n - c, re, im);
}

/* Real parts are turned in registers while the imaginary ones wait in memory: both together would
 * not fit. */
TD_INLINE void G(turn_tile)(const REAL *from, const REAL *lane, const REAL *block,
                            const int64_t rows, const bool first, REAL *to, const int64_t lanes)
{
    VEC part[LANES], rest[LANES];
    TD_UNROLL for (int64_t r = 0; r < LANES; r++)
    {
        CV a = {V(zero)(), V(zero)()};
        if (r < rows) a = G(mul)(G(load_split)(from + r * SPLIT), G(load_split)(lane + r * SPLIT));
        if (r < rows && !first) a = G(mul)(a, G(spread)(block + 2 * r));
        part[r] = a.r;
        rest[r] = a.i;
    }
    V(transpose)(part);
    TD_UNROLL for (int64_t r = 0; r < LANES; r++) if (r < lanes) V(store)(to + r * SPLIT, part[r]);
    V(transpose)(rest);
    TD_UNROLL for (int64_t r = 0; r < LANES; r++) if (r < lanes)
        V(store)(to + r * SPLIT + LANES, rest[r]);
}

static void G(turn)(const void *split, const void *fine, const void *coarse, int64_t n1, void *u,
                    int64_t n2, int64_t column, int64_t lanes)
{
    const REAL *from = split, *lane = fine, *block = coarse;
    for (int64_t k = 0; k < n1; k += LANES, from += LANES * SPLIT, lane += LANES * SPLIT) {
        REAL *to = (REAL *)u + (k * n2 + column * LANES) * 2;
        bool full = n1 - k >= LANES && lanes == LANES;
        if (full && block) G(turn_tile)(from, lane, block, LANES, false, to, LANES);
        else if (full) G(turn_tile)(from, lane, block, LANES, true, to, LANES);
        else G(turn_tile)(from, lane, block, n1 - k, !block, to, lanes);
        if (block) block += 2 * LANES;
    }
}

static void G(multiply)(void *out, const void *a, const void *b, int64_t n, double sign, double re,
                        double im)
{
    VEC s = V(set1)((REAL)sign), r = V(set1)((REAL)re), i = V(set1)((REAL)im), one = V(set1)(1);
    for (int64_t k = 0; k < n; k += LANES) {
        int64_t lanes = n - k < LANES ? n - k : LANES;
        CV x = G(scaled)(G(load_some)((const REAL *)a + 2 * k, lanes), one, s);
        x = G(mul)(x, G(load_some)((const REAL *)b + 2 * k, lanes));
        G(store_some)((REAL *)out + 2 * k, G(scaled)(x, r, i), lanes);
    }
}
