/* patches.h - panels of patches for the product kernels. Included by conv.c once per element type,
 * as gemm_tile.h.
 *
 * A panel's NR pixels are cut into pieces: runs of pixels of one output row within one vector. Seen
 * from one tap, a piece reads a run of one input row, with a mask for what lies outside; the pieces
 * of a vector are read onto each other. Masks and offsets do not depend on the channel, so they are
 * found once per panel, and the inner loop runs over channels. */

typedef struct G(segment) {
    int64_t base;  /* of the first pixel, from x, for a tap of (0, 0, 0) */
    int64_t at[3]; /* the input position of that pixel */
    int32_t lane, length;
    int inside; /* every tap of every pixel reads inside of x */
} G(segment);

/* lanes i with 0 <= first + i * stride < size, among `length` */
TD_INLINE uint32_t G(inside)(int64_t first, int64_t stride, int64_t size, int64_t length)
{
    int64_t low = first < 0 ? (-first + stride - 1) / stride : 0;
    int64_t high = size > first ? (size - first + stride - 1) / stride : 0;
    if (high > length) high = length;
    return high > low ? td_lanes(high, LANES) & ~td_lanes(low, LANES) : 0;
}

/* The same for stride 1 without divisions; for stride 2 the elements in memory, of which every
 * other is used. */
TD_INLINE uint64_t G(raw_inside)(int64_t first, int64_t size, int64_t span)
{
    int64_t low = first < 0 ? -first : 0, high = size - first < span ? size - first : span;
    if (high <= low) return 0;
    return ((1ull << high) - 1) & ~((1ull << low) - 1);
}

TD_INLINE uint64_t G(segment_mask)(const td_patches *p, const G(segment) * s, const int64_t *tap)
{
    if ((uint64_t)(s->at[0] + tap[0]) >= (uint64_t)p->in[0] ||
        (uint64_t)(s->at[1] + tap[1]) >= (uint64_t)p->in[1])
        return 0;
    int64_t first = s->at[2] + tap[2];
    if (p->stride[2] == 1) return G(raw_inside)(first, p->in[2], s->length);
    if (p->stride[2] == 2) return G(raw_inside)(first, p->in[2], 2 * s->length - 1);
    return G(inside)(first, p->stride[2], p->in[2], s->length);
}

/* from x to the element at `at`. Of places outside of x, which masks hide, it may wrap around. */
TD_INLINE int64_t G(offset_of)(const td_patches *p, const int64_t *at)
{
    uint64_t row = (uint64_t)at[0] * (uint64_t)p->in[1] + (uint64_t)at[1];
    return (int64_t)(row * (uint64_t)p->in[2] + (uint64_t)at[2]);
}

static G(segment)
    G(segment_at)(const td_patches *p, int64_t image, const int64_t *pixel, int64_t length)
{
    G(segment) s = {.length = (int32_t)length};
    for (int d = 0; d < 3; d++) s.at[d] = pixel[d] * p->stride[d];
    s.base = image * p->image + G(offset_of)(p, s.at);
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
TD_INLINE int64_t G(walk_run)(const td_patches *p, G(walk) * w, int64_t most)
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

/* The LANES elements stride apart from `from` that the mask admits, onto those of earlier pieces.
 * For stride 2 the mask is that of the elements in memory, two vectors of them. */
TD_INLINE VEC G(read_onto)(VEC rest, const REAL *from, uint32_t mask, const int64_t stride,
                           int64_t any_stride)
{
    if (stride == 1) return V(load_onto)(rest, mask, from);
    if (stride == 2)
        return V(or)(rest, V(even)(V(load_part)(mask & td_lanes(LANES, LANES), from),
                                   V(load_part)(mask >> (LANES - 1) >> 1, from + LANES)));
    return V(or)(rest, V(gather)(mask, from, any_stride));
}

typedef struct G(panel_plan) {
    int count, most;      /* pieces, and the most in one vector */
    int first[TD_NV + 1]; /* those of vector v are first[v] .. first[v + 1] */
    G(segment) pieces[NR];
} G(panel_plan);

static int G(is_inside)(const td_patches *p, const G(segment) * s)
{
    for (int d = 0; d < 3; d++) {
        int64_t last = s->at[d] + (d == 2 ? (s->length - 1) * p->stride[2] : 0);
        if (s->at[d] + p->low[d] < 0 || last + p->high[d] >= p->in[d]) return 0;
    }
    return 1;
}

static void G(find_pieces)(const td_patches *p, int64_t column, int64_t width, G(panel_plan) * plan)
{
    G(walk) w = G(walk_from)(p, column);
    plan->count = plan->most = 0;
    for (int v = 0; v < TD_NV; v++) {
        plan->first[v] = plan->count;
        int64_t end = width - v * LANES < LANES ? width - v * LANES : LANES;
        for (int64_t lane = 0; lane < end;) {
            G(walk) here = w;
            int64_t run = G(walk_run)(p, &w, end - lane);
            G(segment) *s = &plan->pieces[plan->count++];
            *s = G(segment_at)(p, here.image, here.pixel, run);
            s->lane = (int32_t)lane;
            s->inside = G(is_inside)(p, s);
            lane += run;
        }
        if (plan->count - plan->first[v] > plan->most) plan->most = plan->count - plan->first[v];
    }
    plan->first[TD_NV] = plan->count;
}

/* What one tap reads: for each piece the place of lane 0 (were it there) and a mask. */
typedef struct G(tap_plan) {
    int64_t place[NR];
    uint32_t mask[NR];
} G(tap_plan);

/* The pieces of each vector are spread to `slots` entries, empty ones with an empty mask. */
static void G(plan_tap)(const td_patches *p, const G(panel_plan) * plan, const int64_t *tap,
                        int slots, G(tap_plan) * t)
{
    int64_t offset = G(offset_of)(p, tap), stride = p->stride[2];
    for (int v = 0; v < TD_NV; v++)
        for (int s = 0; s < slots; s++) {
            int i = plan->first[v] + s, to = v * slots + s;
            t->mask[to] = 0;
            t->place[to] = 0;
            if (i >= plan->first[v + 1]) continue;
            const G(segment) *piece = &plan->pieces[i];
            int64_t span = stride == 2 ? 2 * piece->length - 1 : piece->length;
            uint64_t mask = piece->inside ? (1ull << span) - 1 : G(segment_mask)(p, piece, tap);
            t->mask[to] = (uint32_t)(mask << (stride == 2 ? 2 * piece->lane : piece->lane));
            t->place[to] = piece->base + offset - piece->lane * stride;
        }
}

/* Rows of one tap: n channels. At most two pieces a vector; places and masks are copied, because
 * stores into the panel could change them for all the compiler knows. */
TD_INLINE void G(fill_tap)(const REAL *x, int64_t channel, const G(tap_plan) * t, const int slots,
                           const int64_t stride, REAL *out, int64_t step, int64_t n)
{
    const REAL *from[2 * TD_NV] = {NULL};
    uint32_t mask[2 * TD_NV] = {0};
    TD_UNROLL for (int i = 0; i < TD_NV * slots; i++)
    {
        from[i] = x + t->place[i];
        mask[i] = t->mask[i];
    }
    for (int64_t c = 0, at = 0; c < n; c++, at += channel, out += step)
        TD_UNROLL for (int v = 0; v < TD_NV; v++)
        {
            VEC r = V(zero)();
            TD_UNROLL for (int s = 0; s < slots; s++) r =
                G(read_onto)(r, from[v * slots + s] + at, mask[v * slots + s], stride, stride);
            V(store)(out + v * LANES, r);
        }
}

/* the same for any number of pieces and any stride */
TD_INLINE void G(fill_tap_slowly)(const REAL *x, int64_t channel, const G(tap_plan) * t, int slots,
                                  const int64_t stride, int64_t any_stride, REAL *out, int64_t step,
                                  int64_t n)
{
    for (int64_t c = 0; c < n; c++, x += channel, out += step)
        for (int v = 0; v < TD_NV; v++) {
            VEC r = V(zero)();
            for (int i = v * slots; i < (v + 1) * slots; i++)
                r = G(read_onto)(r, x + t->place[i], t->mask[i], stride, any_stride);
            V(store)(out + v * LANES, r);
        }
}

static void G(fill_any)(const REAL *x, int64_t channel, const G(tap_plan) * t, int slots,
                        int64_t stride, REAL *out, int64_t step, int64_t n)
{
    if (stride == 1 && slots == 1) G(fill_tap)(x, channel, t, 1, 1, out, step, n);
    else if (stride == 1 && slots == 2) G(fill_tap)(x, channel, t, 2, 1, out, step, n);
    else if (stride == 1) G(fill_tap_slowly)(x, channel, t, slots, 1, 1, out, step, n);
    else if (stride == 2 && slots == 1) G(fill_tap)(x, channel, t, 1, 2, out, step, n);
    else if (stride == 2 && slots == 2) G(fill_tap)(x, channel, t, 2, 2, out, step, n);
    else if (stride == 2) G(fill_tap_slowly)(x, channel, t, slots, 2, 2, out, step, n);
    else G(fill_tap_slowly)(x, channel, t, slots, 0, stride, out, step, n);
}

/* Pixels of which every tap lies inside of x: masks depend on the piece alone, and a tap is an
 * offset. */
TD_INLINE void G(fill_inside)(const td_patches *p, const G(panel_plan) * plan, const int slots,
                              const int64_t stride, const int64_t *offset, REAL *out, int64_t k0,
                              int64_t k)
{
    const REAL *from[2 * TD_NV];
    uint32_t mask[2 * TD_NV];
    for (int v = 0; v < TD_NV; v++)
        for (int s = 0; s < slots; s++) {
            int i = plan->first[v] + s, here = i < plan->first[v + 1];
            const G(segment) *piece = &plan->pieces[here ? i : 0];
            uint64_t span = (1ull << (stride * (piece->length - 1) + 1)) - 1;
            from[v * slots + s] = (const REAL *)p->x + piece->base - piece->lane * stride;
            mask[v * slots + s] = here ? (uint32_t)(span << (stride * piece->lane)) : 0;
        }
    int64_t c = k0 / p->taps * p->channel, t = k0 % p->taps;
    for (int64_t row = 0; row < k; row++, out += NR) {
        TD_UNROLL for (int v = 0; v < TD_NV; v++)
        {
            VEC r = V(zero)();
            TD_UNROLL for (int s = 0; s < slots; s++) r = G(read_onto)(
                r, from[v * slots + s] + c + offset[t], mask[v * slots + s], stride, stride);
            V(store)(out + v * LANES, r);
        }
        if (++t < p->taps) continue;
        t = 0;
        c += p->channel;
    }
}

/* Is it such a panel? Then fill it. */
static int G(filled_inside)(const td_patches *p, const G(panel_plan) * plan, int64_t *offset,
                            REAL *out, int64_t k0, int64_t k)
{
    if (plan->most > 2 || p->stride[2] > 2) return 0;
    for (int i = 0; i < plan->count; i++)
        if (!plan->pieces[i].inside) return 0;
    for (int64_t t = 0; t < p->taps; t++) offset[t] = G(offset_of)(p, p->tap[t]);
    if (p->stride[2] == 1 && plan->most == 1) G(fill_inside)(p, plan, 1, 1, offset, out, k0, k);
    else if (p->stride[2] == 1) G(fill_inside)(p, plan, 2, 1, offset, out, k0, k);
    else if (plan->most == 1) G(fill_inside)(p, plan, 1, 2, offset, out, k0, k);
    else G(fill_inside)(p, plan, 2, 2, offset, out, k0, k);
    return 1;
}

static int64_t G(patches_work)(const td_patches *p)
{
    return p->taps * (int64_t)sizeof(G(tap_plan));
}

#define CHANNELS_AT_ONCE 16 /* their rows stay in the first cache from tap to tap */

static void G(patches)(const void *context, void *panel, int64_t k0, int64_t k, int64_t column,
                       int64_t width, void *work)
{
    const td_patches *p = context;
    G(tap_plan) *taps = work;
    G(panel_plan) plan;
    G(find_pieces)(p, column, width, &plan);
    if (G(filled_inside)(p, &plan, work, panel, k0, k)) return;
    for (int64_t t = 0; t < p->taps; t++) G(plan_tap)(p, &plan, p->tap[t], plan.most, &taps[t]);
    int64_t first = k0 / p->taps, last = (k0 + k - 1) / p->taps;
    for (int64_t c = first; c <= last; c += CHANNELS_AT_ONCE) {
        int64_t stop = c + CHANNELS_AT_ONCE <= last + 1 ? c + CHANNELS_AT_ONCE : last + 1;
        for (int64_t t = 0; t < p->taps; t++) {
            int64_t from = c * p->taps + t < k0 ? c + 1 : c,
                    to = (stop - 1) * p->taps + t >= k0 + k ? stop - 1 : stop;
            if (from >= to) continue;
            G(fill_any)((const REAL *)p->x + from * p->channel, p->channel, &taps[t], plan.most,
                        p->stride[2], (REAL *)panel + (from * p->taps + t - k0) * NR, p->taps * NR,
                        to - from);
        }
    }
}
#undef CHANNELS_AT_ONCE

/* ---- turned: a row is a pixel, a column is (channel, tap); LANES pixels at a time are read and
 * transposed ---- */
typedef struct G(column) {
    int64_t offset, z, y; /* of its tap, in x and in the first two dimensions */
    int slot;             /* of its tap's last coordinate among the different ones */
} G(column);

typedef struct G(turned_plan) {
    G(column) columns[NR];
    int64_t last[NR]; /* the different last coordinates of the columns' taps */
    int slots;
} G(turned_plan);

static int64_t G(turned_work)(const td_patches *p)
{
    (void)p;
    return (int64_t)sizeof(G(turned_plan));
}

static void G(plan_columns)(const td_patches *p, int64_t column, int64_t width,
                            G(turned_plan) * plan)
{
    plan->slots = 0;
    for (int64_t j = 0; j < width; j++) {
        const int64_t *tap = p->tap[(column + j) % p->taps];
        int slot = 0;
        while (slot < plan->slots && plan->last[slot] != tap[2]) slot++;
        if (slot == plan->slots) plan->last[plan->slots++] = tap[2];
        plan->columns[j] = (G(column)){(column + j) / p->taps * p->channel + G(offset_of)(p, tap),
                                       tap[0], tap[1], slot};
    }
}

TD_INLINE void G(turn_run)(const td_patches *p, const G(segment) * s, const G(turned_plan) * plan,
                           int64_t width, const int64_t stride, REAL *out)
{
    uint64_t masks[NR];
    const REAL *x = (const REAL *)p->x + s->base;
    for (int i = 0; i < plan->slots; i++) {
        /* a row that exists: only the columns count */
        const int64_t tap[3] = {-s->at[0], -s->at[1], plan->last[i]};
        masks[i] = G(segment_mask)(p, s, tap);
    }
    for (int64_t h = 0; h < NR; h += LANES) {
        VEC r[LANES];
        for (int64_t i = 0; i < LANES; i++) {
            const G(column) *c = &plan->columns[h + i];
            r[i] = V(zero)();
            if (h + i >= width || (uint64_t)(s->at[0] + c->z) >= (uint64_t)p->in[0]) continue;
            if ((uint64_t)(s->at[1] + c->y) >= (uint64_t)p->in[1]) continue;
            r[i] =
                G(read_onto)(r[i], x + c->offset, (uint32_t)masks[c->slot], stride, p->stride[2]);
        }
        V(transpose)(r);
        for (int64_t i = 0; i < s->length; i++) V(store)(out + i * NR + h, r[i]);
    }
}

static void G(turned)(const void *context, void *panel, int64_t k0, int64_t k, int64_t column,
                      int64_t width, void *work)
{
    const td_patches *p = context;
    G(turned_plan) *plan = work;
    G(plan_columns)(p, column, width, plan);
    G(walk) w = G(walk_from)(p, k0);
    for (int64_t row = 0; row < k;) {
        G(walk) here = w;
        int64_t most = k - row < LANES ? k - row : LANES, run = G(walk_run)(p, &w, most);
        G(segment) s = G(segment_at)(p, here.image, here.pixel, run);
        REAL *out = (REAL *)panel + row * NR;
        if (p->stride[2] == 1) G(turn_run)(p, &s, plan, width, 1, out);
        else if (p->stride[2] == 2) G(turn_run)(p, &s, plan, width, 2, out);
        else G(turn_run)(p, &s, plan, width, 0, out);
        row += run;
    }
}
