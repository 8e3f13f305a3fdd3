/* tiles_run.c - elementwise walks, those too whose operands disagree on memory order, as in a +
 * b.t(), or on which dimensions are one, as in a + b[:, None].
 *
 * Along the output's rows an operand of another order jumps from cache line to cache line. Tile by
 * tile it is transposed into a buffer, whole lines at a time; the loop then reads the buffer.
 *
 * Where the output is dense over two dimensions and an operand is not, rows end early: a loop
 * called for a few numbers takes longer to begin than to run. Rows that are short are laid side by
 * side in a buffer, and the loop runs over many of them at once. */
#include "cpu/run/walk.h"
#include "cpu/convert.h"
#include "cpu/copy_rows.h"
#include "cpu/pointwise/wide_run.h"
#include "cpu/run/device.h"
#include "runtime/cpu.h"
#include "runtime/nd_order.h"
#include "runtime/pool.h"
#include <string.h>

#define TILE_BYTES 8192 /* of one operand's buffer */
#define TILE_ROWS 32
#define MAX_TURNED 3   /* operands that are transposed; the rest are read as they lie */
#define PIECE 8192     /* elements, at least, for which a thread is asked */
#define WORTH_IT 16384 /* elements; smaller operands stay in cache whatever their order */

typedef struct tiling {
    const td_nd *nd;
    td_loop loop;
    const void *context;
    int row_dim;                     /* where the turned operands are dense */
    int nturned, turned[MAX_TURNED]; /* their numbers */
    int64_t itemsize[MAX_TURNED];
    int64_t cols, strips, stripes; /* columns of a tile; tiles down and across */
} tiling;

/* The dimension a turned operand is dense in, or 0. */
static int dense_dim(const td_nd *nd, int k, int64_t itemsize)
{
    if (nd->strides[0][k] == 0 || nd->strides[0][k] == itemsize) return 0;
    for (int d = 1; d < nd->ndim; d++)
        if (nd->strides[d][k] == itemsize && nd->sizes[d] >= TILE_ROWS / 2) return d;
    return 0;
}

/* A tiling, if operands want one and all of them the same dimension. */
static bool plan(tiling *t, const td_nd *nd, const uint8_t *dtypes)
{
    int64_t widest = 1;
    t->nturned = 0;
    t->row_dim = 0;
    for (int k = 1; k < nd->nop; k++) {
        int64_t itemsize = td_itemsize((td_dtype)dtypes[k]);
        int d = dense_dim(nd, k, itemsize);
        if (d == 0 || (t->row_dim && t->row_dim != d) || t->nturned == MAX_TURNED) continue;
        t->row_dim = d;
        t->itemsize[t->nturned] = itemsize;
        t->turned[t->nturned++] = k;
        if (itemsize > widest) widest = itemsize;
    }
    t->cols = TILE_BYTES / TILE_ROWS / widest;
    return t->nturned > 0;
}

static void run_tile(const tiling *t, char *const *corner, int64_t rows, int64_t cols)
{
    _Alignas(64) char buffers[MAX_TURNED][TILE_BYTES];
    const td_nd *nd = t->nd;
    const td_convert_kernels *kernels = TD_PICK(td_convert_kernels);
    int64_t strides[TD_MAX_OPERANDS], steps[TD_MAX_OPERANDS];
    char *data[TD_MAX_OPERANDS];
    for (int k = 0; k < nd->nop; k++) {
        data[k] = corner[k];
        strides[k] = nd->strides[0][k];
        steps[k] = nd->strides[t->row_dim][k];
    }
    for (int i = 0; i < t->nturned; i++) {
        int k = t->turned[i];
        int64_t size = t->itemsize[i], step = t->cols * size;
        kernels->transpose[__builtin_ctz((unsigned)size)](buffers[i], step, corner[k], strides[k],
                                                          rows, cols);
        data[k] = buffers[i];
        strides[k] = size;
        steps[k] = step;
    }
    for (int64_t r = 0; r < rows; r++) {
        t->loop(data, strides, cols, t->context);
        for (int k = 0; k < nd->nop; k++) data[k] += steps[k];
    }
}

static void run_tiles(void *context, int64_t begin, int64_t end)
{
    const tiling *t = context;
    const td_nd *nd = t->nd;
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t col = tile % t->stripes * t->cols, rest = tile / t->stripes,
                row = rest % t->strips * TILE_ROWS;
        char *corner[TD_MAX_OPERANDS];
        rest /= t->strips;
        for (int k = 0; k < nd->nop; k++)
            corner[k] = nd->data[k] + col * nd->strides[0][k] + row * nd->strides[t->row_dim][k];
        for (int d = 1; d < nd->ndim; d++) {
            if (d == t->row_dim) continue;
            for (int k = 0; k < nd->nop; k++) corner[k] += rest % nd->sizes[d] * nd->strides[d][k];
            rest /= nd->sizes[d];
        }
        int64_t rows = nd->sizes[t->row_dim] - row, cols = nd->sizes[0] - col;
        run_tile(t, corner, rows < TILE_ROWS ? rows : TILE_ROWS, cols < t->cols ? cols : t->cols);
    }
}

static bool run_tiled(const td_walk *w)
{
    const td_nd *nd = w->nd;
    tiling t = {.nd = nd, .loop = w->entry->loop, .context = w->context};
    if (nd->ndim < 2 || nd->numel < WORTH_IT || nd->sizes[0] < TILE_ROWS / 2 ||
        !plan(&t, nd, w->dtypes))
        return false;
    int64_t rows = nd->sizes[t.row_dim], cols = nd->sizes[0], planes = nd->numel / rows / cols;
    t.strips = (rows + TILE_ROWS - 1) / TILE_ROWS;
    t.stripes = (cols + t.cols - 1) / t.cols;
    void *token = td_heavy_begin((double)nd->numel * (w->cost + 0.5));
    td_parallel(planes * t.strips * t.stripes, 16, run_tiles, &t);
    td_heavy_end(token);
    return true;
}

/* ---- short rows ---- */

#define SHORT_BYTES 512 /* of an output's row: a longer one is a loop of its own */
#define FEW 128         /* elements, for which nothing is gained */

typedef struct joining {
    const td_nd *nd;
    td_loop loop;
    const void *context;
    int64_t rows, strips; /* rows of a piece, and pieces along dimension 1 */
    uint32_t copied;      /* operands whose rows are brought together, a bit each */
    int64_t itemsize[TD_MAX_OPERANDS];
} joining;

/* Whether operand k is one line over dimensions 0 and 1. */
static bool one_line(const td_nd *nd, int k)
{
    return nd->strides[1][k] == nd->strides[0][k] * nd->sizes[0];
}

static bool plan_joining(joining *j, const td_nd *nd, const uint8_t *dtypes)
{
    int64_t widest = 1;
    if (nd->ndim < 2 || nd->numel < FEW || nd->strides[0][0] != td_itemsize((td_dtype)dtypes[0]) ||
        !one_line(nd, 0) || nd->sizes[0] * nd->strides[0][0] > SHORT_BYTES)
        return false;
    for (int k = 0; k < nd->nop; k++) {
        j->itemsize[k] = td_itemsize((td_dtype)dtypes[k]);
        if (j->itemsize[k] > widest) widest = j->itemsize[k];
        if (!one_line(nd, k)) j->copied |= 1u << k;
    }
    j->rows = TILE_BYTES / widest / nd->sizes[0];
    if (j->rows > nd->sizes[1]) j->rows = nd->sizes[1];
    return j->copied && j->rows > 1;
}

typedef struct joined {
    _Alignas(64) char buffers[TD_MAX_OPERANDS][TILE_BYTES];
    const char *from[TD_MAX_OPERANDS]; /* whose rows a buffer holds */
    int64_t rows;                      /* how many */
} joined;

static void run_joined(const joining *j, char **data, int64_t rows, joined *room)
{
    const td_nd *nd = j->nd;
    const td_copy_rows *copy = *TD_PICK(td_copy_rows_kernels);
    int64_t strides[TD_MAX_OPERANDS];
    for (int k = 0; k < nd->nop; k++) {
        int64_t size = j->itemsize[k], cols = nd->sizes[0];
        strides[k] = nd->strides[0][k];
        if (!(j->copied >> k & 1)) continue;
        if (room->from[k] != data[k] || room->rows < rows) {
            copy[__builtin_ctz((unsigned)size)](room->buffers[k], (int64_t[]){size, size * cols},
                                                data[k], (int64_t[]){strides[k], nd->strides[1][k]},
                                                cols, rows);
            room->from[k] = data[k];
        }
        data[k] = room->buffers[k];
        strides[k] = size;
    }
    room->rows = rows;
    j->loop(data, strides, rows * nd->sizes[0], j->context);
}

static void run_joinings(void *context, int64_t begin, int64_t end)
{
    const joining *j = context;
    const td_nd *nd = j->nd;
    joined room;
    memset(room.from, 0, sizeof room.from);
    room.rows = 0;
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t row = piece % j->strips * j->rows, rest = piece / j->strips;
        char *data[TD_MAX_OPERANDS];
        for (int k = 0; k < nd->nop; k++) data[k] = nd->data[k] + row * nd->strides[1][k];
        for (int d = 2; d < nd->ndim; d++) {
            for (int k = 0; k < nd->nop; k++) data[k] += rest % nd->sizes[d] * nd->strides[d][k];
            rest /= nd->sizes[d];
        }
        int64_t rows = nd->sizes[1] - row;
        run_joined(j, data, rows < j->rows ? rows : j->rows, &room);
    }
}

static bool run_short_rows(const td_walk *w)
{
    td_nd room;
    joining j = {.nd = td_nd_in_order(w->nd, &room), .loop = w->entry->loop, .context = w->context};
    const td_nd *nd = j.nd;
    if (!plan_joining(&j, nd, w->dtypes)) return false;
    j.strips = (nd->sizes[1] + j.rows - 1) / j.rows;
    int64_t planes = nd->numel / nd->sizes[0] / nd->sizes[1],
            grain = PIECE / (j.rows * nd->sizes[0]);
    void *token = td_heavy_begin((double)nd->numel * (w->cost + 0.5));
    td_parallel(planes * j.strips, grain > 1 ? grain : 1, run_joinings, &j);
    td_heavy_end(token);
    return true;
}

static td_status run(const td_walk *w)
{
    if (!run_tiled(w) && !run_short_rows(w)) td_nd_run(w->nd, w->entry->loop, w->context, w->cost);
    return TD_OK;
}

td_status td_cpu_pointwise(const td_walk *w)
{
    if (!w->wide) return run(w);
    td_wide wide = {
        .loop = w->wide->loop, .number = w->number, .context = w->context, .nop = w->nd->nop};
    memcpy(wide.dtypes, w->dtypes, sizeof wide.dtypes);
    td_loop_entry entry = {w->entry->name, w->entry->dtype, td_wide_loop};
    td_walk widened = *w;
    widened.entry = &entry;
    widened.context = &wide;
    return run(&widened);
}
