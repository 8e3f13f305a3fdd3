/* indexing_run.c - how threads share places. Duplicates of an index meet in one thread, in order,
 * so that results do not depend on threads. */
#include "cpu/run/walk.h"
#include "cpu/indexing_run.h"
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu.h"
#include "runtime/pool.h"
#include "runtime/wraps.h"

/* ---- index tensors ---- */

typedef struct range_check {
    const int64_t *index;
    int64_t size;
    atomic_bool outside;
} range_check;

static void check_part(void *context, int64_t begin, int64_t end)
{
    range_check *c = context;
    if (!TD_PICK(td_index_kernels)->in_range(c->index + begin, end - begin, c->size))
        atomic_store_explicit(&c->outside, true, memory_order_relaxed);
}

bool td_index_all_in_range(const int64_t *index, int64_t n, int64_t size)
{
    range_check c = {index, size, false};
    td_parallel(n, 1 << 15, check_part, &c);
    return !c.outside;
}

td_status td_index_changed(void)
{
    return td_fail(TD_INDEX_ERROR, "an index was changed by another thread while it was used, and "
                                   "names no place now; give the call a clone() of its own");
}

/* What is checked is the copy, which no other thread knows. */
bool td_index_wrap(td_tensor *out, const td_tensor *index, int64_t size)
{
    const int64_t *from = td_data(index);
    int64_t *to = td_data(out);
    for (int64_t i = 0; i < index->numel; i++) to[i] = from[i] + (from[i] < 0 ? size : 0);
    return td_index_all_in_range(to, index->numel, size);
}

bool td_index_add_offsets(int64_t *at, const td_tensor *index, const td_index_steps *steps)
{
    const volatile int64_t *from = td_data(index); /* read once: what is checked is what is used */
    int64_t n = index->numel, size = steps->size, stride = steps->stride,
            from_end = steps->wraps ? size : 0;
    bool inside = true;
    for (int64_t i = 0; i < n; i++) {
        int64_t place = from[i];
        place += place < 0 ? from_end : 0;
        inside &= (uint64_t)place < (uint64_t)size;
        at[i] = td_wrapping_add(at[i], td_wrapping_mul(place, stride));
    }
    return inside;
}

/* Index i as it is now, or -1 if it names none of `size` places: read once. */
static int64_t place_at(const td_tensor *index, int64_t i, int64_t size)
{
    int64_t place = ((const volatile int64_t *)td_data(index))[i];
    return (uint64_t)place < (uint64_t)size ? place : -1;
}

void td_index_counts(td_tensor *out, const td_tensor *index, bool start)
{
    int64_t *counts = td_data(out), place;
    for (int64_t i = 0; i < out->numel; i++) counts[i] = start;
    for (int64_t i = 0; i < index->numel; i++)
        if ((place = place_at(index, i, out->numel)) >= 0) counts[place]++;
    for (int64_t i = 0; i < out->numel; i++) counts[i] += counts[i] == 0;
}

td_status td_index_frequencies(td_tensor *out, const td_tensor *index, int64_t size)
{
    td_tensor *counts;
    TD_TRY(td_tensor_empty(&counts, TD_I64, TD_CPU, 1, &size));
    td_index_counts(counts, index, false);
    const int64_t *count = td_data(counts);
    int64_t *to = td_data(out);
    for (int64_t i = 0; i < index->numel; i++) {
        int64_t place = place_at(index, i, size);
        to[i] = place < 0 ? 1 : count[place];
    }
    td_tensor_free(counts);
    return TD_OK;
}

bool td_index_holds(const td_tensor *index, int64_t value)
{
    const int64_t *at = td_data(index);
    for (int64_t i = 0; i < index->numel; i++)
        if (at[i] == value) return true;
    return false;
}

/* ---- reading blocks ---- */

typedef struct reading {
    char *dense;
    const char *indexed;
    const td_index_walk *walk;
} reading;

static void read_rows(void *context, int64_t begin, int64_t end)
{
    const reading *r = context;
    TD_PICK(td_index_kernels)->take(r->dense, r->indexed, r->walk, begin, end);
}

#define BLOCK_NS 1.5 /* to find a block; then its bytes are moved */
#define BYTE_NS 0.1
#define GRAIN_NS 8000.0

void td_index_take(td_tensor *out, const td_tensor *self, const td_index_walk *w)
{
    reading r = {td_data(out), td_data(self), w};
    double row = (double)w->inner * (BLOCK_NS + (double)w->run * BYTE_NS),
           all = row * (double)(w->outer * w->count);
    void *token = td_heavy_begin(all);
    td_parallel(w->outer * w->count, (int64_t)(GRAIN_NS / row) + 1, read_rows, &r);
    td_heavy_end(token);
}

/* ---- writing blocks ---- */

bool td_index_can_put(td_put put, td_dtype dtype)
{
    return TD_PICK(td_index_kernels)->combine[put][dtype] != NULL;
}

typedef struct writing {
    char *indexed;
    const char *dense;
    const td_index_walk *walk;
    td_loop scatter, combine;
    int64_t itemsize, pieces, piece; /* a run is cut into pieces of so many bytes */
} writing;

/* Single elements: the offsets are an index whose places are one byte apart. */
static void write_elements(const writing *w, int64_t lane)
{
    const td_index_walk *k = w->walk;
    static const td_gather_places bytes = {.apart = 1};
    int64_t o = lane / k->inner, i = lane % k->inner;
    char *const data[] = {w->indexed + k->outer_at[o] + k->inner_at[i], (char *)k->at,
                          (char *)w->dense + (o * k->count * k->inner + i) * w->itemsize};
    w->scatter(data, (int64_t[]){0, 8, k->inner * w->itemsize}, k->count, &bytes);
}

static void write_blocks(const writing *w, int64_t lane)
{
    const td_index_walk *k = w->walk;
    int64_t part = lane % w->pieces * w->piece, block = lane / w->pieces, o = block / k->inner,
            i = block % k->inner;
    int64_t bytes = k->run - part < w->piece ? k->run - part : w->piece;
    char *to = w->indexed + k->outer_at[o] + k->inner_at[i] + part;
    const char *from = w->dense + (o * k->count * k->inner + i) * k->run + part;
    for (int64_t c = 0; c < k->count; c++, from += k->inner * k->run)
        w->combine((char *const[]){to + k->at[c], (char *)from},
                   (int64_t[]){w->itemsize, w->itemsize}, bytes / w->itemsize, NULL);
}

static void write_lanes(void *context, int64_t begin, int64_t end)
{
    const writing *w = context;
    for (int64_t lane = begin; lane < end; lane++)
        if (w->walk->run == w->itemsize) write_elements(w, lane);
        else write_blocks(w, lane);
}

#define PIECE_BYTES 512

void td_index_put(td_tensor *self, const td_index_walk *w, const td_tensor *source, td_put put)
{
    const td_index_kernels *k = TD_PICK(td_index_kernels);
    int64_t lanes = w->outer * w->inner,
            pieces = lanes == 1 ? (w->run + PIECE_BYTES - 1) / PIECE_BYTES : 1;
    writing r = {td_data(self),
                 td_data(source),
                 w,
                 k->scatter[put][self->dtype],
                 k->combine[put][self->dtype],
                 td_itemsize((td_dtype)self->dtype),
                 pieces,
                 pieces > 1 ? PIECE_BYTES : w->run};
    double lane = (double)w->count * (2 * BLOCK_NS + (double)r.piece * BYTE_NS);
    void *token = td_heavy_begin(lane * (double)(lanes * pieces));
    td_parallel(lanes * pieces, (int64_t)(GRAIN_NS / lane) + 1, write_lanes, &r);
    td_heavy_end(token);
}

/* ---- along a dimension ---- */

static int64_t size_of(const td_tensor *t, int64_t d) { return t->ndim ? t->sizes[d] : 1; }
static int64_t stride_of(const td_tensor *t, int64_t d) { return t->ndim ? t->strides[d] : 0; }

/* a walk over (one tensor by index), index, (another tensor) */
typedef struct walk3 {
    char *data[3];
    int64_t sizes[TD_MAX_DIMS], strides[3][TD_MAX_DIMS]; /* bytes */
    int ndim;
} walk3;

static void add_operand(walk3 *w, int k, const td_tensor *t, int64_t skip)
{
    int64_t itemsize = td_itemsize((td_dtype)t->dtype);
    w->data[k] = td_data(t);
    for (int d = 0; d < w->ndim; d++) w->strides[k][d] = d == skip ? 0 : stride_of(t, d) * itemsize;
}

static void walk_shape(walk3 *w, const td_tensor *index)
{
    w->ndim = index->ndim ? index->ndim : 1;
    for (int d = 0; d < w->ndim; d++) w->sizes[d] = size_of(index, d);
}

bool td_index_gather(td_tensor *out, const td_tensor *at, const td_tensor *self, int64_t dim)
{
    walk3 w;
    td_nd nd;
    int64_t itemsize = td_itemsize((td_dtype)self->dtype);
    atomic_bool outside = false;
    const td_gather_places places = {stride_of(self, dim) * itemsize, size_of(self, dim), &outside};
    walk_shape(&w, at);
    add_operand(&w, 0, out, -1);
    add_operand(&w, 1, at, -1);
    add_operand(&w, 2, self, dim);
    td_nd_init_raw(&nd, 3, w.data, w.ndim, w.sizes,
                   (const int64_t *const[]){w.strides[0], w.strides[1], w.strides[2]});
    td_nd_run(&nd, TD_PICK(td_index_kernels)->gather[__builtin_ctzll((uint64_t)itemsize)], &places,
              1.5);
    return !outside;
}

bool td_index_can_scatter(td_put put, td_dtype dtype)
{
    const td_index_kernels *k = TD_PICK(td_index_kernels);
    return k->scatter[put][dtype] || k->many[put][dtype];
}

/* Threads share out a dimension other than the indexed one. */
typedef struct scattering {
    walk3 walk;
    td_loop loop;
    td_gather_places places;
    int split; /* the dimension that is shared out */
} scattering;

static void init_walk(td_nd *nd, const walk3 *w)
{
    td_nd_init_raw(nd, 3, w->data, w->ndim, w->sizes,
                   (const int64_t *const[]){w->strides[0], w->strides[1], w->strides[2]});
}

static void scatter_part(void *context, int64_t begin, int64_t end)
{
    const scattering *s = context;
    const walk3 *w = &s->walk;
    int64_t sizes[TD_MAX_DIMS];
    char *data[3];
    td_nd nd;
    memcpy(sizes, w->sizes, (size_t)w->ndim * sizeof *sizes);
    sizes[s->split] = end - begin;
    for (int k = 0; k < 3; k++) data[k] = w->data[k] + begin * w->strides[k][s->split];
    td_nd_init_raw(&nd, 3, data, w->ndim, sizes,
                   (const int64_t *const[]){w->strides[0], w->strides[1], w->strides[2]});
    td_nd_run_serial(&nd, s->loop, &s->places);
}

static void run_scatter(scattering *s, int64_t dim, int64_t numel)
{
    s->split = dim ? 0 : s->walk.ndim > 1;
    for (int d = 0; d < s->walk.ndim; d++)
        if (d != dim && s->walk.sizes[d] > s->walk.sizes[s->split]) s->split = d;
    int64_t places = s->walk.sizes[s->split];
    void *token = td_heavy_begin((double)numel * 2);
    if (s->split == dim) scatter_part(s, 0, places);
    else td_parallel(places, 4096 / (numel / places) + 1, scatter_part, s);
    td_heavy_end(token);
}

static inline void scatter_walk(walk3 *w, const td_tensor *target, int64_t dim,
                                const td_tensor *index, const td_tensor *src)
{
    walk_shape(w, index);
    add_operand(w, 0, target, dim);
    add_operand(w, 1, index, -1);
    if (src->ndim) add_operand(w, 2, src, -1);
    else {
        memset(w->strides[2], 0, sizeof w->strides[2]);
        w->data[2] = td_data(src);
    }
}

int64_t td_index_places(const td_tensor *target, int64_t dim, int64_t *apart)
{
    *apart = stride_of(target, dim) * td_itemsize((td_dtype)target->dtype);
    return size_of(target, dim);
}

td_status td_index_scatter(td_tensor *target, int64_t dim, const td_tensor *index,
                           const td_tensor *src, td_put put)
{
    atomic_bool outside = false;
    scattering s; /* two KiB: not cleared, and used as far as there are dimensions */
    s.places.outside = &outside;
    s.places.size = td_index_places(target, dim, &s.places.apart);
    s.loop = TD_PICK(td_index_kernels)->scatter[put][target->dtype];
    scatter_walk(&s.walk, target, dim, index, src);
    run_scatter(&s, dim, index->numel);
    return outside ? td_index_changed() : TD_OK;
}

void td_index_walk_serial(td_tensor *target, int64_t dim, const td_tensor *index,
                          const td_tensor *src, td_loop loop, const void *context)
{
    walk3 w;
    td_nd nd;
    scatter_walk(&w, target, dim, index, src);
    init_walk(&nd, &w);
    td_nd_run_serial(&nd, loop, context);
}

/* ---- dense rows ---- */

bool td_index_take_row(td_tensor *out, const td_tensor *at, const td_tensor *row)
{
    td_nd nd;
    int64_t itemsize = td_itemsize((td_dtype)row->dtype);
    atomic_bool outside = false;
    const td_gather_places places = {itemsize, row->numel, &outside};
    td_nd_init_raw(&nd, 3, (char *const[]){td_data(out), td_data(at), td_data(row)}, 1, &at->numel,
                   (const int64_t *const[]){&itemsize, (int64_t[]){8}, (int64_t[]){0}});
    td_nd_run(&nd, TD_PICK(td_index_kernels)->gather[__builtin_ctzll((uint64_t)itemsize)], &places,
              1.5);
    return !outside;
}

void td_index_put_row(td_tensor *row, const td_tensor *at, const td_tensor *values, td_put put)
{
    int64_t itemsize = td_itemsize((td_dtype)row->dtype);
    td_loop loop = TD_PICK(td_index_kernels)->scatter[put][row->dtype];
    const td_gather_places places = {.apart = itemsize};
    loop((char *const[]){td_data(row), td_data(at), td_data(values)}, (int64_t[]){0, 8, itemsize},
         at->numel, &places);
}

td_status td_index_scale_rows(td_tensor *grad, const td_tensor *index, int64_t rows,
                              int64_t padding, bool by_frequency)
{
    td_loop divide = TD_PICK(td_index_kernels)->combine[TD_PUT_DIV][grad->dtype];
    int64_t width = grad->sizes[grad->ndim - 1], itemsize = td_itemsize((td_dtype)grad->dtype);
    int64_t *counts = by_frequency ? calloc((size_t)rows + 1, sizeof *counts) : NULL;
    if (by_frequency && !counts)
        return td_fail(TD_MEMORY_ERROR, "embedding: no memory for %lld counts", (long long)rows);
    if (by_frequency && !divide)
        return free(counts), td_fail(TD_NOT_IMPLEMENTED, "\"embedding\" not implemented for '%s'",
                                     td_dtypes[grad->dtype].type_name);
    /* an index that names no row any more counts at the end, where nobody looks */
    for (int64_t i = 0; counts && i < index->numel; i++) {
        int64_t place = place_at(index, i, rows);
        counts[place < 0 ? rows : place]++;
    }
    for (int64_t i = 0; width && i < index->numel; i++) {
        char *row = (char *)td_data(grad) + i * width * itemsize, number[16];
        int64_t place = place_at(index, i, rows);
        if (place == padding) memset(row, 0, (size_t)(width * itemsize));
        else if (counts && place >= 0 && counts[place] > 1) {
            td_scalar count = td_scalar_int(counts[place]);
            td_scalar_store(&count, (td_dtype)grad->dtype, number);
            divide((char *const[]){row, number}, (int64_t[]){itemsize, 0}, width, NULL);
        }
    }
    free(counts);
    return TD_OK;
}

/* ---- element by element ---- */

td_status td_index_combine(td_tensor *target, const td_tensor *source, td_put put, double cost)
{
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 2, (td_tensor *const[]){target, (td_tensor *)source}));
    if (nd.numel)
        td_nd_run(&nd, TD_PICK(td_index_kernels)->combine[put][target->dtype], NULL, cost);
    return TD_OK;
}

td_status td_index_combine_serial(td_tensor *target, const td_tensor *source, td_put put)
{
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 2, (td_tensor *const[]){target, (td_tensor *)source}));
    td_nd_run_serial(&nd, TD_PICK(td_index_kernels)->combine[put][target->dtype], NULL);
    return TD_OK;
}
