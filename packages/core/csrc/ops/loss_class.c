/* class_loss.c - losses of class scores with class numbers as targets: nll_loss, and cross entropy in one
 * piece.
 *
 * Scores are [C], [N, C] or [N, C, ...]; targets have that shape without C. Cross entropy keeps two numbers
 * for each target, the largest score and the logarithm of the sum of exponentials below it, and its gradient
 * is written in one pass. */
#include <string.h>
#include "cpu/loss.h"
#include "ops/view/view.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define CHUNK 4096 /* targets of one partial sum */
#define EXP_NS 0.6

typedef struct scores {
    const char *op;
    int64_t samples, classes, inner, ignore;
    int64_t reduction; /* 0 none, 1 mean, 2 sum */
    td_dtype dtype;
    td_tensor *x, *target, *weight; /* dense; x and weight float32 or float64, weight may be NULL */
} scores;

static int64_t count_of(const scores *s) { return s->samples * s->inner; }
static td_dtype compute_dtype(td_dtype d) { return d == TD_F64 ? TD_F64 : TD_F32; }

/* ---- checks ---- */

static td_status check_dtypes(const scores *s, const td_tensor *x, const td_tensor *target,
                              const td_tensor *weight)
{
    td_dtype d = (td_dtype)x->dtype;
    if (!td_is_floating(d) || td_is_float8(d))
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'; it takes floating-point scores",
                       s->op, td_dtypes[d].type_name);
    if (target->dtype != TD_I64 && target->dtype != TD_U8)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: expected targets of scalar type Long (int64) or Byte but found %s", s->op,
                       td_dtypes[target->dtype].type_name);
    if (weight && weight->dtype != x->dtype)
        return td_fail(TD_RUNTIME_ERROR, "%s: expected weights of scalar type %s but found %s", s->op,
                       td_dtypes[d].type_name, td_dtypes[weight->dtype].type_name);
    if (weight && (weight->ndim != 1 || weight->numel != s->classes))
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: weights are for all %lld classes or for none, but got %lld weights",
            s->op, (long long)s->classes, (long long)weight->numel);
    return TD_OK;
}

static td_status bad_target(const scores *s, td_status kind, const td_tensor *x, const td_tensor *target)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    return td_fail(
        kind,
        "%s: Expected the target to have the input's size without its classes, got input %s and target %s",
        s->op, td_shape_text(x->ndim, x->sizes, a), td_shape_text(target->ndim, target->sizes, b));
}

static td_status check_shapes(scores *s, const td_tensor *x, const td_tensor *target)
{
    if (x->ndim == 0) return td_fail(TD_VALUE_ERROR, "%s: Expected 1 or more dimensions (got 0)", s->op);
    s->samples = s->inner = 1;
    if (x->ndim == 1) {
        s->classes = x->sizes[0];
        return target->ndim <= 1 && target->numel == 1 ? TD_OK : bad_target(s, TD_VALUE_ERROR, x, target);
    }
    s->samples = x->sizes[0];
    s->classes = x->sizes[1];
    if (target->ndim == 0 || target->sizes[0] != s->samples)
        return td_fail(TD_VALUE_ERROR,
                       "%s: Expected input batch_size (%lld) to match target batch_size (%lld).", s->op,
                       (long long)s->samples, (long long)(target->ndim ? target->sizes[0] : 0));
    if (target->ndim != x->ndim - 1) return bad_target(s, TD_RUNTIME_ERROR, x, target);
    for (int d = 2; d < x->ndim; d++) {
        if (x->sizes[d] != target->sizes[d - 1]) return bad_target(s, TD_RUNTIME_ERROR, x, target);
        s->inner *= x->sizes[d];
    }
    return TD_OK;
}

/* ---- operands ---- */

static void release(scores *s)
{
    td_tensor_free(s->x);
    td_tensor_free(s->target);
    td_tensor_free(s->weight);
}

static td_status check(scores *s, const td_tensor *x, const td_tensor *target, const td_tensor *weight)
{
    s->dtype = (td_dtype)x->dtype;
    if (s->reduction < 0 || s->reduction > 2)
        return td_fail(TD_VALUE_ERROR, "%s: %lld is not a reduction; expected 0 (none), 1 (mean) or 2 (sum)",
                       s->op, (long long)s->reduction);
    TD_TRY(check_shapes(s, x, target));
    return check_dtypes(s, x, target, weight);
}

static td_status take(scores *s, const td_tensor *x, const td_tensor *target, const td_tensor *weight)
{
    td_dtype compute = compute_dtype(s->dtype);
    td_status status = td_cast_contiguous(&s->x, x, compute);
    if (status == TD_OK) status = td_cast_contiguous(&s->target, target, TD_I64);
    if (status == TD_OK && weight) status = td_cast_contiguous(&s->weight, weight, compute);
    if (status != TD_OK) release(s);
    return status;
}

static double read_number(const td_tensor *t, int64_t i)
{
    return t->dtype == TD_F64 ? ((const double *)td_data(t))[i] : (double)((const float *)td_data(t))[i];
}

static void write_number(td_tensor *t, int64_t i, double value)
{
    if (t->dtype == TD_F64)
        ((double *)td_data(t))[i] = value;
    else
        ((float *)td_data(t))[i] = (float)value;
}

/* ---- the loss of every target ---- */

typedef struct partial {
    double loss, weight;
    int64_t bad; /* position of a target that is no class, or -1 */
} partial;

typedef struct picking {
    const scores *s;
    const td_tensor *statistics; /* [2, ...] of cross entropy; NULL: x holds log-probabilities */
    td_tensor *each;             /* losses, or NULL when they are only summed */
    partial *partials;
} picking;

static bool is_class(const scores *s, int64_t target) { return target >= 0 && target < s->classes; }

/* Where the score of target i stands. */
static int64_t position(const scores *s, int64_t i, int64_t target)
{
    return (i / s->inner * s->classes + target) * s->inner + i % s->inner;
}

static double loss_at(const picking *p, int64_t i, int64_t target)
{
    double score = read_number(p->s->x, position(p->s, i, target));
    if (!p->statistics) return -score;
    return read_number(p->statistics, count_of(p->s) + i) - (score - read_number(p->statistics, i));
}

static void pick_chunks(void *context, int64_t begin, int64_t end)
{
    const picking *p = context;
    const scores *s = p->s;
    const int64_t *targets = td_data(s->target);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t last = (chunk + 1) * CHUNK < count_of(s) ? (chunk + 1) * CHUNK : count_of(s);
        partial sum = {0, 0, -1};
        for (int64_t i = chunk * CHUNK; i < last; i++) {
            double loss = 0;
            if (targets[i] != s->ignore && !is_class(s, targets[i])) {
                sum.bad = i;
            } else if (targets[i] != s->ignore) {
                double w = s->weight ? read_number(s->weight, targets[i]) : 1;
                loss = w * loss_at(p, i, targets[i]);
                sum.loss += loss;
                sum.weight += w;
            }
            if (p->each) write_number(p->each, i, loss);
        }
        p->partials[chunk] = sum;
    }
}

static td_status pick(const picking *p, partial *sum)
{
    picking job = *p;
    int64_t n = count_of(p->s), chunks = n / CHUNK + (n % CHUNK != 0),
            bytes = (chunks + 1) * (int64_t)sizeof(partial);
    *sum = (partial){0, 0, -1};
    if (!(job.partials = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial sums", (long long)bytes);
    td_parallel(chunks, 1, pick_chunks, &job);
    for (int64_t c = 0; c < chunks; c++) {
        sum->loss += job.partials[c].loss;
        sum->weight += job.partials[c].weight;
        if (sum->bad < 0) sum->bad = job.partials[c].bad;
    }
    td_free(job.partials, bytes);
    if (sum->bad < 0) return TD_OK;
    return td_fail(TD_INDEX_ERROR, "%s: Target %lld is out of bounds: there are %lld classes", p->s->op,
                   (long long)((const int64_t *)td_data(p->s->target))[sum->bad], (long long)p->s->classes);
}

static td_status number_result(td_tensor **out, double value, td_dtype dtype)
{
    td_scalar s = td_scalar_float(value);
    TD_TRY(td_tensor_empty(out, dtype, TD_CPU, 0, NULL));
    return td_fill(*out, &s);
}

/* out[0] the loss, *total the summed weights (0 without a reduction, as nobody divides by them) */
static td_status reduce(td_tensor **out, td_tensor **total, const picking *p, const td_tensor *target)
{
    partial sum;
    const scores *s = p->s;
    picking job = *p;
    bool scalar = target->ndim == 0 || (s->x->ndim == 1 && s->reduction);
    if (s->reduction == 0)
        TD_TRY(td_tensor_empty(&job.each, (td_dtype)s->x->dtype, TD_CPU, scalar ? 0 : target->ndim,
                               target->sizes));
    td_status status = pick(&job, &sum);
    if (status == TD_OK && job.each) status = td_cast(out, job.each, s->dtype);
    td_tensor_free(job.each);
    if (status == TD_OK && s->reduction)
        status = number_result(out, s->reduction == 1 ? sum.loss / sum.weight : sum.loss, s->dtype);
    return status == TD_OK
               ? number_result(total, s->reduction ? sum.weight : 0, s->dtype == TD_F64 ? TD_F64 : s->dtype)
               : status;
}

static td_status meta_results(td_call *call, const scores *s, const td_tensor *target, int count)
{
    bool none = s->reduction == 0;
    TD_TRY(td_tensor_empty(&call->out[0], s->dtype, TD_META, none ? target->ndim : 0, target->sizes));
    if (count == 3)
        TD_TRY(
            td_tensor_empty(&call->out[1], compute_dtype(s->dtype), TD_META, 2, (int64_t[]){2, count_of(s)}));
    return td_tensor_empty(&call->out[count - 1], s->dtype, TD_META, 0, NULL);
}

/* ---- nll_loss ---- */

/* (self, target, weight, reduction, ignore_index) -> (output, total_weight) */
td_status td_op_nll_loss_forward(td_call *call)
{
    scores s = {.op = "nll_loss", .reduction = TD_INT(3), .ignore = TD_INT(4)};
    const td_tensor *target = TD_TENSOR(1);
    TD_TRY(check(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    if (td_is_meta(TD_TENSOR(0))) return meta_results(call, &s, target, 2);
    TD_TRY(take(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    picking p = {.s = &s};
    td_status status = reduce(&call->out[0], &call->out[1], &p, target);
    release(&s);
    return status;
}

/* The factor of every target's gradient: the incoming gradient times its weight, by the total for a mean; 0
 * if ignored. */
static td_status scales(td_tensor **out, const scores *s, const td_tensor *grad, const td_tensor *total)
{
    td_tensor *g, *made;
    int64_t n = count_of(s);
    const int64_t *targets = td_data(s->target);
    if (grad->numel != (s->reduction ? 1 : n))
        return td_fail(TD_RUNTIME_ERROR, "%s: expected a gradient of %lld elements, got %lld", s->op,
                       (long long)(s->reduction ? 1 : n), (long long)grad->numel);
    TD_TRY(td_cast_contiguous(&g, grad, (td_dtype)s->x->dtype));
    td_scalar sum = td_scalar_load((td_dtype)total->dtype, td_data(total));
    double factor = s->reduction == 1 ? 1 / sum.re : 1;
    td_status status = td_tensor_empty(&made, (td_dtype)s->x->dtype, TD_CPU, 1, &n);
    for (int64_t i = 0; i < n && status == TD_OK; i++) {
        bool used = targets[i] != s->ignore;
        if (used && !is_class(s, targets[i])) {
            td_tensor_free(made);
            status = td_fail(TD_INDEX_ERROR, "%s: Target %lld is out of bounds: there are %lld classes",
                             s->op, (long long)targets[i], (long long)s->classes);
            break;
        }
        double w = used && s->weight ? read_number(s->weight, targets[i]) : 1;
        write_number(made, i, used ? read_number(g, s->reduction ? 0 : i) * w * factor : 0);
    }
    if (status == TD_OK) *out = made;
    td_tensor_free(g);
    return status;
}

static void subtract_at_targets(td_tensor *out, const scores *s, const td_tensor *scale)
{
    const int64_t *targets = td_data(s->target);
    for (int64_t i = 0; i < count_of(s); i++) {
        if (targets[i] == s->ignore) continue;
        int64_t at = position(s, i, targets[i]);
        write_number(out, at, read_number(out, at) - read_number(scale, i));
    }
}

static td_status convert(td_tensor **t, td_dtype dtype)
{
    td_tensor *converted;
    TD_TRY(td_cast(&converted, *t, dtype));
    td_tensor_free(*t);
    *t = converted;
    return TD_OK;
}

/* (grad_output, self, target, weight, reduction, ignore_index, total_weight) -> grad_self */
td_status td_op_nll_loss_backward(td_call *call)
{
    scores s = {.op = "nll_loss_backward", .reduction = TD_INT(4), .ignore = TD_INT(5)};
    const td_tensor *x = TD_TENSOR(1);
    td_tensor *scale, *out = NULL;
    td_scalar zero = td_scalar_int(0);
    TD_TRY(check(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    if (td_is_meta(x)) return td_tensor_empty(&call->out[0], s.dtype, TD_META, x->ndim, x->sizes);
    TD_TRY(take(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    td_status status = scales(&scale, &s, TD_TENSOR(0), TD_TENSOR(6));
    if (status == TD_OK) {
        status = td_tensor_empty(&out, (td_dtype)s.x->dtype, TD_CPU, x->ndim, x->sizes);
        if (status == TD_OK) status = td_fill(out, &zero);
        if (status == TD_OK) subtract_at_targets(out, &s, scale);
        td_tensor_free(scale);
    }
    call->out[0] = out;
    if (status == TD_OK) status = convert(&call->out[0], s.dtype);
    release(&s);
    return status;
}

/* ---- cross entropy ---- */

typedef struct class_job {
    const td_class_kernel *kernel;
    const scores *s;
    char *out, *top, *log;
    const char *x, *scale; /* scale NULL: compute the statistics */
    int64_t itemsize, strips;
} class_job;

static void class_rows(void *context, int64_t begin, int64_t end)
{
    const class_job *j = context;
    int64_t n = j->s->classes, at = begin * n * j->itemsize, stat = begin * j->itemsize;
    if (j->scale)
        j->kernel->rows_gradient(j->out + at, j->x + at, j->top + stat, j->log + stat, j->scale + stat,
                                 end - begin, n);
    else
        j->kernel->rows(j->top + stat, j->log + stat, j->x + at, end - begin, n);
}

static void class_strips(void *context, int64_t begin, int64_t end)
{
    const class_job *j = context;
    int64_t n = j->s->classes, inner = j->s->inner;
    for (int64_t i = begin; i < end; i++) {
        int64_t sample = i / j->strips, first = i % j->strips * TD_CLASS_STRIP,
                m = inner - first < TD_CLASS_STRIP ? inner - first : TD_CLASS_STRIP;
        int64_t at = (sample * n * inner + first) * j->itemsize,
                stat = (sample * inner + first) * j->itemsize;
        if (j->scale)
            j->kernel->cols_gradient(j->out + at, j->x + at, j->top + stat, j->log + stat, j->scale + stat, n,
                                     inner, m);
        else
            j->kernel->cols(j->top + stat, j->log + stat, j->x + at, n, inner, m);
    }
}

static void run_classes(const scores *s, const td_tensor *statistics, const td_tensor *scale, td_tensor *out)
{
    int64_t itemsize = td_itemsize((td_dtype)s->x->dtype), n = count_of(s);
    class_job j = {&TD_PICK(td_loss_kernels)->classes[s->x->dtype == TD_F64],
                   s,
                   out ? td_data(out) : NULL,
                   td_data(statistics),
                   (char *)td_data(statistics) + n * itemsize,
                   td_data(s->x),
                   scale ? td_data(scale) : NULL,
                   itemsize,
                   (s->inner + TD_CLASS_STRIP - 1) / TD_CLASS_STRIP};
    int64_t unit = s->classes * (s->inner == 1 ? 1 : s->inner / (j.strips ? j.strips : 1) + 1),
            grain = 8192 / (unit + 1);
    if (n == 0) return;
    void *token = td_heavy_begin((double)n * (double)s->classes * EXP_NS);
    if (s->inner == 1)
        td_parallel(s->samples, grain > 1 ? grain : 1, class_rows, &j);
    else
        td_parallel(s->samples * j.strips, grain > 1 ? grain : 1, class_strips, &j);
    td_heavy_end(token);
}

/* (self, target, weight, reduction, ignore_index) -> (output, statistics, total_weight) */
td_status td_op__cross_entropy(td_call *call)
{
    scores s = {.op = "cross_entropy", .reduction = TD_INT(3), .ignore = TD_INT(4)};
    const td_tensor *target = TD_TENSOR(1);
    TD_TRY(check(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    if (td_is_meta(TD_TENSOR(0))) return meta_results(call, &s, target, 3);
    TD_TRY(take(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    td_status status = td_tensor_empty(&call->out[1], (td_dtype)s.x->dtype, TD_CPU, 2,
                                       (int64_t[]){2, count_of(&s)});
    if (status == TD_OK) {
        run_classes(&s, call->out[1], NULL, NULL);
        picking p = {.s = &s, .statistics = call->out[1]};
        status = reduce(&call->out[0], &call->out[2], &p, target);
    }
    release(&s);
    return status;
}

/* (grad_output, self, target, weight, reduction, ignore_index, statistics, total_weight) -> grad_self */
td_status td_op__cross_entropy_backward(td_call *call)
{
    scores s = {.op = "cross_entropy_backward", .reduction = TD_INT(4), .ignore = TD_INT(5)};
    const td_tensor *x = TD_TENSOR(1);
    td_tensor *scale, *statistics = NULL;
    TD_TRY(check(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    if (TD_TENSOR(6)->numel != 2 * count_of(&s))
        return td_fail(TD_RUNTIME_ERROR,
                       "cross_entropy_backward: expected two statistics for each of %lld targets",
                       (long long)count_of(&s));
    if (td_is_meta(x)) return td_tensor_empty(&call->out[0], s.dtype, TD_META, x->ndim, x->sizes);
    TD_TRY(take(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    td_status status = scales(&scale, &s, TD_TENSOR(0), TD_TENSOR(7));
    if (status == TD_OK) {
        status = td_cast_contiguous(&statistics, TD_TENSOR(6), (td_dtype)s.x->dtype);
        if (status == TD_OK)
            status = td_tensor_empty(&call->out[0], (td_dtype)s.x->dtype, TD_CPU, x->ndim, x->sizes);
        if (status == TD_OK) {
            run_classes(&s, statistics, scale, call->out[0]);
            subtract_at_targets(call->out[0], &s, scale);
            status = convert(&call->out[0], s.dtype);
        }
        td_tensor_free(statistics);
        td_tensor_free(scale);
    }
    release(&s);
    return status;
}
