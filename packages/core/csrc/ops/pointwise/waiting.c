/* waiting.c - elementwise work that waits (waiting.h). */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cpu/convert.h"
#include "ops/pointwise/chains.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

enum {
    TILE = 1024,
    SCRATCH = 16 /* tiles */,
    WIDEST = 8 /* bytes of an element */
};

TD_THREAD_LOCAL td_waiting *td_waits;

/* ---- noting ---- */
static bool add_range(td_waiting *j, char *begin, td_dtype dtype)
{
    int64_t step = td_itemsize(dtype);
    char *end = begin + step * j->numel;
    for (int i = 0; i < j->nranges; i++) {
        char *other = j->ranges[i].begin, *other_end = other + j->ranges[i].step * j->numel;
        if (begin == other && dtype == j->ranges[i].dtype) return true;
        if (begin < other_end && other < end) return false;
    }
    if (j->nranges == TD_WAITING_RANGES) return false;
    j->ranges[j->nranges].begin = begin;
    j->ranges[j->nranges].dtype = (uint8_t)dtype;
    j->ranges[j->nranges++].step = step;
    return true;
}

static bool fits(const td_pointwise *p, const td_tensor *out)
{
    if (p->in.n + 1 > TD_MAX_OPERANDS || td_itemsize(p->compute) > WIDEST ||
        td_itemsize(p->result) > WIDEST)
        return false;
    if (!td_on_host(out) || p->context_bytes > (int64_t)sizeof(td_arg) * TD_MAX_ARGS) return false;
    for (int k = 0; k < p->in.n; k++)
        if (p->in.t[k]->ndim == 0 && td_is_complex((td_dtype)p->in.t[k]->dtype)) return false;
    return true;
}

static void take_number(td_waiting_loop *l, int k, const td_tensor *t, td_dtype dtype)
{
    if (t->dtype == dtype) memcpy(l->numbers[k], td_data(t), (size_t)td_itemsize(dtype));
    else {
        td_scalar value = td_scalar_load((td_dtype)t->dtype, td_data(t));
        td_scalar_store(&value, dtype, l->numbers[k]);
    }
    l->data[k] = NULL;
    l->steps[k] = 0;
}

/* Stand for the tensors of a call, which may be gone when it is done: loops ask them only whether
 * they are Python numbers. */
static td_tensor tensor, number = {.flags = TD_FLAG_WRAPPED};

static void take_context(td_waiting_loop *l, const td_pointwise *p)
{
    l->nargs = (int)(p->context_bytes / (int64_t)sizeof(td_arg));
    memcpy(l->context, p->context, (size_t)p->context_bytes);
    for (int k = 0; k < l->nargs; k++)
        if (l->context[k].kind == TD_ARG_TENSOR)
            l->context[k].tensor =
                l->context[k].tensor->flags & TD_FLAG_WRAPPED ? &number : &tensor;
}

const td_power_row td_power_rows[] = {{"pow_0", 0},        {"pow_1", 1},
                                      {"pow_2", 2},        {"pow_3", 3},
                                      {"pow_half", 0.5},   {"pow_minus_half", -0.5},
                                      {"pow_minus_1", -1}, {"pow_minus_2", -2}};
const int td_power_row_count = sizeof td_power_rows / sizeof *td_power_rows;

static void take_wide(td_waiting_loop *l, const td_pointwise *p)
{
    l->loop = td_wide_loop;
    l->wide.loop = p->wide_entry->loop;
    l->wide.number = p->number;
    l->wide.context = l->context;
    l->wide.nop = l->nop;
    td_dtypes_in_memory(p, l->wide.dtypes);
}

static uint8_t power_of(const td_waiting_loop *l) /* as cpu/pointwise/binary_real.c chooses */
{
    if (strcmp(l->entry->name, "pow") || l->steps[2] || l->context[1].tensor != &number) return 0;
    td_dtype dtype = (td_dtype)(l->wide.loop ? l->wide.dtypes[2] : l->entry->dtype);
    double exponent = td_scalar_load(dtype, l->numbers[2]).re;
    for (int i = 0; i < td_power_row_count; i++)
        if (exponent == td_power_rows[i].exponent) return (uint8_t)(i + 1);
    return 0;
}

static td_waiting_loop *new_loop(td_waiting *j, const td_loop_entry *entry, td_dtype result)
{
    td_waiting_loop *l = &j->loops[j->n];
    l->entry = entry;
    l->loop = entry->loop;
    l->same_dtype = result == (td_dtype)entry->dtype;
    l->tag = j->tag;
    l->wide.loop = NULL;
    l->power = 0;
    l->steps[0] = td_itemsize(result);
    return l;
}

/* What converts bools: its name is no operator's, and which loop it is the processor says. */
static const td_loop_entry *turning(td_dtype to)
{
    static const td_loop_entry entries[] = {{"truth", TD_F32, NULL}, {"truth", TD_F64, NULL}};
    return to == TD_F32 ? &entries[0] : to == TD_F64 ? &entries[1] : NULL;
}

/* A loop that makes numbers of bools for the one that is noted next; NULL if there is no room. */
static const td_tensor *turned(td_waiting *j, const td_tensor *truths, td_dtype to)
{
    td_tensor *made;
    if (j->n + 1 >= TD_WAITING_MOST || j->nturned == TD_WAITING_MOST || !turning(to) ||
        td_tensor_empty(&made, to, TD_CPU, truths->ndim, truths->sizes) != TD_OK)
        return NULL;
    j->turned[j->nturned++] = made;
    td_waiting_loop *l = new_loop(j, turning(to), to);
    l->loop = TD_PICK(td_convert_kernels)->real[to][TD_BOOL];
    l->nargs = 0;
    l->cost = 0.2;
    l->nop = 2;
    l->data[0] = td_data(made);
    l->data[1] = td_data(truths);
    l->steps[1] = 1;
    if (!add_range(j, l->data[0], to) || !add_range(j, l->data[1], TD_BOOL)) return NULL;
    j->n++;
    return made;
}

static bool note_operand(td_waiting *j, const td_pointwise *p, int k, const td_tensor *t,
                         td_waiting_loop *l)
{
    bool as_it_is = p->keep >> k & 1;
    if (t->ndim == 0) {
        take_number(l, k + 1, t, as_it_is ? (td_dtype)t->dtype : td_dtype_of_operand(p, k));
        return true;
    }
    l->data[k + 1] = td_data(t);
    l->steps[k + 1] = td_itemsize((td_dtype)t->dtype);
    return add_range(j, l->data[k + 1], (td_dtype)t->dtype);
}

static bool note_all(td_waiting *j, const td_pointwise *p, const td_tensor *out)
{
    const td_tensor *in[TD_MAX_OPERANDS];
    for (int k = 0; k < p->in.n; k++) {
        in[k] = p->in.t[k];
        if (td_wait_turns(p, k) && !(in[k] = turned(j, in[k], p->compute))) return false;
    }
    if (j->n == TD_WAITING_MOST) return false;
    td_waiting_loop *l = new_loop(j, p->entry, p->result);
    l->cost = p->cost;
    l->nop = p->in.n + 1;
    l->data[0] = td_data(out);
    if (!add_range(j, l->data[0], p->result)) return false;
    for (int k = 0; k < p->in.n; k++)
        if (!note_operand(j, p, k, in[k], l)) return false;
    take_context(l, p);
    if (p->wide) take_wide(l, p);
    l->power = power_of(l);
    j->n++;
    return true;
}

static bool note(td_waiting *j, const td_pointwise *p, const td_tensor *out)
{
    int n = j->n, ranges = j->nranges, nturned = j->nturned;
    if (note_all(j, p, out)) {
        for (; nturned < j->nturned; nturned++) td_wait_dead(j, td_data(j->turned[nturned]));
        return true;
    }
    while (j->nturned > nturned) td_tensor_free(j->turned[--j->nturned]);
    j->n = n;
    j->nranges = ranges;
    return false;
}

bool td_wait_turns(const td_pointwise *p, int k)
{
    const td_tensor *t = p->in.t[k];
    return t->ndim && t->dtype == TD_BOOL && p->compute != TD_BOOL && !(p->keep >> k & 1) &&
           turning(p->compute);
}

bool td_wait(const td_pointwise *p, const td_tensor *out, int64_t n)
{
    td_waiting *j = td_waits;
    if (j->n && (n != j->numel || j->n == TD_WAITING_MOST)) td_wait_run(j);
    if (n < TD_WAITING_WORTH || !fits(p, out)) return td_wait_run(j), false;
    if (!j->n) j->numel = n;
    if (note(j, p, out)) return true;
    td_wait_run(j);
    j->numel = n;
    return note(j, p, out);
}

void td_wait_dead(td_waiting *j, char *data)
{
    if (j->ndead < TD_WAITING_MOST) j->dead[j->ndead++] = data;
}

/* ---- doing ---- */
typedef struct Plan {
    const td_waiting *j;
    int64_t tile;
    /* which tile of scratch an operand is in, or -1 */
    int16_t place[TD_WAITING_MOST][TD_MAX_OPERANDS];
} Plan;

static bool is_dead(const td_waiting *j, const char *data)
{
    for (int i = 0; i < j->ndead; i++)
        if (j->dead[i] == data) return true;
    return false;
}

/* Elements of a tile: of 16 bits more fit into the same bytes, and their loops take longer to
 * begin. */
static int64_t tile_of(const td_waiting *j)
{
    for (int i = 0; i < j->nranges; i++)
        if (j->ranges[i].step > 2) return TILE;
    return (int64_t)TILE * WIDEST / 2;
}

/* Operands that die get tiles of scratch, used again behind the last reader. One that is read
 * before it is written has values from outside: it stays. */
static void make_plan(Plan *plan, const td_waiting *j)
{
    struct {
        char *data;
        int last;
    } held[SCRATCH] = {{0}};
    plan->j = j;
    plan->tile = tile_of(j);
    for (int i = 0; i < j->n; i++) {
        const td_waiting_loop *l = &j->loops[i];
        for (int k = l->nop - 1; k >= 0; k--) { /* inputs first */
            int at = -1, free = -1, last = i;
            char *data = l->data[k];
            for (int s = 0; s < SCRATCH; s++) {
                if (held[s].data && held[s].data == data) at = s;
                else if (free < 0 && (!held[s].data || held[s].last < i)) free = s;
            }
            if (k == 0 && at < 0 && free >= 0 && is_dead(j, data)) {
                for (int later = i; later < j->n; later++)
                    for (int o = 0; o < j->loops[later].nop; o++)
                        if (j->loops[later].data[o] == data) last = later;
                held[at = free].data = data;
                held[at].last = last;
            }
            plan->place[i][k] = (int16_t)at;
        }
    }
}

static void run_tiles(void *context, int64_t begin, int64_t end)
{
    const Plan *plan = context;
    const td_waiting *j = plan->j;
    _Alignas(64) char scratch[SCRATCH][TILE * WIDEST];
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t from = tile * plan->tile, rest = j->numel - from;
        int64_t count = rest < plan->tile ? rest : plan->tile;
        for (int i = 0; i < j->n; i++) {
            const td_waiting_loop *l = &j->loops[i];
            char *data[TD_MAX_OPERANDS];
            for (int k = 0; k < l->nop; k++)
                data[k] = !l->steps[k]             ? (char *)l->numbers[k]
                          : plan->place[i][k] >= 0 ? scratch[plan->place[i][k]]
                                                   : l->data[k] + from * l->steps[k];
            l->loop(data, l->steps, count, l->wide.loop ? (const void *)&l->wide : l->context);
        }
    }
}

/* By the function of a chain: the same tiles, so that threads share them in the same way. */
typedef struct ByFunction {
    td_chain_function function;
    int64_t numel, tile;
    char *data[TD_WAITING_RANGES];
    const char *numbers[TD_WAITING_MOST * TD_MAX_OPERANDS];
    td_chain_arg args[TD_WAITING_MOST * TD_MAX_ARGS];
} ByFunction;

static void make_call(ByFunction *call, const td_waiting *j, const td_chain *chain)
{
    int n = 0;
    call->function = chain->function;
    call->numel = j->numel;
    call->tile = tile_of(j);
    for (int i = 0; i < j->nranges; i++) call->data[i] = j->ranges[i].begin;
    for (int i = 0; i < j->n; i++) {
        const td_waiting_loop *l = &j->loops[i];
        td_chain_arguments(call->args + (ptrdiff_t)i * TD_MAX_ARGS, l);
        for (int k = 0; k < l->nop; k++)
            if (!l->steps[k]) call->numbers[n++] = l->numbers[k];
    }
}

static void run_function(void *context, int64_t begin, int64_t end)
{
    const ByFunction *call = context;
    int64_t last = end * call->tile < call->numel ? end * call->tile : call->numel;
    call->function(call->data, call->numbers, call->args, begin * call->tile, last);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_by(const td_waiting *j, const td_chain *chain) /* NULL: loop by loop */
{
    union {
        Plan plan;
        ByFunction call;
    } work;
    double cost = 0;
    if (chain) make_call(&work.call, j, chain);
    else make_plan(&work.plan, j);
    for (int i = 0; i < j->n; i++) cost += j->loops[i].cost + 0.2;
    void *token = td_heavy_begin((double)j->numel * cost);
    int64_t tile = tile_of(j), tiles = (j->numel + tile - 1) / tile;
    int64_t grain = (int64_t)(20000 / (cost * (double)tile)) + 1;
    td_parallel(tiles, grain, chain ? run_function : run_tiles, &work);
    td_heavy_end(token);
}

/* ---- a new function is compared with the loops, on the first tile ---- */
static int64_t first_tile(const td_waiting *j) { return j->numel < TILE ? j->numel : TILE; }

static char *copy_of(char *copies, int range) { return copies + (ptrdiff_t)range * TILE * WIDEST; }

/* What the function makes of a copy of the first tile of all ranges; NULL without memory. */
static char *made_by_function(const td_waiting *j, const td_chain *chain)
{
    ByFunction *call = malloc(sizeof *call);
    char *copies = malloc((size_t)j->nranges * TILE * WIDEST);
    if (!call || !copies) return free(call), free(copies), NULL;
    make_call(call, j, chain);
    for (int i = 0; i < j->nranges; i++) {
        call->data[i] = copy_of(copies, i);
        memcpy(call->data[i], j->ranges[i].begin, (size_t)(first_tile(j) * j->ranges[i].step));
    }
    call->function(call->data, call->numbers, call->args, 0, first_tile(j));
    free(call);
    return copies;
}

static bool same_number(const char *a, const char *b, td_dtype dtype)
{
    if (!memcmp(a, b, (size_t)td_itemsize(dtype))) return true;
    if (td_is_integral(dtype)) return false;
    td_scalar x = td_scalar_load(dtype, a), y = td_scalar_load(dtype, b);
    return x.re != x.re && y.re != y.re; /* one NaN is like another */
}

static bool alike(const td_waiting *j, char *copies) /* after the loops are done */
{
    for (int i = 0; i < j->nranges; i++) {
        int64_t step = j->ranges[i].step, bytes = first_tile(j) * step;
        const char *made = copy_of(copies, i), *found = j->ranges[i].begin;
        if (is_dead(j, found)) continue; /* nobody looks at it, and loops may not have written it */
        for (int64_t at = 0; at < bytes; at += step)
            if (!same_number(made + at, found + at, (td_dtype)j->ranges[i].dtype)) return false;
    }
    return true;
}

void td_wait_run(td_waiting *j)
{
    if (j->n == 0) return;
    td_chain *chain = j->n > 1 ? td_chain_of(j) : NULL;
    if (j->chained)
        for (int i = 0; i < j->n; i++) j->chained[j->loops[i].tag] = chain ? chain->number : -1;
    bool by_function = chain && td_chain_turn(chain);
    char *made = chain && td_chain_is_new(chain) ? made_by_function(j, chain) : NULL;
    double begin = now();
    run_by(j, by_function ? chain : NULL);
    if (chain) td_chain_took(chain, by_function, now() - begin, j->numel);
    if (made && !alike(j, made)) td_chain_refuse(chain);
    free(made);
    while (j->nturned) td_tensor_free(j->turned[--j->nturned]);
    td_wait_begin(j);
}
