/* recurrent_run.c - the steps of a recurrent layer: a loop in C, not operations of a graph.
 *
 * A task of a step is a block of units, as many as a tile of the product is wide: it multiplies the
 * state before by the weights of its units' gates, and finishes them while they are in the nearest
 * cache. Weights are packed once for all steps, and as a thread gets the same blocks in every step,
 * its part of them stays in its own cache. The state is packed by the task that computed it, for
 * the next step. Slots lie block by block, [T][block][N][slots][units of it]. */
#include <string.h>
#include "cpu/recurrent/recurrent_run.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

#define SLICE 512      /* depth of a product before its sums go to memory, about */
#define SMALL_NS 12000 /* below, a step is not shared out */

typedef struct layer {
    td_recurrence r;
    const td_gemm_kernel *gemm;
    const td_cell_kernel *cell;
    int64_t item, rows, units, gates, block, blocks;
    /* numbers of a unit in a packed state (gradients: one a gate); blocks of a slice of them */
    int64_t parts, slice;
    char *memory, *weights, *packed[2]; /* packed: the state before, and the new one */
    int64_t bytes;
    int64_t step; /* how many steps are done */
} layer;

const td_cell_kernel *td_cell_of(td_cell cell, td_dtype dtype)
{
    return &TD_PICK(td_recurrent_kernels)->cells[cell][dtype == TD_F64];
}

/* ---- blocks of units ---- */
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t width(const layer *l, int64_t b) { return least(l->block, l->units - b * l->block); }

/* The slice of a packed state that holds block b: its first number of a row, and how many. */
static int64_t slice_begin(const layer *l, int64_t b)
{
    return b / l->slice * l->slice * l->block * l->parts;
}
static int64_t slice_depth(const layer *l, int64_t b)
{
    return least(l->slice * l->block * l->parts, l->units * l->parts - slice_begin(l, b));
}

/* c += state times one packed panel of weights */
static void multiply(const layer *l, const char *panel, char *c, int64_t c_row, int64_t columns)
{
    for (int64_t b = 0; b < l->blocks; b += l->slice) {
        int64_t begin = slice_begin(l, b);
        l->gemm->panel(l->rows, slice_depth(l, b), 1, l->packed[0] + begin * l->rows * l->item,
                       panel + begin * l->gemm->nr * l->item, c, c_row, columns, 1);
    }
}

/* Part `part` of block b, from [rows][row], into the new packed state. */
static void pack(const layer *l, int64_t b, int part, const char *from, int64_t row)
{
    int64_t begin = slice_begin(l, b), depth = slice_depth(l, b),
            within = b * l->block * l->parts - begin + part * width(l, b);
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
static int64_t time_of(const layer *l, int64_t n, bool backward)
{
    return (l->r.reverse != backward) ? l->r.steps - 1 - n : n;
}

/* block b of row 0 in [T, N, numbers] */
static int64_t at(const layer *l, int64_t time, int64_t numbers, int64_t b)
{
    return (time * l->rows * numbers + b * l->block) * l->item;
}

/* The state before `time`, at block b. */
static const char *state_before(const layer *l, int64_t time, int64_t b)
{
    int64_t before = l->r.reverse ? time + 1 : time - 1;
    if (before < 0 || before == l->r.steps) return l->r.first + at(l, 0, l->units, b);
    return l->r.states + at(l, before, l->units, b);
}

/* The slots of a block, and the numbers from a row to the next. */
typedef struct slots {
    char *at;
    int64_t row;
} slots;

static slots slots_at(const layer *l, int64_t time, int64_t b)
{
    if (!l->cell->slots) return (slots){l->r.output + at(l, time, l->units, b), l->units};
    int64_t done = l->cell->slots * (time * l->units + b * l->block) * l->rows;
    return (slots){l->r.slots + done * l->item, l->cell->slots * width(l, b)};
}

/* ---- the tasks ---- */
/* What is added to the products: the share, and for a slot beyond the gates (a GRU's W_n h) its
 * bias. */
static void begin_sums(const layer *l, int64_t time, int64_t b, slots s)
{
    const char *share = l->r.share + time * l->r.share_step + b * l->block * l->item;
    int64_t part = width(l, b) * l->item;
    for (int64_t i = 0; i < l->rows; i++) {
        char *row = s.at + i * s.row * l->item;
        for (int64_t g = 0; g < l->gates; g++)
            memcpy(row + g * part, share + i * l->r.share_row + g * l->units * l->item,
                   (size_t)part);
        if (l->cell->last < l->gates) continue;
        if (l->r.bias)
            memcpy(row + l->cell->last * part, l->r.bias + b * l->block * l->item, (size_t)part);
        else memset(row + l->cell->last * part, 0, (size_t)part);
    }
}

static void forward_block(const layer *l, int64_t time, int64_t b)
{
    int64_t row = l->units * l->item, w = width(l, b), place = at(l, time, l->units, b);
    slots s = slots_at(l, time, b);
    char *output = l->r.output + place;
    begin_sums(l, time, b, s);
    for (int64_t g = 0; g < l->gates; g++)
        multiply(l, panel_of(l, l->gates * b + g),
                 s.at + (g < l->gates - 1 ? g : l->cell->last) * w * l->item, s.row, w);
    td_cell_rows x = {.slots = s.at,
                      .apart = w,
                      .before = state_before(l, time, b),
                      .cell = l->r.states + place,
                      .hidden = output};
    for (int64_t i = 0; i < l->rows; i++) {
        l->cell->forward(&x, w);
        x.slots = (char *)x.slots + s.row * l->item;
        x.before = (const char *)x.before + row;
        x.cell = (char *)x.cell + row;
        x.hidden = (char *)x.hidden + row;
    }
    pack(l, b, 0, output, l->units);
}

static void forward_blocks(void *context, int64_t begin, int64_t end)
{
    const layer *l = context;
    for (int64_t b = begin; b < end; b++) forward_block(l, time_of(l, l->step, false), b);
}

static void copy_rows(const layer *l, int64_t b, char *to, const char *from)
{
    int64_t row = l->units * l->item;
    for (int64_t i = 0; i < l->rows; i++)
        memcpy(to + i * row, from + i * row, (size_t)(width(l, b) * l->item));
}

static void backward_rows(const layer *l, int64_t b, td_cell_rows x, int64_t slots_row)
{
    int64_t row = l->units * l->item;
    for (int64_t i = 0; i < l->rows; i++) {
        l->cell->backward(&x, width(l, b));
        x.slots = (char *)x.slots + slots_row * l->item;
        x.before = (const char *)x.before + row;
        x.cell = (char *)x.cell + row;
        x.grad = (const char *)x.grad + row;
        x.carry = (char *)x.carry + row;
        x.to_state = (char *)x.to_state + l->gates * row;
        if (x.to_share) x.to_share = (char *)x.to_share + l->gates * row;
    }
}

static void backward_block(const layer *l, int64_t time, int64_t b)
{
    int64_t units = l->units, first = at(l, 0, units, b), place = at(l, time, units, b),
            wide = at(l, time, l->gates * units, b);
    char *hidden = l->r.grad_hidden + first, *to = l->r.grad_state + wide;
    slots s = slots_at(l, time, b);
    copy_rows(l, b, hidden, l->r.grad_output + place);
    if (l->step) multiply(l, panel_of(l, b), hidden, units, width(l, b));
    td_cell_rows x = {.slots = s.at,
                      .apart = width(l, b),
                      .before = state_before(l, time, b),
                      .cell = l->r.states + place,
                      .grad = hidden,
                      .carry = l->r.carry + first,
                      .to_state = to,
                      .to_apart = units,
                      .to_share = l->r.grad_share ? l->r.grad_share + wide : NULL};
    backward_rows(l, b, x, s.row);
    for (int g = 0; g < l->gates; g++) pack(l, b, g, to + g * units * l->item, l->gates * units);
}

/* The gradient of the first hidden state, after all steps. */
static void last_block(const layer *l, int64_t b)
{
    char *hidden = l->r.grad_hidden + at(l, 0, l->units, b);
    if (l->r.cell == TD_CELL_GRU) copy_rows(l, b, hidden, l->r.carry + at(l, 0, l->units, b));
    else
        for (int64_t i = 0; i < l->rows; i++)
            memset(hidden + i * l->units * l->item, 0, (size_t)(width(l, b) * l->item));
    multiply(l, panel_of(l, b), hidden, l->units, width(l, b));
}

static void backward_blocks(void *context, int64_t begin, int64_t end)
{
    const layer *l = context;
    for (int64_t b = begin; b < end; b++)
        if (l->step < l->r.steps) backward_block(l, time_of(l, l->step, true), b);
        else last_block(l, b);
}

/* ---- packing the weights: [gates * units, units] ---- */
static const char *weight_at(const layer *l, int64_t row, int64_t col)
{
    const td_tensor *w = l->r.weight;
    return (const char *)td_data(w) + (row * w->strides[0] + col * w->strides[1]) * l->item;
}

/* columns of W^T: a panel for each gate of a block */
static void pack_forward(void *context, int64_t begin, int64_t end)
{
    const layer *l = context;
    for (int64_t b = begin; b < end; b++)
        for (int64_t g = 0; g < l->gates; g++)
            l->gemm->pack_b(panel_of(l, l->gates * b + g),
                            weight_at(l, g * l->units + b * l->block, 0), l->r.weight->strides[1],
                            l->r.weight->strides[0], l->units, width(l, b));
}

/* columns of W: rows in the order of the packed gradients */
static void pack_backward(void *context, int64_t begin, int64_t end)
{
    const layer *l = context;
    for (int64_t b = begin; b < end; b++) {
        char *to = panel_of(l, b);
        for (int64_t from = 0; from < l->blocks; from++)
            for (int64_t g = 0; g < l->gates; g++, to += width(l, from) * l->gemm->nr * l->item)
                l->gemm->pack_b(to, weight_at(l, g * l->units + from * l->block, b * l->block),
                                l->r.weight->strides[0], l->r.weight->strides[1], width(l, from),
                                width(l, b));
    }
}

/* ---- a run over all steps ---- */
static td_status begin_run(layer *l, const td_recurrence *r, bool backward)
{
    td_dtype dtype = (td_dtype)r->weight->dtype;
    const td_gemm_kernel *gemm = td_gemm_kernel_of(dtype == TD_F64);
    const td_cell_kernel *cell = td_cell_of(r->cell, dtype);
    int64_t block = gemm->nr, weights, state;
    *l = (layer){.r = *r,
                 .gemm = gemm,
                 .cell = cell,
                 .item = td_itemsize(dtype),
                 .rows = r->rows,
                 .units = r->units,
                 .gates = cell->gates,
                 .block = block,
                 .blocks = (r->units + block - 1) / block,
                 .parts = backward ? cell->gates : 1};
    l->slice = block * l->parts < SLICE ? SLICE / (block * l->parts) : 1;
    if (__builtin_mul_overflow(l->gates * l->blocks * block * l->item, l->units, &weights) ||
        __builtin_mul_overflow(l->rows * l->parts * l->item, l->units, &state))
        return td_fail(TD_MEMORY_ERROR, "no memory for the packed weights of %lld recurrent units",
                       (long long)l->units);
    state = (state + 63) / 64 * 64;
    l->bytes = weights + 2 * state;
    l->memory = td_alloc(l->bytes);
    if (!l->memory)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of a recurrence's work space",
                       (long long)l->bytes);
    l->weights = l->memory;
    l->packed[0] = l->memory + weights;
    l->packed[1] = l->packed[0] + state;
    td_parallel(l->blocks, 1 + 32768 / (l->gates * l->units * block),
                backward ? pack_backward : pack_forward, l);
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
    double cost = td_gemm_cost(l->rows, l->gates * l->units, l->units);
    void *token = td_heavy_begin((double)steps * cost);
    for (l->step = 0; l->step < steps; l->step++) {
        td_parallel(l->blocks, cost < SMALL_NS ? l->blocks : 1, step, l);
        swap_states(l);
    }
    td_heavy_end(token);
}

td_status td_recurrence_forward(const td_recurrence *r, const char *hidden)
{
    layer l;
    TD_TRY(begin_run(&l, r, false));
    for (int64_t b = 0; b < l.blocks; b++) pack(&l, b, 0, hidden + b * l.block * l.item, l.units);
    swap_states(&l);
    run_steps(&l, r->steps, forward_blocks);
    td_free(l.memory, l.bytes);
    return TD_OK;
}

td_status td_recurrence_backward(const td_recurrence *r)
{
    layer l;
    TD_TRY(begin_run(&l, r, true));
    run_steps(&l, r->steps + 1, backward_blocks);
    td_free(l.memory, l.bytes);
    return TD_OK;
}
