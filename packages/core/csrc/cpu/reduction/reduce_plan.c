/* reduce_plan.c - how a reduction is cut into blocks.
 *
 * Dimensions are split into kept and reduced ones; neighbours in memory are merged. The innermost
 * kept dimension (m outputs a strip) and the innermost reduced one (n elements) make the blocks
 * that kernels see; the rest are loops. Where there are few outputs the reduced space is cut into
 * chunks as well. All of these cuts depend on the shape only. */
#include "cpu/reduction/reduce_plan.h"
#include <string.h>
#include "runtime/cpu.h"
#include "runtime/device.h"
#include "runtime/wraps.h"

#define ROW_STRIP 256        /* outputs of a block whose outputs are no neighbours, at most */
#define BLOCK_ELEMENTS 32768 /* about this many elements to a block of rows */
#define CHUNK_ELEMENTS 65536 /* least elements of a chunk */
#define ENOUGH_TASKS 16      /* with so many outputs to share out, the reduced space stays whole */
#define MOST_TASKS 64

typedef td_axis axis;
typedef td_reduce_plan plan;

static const td_reducers *reducers_of(td_reduction kind)
{
    if (kind <= TD_COUNT) return TD_PICK(td_sum_reducers);
    return kind == TD_MOMENTS ? TD_PICK(td_moment_reducers) : TD_PICK(td_extremum_reducers);
}

const td_reducer *td_find_reducer(td_reduction kind, td_dtype dtype)
{
    static const td_reducer none;
    return dtype <= TD_C128 ? &(*reducers_of(kind))[kind][dtype] : &none;
}

/* ---- planning ---- */

static void push(axis *axes, int *n, axis next, bool merge_out)
{
    axis *last = *n ? &axes[*n - 1] : NULL; /* outer neighbour */
    if (last && last->x == next.x * next.size && (!merge_out || last->out == next.out * next.size))
        *last = (axis){last->size * next.size, next.x, next.out};
    else axes[(*n)++] = next;
}

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

/* Outer first: merging wants neighbours side by side. */
static void sort_by_stride(axis *axes, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && magnitude(axes[j].x) > magnitude(axes[j - 1].x); j--) {
            axis t = axes[j];
            axes[j] = axes[j - 1];
            axes[j - 1] = t;
        }
}

static void split_axes(plan *p, const td_tensor *x, uint64_t dims, bool in_order)
{
    int64_t itemsize = td_itemsize((td_dtype)x->dtype), out = 1, strides[TD_MAX_DIMS];
    axis reduced[TD_MAX_DIMS];
    int n = 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        strides[d] = out;
        if (!(dims >> d & 1)) out *= x->sizes[d];
    }
    p->kept = p->reduced = 0;
    for (int d = 0; d < x->ndim; d++) {
        axis a = {x->sizes[d], td_wrapping_mul(x->strides[d], itemsize), strides[d]};
        if (a.size == 1) continue;
        if (dims >> d & 1) reduced[n++] = a;
        else push(p->keep, &p->kept, a, true);
    }
    if (!in_order) sort_by_stride(reduced, n);
    for (int i = 0; i < n; i++) push(p->reduce, &p->reduced, reduced[i], false);
}

static axis take(axis *axes, int *n, int which)
{
    axis taken = axes[which];
    memmove(axes + which, axes + which + 1, (size_t)(*n - which - 1) * sizeof(axis));
    --*n;
    return taken;
}

/* The inner dimensions. False: neither is dense in memory though there is work enough to make it
 * so. */
static bool choose_inner(plan *p, int64_t itemsize, int64_t numel)
{
    p->n = p->reduced ? take(p->reduce, &p->reduced, p->reduced - 1) : (axis){1, itemsize, 0};
    int inner = p->kept - 1;
    if (p->n.x != itemsize)
        for (int i = 0; i < p->kept; i++)
            if (p->keep[i].x == itemsize && p->keep[i].size >= 4) inner = i;
    p->m = p->kept ? take(p->keep, &p->kept, inner) : (axis){1, 0, 0};
    return p->n.x == itemsize || p->m.x == itemsize || numel < 4096;
}

static int64_t product(const axis *axes, int n)
{
    int64_t p = 1;
    for (int i = 0; i < n; i++) p *= axes[i].size;
    return p;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static void cut(plan *p, int64_t itemsize)
{
    p->outer_kept = product(p->keep, p->kept);
    p->outer_reduced = product(p->reduce, p->reduced);
    int64_t space = p->outer_reduced * p->n.size;
    bool columns = p->n.x != itemsize && p->m.x == itemsize;
    p->strip = columns ? TD_COLUMN_STRIP : clamp(BLOCK_ELEMENTS / space, 1, ROW_STRIP);
    if (p->strip > p->m.size) p->strip = p->m.size;
    p->strips = td_ceil_div(p->m.size, p->strip);
    int64_t tasks = p->outer_kept * p->strips, each = p->strip * space;
    p->chunks = tasks >= ENOUGH_TASKS ? 1 : clamp(each / CHUNK_ELEMENTS, 1, MOST_TASKS / tasks);
    p->pieces = td_ceil_div(p->chunks, p->outer_reduced); /* of the inner reduced dimension */
    if (p->pieces > p->n.size) p->pieces = p->n.size;
    p->piece = td_ceil_div(p->n.size, p->pieces);
    if (p->piece > 1 << 30) p->piece = 1 << 30; /* columns count rows of a block in 32 bits */
    p->pieces = td_ceil_div(p->n.size, p->piece);
    if (p->chunks > p->pieces * p->outer_reduced) p->chunks = p->pieces * p->outer_reduced;
}

static td_status run_contiguous(td_reduction kind, const td_reduce_context *context,
                                const td_tensor *x, uint64_t dims, td_tensor *const out[2])
{
    td_tensor *dense;
    TD_TRY(td_tensor_empty(&dense, (td_dtype)x->dtype, x->device, x->ndim, x->sizes));
    td_status status = td_copy(dense, x);
    if (status == TD_OK) status = td_reduce_run(kind, context, dense, dims, out);
    td_tensor_free(dense);
    return status;
}

td_status td_reduce_run(td_reduction kind, const td_reduce_context *context, const td_tensor *x,
                        uint64_t dims, td_tensor *const out[2])
{
    const td_reducer *reducer = td_find_reducer(kind, (td_dtype)x->dtype);
    const td_device_table *device = td_table_of(x->device);
    td_reduce_context turned = *context;
    turned.turn = reducer->turn;
    plan p = {.kind = kind,
              .dtype = (td_dtype)x->dtype,
              .reducer = reducer,
              .context = &turned,
              .x = td_data(x),
              .numel = x->numel};
    int64_t itemsize = td_itemsize((td_dtype)x->dtype);
    if (x->numel == 0) return TD_OK;
    if (!device->reduce)
        return td_fail(TD_NOT_IMPLEMENTED, "reductions are not implemented for device '%s'",
                       device->name);
    for (int k = 0; k < 2; k++) {
        p.out[k] = out[k] ? td_data(out[k]) : NULL;
        p.out_size[k] = out[k] ? td_itemsize((td_dtype)out[k]->dtype) : 0;
    }
    bool in_order = reducer->finish[1] && reducer->dtype[1] == TD_I64; /* the result is an index */
    split_axes(&p, x, dims, in_order);
    if (((in_order && p.reduced > 1) || !choose_inner(&p, itemsize, x->numel)) &&
        !td_is_contiguous(x))
        return run_contiguous(kind, context, x, dims, out);
    cut(&p, itemsize);
    return device->reduce(&p, x->device);
}
