/* indexing.c - places that indices name as launches of kernels/indexing.h.
 * Kernels look at the indices (fault.h). Writes are sorted by place on the device, so that
 * duplicates meet in one thread. */
#include "cpu/indexing.h"
#include "cuda/fault.h"
#include "cuda/pool_history.h"
#include "cuda/program.h"
#include "cuda/sort.h"
#include "cuda/workers.h"

typedef struct places_call { /* laid out as in kernels/indexing.h */
    char *out;
    const char *at, *from;
    td_cuda_ticket ticket;
    int64_t size, step, wraps, more;
    int64_t n, outer, count, inner, run, outer_dims;
    const uint64_t *keys;
    const int64_t *place_at;
    int64_t *order;
    int64_t ndim, line, out_apart, at_apart, from_apart;
    _Alignas(16) char number[16];
    int64_t sizes[TD_MAX_DIMS], out_strides[TD_MAX_DIMS], at_strides[TD_MAX_DIMS],
        from_strides[TD_MAX_DIMS];
} places_call;
_Static_assert(sizeof(places_call) <= 4096, "a launch carries 4,096 bytes of arguments");

/* ---- launches ---- */

enum { TAKE, GATHER, FILL, OFFSETS, KEYS, PUT, SCATTER = PUT + TD_PUTS, WORKS = SCATTER + TD_PUTS };
static const char *names[WORKS] = {
    [TAKE] = "take",
    [GATHER] = "gather",
    [FILL] = "fill",
    [OFFSETS] = "offsets",
    [KEYS] = "keys",
    [PUT + TD_PUT_COPY] = "put_copy",
    [PUT + TD_PUT_ADD] = "put_add",
    [PUT + TD_PUT_MUL] = "put_mul",
    [PUT + TD_PUT_DIV] = "put_div",
    [PUT + TD_PUT_MAX] = "put_max",
    [PUT + TD_PUT_MIN] = "put_min",
    [SCATTER + TD_PUT_COPY] = "scatter_copy",
    [SCATTER + TD_PUT_ADD] = "scatter_add",
    [SCATTER + TD_PUT_MUL] = "scatter_mul",
    [SCATTER + TD_PUT_DIV] = "scatter_div",
    [SCATTER + TD_PUT_MAX] = "scatter_max",
    [SCATTER + TD_PUT_MIN] = "scatter_min",
};

static td_dtype bits_of(td_dtype dtype)
{
    static const td_dtype by_size[] = {TD_U8, TD_I16, TD_I32, TD_I64, TD_C128};
    return by_size[__builtin_ctzll((uint64_t)td_itemsize(dtype))];
}

static td_status launch(int work, td_dtype dtype, places_call *c, int ordinal)
{
    bool moves = work < PUT || work == PUT + TD_PUT_COPY || work == SCATTER + TD_PUT_COPY;
    td_dtype d = moves ? bits_of(dtype) : dtype;
    td_cuda_program w = {
        .kind = "places", .how = "places_alone", .name = names[work], .dtype = d, .from = d};
    void *function;
    if (c->n == 0) return TD_OK;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    return td_cuda_launch(function, ordinal, c->n, c, w.name);
}

/* ---- blocks at the places of a walk ---- */

/* The dimensions before and behind the indexed ones, one after the other in the same arrays. */
static void fill_walk(places_call *c, const td_index_walk *w, int64_t itemsize)
{
    const td_index_dims *of[] = {w->before, w->after};
    c->outer = w->outer;
    c->count = w->count;
    c->inner = w->inner;
    c->run = w->run / itemsize;
    c->place_at = w->at;
    c->outer_dims = w->before->n;
    c->ndim = w->before->n + w->after->n;
    for (int k = 0, d = 0; k < 2; k++)
        for (int i = 0; i < of[k]->n; i++, d++) {
            c->sizes[d] = of[k]->sizes[i];
            c->out_strides[d] = of[k]->strides[i];
        }
}

static td_status take(const td_places_job *j, places_call *c, int ordinal)
{
    fill_walk(c, j->walk, td_itemsize((td_dtype)j->out->dtype));
    c->n = j->out->numel;
    return launch(TAKE, (td_dtype)j->out->dtype, c, ordinal);
}

/* Offsets sorted by place and, within one, as they came: so that one thread meets all of them. */
static td_status put(const td_places_job *j, places_call *c, td_device device)
{
    int ordinal = td_device_index(device);
    int64_t n = j->walk->count, bytes = 4 * 8 * n;
    char *space;
    void *block;
    fill_walk(c, j->walk, td_itemsize((td_dtype)j->out->dtype));
    if (!n) return TD_OK;
    TD_TRY(td_cuda_alloc(&space, bytes, device, &block));
    td_cuda_keys keys = {{(uint64_t *)space, (uint64_t *)space + n},
                         {(int64_t *)space + 2 * n, (int64_t *)space + 3 * n}};
    c->keys = keys.keys[1];
    c->order = keys.places[1];
    c->n = n;
    td_status status = launch(KEYS, TD_I64, c, ordinal);
    if (status == TD_OK) status = td_cuda_sort_keys(&keys, 1, n, ordinal);
    c->keys = keys.keys[0];
    c->order = keys.places[0];
    c->n = c->outer * n * c->inner * c->run;
    if (status == TD_OK) status = launch(PUT + (int)j->put, (td_dtype)j->out->dtype, c, ordinal);
    /* work that is queued still reads it: the next owner's comes after, on the same stream */
    td_cuda_release(block, space, bytes);
    return status;
}

/* what an index out of range is */
static td_status ask_for(places_call *c, const td_places_job *j, int64_t size)
{
    const char *name = j->name ? j->name : td_running ? td_running : "indexing";
    const td_cuda_fault fault = {.kind = TD_CUDA_BAD_INDEX,
                                 .error = j->name ? j->error : TD_RUNTIME_ERROR,
                                 .op = name,
                                 .dim = j->dim,
                                 .size = size};
    c->size = size;
    return td_cuda_fault_ticket(&fault, &c->ticket);
}

static td_status offsets(const td_places_job *j, places_call *c, int ordinal)
{
    c->n = j->out->numel;
    c->step = j->step;
    c->wraps = j->wraps;
    c->more = j->more;
    TD_TRY(ask_for(c, j, j->size));
    return td_cuda_fault_launched(launch(OFFSETS, TD_I64, c, ordinal));
}

/* ---- element by element ---- */

static int64_t size_of(const td_tensor *t, int64_t d) { return t->ndim ? t->sizes[d] : 1; }

/* strides in bytes under `like`, whose dimensions are the last of the call's; 0 along `skip` */
static void fill_strides(int64_t *to, const td_tensor *t, const places_call *c, int64_t skip)
{
    for (int64_t d = 0; d < c->ndim; d++) {
        int64_t own = d - (c->ndim - t->ndim);
        bool still = own < 0 || d == skip || t->sizes[own] == 1;
        to[d] = still ? 0 : t->strides[own] * td_itemsize((td_dtype)t->dtype);
    }
}

static int64_t apart(const td_tensor *t, int64_t dim)
{
    return t->ndim ? t->strides[dim] * td_itemsize((td_dtype)t->dtype) : 0;
}

static void fill_sizes(places_call *c, const td_tensor *shape, int64_t skip)
{
    c->ndim = shape->ndim;
    c->n = 1;
    for (int d = 0; d < shape->ndim; d++) {
        c->sizes[d] = d == skip ? 1 : shape->sizes[d];
        c->n *= c->sizes[d];
    }
}

static td_status along(const td_places_job *j, places_call *c, int ordinal)
{
    bool gathers = j->what == TD_PLACES_GATHER;
    fill_sizes(c, j->at, gathers ? -1 : j->dim);
    c->line = size_of(j->at, j->dim);
    c->at_apart = apart(j->at, j->dim);
    c->out_apart = apart(j->out, j->dim);
    c->from_apart = apart(j->from, j->from->ndim ? j->dim : 0);
    fill_strides(c->at_strides, j->at, c, -1);
    fill_strides(c->out_strides, j->out, c, gathers ? -1 : j->dim);
    fill_strides(c->from_strides, j->from, c, gathers ? j->dim : -1);
    TD_TRY(ask_for(c, j, size_of(gathers ? j->from : j->out, j->dim)));
    td_status status =
        launch(gathers ? GATHER : SCATTER + (int)j->put, (td_dtype)j->out->dtype, c, ordinal);
    return td_cuda_fault_launched(status);
}

static td_status each(const td_places_job *j, places_call *c, int ordinal)
{
    bool fills = j->what == TD_PLACES_FILL;
    fill_sizes(c, j->out, -1);
    c->line = 1;
    fill_strides(c->out_strides, j->out, c, -1);
    fill_strides(c->from_strides, j->from, c, -1);
    if (fills) {
        fill_strides(c->at_strides, j->at, c, -1);
        td_scalar_store(j->value, (td_dtype)j->out->dtype, c->number);
    }
    return launch(fills ? FILL : SCATTER + (int)j->put, (td_dtype)j->out->dtype, c, ordinal);
}

static td_status run(const td_places_job *j, td_device device)
{
    places_call c = {
        .out = td_data(j->out), .at = j->at ? td_data(j->at) : NULL, .from = td_data(j->from)};
    int ordinal = td_device_index(device);
    switch (j->what) {
        case TD_PLACES_OFFSETS: return offsets(j, &c, ordinal);
        case TD_PLACES_TAKE: return take(j, &c, ordinal);
        case TD_PLACES_PUT: return put(j, &c, device);
        case TD_PLACES_GATHER:
        case TD_PLACES_SCATTER: return along(j, &c, ordinal);
        default: return each(j, &c, ordinal);
    }
}

td_status td_cuda_places(const void *job, td_device device)
{
    td_places_job j = *(const td_places_job *)job;
    td_tensor *at = NULL, *from;
    TD_TRY(td_cuda_use(td_device_index(device)));
    TD_TRY(td_moved_to(&from, j.from, device));
    td_status status = j.at ? td_moved_to(&at, j.at, device) : TD_OK;
    if (status == TD_OK) {
        j.from = from;
        j.at = at;
        status = run(&j, device);
    }
    td_tensor_free(at);
    td_tensor_free(from);
    return status;
}
