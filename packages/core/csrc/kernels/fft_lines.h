/* fft_lines.h - lines into lanes and out of them. Included by fft.c per element type (fft_numbers.h). */

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
        G(store_some)(p + k * out->point, G(scaled)(G(load_split)((const REAL *)split + k * SPLIT), re, im), lanes);
}

/* Split memory is the transpose of the rows, taken as real numbers. */
static void G(gather)(void *split, const td_fft_rows *in, int64_t n)
{
    VEC tile[LANES], one = V(set1)(1), sign = V(set1)((REAL)in->im);
    for (int64_t c = 0; c < 2 * n; c += LANES) {
        int64_t width = 2 * n - c < LANES ? 2 * n - c : LANES;
        uint32_t mask = td_lanes(width, LANES);
        TD_UNROLL for (int64_t r = 0; r < LANES; r++)
            tile[r] = V(load_part)(r < in->count ? mask : 0, (const REAL *)in->data + r * in->stride + c);
        V(transpose)(tile);
        REAL *to = (REAL *)split + c * LANES;
        TD_UNROLL for (int64_t j = 0; j < LANES; j++)
            if (j < width) V(store)(to + j * LANES, tile[j] * (j % 2 ? sign : one));
    }
}

static void G(scatter)(const void *split, const td_fft_rows *out, int64_t n)
{
    VEC tile[LANES], re = V(set1)((REAL)out->re), im = V(set1)((REAL)out->im);
    for (int64_t c = 0; c < 2 * n; c += LANES) {
        int64_t width = 2 * n - c < LANES ? 2 * n - c : LANES;
        uint32_t mask = td_lanes(width, LANES);
        const REAL *from = (const REAL *)split + c * LANES;
        TD_UNROLL for (int64_t j = 0; j < LANES; j++)
            tile[j] = V(load)(from + (j < width ? j : 0) * LANES) * (j % 2 ? im : re);
        V(transpose)(tile);
        TD_UNROLL for (int64_t r = 0; r < LANES; r++)
            if (r < out->count) V(store_part)((REAL *)out->data + r * out->stride + c, mask, tile[r]);
    }
}

/* Real parts are turned in registers while the imaginary ones wait in memory: both together would not fit. */
TD_INLINE void G(turn_tile)(const REAL *from, const REAL *lane, const REAL *block, const int64_t rows, const bool first, REAL *to,
                            const int64_t lanes)
{
    VEC part[LANES], rest[LANES];
    TD_UNROLL for (int64_t r = 0; r < LANES; r++) {
        CV a = {V(zero)(), V(zero)()};
        if (r < rows) a = G(mul)(G(load_split)(from + r * SPLIT), G(load_split)(lane + r * SPLIT));
        if (r < rows && !first) a = G(mul)(a, G(spread)(block + 2 * r));
        part[r] = a.r;
        rest[r] = a.i;
    }
    V(transpose)(part);
    TD_UNROLL for (int64_t r = 0; r < LANES; r++)
        if (r < lanes) V(store)(to + r * SPLIT, part[r]);
    V(transpose)(rest);
    TD_UNROLL for (int64_t r = 0; r < LANES; r++)
        if (r < lanes) V(store)(to + r * SPLIT + LANES, rest[r]);
}

static void G(turn)(const void *split, const void *fine, const void *coarse, int64_t n1, void *u, int64_t n2, int64_t column,
                    int64_t lanes)
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

static void G(multiply)(void *out, const void *a, const void *b, int64_t n, double sign, double re, double im)
{
    VEC s = V(set1)((REAL)sign), r = V(set1)((REAL)re), i = V(set1)((REAL)im), one = V(set1)(1);
    for (int64_t k = 0; k < n; k += LANES) {
        int64_t lanes = n - k < LANES ? n - k : LANES;
        CV x = G(scaled)(G(load_some)((const REAL *)a + 2 * k, lanes), one, s);
        x = G(mul)(x, G(load_some)((const REAL *)b + 2 * k, lanes));
        G(store_some)((REAL *)out + 2 * k, G(scaled)(x, r, i), lanes);
    }
}
