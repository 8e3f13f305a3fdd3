/* cross.c - the cross product: shapes, dtypes, and who runs its loops. */
#include "cpu/linalg/cross_run.h"
#include "ops/pointwise/waiting.h"
#include "ops/view/view.h"
#include "runtime/device.h"

static td_status on_device(const td_cross *c, const td_nd *nd, const td_loop_entry *entry)
{
    static const td_arg context[3] = TD_CROSS_CONTEXT;
    td_walk w = {.kind = TD_WALK_LOOP,
                 .dtypes = {(uint8_t)c->dtype, (uint8_t)c->dtype, (uint8_t)c->dtype},
                 .entry = entry,
                 .context = context,
                 .context_bytes = sizeof context,
                 .cost = 0.25,
                 .nd = nd};
    return td_walk_run(&w, c->device);
}

static td_status everywhere(const td_cross *c)
{
    if (c->device == TD_CPU) {
        td_cross_run(c);
        return TD_OK;
    }
    int64_t places = c->nd.ndim ? c->nd.sizes[c->nd.ndim - 1] : 1;
    return td_cross_places(c, (const int64_t[]){0, places}, on_device);
}

/* `dim` counts from the end: the operands may have been broadcast. */
static td_status run(td_cross *c, td_tensor *const *whole, int64_t dim)
{
    td_tensor *firsts[TD_CROSS_NOP] = {0};
    td_status status = TD_OK;
    for (int k = 0; k < TD_CROSS_ROOM && status == TD_OK; k++) {
        const td_tensor *t = whole[k];
        c->steps[k] = t->strides[t->ndim + dim] * td_itemsize(c->dtype);
        status = td_view_select(&firsts[k], t, t->ndim + dim, 0);
    }
    if (status == TD_OK)
        status = td_tensor_empty(&firsts[TD_CROSS_ROOM], c->dtype, c->device,
                                 firsts[TD_CROSS_OUT]->ndim, firsts[TD_CROSS_OUT]->sizes);
    if (status == TD_OK) status = td_nd_init(&c->nd, TD_CROSS_NOP, firsts);
    if (status == TD_OK) status = everywhere(c);
    for (int k = 0; k < TD_CROSS_NOP; k++) td_tensor_free(firsts[k]);
    return status;
}

static td_status convert_and_run(td_cross *c, td_tensor *out, td_tensor *a, td_tensor *b,
                                 int64_t dim)
{
    td_tensor *x, *y;
    TD_TRY(td_cast(&x, a, c->dtype));
    td_status status = td_cast(&y, b, c->dtype);
    if (status == TD_OK) {
        status = run(c, (td_tensor *[]){out, x, y}, dim);
        td_tensor_free(y);
    }
    td_tensor_free(x);
    return status;
}

static td_status check_vectors(const td_tensor *a, const td_tensor *b, int64_t dim, int64_t *place)
{
    if (a->ndim != b->ndim)
        return td_fail(
            TD_RUNTIME_ERROR,
            "linalg.cross: inputs must have the same number of dimensions, but got %d and %d",
            a->ndim, b->ndim);
    TD_TRY(td_wrap_dim(dim, a->ndim, place));
    if (a->ndim && a->sizes[*place] == 3 && b->sizes[*place] == 3) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "linalg.cross: inputs dimension %lld must have length 3, but got %lld and %lld",
                   (long long)dim, (long long)(a->ndim ? a->sizes[*place] : 1),
                   (long long)(b->ndim ? b->sizes[*place] : 1));
}

/* Looked up by name once for each dtype. */
static td_status loops(td_cross *c)
{
    static const td_loop_entry *_Atomic mul[TD_NDTYPES], *_Atomic sub[TD_NDTYPES];
    c->mul = mul[c->dtype];
    c->sub = sub[c->dtype];
    if (c->mul && c->sub) return TD_OK;
    TD_TRY(td_require_entry("linalg.cross", "mul", c->dtype, &c->mul));
    TD_TRY(td_require_entry("linalg.cross", "sub", c->dtype, &c->sub));
    mul[c->dtype] = c->mul;
    sub[c->dtype] = c->sub;
    return TD_OK;
}

td_status td_op_cross(td_call *call)
{
    td_tensor *in[2] = {TD_TENSOR(0), TD_TENSOR(1)};
    int64_t sizes[TD_MAX_DIMS], dim;
    int ndim;
    td_cross c;
    TD_TRY(check_vectors(in[0], in[1], TD_INT(2), &dim));
    TD_TRY(td_result_type(2, in, &c.dtype));
    TD_TRY(loops(&c));
    TD_TRY(td_broadcast(in[0]->ndim, in[0]->sizes, in[1]->ndim, in[1]->sizes, &ndim, sizes));
    c.device = td_common_device(2, in);
    TD_TRY(td_tensor_empty(&call->out[0], c.dtype, c.device, ndim, sizes));
    if (call->out[0]->numel == 0 || td_is_meta(call->out[0])) return TD_OK;
    td_wait_settle();
    return convert_and_run(&c, call->out[0], in[0], in[1], dim - ndim);
}
