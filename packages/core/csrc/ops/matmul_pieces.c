/* matmul_pieces.c - few rows times a large matrix of 16 bits that becomes float32 first: a piece of
 * it at a time, so that what is converted stays in the caches. One vector and a matrix need no copy
 * at all. */
#include "cpu/matmul/f16_run.h"
#include "cpu/matmul/gemm.h"
#include "ops/matmul.h"

#define FEW 48                  /* rows: as many as are summed as dot products */
#define LONG 512                /* numbers along k from which they are, whatever the sizes */
#define PIECE_NUMBERS (1 << 16) /* of float32 in a piece */

/* the dimension of the large factor that is cut: not the one along k */
typedef struct cut {
    const td_tensor *large;
    int dim;
    bool left; /* the large factor is a, and b a vector */
} cut;

static bool cut_of(const td_matmul *m, cut *c)
{
    const td_tensor *a = m->a, *b = m->b;
    if (m->self || td_batch_invariant || a->device != TD_CPU || td_is_meta(a)) return false;
    if (a->ndim == 2 && b->ndim == 1 && !m->bias) *c = (cut){a, 0, true};
    else if (b->ndim == 2 && a->ndim > 0) *c = (cut){b, m->turn_b ? 0 : 1, false};
    else return false;
    int64_t k = c->large->sizes[1 - c->dim], rows = k > 0 ? a->numel / k : 0;
    bool bias = !m->bias || (m->bias->ndim == 1 && m->bias->sizes[0] == c->large->sizes[c->dim]);
    return k >= LONG && c->large->strides[1 - c->dim] == 1 && c->large->strides[c->dim] == k &&
           c->large->numel >= 4 * PIECE_NUMBERS && bias && (c->left || (rows > 0 && rows <= FEW));
}

static td_status narrowed(td_tensor **out, const td_tensor *t, int dim, int64_t begin, int64_t n)
{
    int64_t sizes[TD_MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) sizes[d] = d == dim ? n : t->sizes[d];
    return td_tensor_view(out, t, t->ndim, sizes, t->strides, t->offset + begin * t->strides[dim]);
}

static td_status narrowed_float(td_tensor **out, const td_tensor *t, int dim, int64_t begin,
                                int64_t n)
{
    td_tensor *part;
    TD_TRY(narrowed(&part, t, dim, begin, n));
    td_status status = td_cast(out, part, TD_F32);
    td_tensor_free(part);
    return status;
}

/* result[..., begin : begin + n]; `small` is the other factor in float32 */
static td_status run_piece(const td_matmul *m, const cut *c, td_tensor *small, td_tensor *result,
                           int64_t begin, int64_t n)
{
    td_matmul piece = *m;
    td_tensor *large = NULL, *bias = NULL, *sums = NULL, *to = NULL;
    td_status status = narrowed_float(&large, c->large, c->dim, begin, n);
    if (status == TD_OK && m->bias) status = narrowed_float(&bias, m->bias, 0, begin, n);
    piece.a = c->left ? large : small;
    piece.b = c->left ? small : large;
    piece.bias = bias;
    if (status == TD_OK) status = td_matmul_run(&piece, &sums);
    if (status == TD_OK) status = narrowed(&to, result, result->ndim - 1, begin, n);
    if (status == TD_OK) status = td_copy(to, sums);
    td_tensor *made[] = {large, bias, sums, to};
    for (int i = 0; i < 4; i++) td_tensor_free(made[i]);
    return status;
}

/* ---- one vector: a matrix of 16 bits is multiplied as it is read ---- */
static bool vector_product(const td_matmul *m, td_f16_product *p, td_tensor **vector)
{
    td_tensor *a = m->a, *b = m->b, *large = b->ndim == 1 ? a : b;
    bool short_float = a->dtype == TD_F16 || a->dtype == TD_BF16;
    if (!short_float || m->self || td_batch_invariant || a->device != TD_CPU || td_is_meta(a) ||
        large->ndim != 2 || !td_multiplies_f16())
        return false;
    int along = large == a || m->turn_b; /* the dimension along k */
    int64_t step = large->strides[along], other = large->strides[1 - along];
    *vector = large == a ? b : a;
    *p = (td_f16_product){.a = td_data(large),
                          .brain = a->dtype == TD_BF16,
                          .by_column = step != 1,
                          .row = step == 1 ? other : step,
                          .n = large->sizes[1 - along],
                          .k = large->sizes[along]};
    bool bias = !m->bias || (large == b && m->bias->ndim == 1 && m->bias->sizes[0] == p->n);
    return bias && p->n > 0 && p->k > 0 && (*vector)->numel == p->k && (step == 1 || other == 1);
}

/* *out: of 16 bits and these sizes */
static td_status times_vector(const td_matmul *m, td_f16_product *p, const td_tensor *vector,
                              int ndim, const int64_t *sizes, td_tensor **out)
{
    td_tensor *x, *bias = NULL, *sums = NULL;
    TD_TRY(td_cast_contiguous(&x, vector, TD_F32));
    td_status status = td_cast_optional(&bias, m->bias, TD_F32);
    if (status == TD_OK) status = td_tensor_empty(&sums, TD_F32, TD_CPU, ndim, sizes);
    if (status == TD_OK) {
        p->x = td_data(x);
        p->bias = bias ? td_data(bias) : NULL;
        p->out = td_data(sums);
        td_f16_times_vector(p);
        status = td_cast(out, sums, (td_dtype)vector->dtype);
    }
    td_tensor_free(sums);
    td_tensor_free(bias);
    td_tensor_free(x);
    return status;
}

bool td_matmul_wants_pieces(const td_matmul *m)
{
    cut c;
    td_f16_product p;
    td_tensor *vector;
    return vector_product(m, &p, &vector) || cut_of(m, &c);
}

td_status td_matmul_pieces(const td_matmul *m, int ndim, const int64_t *sizes, td_tensor **out)
{
    cut c;
    td_f16_product p;
    td_tensor *small, *result;
    if (vector_product(m, &p, &small)) return times_vector(m, &p, small, ndim, sizes, out);
    if (!cut_of(m, &c)) return td_fail(TD_RUNTIME_ERROR, "%s: not a product in pieces", m->op);
    TD_TRY(td_cast(&small, c.left ? m->b : m->a, TD_F32));
    td_status status =
        td_tensor_empty(&result, (td_dtype)m->a->dtype, (td_device)m->a->device, ndim, sizes);
    if (status == TD_OK) {
        int64_t count = c.large->sizes[c.dim], step = PIECE_NUMBERS / c.large->sizes[1 - c.dim];
        step = step < 16 ? 16 : step / 16 * 16;
        for (int64_t i = 0; i < count && status == TD_OK; i += step)
            status = run_piece(m, &c, small, result, i, count - i < step ? count - i : step);
        if (status == TD_OK) *out = result;
        else td_tensor_free(result);
    }
    td_tensor_free(small);
    return status;
}
