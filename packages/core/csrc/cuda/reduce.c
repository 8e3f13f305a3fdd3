/* reduce.c - a planned reduction as one to three launches (kernels/reduce.h). */
#include <string.h>
#include "cpu/reduction/reduce_plan.h"
#include "cuda/program.h"

#define AXES 64
#define UNIT_BLOCK 64    /* threads of a block: all work on one unit, or each on one of its own */
#define COLUMN_BLOCK 256 /* threads of a block of 32 columns */
#define COLUMN_TILE 32
#define MOST_BLOCKS 65535
/* with fewer units than this, long ones are spread over more blocks: that changes no bit */
#define FEW_ROWS 1024
#define FEW_COLUMNS 131072
#define LEAST_PIECE 256 /* elements: below, what is kept of pieces would be as much as they are */
#define PART_BYTES 256  /* of a part, at most: 64 lanes of float, 32 of double */

typedef struct reduce_call { /* laid out as in kernels/reduce.h */
    const char *x;
    char *out[2], *partial;
    int64_t out_size[2];
    double divisor, correction, exponent;
    int64_t root, kept, reduced, strip, strips, piece, pieces, chunks, outer_kept, outer_reduced;
    char *parts;
    int64_t part, each; /* elements of a part; parts of a piece */
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

static td_status launch(const td_reduce_plan *p, int ordinal, const char *how, int64_t blocks,
                        int threads, reduce_call *c)
{
    td_cuda_program w = {
        .kind = "reduce", .how = how, .name = names[p->kind], .dtype = p->dtype, .from = p->dtype};
    void *function;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    return td_cuda_launch_blocks(function, ordinal, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                 threads, c, w.name);
}

static int64_t outputs_of(const reduce_call *c) { return c->outer_kept * c->strips * c->strip; }
static int64_t pieces_of(const reduce_call *c) { return c->pieces * c->outer_reduced; }

static bool dense_rows(const td_reduce_plan *p)
{
    return p->n.x == td_itemsize(p->dtype) && p->n.size > TD_SHORT_ROW;
}

/* Elements of a part of a row: where cpu/reduction adds up in the working precision. A norm of any
 * power and a product of complex numbers have one order only. */
static int64_t part_of(const td_reduce_plan *p)
{
    bool sums = p->kind == TD_SUM || p->kind == TD_NORM2;
    if (p->kind == TD_NORMP || td_is_complex(p->dtype)) return p->piece;
    return sums && (p->dtype == TD_F16 || p->dtype == TD_BF16) ? 512 : 4096;
}

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
                       .part = part_of(p),
                       .each = td_ceil_div(p->piece, part_of(p)),
                       .m = p->m,
                       .n = p->n};
    memcpy(c->axes, p->keep, (size_t)p->kept * sizeof *p->keep);
    memcpy(c->axes + p->kept, p->reduce, (size_t)p->reduced * sizeof *p->reduce);
}

static bool worth_spreading(const td_reduce_plan *p, const reduce_call *c)
{
    return dense_rows(p) && outputs_of(c) * c->chunks < FEW_ROWS && c->piece >= LEAST_PIECE &&
           pieces_of(c) * c->each > c->chunks;
}

/* sums whose columns are added four rows at a time, of strips that are all wide enough for it */
static bool worth_tiling(const td_reduce_plan *p, const reduce_call *c)
{
    bool fours =
        p->kind == TD_SUM || p->kind == TD_NANSUM || p->kind == TD_NORM1 || p->kind == TD_NORM2;
    bool real =
        p->dtype == TD_F32 || p->dtype == TD_F64 || p->dtype == TD_F16 || p->dtype == TD_BF16;
    int64_t last = c->m.size - (c->strips - 1) * c->strip;
    return fours && real && !dense_rows(p) && p->m.x == td_itemsize(p->dtype) && last >= 4 &&
           c->piece >= 8 && outputs_of(c) * c->chunks < FEW_COLUMNS;
}

/* ---- many blocks an output ---- */

static td_status spread(const td_reduce_plan *p, int ordinal, reduce_call *c)
{
    int64_t outputs = outputs_of(c), pieces = outputs * pieces_of(c);
    if (c->each > 1)
        TD_TRY(launch(p, ordinal, "reduce_parts_together", pieces * c->each, UNIT_BLOCK, c));
    TD_TRY(launch(p, ordinal, "reduce_pieces_together", pieces, UNIT_BLOCK, c));
    return launch(p, ordinal, "reduce_outputs_together", outputs, UNIT_BLOCK, c);
}

/* ---- a block, or a thread, a unit ---- */

static td_status units(const td_reduce_plan *p, int ordinal, reduce_call *c)
{
    int64_t outputs = outputs_of(c), all = outputs * c->chunks;
    if (dense_rows(p)) TD_TRY(launch(p, ordinal, "reduce_together", all, UNIT_BLOCK, c));
    else if (worth_tiling(p, c))
        TD_TRY(launch(p, ordinal, "reduce_columns_together",
                      c->outer_kept * c->strips * c->chunks * td_ceil_div(c->strip, COLUMN_TILE),
                      COLUMN_BLOCK, c));
    else TD_TRY(launch(p, ordinal, "reduce_alone", td_ceil_div(all, UNIT_BLOCK), UNIT_BLOCK, c));
    return c->partial
               ? launch(p, ordinal, "reduce_join", td_ceil_div(outputs, UNIT_BLOCK), UNIT_BLOCK, c)
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
    bool many = worth_spreading(p, &c);
    int64_t kept = many           ? outputs_of(&c) * pieces_of(&c)
                   : c.chunks > 1 ? outputs_of(&c) * c.chunks
                                  : 0,
            parts = many && c.each > 1 ? kept * c.each * PART_BYTES : 0,
            bytes = parts + kept * TD_MAX_ACCUMULATOR;
    char *space = NULL;
    void *block = NULL;
    if (bytes) TD_TRY(td_cuda_alloc(&space, bytes, device, &block));
    c.parts = space;
    c.partial = bytes ? space + parts : NULL;
    td_status status = many ? spread(p, ordinal, &c) : units(p, ordinal, &c);
    /* the next owner's work comes after, on the same stream */
    if (block) td_cuda_release(block, space, bytes);
    return status;
}
