/* recurrent.c - layers of LSTM, GRU and plain recurrences as one operator each: arguments and
 * results. The steps: recurrent_run.c. */
#include <string.h>
#include "cpu/recurrent/recurrent_run.h"
#include "runtime/device.h"
#include "runtime/op.h"
#include "runtime/work.h"
#include "runtime/wraps.h"

/* ---- arguments ---- */
static const char *const NAMES[TD_CELLS] = {"lstm", "gru", "rnn", "rnn"};

static td_status wants(const td_recurrence *r, const char *what, const td_tensor *t, int ndim,
                       const int64_t *sizes)
{
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (t->ndim != ndim || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) != 0)
        return td_fail(TD_RUNTIME_ERROR, "%s: expected %s of shape %s, got %s", NAMES[r->cell],
                       what, td_shape_text(ndim, sizes, want),
                       td_shape_text(t->ndim, t->sizes, have));
    if (t->dtype != r->weight->dtype)
        return td_fail(TD_RUNTIME_ERROR, "%s: expected %s of dtype %s like the weight, got %s",
                       NAMES[r->cell], what, td_dtypes[r->weight->dtype].name,
                       td_dtypes[t->dtype].name);
    return TD_OK;
}

static td_status wants_state(const td_recurrence *r, const char *what, const td_tensor *t)
{
    return wants(r, what, t, 2, (const int64_t[]){r->rows, r->units});
}

static td_status wants_states(const td_recurrence *r, const char *what, const td_tensor *t)
{
    return wants(r, what, t, 3, (const int64_t[]){r->steps, r->rows, r->units});
}

/* Sizes by `numbers`, [T, N, parts * H], and the weight [G * H, H]. */
static td_status read_sizes(td_recurrence *r, const char *what, const td_tensor *numbers, int parts,
                            const td_tensor *weight)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    int gates = td_cell_of(r->cell, TD_F32)->gates;
    if (numbers->ndim != 3 || weight->ndim != 2 || weight->sizes[0] / gates != weight->sizes[1] ||
        weight->sizes[0] % gates)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: expected %s as [T, N, %d * H] and a weight [%d * H, H], got %s and %s",
                       NAMES[r->cell], what, parts, gates,
                       td_shape_text(numbers->ndim, numbers->sizes, a),
                       td_shape_text(weight->ndim, weight->sizes, b));
    if (weight->dtype != TD_F32 && weight->dtype != TD_F64)
        return td_fail(TD_RUNTIME_ERROR, "%s: expected float32 or float64, got %s", NAMES[r->cell],
                       td_dtypes[weight->dtype].name);
    r->steps = numbers->sizes[0];
    r->rows = numbers->sizes[1];
    r->units = weight->sizes[1];
    r->weight = weight;
    return wants(r, what, numbers, 3, (const int64_t[]){r->steps, r->rows, parts * r->units});
}

static td_status read_share(td_recurrence *r, const td_tensor *share, const td_tensor *weight)
{
    return read_sizes(r, "the inputs' share of the gates", share,
                      td_cell_of(r->cell, TD_F32)->gates, weight);
}

static td_status wants_dense(const td_recurrence *r, const td_tensor *states,
                             const td_tensor *slots)
{
    if (td_is_contiguous(states) && td_is_contiguous(slots)) return TD_OK;
    return td_fail(
        TD_RUNTIME_ERROR,
        "%s: expected the states and the gates as the forward pass made them, contiguous",
        NAMES[r->cell]);
}

/* No memory to work on: a meta tensor, or an empty one. */
static bool nothing(const td_recurrence *r)
{
    return td_is_meta(r->weight) || r->rows * r->units == 0;
}

/* ---- results ---- */
/* [T, N, parts * H], or [N, H] if parts is 0 */
static td_status make(td_tensor **out, const td_recurrence *r, int parts)
{
    int64_t sizes[] = {r->steps, r->rows, r->units * (parts ? parts : 1)};
    return td_tensor_empty(out, (td_dtype)r->weight->dtype, (td_device)r->weight->device,
                           parts ? 3 : 2, parts ? sizes : sizes + 1);
}

/* ---- tensors that must lie densely ---- */
#define MAX_DENSE 3
static void free_dense(td_tensor *const *dense, int n)
{
    for (int i = 0; i < n; i++) td_tensor_free(dense[i]);
}

static td_status make_dense(td_tensor **dense, int n, td_tensor *const *given)
{
    for (int i = 0; i < n; i++) {
        td_status status = td_contiguous(&dense[i], given[i]);
        if (status != TD_OK) {
            free_dense(dense, i);
            return status;
        }
    }
    return TD_OK;
}

/* All steps where the tensors lie; `hidden`: the first state, NULL for the way back. */
static td_status run_steps(const td_recurrence *r, const char *hidden)
{
    td_device device = (td_device)r->weight->device;
    td_recurrence_job job = {.r = r, .hidden = hidden};
    if (device != TD_CPU) return td_work_run(TD_WORK_RECURRENCE, &job, device, NAMES[r->cell]);
    return hidden ? td_recurrence_forward(r, hidden) : td_recurrence_backward(r);
}

static bool has_rows(const td_tensor *t) { return t->strides[2] == 1 || t->sizes[2] <= 1; }

/* Runs a layer whose first states are given[0] (hidden) and, for an LSTM, given[1]; a share without
 * dense rows is copied. */
static td_status forward(td_recurrence *r, td_tensor *share, int states, td_tensor *const *given)
{
    td_tensor *dense[MAX_DENSE], *rows = share;
    int64_t item = td_itemsize((td_dtype)share->dtype);
    TD_TRY(make_dense(dense, states, given));
    td_status status = has_rows(share) ? TD_OK : td_contiguous(&rows, share);
    if (status == TD_OK) {
        r->share = td_data(rows);
        r->share_step = td_wrapping_mul(rows->strides[0], item);
        r->share_row = td_wrapping_mul(rows->strides[1], item);
        r->first = td_data(dense[states - 1]);
        status = run_steps(r, td_data(dense[0]));
        if (rows != share) td_tensor_free(rows);
    }
    free_dense(dense, states);
    return status;
}

/* Runs a layer back; `first` is the state that `states` continues, any tensor if there is none. */
static td_status backward(td_recurrence *r, td_tensor *grad_output, td_tensor *first)
{
    td_tensor *dense[MAX_DENSE];
    TD_TRY(make_dense(dense, 2, (td_tensor *const[]){grad_output, first}));
    r->grad_output = td_data(dense[0]);
    r->first = td_data(dense[1]);
    td_status status = run_steps(r, NULL);
    free_dense(dense, 2);
    return status;
}

static const td_scalar ZERO = {.kind = TD_S_INT};

/* ---- _lstm(share, hidden, cell, weight, reverse) -> (output, last_cell, cells, gates) ---- */
td_status td_op__lstm(td_call *call)
{
    td_recurrence r = {.cell = TD_CELL_LSTM, .reverse = TD_BOOLEAN(4)};
    TD_TRY(read_share(&r, TD_TENSOR(0), TD_TENSOR(3)));
    TD_TRY(wants_state(&r, "a hidden state", TD_TENSOR(1)));
    TD_TRY(wants_state(&r, "a cell's state", TD_TENSOR(2)));
    TD_TRY(make(&call->out[0], &r, 1));
    TD_TRY(make(&call->out[1], &r, 0));
    TD_TRY(make(&call->out[2], &r, 1));
    TD_TRY(make(&call->out[3], &r, 4));
    if (nothing(&r)) return TD_OK;
    if (r.steps == 0) return td_copy(call->out[1], TD_TENSOR(2));
    r.output = td_data(call->out[0]);
    r.states = td_data(call->out[2]);
    r.slots = td_data(call->out[3]);
    TD_TRY(forward(&r, TD_TENSOR(0), 2, (td_tensor *const[]){TD_TENSOR(1), TD_TENSOR(2)}));
    int64_t bytes = r.rows * r.units * td_itemsize((td_dtype)r.weight->dtype);
    td_device device = (td_device)r.weight->device;
    const char *last = r.states + (r.reverse ? 0 : r.steps - 1) * bytes;
    return td_table_of(device)->transfer(td_data(call->out[1]), device, last, device, bytes, false);
}

/* ---- _lstm_backward(grad_output, grad_cell, cell, weight, cells, gates, reverse) -> (share,
 * hidden, cell) ---- */
td_status td_op__lstm_backward(td_call *call)
{
    td_recurrence r = {.cell = TD_CELL_LSTM, .reverse = TD_BOOLEAN(6)};
    TD_TRY(read_share(&r, TD_TENSOR(5), TD_TENSOR(3)));
    TD_TRY(wants_states(&r, "gradients of the output", TD_TENSOR(0)));
    TD_TRY(wants_state(&r, "the gradient of the last cell's state", TD_TENSOR(1)));
    TD_TRY(wants_state(&r, "a cell's state", TD_TENSOR(2)));
    TD_TRY(wants_states(&r, "the cell's states", TD_TENSOR(4)));
    TD_TRY(wants_dense(&r, TD_TENSOR(4), TD_TENSOR(5)));
    TD_TRY(make(&call->out[0], &r, 4));
    TD_TRY(make(&call->out[1], &r, 0));
    TD_TRY(make(&call->out[2], &r, 0));
    if (nothing(&r)) return TD_OK;
    TD_TRY(td_copy(call->out[2], TD_TENSOR(1)));
    if (r.steps == 0) return td_fill(call->out[1], &ZERO);
    r.states = td_data(TD_TENSOR(4));
    r.slots = td_data(TD_TENSOR(5));
    r.grad_state = td_data(call->out[0]);
    r.grad_hidden = td_data(call->out[1]);
    r.carry = td_data(call->out[2]);
    return backward(&r, TD_TENSOR(0), TD_TENSOR(2));
}

/* ---- _gru(share, hidden, weight, bias, reverse) -> (output, gates) ---- */
td_status td_op__gru(td_call *call)
{
    td_recurrence r = {.cell = TD_CELL_GRU, .reverse = TD_BOOLEAN(4)};
    td_tensor *bias = TD_OPT_TENSOR(3);
    TD_TRY(read_share(&r, TD_TENSOR(0), TD_TENSOR(2)));
    TD_TRY(wants_state(&r, "a hidden state", TD_TENSOR(1)));
    if (bias) TD_TRY(wants(&r, "a bias of the last gate", bias, 1, &r.units));
    TD_TRY(make(&call->out[0], &r, 1));
    TD_TRY(make(&call->out[1], &r, 4));
    if (nothing(&r) || r.steps == 0) return TD_OK;
    r.output = r.states = td_data(call->out[0]);
    r.slots = td_data(call->out[1]);
    if (!bias) return forward(&r, TD_TENSOR(0), 1, &TD_TENSOR(1));
    TD_TRY(td_contiguous(&bias, bias));
    r.bias = td_data(bias);
    td_status status = forward(&r, TD_TENSOR(0), 1, &TD_TENSOR(1));
    td_tensor_free(bias);
    return status;
}

/* ---- _gru_backward(grad_output, hidden, weight, output, gates, reverse) -> (share, products,
 * hidden) ---- */
td_status td_op__gru_backward(td_call *call)
{
    td_recurrence r = {.cell = TD_CELL_GRU, .reverse = TD_BOOLEAN(5)};
    td_tensor *carry;
    TD_TRY(read_sizes(&r, "the gates", TD_TENSOR(4), 4, TD_TENSOR(2)));
    TD_TRY(wants_states(&r, "gradients of the output", TD_TENSOR(0)));
    TD_TRY(wants_state(&r, "a hidden state", TD_TENSOR(1)));
    TD_TRY(wants_states(&r, "the outputs", TD_TENSOR(3)));
    TD_TRY(wants_dense(&r, TD_TENSOR(3), TD_TENSOR(4)));
    TD_TRY(make(&call->out[0], &r, 3));
    TD_TRY(make(&call->out[1], &r, 3));
    TD_TRY(make(&call->out[2], &r, 0));
    if (nothing(&r)) return TD_OK;
    if (r.steps == 0) return td_fill(call->out[2], &ZERO);
    TD_TRY(make(&carry, &r, 0));
    td_status status = td_fill(carry, &ZERO);
    if (status == TD_OK) {
        r.states = td_data(TD_TENSOR(3));
        r.slots = td_data(TD_TENSOR(4));
        r.grad_share = td_data(call->out[0]);
        r.grad_state = td_data(call->out[1]);
        r.grad_hidden = td_data(call->out[2]);
        r.carry = td_data(carry);
        status = backward(&r, TD_TENSOR(0), TD_TENSOR(1));
    }
    td_tensor_free(carry);
    return status;
}

/* ---- _rnn(share, hidden, weight, relu, reverse) -> output ---- */
td_status td_op__rnn(td_call *call)
{
    td_recurrence r = {.cell = TD_BOOLEAN(3) ? TD_CELL_RELU : TD_CELL_TANH,
                       .reverse = TD_BOOLEAN(4)};
    TD_TRY(read_share(&r, TD_TENSOR(0), TD_TENSOR(2)));
    TD_TRY(wants_state(&r, "a hidden state", TD_TENSOR(1)));
    TD_TRY(make(&call->out[0], &r, 1));
    if (nothing(&r) || r.steps == 0) return TD_OK;
    r.output = r.states = td_data(call->out[0]);
    return forward(&r, TD_TENSOR(0), 1, &TD_TENSOR(1));
}

/* ---- _rnn_backward(grad_output, weight, output, relu, reverse) -> (share, hidden) ---- */
td_status td_op__rnn_backward(td_call *call)
{
    td_recurrence r = {.cell = TD_BOOLEAN(3) ? TD_CELL_RELU : TD_CELL_TANH,
                       .reverse = TD_BOOLEAN(4)};
    TD_TRY(read_sizes(&r, "the outputs", TD_TENSOR(2), 1, TD_TENSOR(1)));
    TD_TRY(wants_states(&r, "gradients of the output", TD_TENSOR(0)));
    TD_TRY(wants_dense(&r, TD_TENSOR(2), TD_TENSOR(2)));
    TD_TRY(make(&call->out[0], &r, 1));
    TD_TRY(make(&call->out[1], &r, 0));
    if (nothing(&r)) return TD_OK;
    if (r.steps == 0) return td_fill(call->out[1], &ZERO);
    r.output = r.states = td_data(TD_TENSOR(2));
    r.grad_state = td_data(call->out[0]);
    r.grad_hidden = r.carry = td_data(call->out[1]); /* nothing is carried */
    return backward(&r, TD_TENSOR(0), TD_TENSOR(2));
}
