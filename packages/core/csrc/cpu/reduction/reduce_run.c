/* reduce_run.c - how a reduction is cut into blocks and put together again.
 *
 * Dimensions are split into kept and reduced ones; neighbours in memory are merged. The innermost kept
 * dimension (m outputs a strip) and the innermost reduced one (n elements) make the blocks that kernels see;
 * the rest are loops. Where there are few outputs the reduced space is cut into chunks as well. All of these
 * cuts depend on the shape only. */
#include <string.h>
#include "ops/reduction/reduce.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define COLUMN_STRIP 1024    /* outputs of a block whose outputs are neighbours in memory */
#define ROW_STRIP 256        /* outputs of any other block, at most */
#define BLOCK_ELEMENTS 32768 /* about this many elements to a block of rows */
#define CHUNK_ELEMENTS 65536 /* least elements of a chunk */
#define ENOUGH_TASKS 16      /* with so many outputs to share out, the reduced space stays whole */
#define MOST_TASKS 64
#define ELEMENT_NS 0.4

typedef struct axis {
    int64_t size, x, out; /* strides: bytes of x, elements of the results */
} axis;

typedef struct plan {
    const td_reducer *reducer;
    const td_reduce_context *context;
    const char *x;
    char *out[2];
    int64_t out_size[2]; /* bytes of an element */
    int kept, reduced;   /* outer dimensions only */
    axis keep[TD_MAX_DIMS], reduce[TD_MAX_DIMS];
    axis m, n; /* the inner ones */
    int64_t strip, strips, piece, pieces, chunks, outer_kept, outer_reduced;
    char *partial; /* accumulators of every (output strip, chunk), if there are several chunks */
} plan;

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
    else
        axes[(*n)++] = next;
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
        axis a = {x->sizes[d], x->strides[d] * itemsize, strides[d]};
        if (a.size == 1) continue;
        if (dims >> d & 1)
            reduced[n++] = a;
        else
            push(p->keep, &p->kept, a, true);
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

/* The inner dimensions. False: neither is dense in memory though there is work enough to make it so. */
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

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

static void cut(plan *p, int64_t itemsize)
{
    p->outer_kept = product(p->keep, p->kept);
    p->outer_reduced = product(p->reduce, p->reduced);
    int64_t space = p->outer_reduced * p->n.size;
    bool columns = p->n.x != itemsize && p->m.x == itemsize;
    p->strip = columns ? COLUMN_STRIP : clamp(BLOCK_ELEMENTS / space, 1, ROW_STRIP);
    if (p->strip > p->m.size) p->strip = p->m.size;
    p->strips = ceil_div(p->m.size, p->strip);
    int64_t tasks = p->outer_kept * p->strips, each = p->strip * space;
    p->chunks = tasks >= ENOUGH_TASKS ? 1 : clamp(each / CHUNK_ELEMENTS, 1, MOST_TASKS / tasks);
    p->pieces = ceil_div(p->chunks, p->outer_reduced); /* of the inner reduced dimension */
    if (p->pieces > p->n.size) p->pieces = p->n.size;
    p->piece = ceil_div(p->n.size, p->pieces);
    if (p->piece > 1 << 30) p->piece = 1 << 30; /* columns count rows of a block in 32 bits */
    p->pieces = ceil_div(p->n.size, p->piece);
    if (p->chunks > p->pieces * p->outer_reduced) p->chunks = p->pieces * p->outer_reduced;
}

/* ---- running ---- */

static int64_t offset_of(const axis *axes, int n, int64_t index, bool of_out)
{
    int64_t offset = 0;
    for (int i = n - 1; i > 0; i--) {
        offset += index % axes[i].size * (of_out ? axes[i].out : axes[i].x);
        index /= axes[i].size;
    }
    return n ? offset + index * (of_out ? axes[0].out : axes[0].x) : 0;
}

/* The accumulators of one strip over pieces [begin, end) of the reduced space. */
static void accumulate(const plan *p, char *acc, char *spare, const char *x, int64_t m, int64_t begin,
                       int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % p->pieces * p->piece, n = p->n.size - first;
        const char *at = x + offset_of(p->reduce, p->reduced, i / p->pieces, false) + first * p->n.x;
        p->reducer->block(i == begin ? acc : spare, at, m, p->m.x, n < p->piece ? n : p->piece, p->n.x, first,
                          p->context);
        if (i != begin) p->reducer->join(acc, spare, m);
    }
}

static void finish(const plan *p, const char *acc, int64_t task, int64_t m)
{
    int64_t at = offset_of(p->keep, p->kept, task / p->strips, true) + task % p->strips * p->strip * p->m.out;
    for (int k = 0; k < 2; k++)
        if (p->out[k])
            p->reducer->finish[k](p->out[k] + at * p->out_size[k], p->m.out * p->out_size[k], acc, m,
                                  p->context);
}

static int64_t strip_length(const plan *p, int64_t task)
{
    int64_t left = p->m.size - task % p->strips * p->strip;
    return left < p->strip ? left : p->strip;
}

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    const plan *p = context;
    _Alignas(64) char stack[COLUMN_STRIP * TD_MAX_ACCUMULATOR], spare[COLUMN_STRIP * TD_MAX_ACCUMULATOR];
    for (int64_t i = begin; i < end; i++) {
        int64_t task = i / p->chunks, chunk = i % p->chunks, all = p->pieces * p->outer_reduced,
                m = strip_length(p, task);
        const char *x = p->x + offset_of(p->keep, p->kept, task / p->strips, false) +
                        task % p->strips * p->strip * p->m.x;
        char *acc = p->partial ? p->partial + i * p->strip * p->reducer->size : stack;
        int64_t first = all / p->chunks * chunk + (chunk < all % p->chunks ? chunk : all % p->chunks);
        accumulate(p, acc, spare, x, m, first, first + all / p->chunks + (chunk < all % p->chunks));
        if (!p->partial) finish(p, acc, task, m);
    }
}

static void join_chunks(const plan *p)
{
    int64_t bytes = p->strip * p->reducer->size;
    for (int64_t task = 0; task < p->outer_kept * p->strips; task++) {
        char *acc = p->partial + task * p->chunks * bytes;
        for (int64_t c = 1; c < p->chunks; c++) p->reducer->join(acc, acc + c * bytes, strip_length(p, task));
        finish(p, acc, task, strip_length(p, task));
    }
}

static td_status run(plan *p, int64_t numel)
{
    int64_t tasks = p->outer_kept * p->strips * p->chunks, bytes = tasks * p->strip * p->reducer->size;
    if (p->chunks > 1 && !(p->partial = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial results", (long long)bytes);
    int64_t grain = (int64_t)(16384 / (numel / tasks + 1));
    void *token = td_heavy_begin((double)numel * ELEMENT_NS);
    td_parallel(tasks, grain > 1 ? grain : 1, run_tasks, p);
    if (p->partial) join_chunks(p);
    td_heavy_end(token);
    if (p->partial) td_free(p->partial, bytes);
    return TD_OK;
}

static td_status run_contiguous(const td_reducer *reducer, const td_reduce_context *context,
                                const td_tensor *x, uint64_t dims, td_tensor *const out[2])
{
    td_tensor *dense;
    TD_TRY(td_tensor_empty(&dense, (td_dtype)x->dtype, TD_CPU, x->ndim, x->sizes));
    td_status status = td_copy(dense, x);
    if (status == TD_OK) status = td_reduce_run(reducer, context, dense, dims, out);
    td_tensor_free(dense);
    return status;
}

td_status td_reduce_run(const td_reducer *reducer, const td_reduce_context *context, const td_tensor *x,
                        uint64_t dims, td_tensor *const out[2])
{
    plan p = {.reducer = reducer, .context = context, .x = td_data(x)};
    int64_t itemsize = td_itemsize((td_dtype)x->dtype);
    if (x->numel == 0) return TD_OK;
    for (int k = 0; k < 2; k++) {
        p.out[k] = out[k] ? td_data(out[k]) : NULL;
        p.out_size[k] = out[k] ? td_itemsize((td_dtype)out[k]->dtype) : 0;
    }
    bool in_order = reducer->finish[1] && reducer->dtype[1] == TD_I64; /* the result is an index */
    split_axes(&p, x, dims, in_order);
    if (((in_order && p.reduced > 1) || !choose_inner(&p, itemsize, x->numel)) && !td_is_contiguous(x))
        return run_contiguous(reducer, context, x, dims, out);
    cut(&p, itemsize);
    return run(&p, x->numel);
}
