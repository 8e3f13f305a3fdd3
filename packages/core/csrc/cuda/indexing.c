/* indexing.c - places that indices name as launches of kernels/indexing.h.
 * Indices come checked, in the host's memory; writes are sorted by place there, so that duplicates
 * meet in one thread. */
#include "cpu/indexing.h"
#include <stdlib.h>
#include <string.h>
#include "cuda/program.h"

typedef struct places_call { /* laid out as in kernels/indexing.h */
    char *out;
    const char *at, *from;
    int64_t n, outer, count, inner, run, places;
    const int64_t *outer_at, *inner_at, *place_at, *order, *starts;
    int64_t ndim, line, out_apart, at_apart, from_apart;
    _Alignas(16) char number[16];
    int64_t sizes[TD_MAX_DIMS], out_strides[TD_MAX_DIMS], at_strides[TD_MAX_DIMS],
        from_strides[TD_MAX_DIMS];
} places_call;
_Static_assert(sizeof(places_call) <= 4096, "a launch carries 4,096 bytes of arguments");

/* ---- launches ---- */

enum { TAKE, GATHER, FILL, PUT, SCATTER = PUT + TD_PUTS, WORKS = SCATTER + TD_PUTS };
static const char *names[WORKS] = {
    [TAKE] = "take",
    [GATHER] = "gather",
    [FILL] = "fill",
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
    td_cuda_program w = {.kind = "places",
                         .how = "places_alone",
                         .name = names[work],
                         .dtype = d,
                         .from = d,
                         .key = (const void *)(intptr_t)(work << 8 | d | 0x10000)};
    void *function;
    if (c->n == 0) return TD_OK;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    return td_cuda_launch(function, ordinal, c->n, c, w.name);
}

/* ---- blocks at the places of a walk ---- */

/* Numbers of the host as one piece of device memory. */
typedef struct sent {
    int64_t *host, used, room;
    char *device;
    void *block;
} sent;

static td_status send_begin(sent *s, int64_t room, td_device device)
{
    *s = (sent){.room = room, .host = malloc((size_t)room * 8)};
    if (!s->host)
        return td_fail(TD_MEMORY_ERROR, "indexing: no memory for %lld places", (long long)room);
    td_status status = td_cuda_alloc(&s->device, room * 8, device, &s->block);
    if (status != TD_OK) free(s->host);
    return status;
}

/* where they will lie on the device */
static const int64_t *send(sent *s, const int64_t *numbers, int64_t n)
{
    int64_t at = s->used;
    memcpy(s->host + at, numbers, (size_t)n * 8);
    s->used += n;
    return (const int64_t *)s->device + at;
}

static td_status send_all(sent *s, td_device device)
{
    td_status status =
        td_cuda_transfer(s->device, device, (const char *)s->host, TD_CPU, s->used * 8, true);
    free(s->host);
    s->host = NULL;
    return status;
}

/* work that is queued still reads it: the next owner's comes after, on the same stream */
static void send_end(sent *s)
{
    free(s->host);
    td_cuda_release(s->block, s->device, s->room * 8);
}

static void fill_walk(places_call *c, sent *s, const td_index_walk *w, int64_t itemsize)
{
    c->outer = w->outer;
    c->count = w->count;
    c->inner = w->inner;
    c->run = w->run / itemsize;
    c->outer_at = send(s, w->outer_at, w->outer);
    c->inner_at = send(s, w->inner_at, w->inner);
    c->place_at = send(s, w->at, w->count);
}

static td_status take(const td_places_job *j, places_call *c, td_device device)
{
    const td_index_walk *w = j->walk;
    sent s;
    TD_TRY(send_begin(&s, w->outer + w->inner + w->count, device));
    fill_walk(c, &s, w, td_itemsize((td_dtype)j->out->dtype));
    c->n = j->out->numel;
    td_status status = send_all(&s, device);
    if (status == TD_OK) status = launch(TAKE, (td_dtype)j->out->dtype, c, td_device_index(device));
    send_end(&s);
    return status;
}

typedef struct named {
    int64_t at, i;
} named;

static int by_place(const void *a, const void *b)
{
    const named *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->i < y->i ? -1 : 1;
}

/* The numbers of the indices, sorted by place and, within one, as they came; and where each place
 * begins among them. Returns how many places there are, or -1 without memory. */
static int64_t sort_places(const td_index_walk *w, int64_t *order, int64_t *starts)
{
    int64_t places = 0, n = w->count;
    named *all = malloc((size_t)n * sizeof *all);
    if (!all) return -1;
    for (int64_t i = 0; i < n; i++) all[i] = (named){w->at[i], i};
    qsort(all, (size_t)n, sizeof *all, by_place);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || all[i].at != all[i - 1].at) starts[places++] = i;
        order[i] = all[i].i;
    }
    starts[places] = n;
    free(all);
    return places;
}

static td_status put(const td_places_job *j, places_call *c, td_device device)
{
    const td_index_walk *w = j->walk;
    int64_t n = w->count, *order = malloc((size_t)(2 * n + 1) * 8);
    sent s;
    c->places = order ? sort_places(w, order, order + n) : -1;
    if (c->places < 0) {
        free(order);
        return td_fail(TD_MEMORY_ERROR, "indexing: no memory for %lld places", (long long)n);
    }
    td_status status = send_begin(&s, w->outer + w->inner + 3 * n + 1, device);
    if (status == TD_OK) {
        fill_walk(c, &s, w, td_itemsize((td_dtype)j->out->dtype));
        c->order = send(&s, order, n);
        c->starts = send(&s, order + n, c->places + 1);
        c->n = c->outer * c->places * c->inner * c->run;
        status = send_all(&s, device);
        if (status == TD_OK)
            status = launch(PUT + (int)j->put, (td_dtype)j->out->dtype, c, td_device_index(device));
        send_end(&s);
    }
    free(order);
    return status;
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
    return launch(gathers ? GATHER : SCATTER + (int)j->put, (td_dtype)j->out->dtype, c, ordinal);
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
        case TD_PLACES_TAKE: return take(j, &c, device);
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
