/* recurrent.c - the steps of a recurrent layer: a product with the weights and one launch of
 * kernels/recurrent.h each. Nothing waits for the device. */
#include "cpu/recurrent/recurrent_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct recurrent_call { /* laid out as in kernels/recurrent.h */
    char *slots, *cell, *hidden, *carry, *to_state, *to_share;
    const char *before, *grad, *share, *bias;
    int64_t n;
    int64_t rows, units, gates, a_row;
    int64_t share_step, share_row;
} recurrent_call;

typedef struct layer {
    const td_recurrence *r;
    const td_cell_kernel *cell;
    const char *hidden; /* the first state, of the way forward */
    td_device device;
    td_dtype dtype;
    int64_t state, slots, wide; /* bytes of a step: a state, its slots, a gradient of all gates */
    recurrent_call call;
} layer;

enum { BEGIN = 2 * TD_CELLS };

static td_status launch(layer *l, int work, int64_t threads)
{
    static const char *names[] = {
        "lstm_forward", "gru_forward",   "tanh_forward",  "relu_forward", "lstm_backward",
        "gru_backward", "tanh_backward", "relu_backward", "begin",
    };
    td_cuda_work w = {
        .kind = "recurrent", .how = "recurrent_alone", .name = names[work], .dtype = l->dtype};
    l->call.n = threads;
    return td_cuda_threads(&w, td_device_index(l->device), threads, &l->call);
}

/* c [rows, n] = keep * c + a [rows, k] times rows `first` on of the weight: transposed on the way
 * forward */
static td_status multiply(const layer *l, const char *a, int64_t k, int64_t first, int64_t n,
                          char *c, int64_t c_row, bool transposed, int keep)
{
    const td_tensor *w = l->r->weight;
    td_product p = {.dtype = l->dtype,
                    .m = l->r->rows,
                    .n = n,
                    .k = k,
                    .a = a,
                    .b = (const char *)td_data(w) + first * w->strides[0] * td_itemsize(l->dtype),
                    .c = c,
                    .a_row = k,
                    .a_col = 1,
                    .b_row = w->strides[transposed],
                    .b_col = w->strides[!transposed],
                    .c_row = c_row,
                    .alpha = td_scalar_int(1),
                    .beta = td_scalar_int(keep)};
    return td_cuda_product(&p, l->device);
}

/* ---- places ---- */
static int64_t time_of(const layer *l, int64_t n, bool backward)
{
    return (l->r->reverse != backward) ? l->r->steps - 1 - n : n;
}

/* The state before `time` in [T, N, H], or `first` where there is none. */
static const char *before(const layer *l, const char *states, const char *first, int64_t time)
{
    int64_t at = l->r->reverse ? time + 1 : time - 1;
    return at < 0 || at == l->r->steps ? first : states + at * l->state;
}

static char *slots_at(const layer *l, int64_t time)
{
    return (l->cell->slots ? l->r->slots : l->r->output) + time * l->slots;
}

/* ---- forward ---- */
static td_status forward_step(layer *l, int64_t time)
{
    int64_t units = l->r->units, gates = l->cell->gates, last = l->cell->last;
    int64_t side_by_side = last < gates ? gates : gates - 1, row = l->call.a_row * units;
    const char *hidden = before(l, l->r->output, l->hidden, time);
    char *slots = slots_at(l, time);
    TD_TRY(multiply(l, hidden, units, 0, side_by_side * units, slots, row, true, 1));
    if (last >= gates) /* the product of the last gate has a slot of its own */
        TD_TRY(multiply(l, hidden, units, (gates - 1) * units, units,
                        slots + last * units * td_itemsize(l->dtype), row, true, 1));
    l->call.slots = slots;
    l->call.before = before(l, l->r->states, l->r->first, time);
    l->call.cell = l->r->states + time * l->state;
    l->call.hidden = l->r->output + time * l->state;
    return launch(l, (int)l->r->cell, l->r->rows * units);
}

static td_status forward(layer *l)
{
    const td_recurrence *r = l->r;
    l->call.share = r->share;
    l->call.bias = r->bias;
    l->call.share_step = r->share_step;
    l->call.share_row = r->share_row;
    l->call.slots = slots_at(l, 0);
    TD_TRY(launch(l, BEGIN, r->steps * r->rows * l->call.a_row * r->units));
    for (int64_t n = 0; n < r->steps; n++) TD_TRY(forward_step(l, time_of(l, n, false)));
    return TD_OK;
}

/* ---- back ---- */
/* hidden = keep * hidden + what came after, the gradients of its gates at `wide`, times the weight
 */
static td_status go_back(const layer *l, const char *wide, int keep)
{
    int64_t units = l->r->units;
    return multiply(l, wide, l->cell->gates * units, 0, units, l->r->grad_hidden, units, false,
                    keep);
}

static td_status set_hidden(const layer *l, const char *from)
{
    return td_cuda_transfer(l->r->grad_hidden, l->device, from, l->device, l->state, false);
}

static td_status backward_step(layer *l, int64_t time, const char *after)
{
    const td_recurrence *r = l->r;
    TD_TRY(set_hidden(l, r->grad_output + time * l->state));
    if (after) TD_TRY(go_back(l, after, 1));
    l->call.slots = slots_at(l, time);
    l->call.before = before(l, r->states, r->first, time);
    l->call.cell = r->states + time * l->state;
    l->call.grad = r->grad_hidden;
    l->call.carry = r->carry;
    l->call.to_state = r->grad_state + time * l->wide;
    if (r->grad_share) l->call.to_share = r->grad_share + time * l->wide;
    return launch(l, TD_CELLS + (int)r->cell, r->rows * r->units);
}

static td_status backward(layer *l)
{
    const td_recurrence *r = l->r;
    const char *after = NULL;
    for (int64_t n = 0; n < r->steps; n++) {
        int64_t time = time_of(l, n, true);
        TD_TRY(backward_step(l, time, after));
        after = r->grad_state + time * l->wide;
    }
    if (r->cell != TD_CELL_GRU) return go_back(l, after, 0);
    TD_TRY(set_hidden(l, r->carry));
    return go_back(l, after, 1);
}

td_status td_cuda_recurrence(const void *job, td_device device)
{
    const td_recurrence_job *j = job;
    const td_recurrence *r = j->r;
    td_dtype dtype = (td_dtype)r->weight->dtype;
    const td_cell_kernel *cell = td_cell_of(r->cell, dtype);
    int64_t slots = cell->slots ? cell->slots : 1;
    int64_t state = r->rows * r->units * td_itemsize(dtype);
    layer l = {.r = r,
               .cell = cell,
               .hidden = j->hidden,
               .device = device,
               .dtype = dtype,
               .state = state,
               .slots = slots * state,
               .wide = cell->gates * state,
               .call = {.rows = r->rows, .units = r->units, .gates = cell->gates, .a_row = slots}};
    TD_TRY(td_cuda_use(td_device_index(device)));
    return j->hidden ? forward(&l) : backward(&l);
}
