/* conv_patches.h - panels of patches for the product kernels. Included by conv.c once per element type, as gemm_tile.h.
 *
 * A panel's NR pixels are cut into segments: runs of at most LANES pixels of one output row. Seen from one tap, a segment
 * reads one run of an input row, with a mask for what lies outside. Masks and offsets do not depend on the channel: they
 * are found once per panel. */

typedef struct G(segment) {
    int64_t base;       /* of the first pixel, from x, for a tap of (0, 0, 0) */
    int64_t at[3];      /* the input position of that pixel */
    int32_t place, length;
} G(segment);

/* lanes i with 0 <= first + i * stride < size, among `length` */
TD_INLINE uint32_t G(inside)(int64_t first, int64_t stride, int64_t size, int64_t length)
{
    int64_t low = first < 0 ? (-first + stride - 1) / stride : 0;
    int64_t high = size > first ? (size - first + stride - 1) / stride : 0;
    if (high > length) high = length;
    return high > low ? td_lanes(high, LANES) & ~td_lanes(low, LANES) : 0;
}

/* The same for stride 1 without divisions, and the raw lanes of the two vectors that stride 2 reads. */
TD_INLINE uint64_t G(raw_inside)(int64_t first, int64_t size, int64_t span)
{
    int64_t low = first < 0 ? -first : 0, high = size - first < span ? size - first : span;
    if (high <= low) return 0;
    return ((1ull << high) - 1) & ~((1ull << low) - 1);
}

TD_INLINE uint64_t G(segment_mask)(const td_patches *p, const G(segment) *s, const int64_t *tap)
{
    if ((uint64_t)(s->at[0] + tap[0]) >= (uint64_t)p->in[0] || (uint64_t)(s->at[1] + tap[1]) >= (uint64_t)p->in[1]) return 0;
    int64_t first = s->at[2] + tap[2];
    if (p->stride[2] == 1) return G(raw_inside)(first, p->in[2], s->length);
    if (p->stride[2] == 2) return G(raw_inside)(first, p->in[2], 2 * s->length - 1);
    return G(inside)(first, p->stride[2], p->in[2], s->length);
}

TD_INLINE int64_t G(tap_offset)(const td_patches *p, const int64_t *tap)
{
    return (tap[0] * p->in[1] + tap[1]) * p->in[2] + tap[2];
}

static G(segment) G(segment_at)(const td_patches *p, int64_t image, const int64_t *pixel, int64_t place, int64_t length)
{
    G(segment) s = {.place = (int32_t)place, .length = (int32_t)length};
    for (int d = 0; d < 3; d++) s.at[d] = pixel[d] * p->stride[d];
    s.base = image * p->image + (s.at[0] * p->in[1] + s.at[1]) * p->in[2] + s.at[2];
    return s;
}

/* where a run of pixels begins, and what comes next */
typedef struct G(walk) {
    int64_t image, pixel[3];
} G(walk);

static G(walk) G(walk_from)(const td_patches *p, int64_t column)
{
    G(walk) w;
    for (int d = 2; d >= 0; d--) {
        w.pixel[d] = column % p->out[d];
        column /= p->out[d];
    }
    w.image = column;
    return w;
}

/* at most `most` pixels, to the end of the row; moves on */
TD_INLINE int64_t G(walk_run)(const td_patches *p, G(walk) *w, int64_t most)
{
    int64_t run = p->out[2] - w->pixel[2];
    if (run > most) run = most;
    w->pixel[2] += run;
    if (w->pixel[2] < p->out[2]) return run;
    w->pixel[2] = 0;
    if (++w->pixel[1] < p->out[1]) return run;
    w->pixel[1] = 0;
    if (++w->pixel[0] < p->out[0]) return run;
    w->pixel[0] = 0;
    w->image++;
    return run;
}

static int G(find_segments)(const td_patches *p, int64_t column, int64_t width, G(segment) *s)
{
    G(walk) w = G(walk_from)(p, column);
    int n = 0;
    for (int64_t place = 0; place < width;) {
        G(walk) here = w;
        int64_t most = width - place < LANES ? width - place : LANES, run = G(walk_run)(p, &w, most);
        s[n++] = G(segment_at)(p, here.image, here.pixel, place, run);
        place += run;
    }
    return n;
}

/* one segment of one row of a panel; stride: that along a row, known at compile time where it matters */
TD_INLINE VEC G(read_segment)(const REAL *from, uint64_t mask, int64_t stride)
{
    if (stride == 1) return V(load_part)((uint32_t)mask, from);
    if (stride == 2)
        return V(even)(V(load_part)((uint32_t)(mask & ((1ull << LANES) - 1)), from),
                       V(load_part)((uint32_t)(mask >> LANES), from + LANES));
    return V(gather)((uint32_t)mask, from, stride);
}

typedef struct G(panel_plan) {
    int count;
    G(segment) segments[NR];
    const int64_t *offsets;  /* of the taps */
    const uint64_t *masks;   /* [taps][count] */
} G(panel_plan);

TD_INLINE void G(fill_rows)(const td_patches *p, const G(panel_plan) *plan, REAL *panel, int64_t k0, int64_t k,
                            const int64_t stride, const int whole)
{
    int64_t tap = k0 % p->taps;
    const REAL *x = (const REAL *)p->x + k0 / p->taps * p->channel;
    for (int64_t row = 0; row < k; row++, panel += NR) {
        const REAL *from = x + plan->offsets[tap];
        const uint64_t *mask = plan->masks + tap * plan->count;
        if (whole) {
            TD_UNROLL for (int s = 0; s < TD_NV; s++)
                V(store)(panel + s * LANES, G(read_segment)(from + plan->segments[s].base, mask[s], stride));
        } else {
            for (int s = 0; s < plan->count; s++) {
                const G(segment) *g = &plan->segments[s];
                VEC v = G(read_segment)(from + g->base, mask[s], stride);
                V(store_part)(panel + g->place, td_lanes(g->length, LANES), v);
            }
        }
        if (++tap == p->taps) {
            tap = 0;
            x += p->channel;
        }
    }
}

/* the bytes behind a plan: offsets of the taps, then masks of NR segments at most */
static int64_t G(patches_work)(const td_patches *p) { return p->taps * (int64_t)(sizeof(int64_t) + NR * sizeof(uint64_t)); }

static void G(patches)(const void *context, void *panel, int64_t k0, int64_t k, int64_t column, int64_t width, void *work)
{
    const td_patches *p = context;
    int64_t *offsets = work;
    uint64_t *masks = (uint64_t *)(offsets + p->taps);
    G(panel_plan) plan = {.offsets = offsets, .masks = masks};
    plan.count = G(find_segments)(p, column, width, plan.segments);
    for (int64_t t = 0; t < p->taps; t++) {
        offsets[t] = G(tap_offset)(p, p->tap[t]);
        for (int s = 0; s < plan.count; s++) masks[t * plan.count + s] = G(segment_mask)(p, &plan.segments[s], p->tap[t]);
    }
    if (width < NR) memset(panel, 0, (size_t)(k * NR) * sizeof(REAL));
    bool whole = plan.count == TD_NV && width == NR && plan.segments[0].length == LANES;
    if (p->stride[2] == 1 && whole) G(fill_rows)(p, &plan, panel, k0, k, 1, 1);
    else if (p->stride[2] == 1) G(fill_rows)(p, &plan, panel, k0, k, 1, 0);
    else if (p->stride[2] == 2) G(fill_rows)(p, &plan, panel, k0, k, 2, 0);
    else G(fill_rows)(p, &plan, panel, k0, k, p->stride[2], 0);
}

/* ---- turned: a row is a pixel, a column is (channel, tap); LANES pixels at a time are read and transposed ---- */
typedef struct G(column) {
    int64_t offset, tap[3];
} G(column);

static int64_t G(turned_work)(const td_patches *p)
{
    (void)p;
    return NR * (int64_t)sizeof(G(column));
}

static void G(turn_run)(const td_patches *p, const G(segment) *s, const G(column) *columns, int64_t width, REAL *out)
{
    for (int64_t h = 0; h < NR; h += LANES) {
        VEC r[LANES];
        for (int64_t i = 0; i < LANES; i++) {
            const G(column) *c = &columns[h + i];
            uint64_t mask = h + i < width ? G(segment_mask)(p, s, c->tap) : 0;
            r[i] = mask ? G(read_segment)((const REAL *)p->x + s->base + c->offset, mask, p->stride[2]) : V(zero)();
        }
        V(transpose)(r);
        for (int64_t i = 0; i < s->length; i++) V(store)(out + i * NR + h, r[i]);
    }
}

static void G(turned)(const void *context, void *panel, int64_t k0, int64_t k, int64_t column, int64_t width, void *work)
{
    const td_patches *p = context;
    G(column) *columns = work;
    for (int64_t j = 0; j < width; j++) {
        const int64_t *tap = p->tap[(column + j) % p->taps];
        columns[j].offset = (column + j) / p->taps * p->channel + G(tap_offset)(p, tap);
        memcpy(columns[j].tap, tap, sizeof columns[j].tap);
    }
    G(walk) w = G(walk_from)(p, k0);
    for (int64_t row = 0; row < k;) {
        G(walk) here = w;
        int64_t most = k - row < LANES ? k - row : LANES, run = G(walk_run)(p, &w, most);
        G(segment) s = G(segment_at)(p, here.image, here.pixel, 0, run);
        G(turn_run)(p, &s, columns, width, (REAL *)panel + row * NR);
        row += run;
    }
}
