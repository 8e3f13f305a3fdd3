/* conv_plane.h - depthwise convolutions: one plane at a time, nothing packed. Included per type, as gemm_tile.h. */

/* the range of lanes is that of segment_mask, so a plane is read in the same segments */
TD_INLINE VEC G(plane_sum)(const td_patches *p, const REAL *x, const REAL *w, const G(segment) *s, const int64_t stride, VEC sum)
{
    for (int64_t t = 0; t < p->taps; t++) {
        uint64_t mask = G(segment_mask)(p, s, p->tap[t]);
        if (!mask) continue;
        VEC v = G(read_segment)(x + s->base + G(tap_offset)(p, p->tap[t]), mask, stride);
        sum = V(fma)(V(set1)(w[t]), v, sum);
    }
    return sum;
}

/* Taps of one output row whose input row exists, with offsets: the row's inner pixels need no masks. */
typedef struct G(row_taps) {
    int64_t n, first, last; /* pixels [first, last) read inside the row for every tap */
    int64_t offset[G_ROW_TAPS];
    REAL weight[G_ROW_TAPS];
} G(row_taps);

static void G(find_row_taps)(const td_patches *p, const G(segment) *row, const REAL *w, G(row_taps) *r)
{
    int64_t low = 0, high = p->in[2] - 1;
    r->n = 0;
    for (int64_t t = 0; t < p->taps; t++) {
        const int64_t *tap = p->tap[t];
        if ((uint64_t)(row->at[0] + tap[0]) >= (uint64_t)p->in[0] || (uint64_t)(row->at[1] + tap[1]) >= (uint64_t)p->in[1]) continue;
        if (-tap[2] > low) low = -tap[2];
        if (p->in[2] - 1 - tap[2] < high) high = p->in[2] - 1 - tap[2];
        r->offset[r->n] = row->base + G(tap_offset)(p, tap);
        r->weight[r->n++] = w[t];
    }
    int64_t stride = p->stride[2];
    r->first = low > 0 ? (low + stride - 1) / stride : 0;
    r->last = high >= 0 ? high / stride + 1 : 0;
    if (r->last > p->out[2]) r->last = p->out[2];
}

/* inner pixels of a row, LANES at a time; stride 1 or 2; returns where it stopped */
TD_INLINE int64_t G(inner_row)(const G(row_taps) *r, const REAL *x, int64_t at, const int64_t stride, REAL bias, REAL *y)
{
    int64_t room = stride == 2 ? 1 : 0; /* the second vector of stride 2 reads one element more */
    for (; at + LANES + room <= r->last; at += LANES) {
        VEC sum = V(set1)(bias);
        for (int64_t t = 0; t < r->n; t++) {
            const REAL *from = x + r->offset[t] + at * stride;
            VEC v = stride == 1 ? V(load)(from) : V(even)(V(load)(from), V(load)(from + LANES));
            sum = V(fma)(V(set1)(r->weight[t]), v, sum);
        }
        V(store)(y + at, sum);
    }
    return at;
}

static void G(plane_row)(const td_patches *p, const REAL *x, const REAL *w, REAL bias, REAL *y, int64_t *pixel)
{
    G(row_taps) r;
    G(segment) row = G(segment_at)(p, 0, pixel, 0, 0);
    bool inner = p->taps <= G_ROW_TAPS && p->stride[2] <= 2;
    if (inner) G(find_row_taps)(p, &row, w, &r);
    for (int64_t at = 0; at < p->out[2];) {
        if (inner && at >= r.first && at + LANES < r.last) {
            at = p->stride[2] == 1 ? G(inner_row)(&r, x, at, 1, bias, y) : G(inner_row)(&r, x, at, 2, bias, y);
            continue;
        }
        int64_t left = p->out[2] - at, length = left < LANES ? left : LANES;
        if (inner && at < r.first && r.first - at < length) length = r.first - at; /* up to where the inner pixels begin */
        int64_t here[3] = {pixel[0], pixel[1], at};
        G(segment) s = G(segment_at)(p, 0, here, 0, length);
        VEC sum = G(plane_sum)(p, x, w, &s, p->stride[2], V(set1)(bias));
        V(store_part)(y + at, td_lanes(length, LANES), sum);
        at += length;
    }
}

static void G(plane)(const td_patches *p, const void *x, const void *w, double bias, void *y)
{
    int64_t pixel[3] = {0};
    REAL *out = y;
    for (pixel[0] = 0; pixel[0] < p->out[0]; pixel[0]++)
        for (pixel[1] = 0; pixel[1] < p->out[1]; pixel[1]++, out += p->out[2]) G(plane_row)(p, x, w, (REAL)bias, out, pixel);
}

/* ---- the gradient of the weights ---- */
#define TAPS_AT_ONCE 9

static void G(weight_taps)(const td_patches *p, const REAL *x, const REAL *g, int64_t first, int64_t n, double *dw)
{
    VEC sums[TAPS_AT_ONCE];
    for (int64_t t = 0; t < n; t++) sums[t] = V(zero)();
    int64_t pixel[3] = {0};
    for (pixel[0] = 0; pixel[0] < p->out[0]; pixel[0]++)
        for (pixel[1] = 0; pixel[1] < p->out[1]; pixel[1]++)
            for (pixel[2] = 0; pixel[2] < p->out[2]; pixel[2] += LANES) {
                int64_t left = p->out[2] - pixel[2], length = left < LANES ? left : LANES;
                G(segment) s = G(segment_at)(p, 0, pixel, 0, length);
                VEC grad = V(load_part)(td_lanes(length, LANES), g);
                g += length;
                for (int64_t t = 0; t < n; t++) {
                    const int64_t *tap = p->tap[first + t];
                    uint64_t mask = G(segment_mask)(p, &s, tap);
                    if (!mask) continue;
                    sums[t] = V(fma)(grad, G(read_segment)(x + s.base + G(tap_offset)(p, tap), mask, p->stride[2]), sums[t]);
                }
            }
    for (int64_t t = 0; t < n; t++) dw[first + t] += V(sum)(sums[t]);
}

static void G(plane_weight)(const td_patches *p, const void *x, const void *g, double *dw)
{
    for (int64_t t = 0; t < p->taps; t += TAPS_AT_ONCE)
        G(weight_taps)(p, x, g, t, p->taps - t < TAPS_AT_ONCE ? p->taps - t : TAPS_AT_ONCE, dw);
}
#undef TAPS_AT_ONCE
