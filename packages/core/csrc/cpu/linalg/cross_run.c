/* cross_run.c - the nine loops of a cross product, in blocks that stay in the first cache. */
#include "cpu/run/walk.h"
#include "cpu/linalg/cross_run.h"
#include "runtime/pool.h"

typedef struct place {
    int operand, coordinate;
} place;

typedef struct part {
    const td_cross *c;
    const int64_t *range; /* of the outer dimension */
    td_cross_walk walk;
} part;

/* to = x op y */
static td_status combine(const part *p, const td_loop_entry *entry, place to, place x, place y)
{
    const place all[] = {to, x, y};
    const td_nd *whole = &p->c->nd;
    td_nd nd; /* 4 KB, of which a few numbers are used */
    int outer = whole->ndim - 1;
    nd.ndim = whole->ndim;
    nd.nop = 3;
    nd.numel = whole->numel;
    for (int d = 0; d < nd.ndim; d++) nd.sizes[d] = whole->sizes[d];
    if (outer >= 0) {
        nd.numel = nd.numel / nd.sizes[outer] * (p->range[1] - p->range[0]);
        nd.sizes[outer] = p->range[1] - p->range[0];
    }
    for (int k = 0; k < 3; k++) {
        int o = all[k].operand;
        nd.data[k] = whole->data[o] + all[k].coordinate * p->c->steps[o];
        for (int d = 0; d < nd.ndim; d++) nd.strides[d][k] = whole->strides[d][o];
        if (outer >= 0) nd.data[k] += p->range[0] * nd.strides[outer][k];
    }
    return p->walk(p->c, &nd, entry);
}

td_status td_cross_places(const td_cross *c, const int64_t range[2], td_cross_walk walk)
{
    const part p = {c, range, walk};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        place out = {TD_CROSS_OUT, k}, room = {TD_CROSS_ROOM, 0};
        TD_TRY(combine(&p, c->mul, out, (place){TD_CROSS_A, i}, (place){TD_CROSS_B, j}));
        TD_TRY(combine(&p, c->mul, room, (place){TD_CROSS_A, j}, (place){TD_CROSS_B, i}));
        TD_TRY(combine(&p, c->sub, out, out, room));
    }
    return TD_OK;
}

/* ---- on the host ---- */

typedef struct job {
    const td_cross *c;
    int64_t block; /* so many places are done at a time */
} job;

static td_status serially(const td_cross *c, const td_nd *nd, const td_loop_entry *entry)
{
    static const td_arg context[3] = TD_CROSS_CONTEXT;
    td_nd_run_serial(nd, entry->loop, context);
    return TD_OK;
}

static void share(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t at = begin; at < end; at += j->block) {
        int64_t to = at + j->block;
        td_cross_places(j->c, (const int64_t[]){at, to < end ? to : end}, serially);
    }
}

#define BLOCK 512 /* vectors */
#define GRAIN 4096

void td_cross_run(const td_cross *c)
{
    int64_t outer = c->nd.ndim ? c->nd.sizes[c->nd.ndim - 1] : 1, each = c->nd.numel / outer;
    job j = {c, each < BLOCK ? BLOCK / each : 1};
    td_parallel(outer, 1 + GRAIN / each, share, &j);
}
