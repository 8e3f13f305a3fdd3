/* plane.h - depthwise convolutions: a plane and one set of weights. Included per type, as
 * gemm_tile.h.
 *
 * A strip of the plane is copied with its zeros around it, and for a stride S along the rows as S
 * rows of every S-th element. Then every tap of every pixel is a plain load at a fixed offset. */

#define STRIP_BYTES 49152 /* stays in the caches */
#define SPARE_CELLS 65536 /* of padding and gaps, for any plane */

typedef struct G(strip) {
    int64_t depth, rows, width; /* the copy: [depth][rows][stride along the row][width] */
    int64_t most;               /* output rows that it serves */
} G(strip);

static G(strip) G(strip_of)(const td_patches *p)
{
    int64_t stride = p->stride[2], high = p->high[1] - p->low[1] + 1;
    G(strip) s = {.depth = p->high[0] - p->low[0] + 1};
    s.width = (p->out[2] + LANES - 1) / LANES * LANES + (p->high[2] - p->low[2]) / stride + 1;
    /* bytes: more than an int64 holds, too */
    double row = (double)s.depth * (double)stride * (double)s.width * sizeof(REAL);
    int64_t fit = (int64_t)(STRIP_BYTES / row);
    s.most = fit > high ? (fit - high) / p->stride[1] + 1 : 1;
    if (s.most > p->out[1]) s.most = p->out[1];
    s.rows = (s.most - 1) * p->stride[1] + high;
    return s;
}

/* Bytes: the copy, then an offset per tap. -1 if dilation and padding make the copy much larger
 * than the plane: they are arguments, and no memory need stand behind them. */
static int64_t G(plane_work)(const td_patches *p)
{
    G(strip) s = G(strip_of)(p);
    double cells = (double)s.depth * (double)s.rows * (double)p->stride[2] * (double)s.width;
    double plane = (double)p->in[0] * (double)p->in[1] * (double)p->in[2],
           map = (double)p->out[0] * (double)p->out[1] * (double)p->out[2];
    if (cells > SPARE_CELLS + 4 * (plane + map)) return -1;
    return s.depth * s.rows * p->stride[2] * s.width * (int64_t)sizeof(REAL) +
           p->taps * (int64_t)sizeof(int64_t);
}

/* to[i] = from[i * stride] */
static void G(copy_every)(REAL *to, const REAL *from, int64_t low, int64_t high, int64_t stride)
{
    int64_t i = low;
    if (stride == 2)
        for (; i + LANES < high;
             i += LANES) /* one short, because the second vector reads one element too many */
            V(store)(to + i, V(even)(V(load)(from + 2 * i), V(load)(from + 2 * i + LANES)));
    for (; i < high; i++) to[i] = from[i * stride];
}

/* One input row from element `first` on, outside of which zeros stand: every stride-th element of
 * each phase. */
static void G(copy_row)(const REAL *row, int64_t size, int64_t first, int64_t stride, int64_t width,
                        REAL *to)
{
    for (int64_t phase = 0; phase < stride; phase++, to += width) {
        int64_t start = first + phase, low = start < 0 ? (-start + stride - 1) / stride : 0;
        int64_t high = size > start ? (size - start + stride - 1) / stride : 0;
        if (low > width) low = width;
        if (high > width) high = width;
        if (high < low) high = low;
        memset(to, 0, (size_t)low * sizeof(REAL));
        if (stride == 1) memcpy(to + low, row + start + low, (size_t)(high - low) * sizeof(REAL));
        else G(copy_every)(to, row + start, low, high, stride);
        memset(to + high, 0, (size_t)(width - high) * sizeof(REAL));
    }
}

/* what output rows [row, row + rows) at output depth z look at */
static void G(copy_strip)(const td_patches *p, const G(strip) * s, const REAL *x, int64_t z,
                          int64_t row, int64_t rows, REAL *to)
{
    int64_t span = p->stride[2] * s->width,
            used = (rows - 1) * p->stride[1] + p->high[1] - p->low[1] + 1;
    for (int64_t d = 0; d < s->depth; d++)
        for (int64_t r = 0; r < used; r++) {
            int64_t at_z = z * p->stride[0] + p->low[0] + d,
                    at_y = row * p->stride[1] + p->low[1] + r;
            REAL *line = to + (d * s->rows + r) * span;
            if ((uint64_t)at_z < (uint64_t)p->in[0] && (uint64_t)at_y < (uint64_t)p->in[1])
                G(copy_row)(x + (at_z * p->in[1] + at_y) * p->in[2], p->in[2], p->low[2],
                            p->stride[2], s->width, line);
            else memset(line, 0, (size_t)span * sizeof(REAL));
        }
}

static void G(strip_offsets)(const td_patches *p, const G(strip) * s, int64_t *offsets)
{
    for (int64_t t = 0; t < p->taps; t++) {
        int64_t z = p->tap[t][0] - p->low[0], y = p->tap[t][1] - p->low[1],
                x = p->tap[t][2] - p->low[2];
        offsets[t] =
            ((z * s->rows + y) * p->stride[2] + x % p->stride[2]) * s->width + x / p->stride[2];
    }
}

/* n vectors of an output row */
TD_INLINE void G(plane_block)(const int n, const REAL *from, const int64_t *offsets, const REAL *w,
                              int64_t taps, REAL bias, uint32_t last, REAL *y)
{
    VEC sum[4];
    TD_UNROLL for (int i = 0; i < n; i++) sum[i] = V(set1)(bias);
    for (int64_t t = 0; t < taps; t++) {
        VEC weight = V(set1)(w[t]);
        TD_UNROLL for (int i = 0; i < n; i++) sum[i] =
            V(fma)(weight, V(load)(from + offsets[t] + i * LANES), sum[i]);
    }
    TD_UNROLL for (int i = 0; i < n - 1; i++) V(store)(y + i * LANES, sum[i]);
    V(store_part)(y + (n - 1) * LANES, last, sum[n - 1]);
}

static void G(plane_row)(const REAL *from, const int64_t *offsets, const REAL *w, int64_t taps,
                         REAL bias, int64_t width, REAL *y)
{
    for (int64_t j = 0; j < width; j += 4 * LANES) {
        int64_t vectors = (width - j + LANES - 1) / LANES;
        uint32_t last = td_lanes(width - j - (vectors > 4 ? 3 : vectors - 1) * LANES, LANES);
        if (vectors >= 4) G(plane_block)(4, from + j, offsets, w, taps, bias, last, y + j);
        else if (vectors == 3) G(plane_block)(3, from + j, offsets, w, taps, bias, last, y + j);
        else if (vectors == 2) G(plane_block)(2, from + j, offsets, w, taps, bias, last, y + j);
        else G(plane_block)(1, from + j, offsets, w, taps, bias, last, y + j);
    }
}

static void G(plane)(const td_patches *p, const void *x, const void *w, double bias, void *y,
                     void *work)
{
    G(strip) s = G(strip_of)(p);
    int64_t span = p->stride[1] * p->stride[2] * s.width, *offsets = work;
    REAL *copy = (REAL *)(offsets + p->taps), *out = y;
    G(strip_offsets)(p, &s, offsets);
    for (int64_t z = 0; z < p->out[0]; z++)
        for (int64_t row = 0; row < p->out[1]; row += s.most) {
            int64_t rows = p->out[1] - row < s.most ? p->out[1] - row : s.most;
            G(copy_strip)(p, &s, x, z, row, rows, copy);
            for (int64_t r = 0; r < rows; r++, out += p->out[2])
                G(plane_row)(copy + r * span, offsets, w, p->taps, (REAL)bias, p->out[2], out);
        }
}

/* ---- the gradient of the weights: n taps over the rows of one strip ---- */

/* Some lanes of n products. Beyond the row of the gradient the copy has numbers of its own, which
 * may be infinite, and 0 times them is not 0. */
TD_INLINE void G(add_part)(const int n, const REAL *copy, const int64_t *offsets, const REAL *g,
                           uint32_t lanes, VEC *sums)
{
    VEC grad = V(load_part)(lanes, g);
    TD_UNROLL for (int t = 0; t < n; t++) sums[t] =
        V(fma)(grad, V(load_part)(lanes, copy + offsets[t]), sums[t]);
}

TD_INLINE void G(tap_sums)(const int n, const REAL *copy, int64_t span, const int64_t *offsets,
                           const REAL *g, int64_t rows, int64_t width, double *dw)
{
    VEC sums[9];
    TD_UNROLL for (int t = 0; t < n; t++) sums[t] = V(zero)();
    for (int64_t r = 0; r < rows; r++, copy += span, g += width) {
        int64_t j = 0;
        for (; j + LANES <= width; j += LANES) {
            VEC grad = V(load)(g + j);
            TD_UNROLL for (int t = 0; t < n; t++) sums[t] =
                V(fma)(grad, V(load)(copy + offsets[t] + j), sums[t]);
        }
        if (j < width) G(add_part)(n, copy + j, offsets, g + j, td_lanes(width - j, LANES), sums);
    }
    TD_UNROLL for (int t = 0; t < n; t++) dw[t] += V(sum)(sums[t]);
}

static void G(plane_weight)(const td_patches *p, const void *x, const void *g, double *dw,
                            void *work)
{
    G(strip) s = G(strip_of)(p);
    int64_t span = p->stride[1] * p->stride[2] * s.width, *offsets = work;
    REAL *copy = (REAL *)(offsets + p->taps);
    G(strip_offsets)(p, &s, offsets);
    for (int64_t z = 0; z < p->out[0]; z++)
        for (int64_t row = 0; row < p->out[1]; row += s.most) {
            int64_t rows = p->out[1] - row < s.most ? p->out[1] - row : s.most, t = 0;
            const REAL *grad = (const REAL *)g + (z * p->out[1] + row) * p->out[2];
            G(copy_strip)(p, &s, x, z, row, rows, copy);
            for (; t + 9 <= p->taps; t += 9)
                G(tap_sums)(9, copy, span, offsets + t, grad, rows, p->out[2], dw + t);
            for (; t + 3 <= p->taps; t += 3)
                G(tap_sums)(3, copy, span, offsets + t, grad, rows, p->out[2], dw + t);
            for (; t < p->taps; t++)
                G(tap_sums)(1, copy, span, offsets + t, grad, rows, p->out[2], dw + t);
        }
}
#undef STRIP_BYTES
#undef SPARE_CELLS
