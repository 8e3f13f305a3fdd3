/* reduce.c - a planned reduction as one or two launches (kernels/reduce.h). */
#include <string.h>
#include "cpu/reduction/reduce_plan.h"
#include "cuda/program.h"

#define AXES 64
#define UNIT_BLOCK 64 /* threads of a block: all work on one unit, or each on one of its own */
#define MOST_BLOCKS 65535

typedef struct reduce_call { /* laid out as in kernels/reduce.h */
    const char *x;
    char *out[2], *partial;
    int64_t out_size[2];
    double divisor, correction, exponent;
    int64_t root, kept, reduced, strip, strips, piece, pieces, chunks, outer_kept, outer_reduced;
    td_axis m, n, axes[AXES];
} reduce_call;
_Static_assert(sizeof(reduce_call) <= 4096, "a launch carries 4,096 bytes of arguments");

static const char *names[TD_REDUCTIONS] = {
    [TD_SUM] = "sum",       [TD_NANSUM] = "nansum",   [TD_PROD] = "prod",
    [TD_NORM0] = "norm0",   [TD_NORM1] = "norm1",     [TD_NORM2] = "norm2",
    [TD_NORMP] = "normp",   [TD_ANY] = "any",         [TD_ALL] = "all",
    [TD_COUNT] = "count",   [TD_MIN] = "min",         [TD_MAX] = "max",
    [TD_ABSMIN] = "absmin", [TD_ABSMAX] = "absmax",   [TD_ARGMIN] = "argmin",
    [TD_ARGMAX] = "argmax", [TD_MOMENTS] = "moments",
};

static void fill(reduce_call *c, const td_reduce_plan *p)
{
    *c = (reduce_call){.x = p->x,
                       .out = {p->out[0], p->out[1]},
                       .out_size = {p->out_size[0], p->out_size[1]},
                       .divisor = p->context->divisor,
                       .correction = p->context->correction,
                       .exponent = p->context->exponent,
                       .root = p->context->root,
                       .kept = p->kept,
                       .reduced = p->reduced,
                       .strip = p->strip,
                       .strips = p->strips,
                       .piece = p->piece,
                       .pieces = p->pieces,
                       .chunks = p->chunks,
                       .outer_kept = p->outer_kept,
                       .outer_reduced = p->outer_reduced,
                       .m = p->m,
                       .n = p->n};
    memcpy(c->axes, p->keep, (size_t)p->kept * sizeof *p->keep);
    memcpy(c->axes + p->kept, p->reduce, (size_t)p->reduced * sizeof *p->reduce);
}

static td_status launch(const td_reduce_plan *p, int ordinal, const char *how, int64_t blocks,
                        reduce_call *c)
{
    td_cuda_program w = {
        .kind = "reduce", .how = how, .name = names[p->kind], .dtype = p->dtype, .from = p->dtype};
    void *function;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    return td_cuda_launch_blocks(function, ordinal, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                 UNIT_BLOCK, c, w.name);
}

static td_status run(const td_reduce_plan *p, int ordinal, reduce_call *c)
{
    int64_t outputs = c->outer_kept * c->strips * c->strip, units = outputs * c->chunks;
    bool rows = c->n.x == td_itemsize(p->dtype) && c->n.size > 12; /* TD_SHORT_ROW */
    if (rows) TD_TRY(launch(p, ordinal, "reduce_together", units, c));
    else TD_TRY(launch(p, ordinal, "reduce_alone", (units + UNIT_BLOCK - 1) / UNIT_BLOCK, c));
    return c->partial
               ? launch(p, ordinal, "reduce_join", (outputs + UNIT_BLOCK - 1) / UNIT_BLOCK, c)
               : TD_OK;
}

td_status td_cuda_reduce(const td_reduce_plan *p, td_device device)
{
    int ordinal = td_device_index(device);
    reduce_call c;
    if (p->kept + p->reduced > AXES)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "reductions of so many separate dimensions are not implemented");
    TD_TRY(td_cuda_use(ordinal));
    fill(&c, p);
    void *block = NULL;
    int64_t bytes =
        c.chunks > 1 ? c.outer_kept * c.strips * c.strip * c.chunks * TD_MAX_ACCUMULATOR : 0;
    if (bytes) TD_TRY(td_cuda_alloc(&c.partial, bytes, device, &block));
    td_status status = run(p, ordinal, &c);
    /* the next owner's work comes after, on the same stream */
    if (block) td_cuda_release(block, c.partial, bytes);
    return status;
}
