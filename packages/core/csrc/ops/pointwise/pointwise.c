/* pointwise.c - the one implementation of every elementwise operator of the table.
 *
 *   operands -> dtype to compute in -> loop -> layout of the result -> converted operands -> walk
 *
 * Small contiguous operands of one shape take a short cut through all of it (run_flat). */
#include <math.h>
#include <string.h>
#include "cpu/pointwise/wide_run.h"
#include "ops/pointwise/waiting.h"
#include "runtime/pool.h"

/* ---- dtypes ---- */

/* Tensors of one dtype beside numbers that cannot change it: the common case, at once. */
static bool one_dtype(const td_operands *in, td_dtype *out)
{
    int dtype = in->t[0]->dtype;
    for (int k = 0; k < in->n; k++) {
        const td_tensor *t = in->t[k];
        bool lower = td_category_of((td_dtype)t->dtype) <= td_category_of((td_dtype)dtype);
        bool weak = k > 0 && (t->flags & TD_FLAG_WRAPPED) && lower;
        if (!weak && (t->ndim == 0 || t->dtype != dtype)) return false;
    }
    *out = (td_dtype)dtype;
    return true;
}

static td_status compute_dtype(td_promotion rule, const td_operands *in, td_dtype *out)
{
    if (rule == TD_PROMOTE_FIRST) {
        *out = (td_dtype)in->t[0]->dtype;
        return TD_OK;
    }
    if (!one_dtype(in, out)) TD_TRY(td_result_type(in->n, in->t, out));
    if (rule == TD_PROMOTE_FLOAT && td_is_integral(*out)) *out = td_default_dtype;
    return TD_OK;
}

static td_dtype result_dtype(td_promotion rule, td_dtype compute)
{
    if (rule == TD_PROMOTE_COMPARE || rule == TD_PROMOTE_BOOL) return TD_BOOL;
    return rule == TD_PROMOTE_REAL ? td_to_real(compute) : compute;
}

/* ---- the short cut: all operands row-major and of one shape, or single numbers ---- */

typedef union element { /* one element of any dtype */
    char bytes[16];
    int64_t i;
    double f[2];
} element;

static bool is_number(const td_tensor *t) { return t->ndim == 0; }

/* `odd`: a dimension of size 1 has another stride than a new tensor would give it. */
static inline bool row_major(const td_tensor *t, bool *odd)
{
    int64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->strides[d] != step) {
            if (t->sizes[d] != 1) return false;
            *odd = true;
        }
        step *= t->sizes[d];
    }
    return true;
}

static inline bool same_sizes(const td_tensor *a, const td_tensor *b)
{
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->sizes[d] != b->sizes[d]) return false;
    return true;
}

/* The operand whose shape and row-major layout all others share, or NULL. `turns`: some of them are
 * bools that only work that waits can read as they are. Beside a number, odd strides are those of
 * the result, too. */
static const td_tensor *flat_model(const td_pointwise *p, bool *turns)
{
    const td_tensor *model = NULL;
    bool odd = false, numbers = false;
    for (int k = 0; k < p->in.n; k++) {
        const td_tensor *t = p->in.t[k];
        if (is_number(t)) {
            numbers = true;
            continue;
        }
        if (td_waits && td_wait_turns(p, k)) *turns = true;
        else if (t->dtype != p->compute && !(p->keep >> k & 1)) return NULL;
        if (!row_major(t, &odd)) return NULL;
        if (!model) model = t;
        else if (!same_sizes(model, t) || t->device != model->device) return NULL;
    }
    return odd && numbers ? NULL : model;
}

/* Where a single number of the host lies in the dtype to compute in: itself, or converted on the
 * caller's stack. */
static char *number_data(const td_pointwise *p, int k, element *place)
{
    const td_tensor *t = p->in.t[k];
    td_dtype to = td_dtype_of_operand(p, k);
    if (t->dtype == to || (p->keep >> k & 1)) return td_data(t);
    if (t->dtype == TD_F64 && to == TD_F32) {
        float value = (float)*(const double *)td_data(t);
        memcpy(place, &value, sizeof value);
        return place->bytes;
    }
    if (t->dtype == TD_I64 && to == TD_F32) {
        float value = (float)*(const int64_t *)td_data(t);
        memcpy(place, &value, sizeof value);
        return place->bytes;
    }
    td_scalar value = td_scalar_load((td_dtype)t->dtype, td_data(t));
    td_scalar_store(&value, to, place);
    return place->bytes;
}

/* A ready target that the flat walk can write without further thought. */
static bool flat_target(const td_pointwise *p, const td_tensor *out, const td_tensor *model)
{
    if (out->dtype != p->result || out->flags & (TD_FLAG_CONJ | TD_FLAG_NEG)) return false;
    bool odd;
    if (!row_major(out, &odd) || !same_sizes(out, model)) return false;
    for (int k = 0; k < p->in.n; k++) {
        const td_tensor *t = p->in.t[k];
        bool same = t->dtype == out->dtype && !is_number(t) && td_data(t) == td_data(out);
        if (!same && td_may_overlap(out, t)) return false;
    }
    return true;
}

void td_dtypes_in_memory(const td_pointwise *p, uint8_t *dtypes)
{
    dtypes[0] = (uint8_t)p->result;
    for (int k = 0; k < p->in.n; k++)
        dtypes[k + 1] = (uint8_t)(p->keep >> k & 1 ? p->in.t[k]->dtype : td_dtype_of_operand(p, k));
}

static td_status run_walk(const td_pointwise *p, const td_nd *nd, const td_tensor *out,
                          uint32_t numbers)
{
    td_walk w = {.kind = TD_WALK_LOOP,
                 .numbers = numbers,
                 .entry = p->entry,
                 .context = p->context,
                 .context_bytes = p->context_bytes,
                 .cost = p->cost,
                 .nd = nd,
                 .wide = p->wide ? p->wide_entry : NULL,
                 .number = p->number};
    td_dtypes_in_memory(p, w.dtypes);
    return td_walk_run(&w, out->device);
}

/* The loop of a flat walk, where a number is wide: apart, as the room it takes would move what all
 * others use. */
static __attribute__((noinline)) void run_wide(const td_pointwise *p, const td_nd *nd, int64_t n)
{
    if (p->number && td_beside_number(nd->nop, nd->strides[0])) {
        p->number(nd->data, nd->strides[0], n, p->context);
        return;
    }
    td_wide w = {
        .loop = p->wide_entry->loop, .number = p->number, .context = p->context, .nop = nd->nop};
    td_dtypes_in_memory(p, w.dtypes);
    td_wide_loop(nd->data, nd->strides[0], n, &w);
}

/* Below this much work (nanoseconds) there is nothing to share out. */
#define SMALL_NS 4000.0

/* The processor's walk without a table: for small work that would cost as much as the work. */
static td_status walk_flat(const td_pointwise *p, td_tensor *out, int64_t n)
{
    element numbers[TD_MAX_OPERANDS];
    td_nd nd;
    nd.nop = p->in.n + 1;
    nd.data[0] = td_data(out);
    nd.strides[0][0] = td_itemsize(p->result);
    for (int k = 0; k < p->in.n; k++) {
        const td_tensor *t = p->in.t[k];
        nd.data[k + 1] = is_number(t) ? number_data(p, k, &numbers[k]) : td_data(t);
        nd.strides[0][k + 1] = is_number(t) ? 0 : td_itemsize((td_dtype)t->dtype);
    }
    if ((double)n * p->cost < SMALL_NS) {
        if (n > 0 && p->wide) run_wide(p, &nd, n);
        else if (n > 0) p->entry->loop(nd.data, nd.strides[0], n, p->context);
        return TD_OK;
    }
    nd.ndim = 1;
    nd.numel = nd.sizes[0] = n;
    return run_walk(p, &nd, out, 0);
}

/* ---- the general way ---- */

static td_status joint_shape(const td_operands *in, int *ndim, int64_t *sizes)
{
    *ndim = 0;
    for (int k = 0; k < in->n; k++) {
        int64_t grown[TD_MAX_DIMS];
        TD_TRY(td_broadcast(*ndim, sizes, in->t[k]->ndim, in->t[k]->sizes, ndim, grown));
        memcpy(sizes, grown, (size_t)*ndim * sizeof *sizes);
    }
    return TD_OK;
}

/* Stride of `t` along dimension d of the joint shape, 0 where it is repeated. */
static int64_t stride_along(const td_tensor *t, int ndim, const int64_t *sizes, int d)
{
    int own = d - (ndim - t->ndim);
    if (own < 0 || (t->sizes[own] == 1 && sizes[d] != 1)) return 0;
    return t->strides[own];
}

/* Positive if dimension a should lie outside b: the first operand that tells them apart decides. */
static int compare_dims(const td_operands *in, int ndim, const int64_t *sizes, int a, int b)
{
    for (int k = 0; k < in->n; k++) {
        int64_t x = stride_along(in->t[k], ndim, sizes, a),
                y = stride_along(in->t[k], ndim, sizes, b);
        if (x == 0 || y == 0) continue;
        if (x != y) return x < y ? -1 : 1;
        if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
}

/* Every operand has the full shape and the same dense layout: the result takes exactly that. */
static bool share_layout(const td_operands *in, int ndim)
{
    const td_tensor *first = in->t[0];
    if (first->ndim != ndim || !td_is_dense(first)) return false;
    for (int k = 1; k < in->n; k++) {
        if (!td_same_shape(first, in->t[k])) return false;
        if (memcmp(first->strides, in->t[k]->strides, (size_t)ndim * sizeof *first->strides))
            return false;
    }
    return true;
}

static bool all_contiguous(const td_operands *in)
{
    for (int k = 0; k < in->n; k++)
        if (!td_same_shape(in->t[0], in->t[k]) || !td_is_contiguous(in->t[k])) return false;
    return true;
}

/* Dense strides whose order follows the operands'. */
static void result_strides(const td_operands *in, int ndim, const int64_t *sizes, int64_t *strides)
{
    if (all_contiguous(in)) {
        td_row_major(ndim, sizes, strides);
        return;
    }
    if (share_layout(in, ndim)) {
        memcpy(strides, in->t[0]->strides, (size_t)ndim * sizeof *strides);
        return;
    }
    int inner_first[TD_MAX_DIMS];
    for (int i = 0; i < ndim; i++) inner_first[i] = ndim - 1 - i;
    for (int i = 1; i < ndim; i++) {
        for (int at = i, before = i - 1; before >= 0; before--) {
            int order = compare_dims(in, ndim, sizes, inner_first[before], inner_first[at]);
            if (order < 0) break;
            if (order == 0) continue;
            int moved = inner_first[before];
            inner_first[before] = inner_first[at];
            inner_first[at] = moved;
            at = before;
        }
    }
    uint64_t step = 1; /* wraps where the result is too large, which who allocates it refuses */
    for (int i = 0; i < ndim; i++) {
        int64_t size = sizes[inner_first[i]];
        strides[inner_first[i]] = (int64_t)step;
        step *= size > 1 ? (uint64_t)size : 1;
    }
}

static td_status new_result(const td_pointwise *p, int ndim, const int64_t *sizes, td_tensor **out)
{
    int64_t strides[TD_MAX_DIMS];
    result_strides(&p->in, ndim, sizes, strides);
    return td_tensor_empty_strided(out, p->result, td_common_device(p->in.n, p->in.t), ndim, sizes,
                                   strides);
}

static td_status check_target(const td_pointwise *p, const td_tensor *out, int ndim,
                              const int64_t *sizes)
{
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (!td_can_cast(p->result, (td_dtype)out->dtype))
        return td_fail(TD_RUNTIME_ERROR,
                       "result type %s can't be cast to the desired output type %s",
                       td_dtypes[p->result].type_name, td_dtypes[out->dtype].type_name);
    if (out->ndim != ndim || memcmp(out->sizes, sizes, (size_t)ndim * sizeof *sizes))
        return td_fail(
            TD_RUNTIME_ERROR, "output with shape %s doesn't match the broadcast shape %s",
            td_shape_text(out->ndim, out->sizes, have), td_shape_text(ndim, sizes, want));
    return td_has_zero_stride(out) ? td_fail_overlap_within() : TD_OK;
}

/* Can the loop write straight into the target? */
static td_status writes_directly(const td_pointwise *p, const td_tensor *out, bool *directly)
{
    *directly = out->dtype == p->result && !(out->flags & (TD_FLAG_CONJ | TD_FLAG_NEG));
    for (int k = 0; k < p->in.n; k++) {
        td_overlap how = td_is_meta(out) ? TD_APART : td_overlap_of(out, p->in.t[k]);
        if (how == TD_TANGLED) return td_fail_overlap();
        if (how == TD_UNCLEAR) *directly = false;
    }
    return TD_OK;
}

/* Operands that need it, in the dtype to compute in; `owned` marks the new ones. */
static td_status convert_operands(td_pointwise *p, uint32_t *owned)
{
    for (int k = 0; k < p->in.n; k++) {
        td_tensor *t = p->in.t[k], *converted;
        td_dtype to = td_dtype_of_operand(p, k);
        if (t->dtype == to || (p->keep >> k & 1)) continue;
        TD_TRY(td_cast(&converted, t, to));
        p->in.t[k] = converted;
        *owned |= 1u << k;
    }
    return TD_OK;
}

static td_status walk(const td_pointwise *p, td_tensor *out)
{
    td_tensor *operands[TD_MAX_OPERANDS] = {out};
    uint32_t numbers = 0;
    td_nd nd;
    for (int k = 0; k < p->in.n; k++) {
        operands[k + 1] = p->in.t[k];
        /* of the host, beside tensors of another device */
        if (p->in.t[k]->device != out->device) numbers |= 2u << k;
    }
    TD_TRY(td_nd_init(&nd, p->in.n + 1, operands));
    return run_walk(p, &nd, out, numbers);
}

static td_status convert_and_walk(const td_pointwise *p, td_tensor *out)
{
    td_pointwise q = *p;
    uint32_t owned = 0;
    td_status status = convert_operands(&q, &owned);
    if (status == TD_OK) status = walk(&q, out);
    for (int k = 0; k < q.in.n; k++)
        if (owned >> k & 1) td_tensor_free(q.in.t[k]);
    return status;
}

static td_status into_new(const td_pointwise *p, int ndim, const int64_t *sizes, td_tensor **out)
{
    td_tensor *made;
    TD_TRY(new_result(p, ndim, sizes, &made));
    td_status status = td_is_meta(made) || made->numel == 0 ? TD_OK : convert_and_walk(p, made);
    if (status == TD_OK) *out = made;
    else td_tensor_free(made);
    return status;
}

static td_status into_target(const td_pointwise *p, int ndim, const int64_t *sizes, td_tensor *out)
{
    bool directly;
    TD_TRY(check_target(p, out, ndim, sizes));
    TD_TRY(writes_directly(p, out, &directly));
    if (td_is_meta(out) || out->numel == 0) return TD_OK;
    if (directly) return convert_and_walk(p, out);
    td_tensor *made;
    TD_TRY(into_new(p, ndim, sizes, &made));
    td_status status = td_copy(out, made);
    td_tensor_free(made);
    return status;
}

static td_status run_general(td_pointwise *p, td_tensor **out)
{
    int ndim;
    int64_t sizes[TD_MAX_DIMS];
    TD_TRY(joint_shape(&p->in, &ndim, sizes));
    return *out ? into_target(p, ndim, sizes, *out) : into_new(p, ndim, sizes, out);
}

/* Bools among floats: they wait, or all of it goes the general way. */
static td_status run_turned(td_pointwise *p, td_tensor **out, const td_tensor *model)
{
    td_tensor *made = *out;
    if (model->numel < TD_WAITING_WORTH) return td_wait_settle(), run_general(p, out);
    if (!made) TD_TRY(td_tensor_empty(&made, p->result, TD_CPU, model->ndim, model->sizes));
    td_status status = td_wait(p, made, model->numel) ? TD_OK : run_general(p, &made);
    if (status == TD_OK) *out = made;
    else if (made != *out) td_tensor_free(made);
    return status;
}

td_status td_pointwise_run(td_pointwise *p, td_tensor **out)
{
    bool turns = false;
    const td_tensor *model = flat_model(p, &turns);
    if (!model || !td_on_host(model) || (*out && !flat_target(p, *out, model))) {
        td_wait_settle();
        return run_general(p, out);
    }
    if (turns) return run_turned(p, out, model);
    if (!*out) TD_TRY(td_tensor_empty(out, p->result, TD_CPU, model->ndim, model->sizes));
    if (td_waits && td_wait(p, *out, model->numel)) return TD_OK;
    return walk_flat(p, *out, model->numel);
}

/* ---- the operator ---- */

static void gather(const td_call *call, td_operands *in)
{
    in->n = 0;
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_TENSOR && in->n < TD_MAX_OPERANDS - 1)
            in->t[in->n++] = call->args[k].tensor;
}

/* A loop is looked up by name once for each op and dtype, then kept beside the op. */
static td_status bind_loop(const td_op *op, td_dtype dtype, const td_loop_entry **out)
{
    *out = op->loops->entries[dtype];
    if (*out) return TD_OK;
    TD_TRY(td_require_entry(op->name, op->loop, dtype, out));
    op->loops->entries[dtype] = *out;
    return TD_OK;
}

/* The loop for a number behind short floats, or before one, if that is where the wide one is. */
static td_loop number_loop(const td_op *op, const td_pointwise *p)
{
    const td_number_loops *found = op->loops->numbers;
    if (!found) return NULL;
    bool first = found->first && p->in.n == 2 && p->wide == 1;
    if (!first && p->wide != 1u << (p->in.n - 1)) return NULL;
    return p->compute == TD_F16 ? found->f16 : p->compute == TD_BF16 ? found->bf16 : NULL;
}

/* Numbers beside tensors of `compute`, a dtype that loops widen, have another dtype. */
static inline bool may_be_wide(const td_operands *in, td_dtype compute)
{
    if (!((1u << TD_F16 | 1u << TD_BF16 | 1u << TD_C32) >> compute & 1)) return false;
    for (int k = 0; k < in->n; k++)
        if (in->t[k]->dtype != compute) return true;
    return false;
}

/* A few eighths, as most numbers of programs are: seven bits and a sign hold it. */
static bool is_short(const td_tensor *t)
{
    double eighths = t->dtype == TD_F64   ? 8 * *(const double *)td_data(t)
                     : t->dtype == TD_I64 ? 8 * (double)*(const int64_t *)td_data(t)
                                          : NAN;
    return eighths > -128 && eighths < 128 && eighths == (int)eighths;
}

/* More than eleven significant bits, which no short float holds. */
static bool is_long(const td_tensor *t)
{
    uint64_t bits;
    if (t->dtype != TD_F64) return false;
    memcpy(&bits, td_data(t), sizeof bits);
    return bits << 22;
}

/* Does a number of the host keep its value in `dtype`? */
static bool fits_in(const td_tensor *t, td_dtype dtype)
{
    element rounded;
    if (!td_on_host(t)) return false;
    if (is_short(t)) return true;
    if (is_long(t)) return false;
    td_scalar value = td_scalar_load((td_dtype)t->dtype, td_data(t));
    td_scalar_store(&value, dtype, &rounded);
    td_scalar back = td_scalar_load(dtype, &rounded);
    return back.re == value.re && back.im == value.im;
}

/* Numbers beside short floats stay what they are until the loop has widened those. Where this takes
 * buffers, numbers that the short floats hold are left to the loop that takes none; not so in work
 * that waits, whose chains do not depend on values. */
static __attribute__((noinline)) td_status keep_wide(const td_op *op, td_pointwise *p)
{
    for (int k = 0; k < p->in.n; k++)
        if (is_number(p->in.t[k]) && p->in.t[k]->dtype != p->compute && !(p->keep >> k & 1))
            p->wide |= 1u << k;
    if (!p->wide) return TD_OK;
    p->number = number_loop(op, p);
    bool fit = !p->number;
    for (int k = 0; fit && k < p->in.n; k++)
        fit = !(p->wide >> k & 1) || fits_in(p->in.t[k], p->compute);
    if (fit && !td_waits) p->wide = 0;
    return p->wide ? bind_loop(op, td_row_dtype(p->compute), &p->wide_entry) : TD_OK;
}

td_status td_pointwise_as(td_call *call, const td_op *op, td_pointwise_check check)
{
    td_pointwise p = {
        .cost = op->cost, .context = call->args, .context_bytes = td_context_bytes(call)};
    gather(call, &p.in);
    TD_TRY(compute_dtype((td_promotion)op->promotion, &p.in, &p.compute));
    p.result = result_dtype((td_promotion)op->promotion, p.compute);
    if (check) TD_TRY(check(call, &p));
    TD_TRY(bind_loop(op, p.compute, &p.entry));
    if (may_be_wide(&p.in, p.compute) && !op->rounds_numbers) TD_TRY(keep_wide(op, &p));
    return td_pointwise_run(&p, &call->out[0]);
}

td_status td_op_pointwise(td_call *call)
{
    return td_pointwise_as(call, call->op, td_row_checks[call->op->id]);
}
