/* indexing_sums_run.c - indices sorted by place; threads share the places, so that neither threads
 * nor vectors change a bit. */
#include "cpu/indexing_sums_run.h"
#include <string.h>
#include "cpu/indexing_run.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

bool td_index_rounds(td_put put, td_dtype dtype)
{
    return (dtype == TD_F16 || dtype == TD_BF16) && (put == TD_PUT_ADD || put == TD_PUT_MUL);
}

/* ---- indices by place ---- */

/* The numbers of the indices that name place g: of[first[g]] ... of[first[g + 1] - 1], rising. */
typedef struct groups {
    int64_t n, *place, *first, *of;
    int64_t *memory, bytes;
} groups;

static int64_t slot_of(int64_t offset, int bits)
{
    return (int64_t)(((uint64_t)offset * 0x9E3779B97F4A7C15u) >> (64 - bits));
}

/* The group of an offset, a new one if it is the first of its place. `table` has -1 where it is
 * free. */
static int64_t group_of(groups *g, int64_t *table, int bits, int64_t offset)
{
    int64_t mask = ((int64_t)1 << bits) - 1, at = slot_of(offset, bits);
    while (table[at] >= 0 && g->place[table[at]] != offset) at = (at + 1) & mask;
    if (table[at] < 0) {
        g->place[g->n] = offset;
        table[at] = g->n++;
    }
    return table[at];
}

/* Counts become beginnings, and every index goes behind the last of its group. */
static void sort_into(groups *g, const int64_t *id, int64_t count)
{
    for (int64_t k = 0; k < g->n; k++) g->first[k + 1] += g->first[k];
    for (int64_t i = 0; i < count; i++) g->of[g->first[id[i]]++] = i;
    memmove(g->first + 1, g->first, (size_t)g->n * sizeof *g->first);
    g->first[0] = 0;
}

static td_status group(groups *g, const int64_t *at, int64_t count)
{
    int bits = 3;
    while (((int64_t)1 << bits) < 2 * count) bits++;
    int64_t table_size = (int64_t)1 << bits;
    *g = (groups){.bytes = (table_size + 4 * count + 1) * 8};
    if (!(g->memory = td_alloc(g->bytes)))
        return td_fail(TD_MEMORY_ERROR, "indexing: no memory for %lld places", (long long)count);
    int64_t *table = g->memory, *id = table + table_size;
    g->place = id + count;
    g->of = g->place + count;
    g->first = g->of + count;
    memset(table, 0xff, (size_t)table_size * 8);
    memset(g->first, 0, (size_t)(count + 1) * 8);
    for (int64_t i = 0; i < count; i++) {
        id[i] = group_of(g, table, bits, at[i]);
        g->first[id[i] + 1]++;
    }
    sort_into(g, id, count);
    return TD_OK;
}

/* Few enough that to compare them all costs less than memory to sort them in. */
#define FEW 16
typedef struct few_groups {
    int64_t place[FEW], first[FEW + 1], of[FEW];
} few_groups;

static void group_few(groups *g, few_groups *room, const int64_t *at, int64_t count)
{
    uint32_t seen = 0;
    int64_t done = 0;
    *g = (groups){.place = room->place, .first = room->first, .of = room->of};
    for (int64_t i = 0; i < count; i++) {
        if (seen >> i & 1) continue;
        g->place[g->n] = at[i];
        g->first[g->n++] = done;
        for (int64_t k = i; k < count; k++) {
            if (at[k] != at[i]) continue;
            g->of[done++] = k;
            seen |= 1u << k;
        }
    }
    g->first[g->n] = done;
}

/* ---- blocks ---- */

typedef struct adding {
    const td_index_walk *walk;
    const groups *groups;
    char *to;
    const char *from;
    void (*many)(char *, const char *, const int64_t *, int64_t, int64_t, int64_t);
} adding;

/* lane: a place under one of the outer offsets and one of the inner ones */
static void add_lanes(void *context, int64_t begin, int64_t end)
{
    const adding *a = context;
    const td_index_walk *w = a->walk;
    const groups *g = a->groups;
    for (int64_t lane = begin; lane < end; lane++) {
        int64_t k = lane % w->inner, rest = lane / w->inner, place = rest % g->n, o = rest / g->n,
                first = g->first[place];
        a->many(a->to + w->outer_at[o] + g->place[place] + w->inner_at[k],
                a->from + (o * w->count * w->inner + k) * w->run, g->of + first,
                g->first[place + 1] - first, w->inner * w->run, w->run / 2);
    }
}

#define NUMBER_NS 0.5
#define LANE_NS 8.0
#define GRAIN_NS 8000.0 /* worth another thread */

static td_status put_many(td_tensor *self, const td_index_walk *w, const char *source, td_put put)
{
    groups g;
    few_groups room;
    if (w->count <= FEW) group_few(&g, &room, w->at, w->count);
    else TD_TRY(group(&g, w->at, w->count));
    adding a = {w, &g, td_data(self), source, TD_PICK(td_index_kernels)->many[put][self->dtype]};
    int64_t lanes = w->outer * g.n * w->inner;
    double each = LANE_NS + (double)w->count / (double)g.n * (double)w->run / 2 * NUMBER_NS;
    if (each * (double)lanes < GRAIN_NS) {
        add_lanes(&a, 0, lanes);
    } else {
        void *token = td_heavy_begin(each * (double)lanes);
        td_parallel(lanes, (int64_t)(GRAIN_NS / each) + 1, add_lanes, &a);
        td_heavy_end(token);
    }
    if (g.memory) td_free(g.memory, g.bytes);
    return TD_OK;
}

td_status td_index_put_many(td_tensor *self, const td_index_walk *w, const td_tensor *source,
                            td_put put)
{
    return put_many(self, w, td_data(source), put);
}

/* ---- an index of its own for every element ---- */

/* Places and numbers of all that is scattered, one behind the other. */
typedef struct listing {
    const char *base;
    int64_t apart, size, n;
    int64_t *at;
    uint16_t *numbers;
    bool outside;
} listing;

static void list_row(char *const *data, const int64_t *s, int64_t n, const void *context)
{
    listing *l = (listing *)context;
    for (int64_t i = 0; i < n; i++) {
        /* read once: what is checked is what is used */
        int64_t index = *(const volatile int64_t *)(data[1] + i * s[1]);
        if ((uint64_t)index >= (uint64_t)l->size) {
            l->outside = true;
            index = 0;
        }
        l->at[l->n] = data[0] + i * s[0] + index * l->apart - l->base;
        l->numbers[l->n++] = *(const uint16_t *)(data[2] + i * s[2]);
    }
}

static td_status put_listed(td_tensor *target, const listing *l, td_put put)
{
    int64_t none = 0;
    td_index_walk walk = {.outer = 1,
                          .count = l->n,
                          .inner = 1,
                          .run = 2,
                          .outer_at = &none,
                          .at = l->at,
                          .inner_at = &none};
    return l->outside ? td_index_changed() : put_many(target, &walk, (const char *)l->numbers, put);
}

static td_status scatter_listed(td_tensor *target, int64_t dim, const td_tensor *index,
                                const td_tensor *src, td_put put, int64_t *at, uint16_t *numbers)
{
    listing l = {.base = td_data(target), .at = at, .numbers = numbers};
    l.size = td_index_places(target, dim, &l.apart);
    td_index_walk_serial(target, dim, index, src, list_row, &l);
    return put_listed(target, &l, put);
}

static td_status scatter_few(td_tensor *target, int64_t dim, const td_tensor *index,
                             const td_tensor *src, td_put put)
{
    int64_t at[TD_SUMS_FEW];
    uint16_t numbers[TD_SUMS_FEW];
    return scatter_listed(target, dim, index, src, put, at, numbers);
}

td_status td_index_scatter_many(td_tensor *target, int64_t dim, const td_tensor *index,
                                const td_tensor *src, td_put put)
{
    td_tensor *at, *numbers;
    int64_t n = index->numel;
    if (n <= TD_SUMS_FEW) return scatter_few(target, dim, index, src, put);
    TD_TRY(td_tensor_empty(&at, TD_I64, TD_CPU, 1, &n));
    td_status status = td_tensor_empty(&numbers, (td_dtype)target->dtype, TD_CPU, 1, &n);
    if (status == TD_OK) {
        status = scatter_listed(target, dim, index, src, put, td_data(at), td_data(numbers));
        td_tensor_free(numbers);
    }
    td_tensor_free(at);
    return status;
}
