/* recurrent.c - a layer of an LSTM as one operator: the steps are a loop in C, not operations of a graph.
 *
 * A task of a step is a block of units, as many as a tile of the product is wide: it multiplies the state before by the
 * weights of its units' four gates, and finishes them while they are in the nearest cache. Weights are packed once for all
 * steps, and as a thread gets the same blocks in every step, its part of them stays in its own cache. The state is
 * packed by the task that computed it, for the next step. Saved gates lie block by block, [T][block][N][4][units of it]. */
#include <string.h>
#include "kernels/recurrent.h"
#include "ops/gemm.h"
#include "runtime/alloc.h"
#include "runtime/op.h"
#include "runtime/pool.h"

#define SLICE 512         /* depth of a product before its sums go to memory, about */
#define SMALL_NS 12000    /* below, a step is not shared out */

typedef struct layer {
    const td_gemm_kernel *gemm;
    const td_lstm_kernel *cell;
    int64_t item, steps, rows, units, block, blocks;
    int64_t parts, slice;       /* numbers of a unit in a packed state (gradients: four); blocks of a slice of them */
    bool reverse;
    char *memory, *weights, *packed[2]; /* packed: the state before, and the new one */
    int64_t bytes;
    const char *share, *first_cell, *grad_output;
    int64_t share_step, share_row; /* bytes */
    char *output, *cells, *gates, *grad_hidden, *grad_cell, *grad_share;
    int64_t step;               /* how many steps are done */
} layer;

/* ---- blocks of units ---- */
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t width(const layer *l, int64_t b) { return least(l->block, l->units - b * l->block); }

/* The slice of a packed state that holds block b: its first number of a row, and how many. */
static int64_t slice_begin(const layer *l, int64_t b) { return b / l->slice * l->slice * l->block * l->parts; }
static int64_t slice_depth(const layer *l, int64_t b)
{
    return least(l->slice * l->block * l->parts, l->units * l->parts - slice_begin(l, b));
}

/* c += state times one packed panel of weights */
static void multiply(const layer *l, const char *panel, char *c, int64_t c_row, int64_t columns)
{
    for (int64_t b = 0; b < l->blocks; b += l->slice) {
        int64_t begin = slice_begin(l, b);
        l->gemm->panel(l->rows, slice_depth(l, b), 1, l->packed[0] + begin * l->rows * l->item, panel + begin * l->gemm->nr * l->item, c,
                       c_row, columns, 1);
    }
}

/* Part `part` of block b, from [rows][row], into the new packed state. */
static void pack(const layer *l, int64_t b, int part, const char *from, int64_t row)
{
    int64_t begin = slice_begin(l, b), depth = slice_depth(l, b), within = b * l->block * l->parts - begin + part * width(l, b);
    for (int64_t i = 0; i < l->rows; i += l->gemm->mr) {
        int64_t h = least(l->gemm->mr, l->rows - i);
        char *to = l->packed[1] + (begin * l->rows + i * depth + within * h) * l->item;
        l->gemm->pack_a(to, from + i * row * l->item, row, 1, h, width(l, b));
    }
}

static char *panel_of(const layer *l, int64_t index)
{
    return l->weights + index * l->units * l->parts * l->gemm->nr * l->item;
}

/* ---- places ---- */
/* the time of the n-th step that is computed */
static int64_t time_of(const layer *l, int64_t n, bool backward) { return (l->reverse != backward) ? l->steps - 1 - n : n; }
static char *at(const layer *l, char *base, int64_t time, int64_t numbers, int64_t b)
{
    return base + (time * l->rows * numbers + b * l->block) * l->item;
}

static char *gates_at(const layer *l, int64_t time, int64_t b)
{
    return l->gates + 4 * (time * l->units + b * l->block) * l->rows * l->item;
}

/* The cell's state before `time`, at block b. */
static const char *cell_before(const layer *l, int64_t time, int64_t b)
{
    int64_t before = l->reverse ? time + 1 : time - 1;
    if (before < 0 || before == l->steps) return l->first_cell + b * l->block * l->item;
    return at(l, l->cells, before, l->units, b);
}

/* ---- the tasks ---- */
static void forward_block(const layer *l, int64_t time, int64_t b)
{
    int64_t units = l->units, row = units * l->item, w = width(l, b), part = w * l->item;
    char *gates = gates_at(l, time, b), *cells = at(l, l->cells, time, units, b), *output = at(l, l->output, time, units, b);
    const char *share = l->share + time * l->share_step + b * l->block * l->item, *before = cell_before(l, time, b);
    for (int64_t i = 0; i < l->rows; i++)
        for (int g = 0; g < 4; g++) memcpy(gates + (4 * i + g) * part, share + i * l->share_row + g * row, (size_t)part);
    for (int g = 0; g < 4; g++) multiply(l, panel_of(l, 4 * b + g), gates + g * part, 4 * w, w);
    for (int64_t i = 0; i < l->rows; i++)
        l->cell->forward(gates + 4 * i * part, w, before + i * row, cells + i * row, output + i * row, w);
    pack(l, b, 0, output, units);
}

static void forward_blocks(void *context, int64_t begin, int64_t end)
{
    const layer *l = context;
    for (int64_t b = begin; b < end; b++) forward_block(l, time_of(l, l->step, false), b);
}

static void backward_block(const layer *l, int64_t time, int64_t b)
{
    int64_t units = l->units, row = units * l->item, w = width(l, b);
    char *hidden = at(l, l->grad_hidden, 0, units, b), *cell = at(l, l->grad_cell, 0, units, b);
    char *to = at(l, l->grad_share, time, 4 * units, b);
    const char *gates = gates_at(l, time, b), *cells = at(l, l->cells, time, units, b);
    const char *before = cell_before(l, time, b), *grad = l->grad_output + (time * l->rows * units + b * l->block) * l->item;
    for (int64_t i = 0; i < l->rows; i++) memcpy(hidden + i * row, grad + i * row, (size_t)(w * l->item));
    if (l->step) multiply(l, panel_of(l, b), hidden, units, w);
    for (int64_t i = 0; i < l->rows; i++)
        l->cell->backward(gates + 4 * i * w * l->item, w, before + i * row, cells + i * row, hidden + i * row, cell + i * row,
                          to + 4 * i * row, units, w);
    for (int g = 0; g < 4; g++) pack(l, b, g, to + g * row, 4 * units);
}

/* The gradient of the first hidden state, after all steps. */
static void last_block(const layer *l, int64_t b)
{
    char *hidden = at(l, l->grad_hidden, 0, l->units, b);
    for (int64_t i = 0; i < l->rows; i++) memset(hidden + i * l->units * l->item, 0, (size_t)(width(l, b) * l->item));
    multiply(l, panel_of(l, b), hidden, l->units, width(l, b));
}

static void backward_blocks(void *context, int64_t begin, int64_t end)
{
    const layer *l = context;
    for (int64_t b = begin; b < end; b++)
        if (l->step < l->steps) backward_block(l, time_of(l, l->step, true), b);
        else last_block(l, b);
}

/* ---- packing the weights: [4 * units, units] ---- */
typedef struct packing {
    const layer *l;
    const td_tensor *weight;
} packing;

static const char *weight_at(const packing *p, int64_t row, int64_t col)
{
    return (const char *)td_data(p->weight) + (row * p->weight->strides[0] + col * p->weight->strides[1]) * p->l->item;
}

/* columns of W^T: a panel for each gate of a block */
static void pack_forward(void *context, int64_t begin, int64_t end)
{
    const packing *p = context;
    const layer *l = p->l;
    for (int64_t b = begin; b < end; b++)
        for (int64_t g = 0; g < 4; g++)
            l->gemm->pack_b(panel_of(l, 4 * b + g), weight_at(p, g * l->units + b * l->block, 0), p->weight->strides[1],
                            p->weight->strides[0], l->units, width(l, b));
}

/* columns of W: rows in the order of the packed gradients */
static void pack_backward(void *context, int64_t begin, int64_t end)
{
    const packing *p = context;
    const layer *l = p->l;
    for (int64_t b = begin; b < end; b++) {
        char *to = panel_of(l, b);
        for (int64_t from = 0; from < l->blocks; from++)
            for (int64_t g = 0; g < 4; g++, to += width(l, from) * l->gemm->nr * l->item)
                l->gemm->pack_b(to, weight_at(p, g * l->units + from * l->block, b * l->block), p->weight->strides[0],
                                p->weight->strides[1], width(l, from), width(l, b));
    }
}

/* ---- a run over all steps ---- */
static td_status begin_run(layer *l, const td_tensor *weight, bool backward)
{
    int is_double = weight->dtype == TD_F64;
    l->gemm = td_gemm_kernel_of(is_double);
    l->cell = &TD_PICK(td_recurrent_kernels)->lstm[is_double];
    l->item = td_itemsize((td_dtype)weight->dtype);
    l->block = l->gemm->nr;
    l->blocks = (l->units + l->block - 1) / l->block;
    l->parts = backward ? 4 : 1;
    l->slice = l->block * l->parts < SLICE ? SLICE / (l->block * l->parts) : 1;
    int64_t weights, state;
    if (__builtin_mul_overflow(4 * l->blocks * l->block * l->item, l->units, &weights) ||
        __builtin_mul_overflow(l->rows * l->parts * l->item, l->units, &state))
        return td_fail(TD_MEMORY_ERROR, "lstm: no memory for the packed weights of %lld units", (long long)l->units);
    state = (state + 63) / 64 * 64;
    l->bytes = weights + 2 * state;
    l->memory = td_alloc(l->bytes);
    if (!l->memory) return td_fail(TD_MEMORY_ERROR, "lstm: no memory for %lld bytes of work space", (long long)l->bytes);
    l->weights = l->memory;
    l->packed[0] = l->memory + weights;
    l->packed[1] = l->packed[0] + state;
    packing p = {l, weight};
    td_parallel(l->blocks, 1 + 32768 / (4 * l->units * l->block), backward ? pack_backward : pack_forward, &p);
    return TD_OK;
}

static void swap_states(layer *l)
{
    char *done = l->packed[1];
    l->packed[1] = l->packed[0];
    l->packed[0] = done;
}

static void run_steps(layer *l, int64_t steps, td_range_fn step)
{
    bool small = td_gemm_cost(l->rows, 4 * l->units, l->units) < SMALL_NS;
    for (l->step = 0; l->step < steps; l->step++) {
        td_parallel(l->blocks, small ? l->blocks : 1, step, l);
        swap_states(l);
    }
}

static double cost_of(const layer *l) { return (double)l->steps * td_gemm_cost(l->rows, 4 * l->units, l->units); }

/* ---- arguments ---- */
static bool has_shape(const td_tensor *t, int ndim, const int64_t *sizes)
{
    return t->ndim == ndim && memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0;
}

static td_status wants(const char *what, const td_tensor *t, const td_tensor *like, int ndim, const int64_t *sizes)
{
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (!has_shape(t, ndim, sizes))
        return td_fail(TD_RUNTIME_ERROR, "lstm: expected %s of shape %s, got %s", what, td_shape_text(ndim, sizes, want),
                       td_shape_text(t->ndim, t->sizes, have));
    if (t->dtype != like->dtype)
        return td_fail(TD_RUNTIME_ERROR, "lstm: expected %s of dtype %s like the weight, got %s", what, td_dtypes[like->dtype].name,
                       td_dtypes[t->dtype].name);
    return TD_OK;
}

static td_status read_sizes(layer *l, const td_tensor *share, const td_tensor *weight)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    if (share->ndim != 3 || weight->ndim != 2 || weight->sizes[0] != 4 * weight->sizes[1])
        return td_fail(TD_RUNTIME_ERROR, "lstm: expected the inputs' share of the gates as [T, N, 4 * H] and a weight [4 * H, H], got %s "
                       "and %s", td_shape_text(share->ndim, share->sizes, a), td_shape_text(weight->ndim, weight->sizes, b));
    if (weight->dtype != TD_F32 && weight->dtype != TD_F64)
        return td_fail(TD_RUNTIME_ERROR, "lstm: expected float32 or float64, got %s", td_dtypes[weight->dtype].name);
    l->steps = share->sizes[0];
    l->rows = share->sizes[1];
    l->units = weight->sizes[1];
    return wants("the inputs' share", share, weight, 3, (const int64_t[]){l->steps, l->rows, 4 * l->units});
}

static bool has_rows(const td_tensor *t) { return t->strides[2] == 1 || t->sizes[2] <= 1; }

/* ---- _lstm(share, hidden, cell, weight, reverse) -> (output, last_cell, cells, gates) ---- */
static td_status forward_outputs(td_call *call, const layer *l, const td_tensor *weight)
{
    td_dtype dtype = (td_dtype)weight->dtype;
    td_device device = (td_device)weight->device;
    int64_t sizes[] = {l->steps, l->rows, l->units}, wide[] = {l->steps, l->rows, 4 * l->units};
    TD_TRY(td_tensor_empty(&call->out[0], dtype, device, 3, sizes));
    TD_TRY(td_tensor_empty(&call->out[1], dtype, device, 2, sizes + 1));
    TD_TRY(td_tensor_empty(&call->out[2], dtype, device, 3, sizes));
    return td_tensor_empty(&call->out[3], dtype, device, 3, wide);
}

static td_status run_forward(layer *l, td_call *call, const td_tensor *share, const td_tensor *hidden, const td_tensor *cell)
{
    TD_TRY(begin_run(l, TD_TENSOR(3), false));
    l->share = td_data(share);
    l->share_step = share->strides[0] * l->item;
    l->share_row = share->strides[1] * l->item;
    l->first_cell = td_data(cell);
    l->output = td_data(call->out[0]);
    l->cells = td_data(call->out[2]);
    l->gates = td_data(call->out[3]);
    for (int64_t b = 0; b < l->blocks; b++) pack(l, b, 0, (const char *)td_data(hidden) + b * l->block * l->item, l->units);
    swap_states(l);
    void *token = td_heavy_begin(cost_of(l));
    run_steps(l, l->steps, forward_blocks);
    td_heavy_end(token);
    int64_t last = time_of(l, l->steps - 1, false);
    memcpy(td_data(call->out[1]), at(l, l->cells, last, l->units, 0), (size_t)(l->rows * l->units * l->item));
    td_free(l->memory, l->bytes);
    return TD_OK;
}

td_status td_op__lstm(td_call *call)
{
    layer l = {.reverse = TD_BOOLEAN(4)};
    td_tensor *share, *hidden, *cell;
    TD_TRY(read_sizes(&l, TD_TENSOR(0), TD_TENSOR(3)));
    int64_t state[] = {l.rows, l.units};
    TD_TRY(wants("a hidden state", TD_TENSOR(1), TD_TENSOR(3), 2, state));
    TD_TRY(wants("a cell's state", TD_TENSOR(2), TD_TENSOR(3), 2, state));
    TD_TRY(forward_outputs(call, &l, TD_TENSOR(3)));
    if (td_is_meta(TD_TENSOR(3)) || l.rows * l.units == 0) return TD_OK;
    if (l.steps == 0) return td_copy(call->out[1], TD_TENSOR(2));
    TD_TRY(has_rows(TD_TENSOR(0)) ? td_tensor_alias(&share, TD_TENSOR(0)) : td_contiguous(&share, TD_TENSOR(0)));
    td_status status = td_contiguous(&hidden, TD_TENSOR(1));
    if (status == TD_OK) {
        status = td_contiguous(&cell, TD_TENSOR(2));
        if (status == TD_OK) {
            status = run_forward(&l, call, share, hidden, cell);
            td_tensor_free(cell);
        }
        td_tensor_free(hidden);
    }
    td_tensor_free(share);
    return status;
}

/* ---- _lstm_backward(grad_output, grad_cell, cell, weight, cells, gates, reverse) -> (share, hidden, cell) ---- */
static td_status run_backward(layer *l, td_call *call, const td_tensor *grad, const td_tensor *cell)
{
    TD_TRY(begin_run(l, TD_TENSOR(3), true));
    l->grad_output = td_data(grad);
    l->first_cell = td_data(cell);
    l->cells = td_data(TD_TENSOR(4));
    l->gates = td_data(TD_TENSOR(5));
    l->grad_share = td_data(call->out[0]);
    l->grad_hidden = td_data(call->out[1]);
    l->grad_cell = td_data(call->out[2]);
    void *token = td_heavy_begin(cost_of(l));
    run_steps(l, l->steps + 1, backward_blocks);
    td_heavy_end(token);
    td_free(l->memory, l->bytes);
    return TD_OK;
}

static td_status backward_arguments(layer *l, td_call *call)
{
    const td_tensor *weight = TD_TENSOR(3);
    TD_TRY(read_sizes(l, TD_TENSOR(5), weight));
    int64_t sizes[] = {l->steps, l->rows, l->units};
    TD_TRY(wants("gradients of the output", TD_TENSOR(0), weight, 3, sizes));
    TD_TRY(wants("the gradient of the last cell's state", TD_TENSOR(1), weight, 2, sizes + 1));
    TD_TRY(wants("a cell's state", TD_TENSOR(2), weight, 2, sizes + 1));
    TD_TRY(wants("the cell's states", TD_TENSOR(4), weight, 3, sizes));
    if (td_is_contiguous(TD_TENSOR(4)) && td_is_contiguous(TD_TENSOR(5))) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "lstm: expected the cell's states and the gates as the forward pass made them, contiguous");
}

td_status td_op__lstm_backward(td_call *call)
{
    layer l = {.reverse = TD_BOOLEAN(6)};
    const td_scalar zero = td_scalar_int(0);
    td_tensor *grad, *cell;
    TD_TRY(backward_arguments(&l, call));
    for (int i = 0; i < 3; i++) {
        const td_tensor *like = TD_TENSOR(i == 0 ? 5 : 2);
        TD_TRY(td_tensor_empty(&call->out[i], (td_dtype)like->dtype, (td_device)like->device, like->ndim, like->sizes));
    }
    if (td_is_meta(TD_TENSOR(3)) || l.rows * l.units == 0) return TD_OK;
    TD_TRY(td_copy(call->out[2], TD_TENSOR(1)));
    if (l.steps == 0) return td_fill(call->out[1], &zero);
    TD_TRY(td_contiguous(&grad, TD_TENSOR(0)));
    td_status status = td_contiguous(&cell, TD_TENSOR(2));
    if (status == TD_OK) {
        status = run_backward(&l, call, grad, cell);
        td_tensor_free(cell);
    }
    td_tensor_free(grad);
    return status;
}
