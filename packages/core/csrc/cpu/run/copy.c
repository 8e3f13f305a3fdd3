/* copy.c - walks that copy, convert and negate on the processor: every dtype, any strides. */
#include <string.h>
#include "cpu/run/walk.h"
#include "cpu/convert.h"
#include "cpu/copy_rows.h"
#include "cpu/run/device.h"
#include "runtime/cpu.h"
#include "runtime/nd_order.h"
#include "runtime/pool.h"

#define SCRATCH 512 /* float32 elements between the two stages of a conversion */

static int log2_size(int64_t itemsize) { return __builtin_ctz((unsigned)itemsize); }

/* ---- float8: one element at a time through the scalar routines ---- */

#define FLOAT8(name, dtype)                                                         \
    static void name##_to_f32(char *const *data, const int64_t *strides, int64_t n, \
                              const void *context)                                  \
    {                                                                               \
        (void)context;                                                              \
        for (int64_t i = 0; i < n; i++)                                             \
            *(float *)(data[0] + i * strides[0]) =                                  \
                td_float8_to_float(dtype, *(uint8_t *)(data[1] + i * strides[1]));  \
    }                                                                               \
    static void f32_to_##name(char *const *data, const int64_t *strides, int64_t n, \
                              const void *context)                                  \
    {                                                                               \
        (void)context;                                                              \
        for (int64_t i = 0; i < n; i++)                                             \
            *(uint8_t *)(data[0] + i * strides[0]) =                                \
                td_float_to_float8(dtype, *(float *)(data[1] + i * strides[1]));    \
    }
FLOAT8(e4m3fn, TD_F8_E4M3FN)
FLOAT8(e5m2, TD_F8_E5M2)
FLOAT8(e4m3fnuz, TD_F8_E4M3FNUZ)
FLOAT8(e5m2fnuz, TD_F8_E5M2FNUZ)
FLOAT8(e8m0fnu, TD_F8_E8M0FNU)

static const td_loop float8_to_f32[] = {e4m3fn_to_f32, e5m2_to_f32, e4m3fnuz_to_f32,
                                        e5m2fnuz_to_f32, e8m0fnu_to_f32};
static const td_loop f32_to_float8[] = {f32_to_e4m3fn, f32_to_e5m2, f32_to_e4m3fnuz,
                                        f32_to_e5m2fnuz, f32_to_e8m0fnu};

/* ---- plans: which loops turn one dtype into another ---- */

typedef struct plan {
    /* of real numbers; second NULL, or first writes float32 and second reads it */
    td_loop first, second;
    int64_t to_half, from_half; /* bytes of one part of a complex number */
} plan;

/* The loop between two real dtypes, or NULL if it has to go through float32. */
static td_loop direct(td_dtype to, td_dtype from)
{
    const td_convert_kernels *k = TD_PICK(td_convert_kernels);
    if (to == from) return k->copy[log2_size(td_itemsize(to))];
    if (td_is_float8(from)) return to == TD_F32 ? float8_to_f32[from - TD_F8_E4M3FN] : NULL;
    if (td_is_float8(to)) return from == TD_F32 ? f32_to_float8[to - TD_F8_E4M3FN] : NULL;
    return k->real[to][from];
}

static plan plan_real(td_dtype to, td_dtype from)
{
    plan p = {direct(to, from), NULL, td_itemsize(to), td_itemsize(from)};
    if (!p.first) {
        p.first = direct(TD_F32, from);
        p.second = direct(to, TD_F32);
    }
    return p;
}

static void run_real(const plan *p, char *const *data, const int64_t *strides, int64_t n)
{
    if (!p->second) {
        p->first(data, strides, n, NULL);
        return;
    }
    float scratch[SCRATCH];
    for (int64_t done = 0; done < n; done += SCRATCH) {
        int64_t m = n - done < SCRATCH ? n - done : SCRATCH;
        p->first((char *const[]){(char *)scratch, data[1] + done * strides[1]},
                 (int64_t[]){4, strides[1]}, m, NULL);
        p->second((char *const[]){data[0] + done * strides[0], (char *)scratch},
                  (int64_t[]){strides[0], 4}, m, NULL);
    }
}

static void real_to_real(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    run_real(context, data, strides, n);
}

static void complex_to_complex(char *const *data, const int64_t *strides, int64_t n,
                               const void *context)
{
    const plan *p = context;
    if (strides[0] == 2 * p->to_half && strides[1] == 2 * p->from_half) {
        run_real(p, data, (int64_t[]){p->to_half, p->from_half}, 2 * n);
        return;
    }
    run_real(p, data, strides, n);
    run_real(p, (char *const[]){data[0] + p->to_half, data[1] + p->from_half}, strides, n);
}

/* n numbers of `size` bytes side by side, each followed by a zero; a wider integer of little end is
 * just that */
static void widen(char *out, const char *in, int64_t n, int64_t size)
{
    const td_convert_kernels *k = TD_PICK(td_convert_kernels);
    if (size == 8) {
        for (int64_t i = 0; i < n; i++) {
            ((uint64_t *)out)[2 * i] = ((const uint64_t *)in)[i];
            ((uint64_t *)out)[2 * i + 1] = 0;
        }
        return;
    }
    td_loop loop = size == 4 ? k->real[TD_U64][TD_U32] : k->real[TD_U32][TD_U16];
    loop((char *const[]){out, (char *)in}, (int64_t[]){2 * size, size}, n, NULL);
}

static void real_to_complex(char *const *data, const int64_t *strides, int64_t n,
                            const void *context)
{
    const plan *p = context;
    int64_t half = p->to_half;
    double scratch[SCRATCH];
    if (strides[0] != 2 * half) {
        run_real(p, data, strides, n);
        for (int64_t i = 0; i < n; i++) memset(data[0] + i * strides[0] + half, 0, (size_t)half);
        return;
    }
    for (int64_t done = 0; done < n; done += SCRATCH) {
        int64_t m = n - done < SCRATCH ? n - done : SCRATCH;
        run_real(p, (char *const[]){(char *)scratch, data[1] + done * strides[1]},
                 (int64_t[]){half, strides[1]}, m);
        widen(data[0] + done * strides[0], (const char *)scratch, m, half);
    }
}

static td_loop choose(plan *p, td_dtype to, td_dtype from)
{
    if (to == from) {
        p->first = direct(to, to);
        return p->first;
    }
    if (td_is_complex(from) && to == TD_BOOL)
        return TD_PICK(td_convert_kernels)->truth[from - TD_C32];
    *p = plan_real(td_to_real(to), td_to_real(from));
    if (!td_is_complex(to)) return real_to_real; /* the real part of a complex number comes first */
    return td_is_complex(from) ? complex_to_complex : real_to_complex;
}

/* ---- planes: two dimensions at once, the others piece by piece ---- */

#define STRIP 64   /* rows of one piece of a transpose */
#define PIECE 4096 /* elements of one piece of a copy, about */

typedef struct planes {
    const td_nd *nd;
    td_transpose transpose; /* or NULL: rows are copied */
    td_copy_rows copy;
    int row_dim;
    int64_t strip, strips; /* rows of a piece, and pieces of a plane */
} planes;

static void run_piece(const planes *p, char *out, char *in, int64_t rows)
{
    const td_nd *nd = p->nd;
    const int64_t *row = nd->strides[p->row_dim];
    if (p->transpose) {
        p->transpose(out, row[0], in, nd->strides[0][1], rows, nd->sizes[0]);
        return;
    }
    p->copy(out, (int64_t[]){nd->strides[0][0], row[0]}, in, (int64_t[]){nd->strides[0][1], row[1]},
            nd->sizes[0], rows);
}

static void run_pieces(void *context, int64_t begin, int64_t end)
{
    const planes *p = context;
    const td_nd *nd = p->nd;
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t row = piece % p->strips * p->strip, rest = piece / p->strips,
                rows = nd->sizes[p->row_dim] - row;
        char *out = nd->data[0] + row * nd->strides[p->row_dim][0],
             *in = nd->data[1] + row * nd->strides[p->row_dim][1];
        for (int d = 1; d < nd->ndim; d++) {
            if (d == p->row_dim) continue;
            out += rest % nd->sizes[d] * nd->strides[d][0];
            in += rest % nd->sizes[d] * nd->strides[d][1];
            rest /= nd->sizes[d];
        }
        run_piece(p, out, in, rows < p->strip ? rows : p->strip);
    }
}

static void run_planes(planes *p, int64_t grain, double cost)
{
    const td_nd *nd = p->nd;
    int64_t rows = nd->sizes[p->row_dim], others = nd->numel / rows / nd->sizes[0];
    p->strips = (rows + p->strip - 1) / p->strip;
    void *token = td_heavy_begin((double)nd->numel * cost);
    td_parallel(others * p->strips, grain > 1 ? grain : 1, run_pieces, p);
    td_heavy_end(token);
}

/* Which dimension a fast transpose may run along, or 0: the one the input is dense in. */
static int transposed_dim(const td_nd *nd, int64_t itemsize)
{
    if (nd->ndim < 2 || nd->strides[0][0] != itemsize || nd->strides[0][1] == itemsize ||
        nd->sizes[0] < 4)
        return 0;
    for (int d = 1; d < nd->ndim; d++)
        if (nd->strides[d][1] == itemsize && nd->sizes[d] >= 4) return d;
    return 0;
}

static void run_transposed(const td_nd *nd, int row_dim, int64_t itemsize, double cost)
{
    planes p = {.nd = nd,
                .transpose = TD_PICK(td_convert_kernels)->transpose[log2_size(itemsize)],
                .row_dim = row_dim,
                .strip = STRIP};
    run_planes(&p, 16384 / (STRIP * nd->sizes[0]), cost);
}

/* One line as rows of PIECE, and what is left of it. */
static void run_line(const td_nd *line, int64_t itemsize, double cost)
{
    td_copy_rows copy = (*TD_PICK(td_copy_rows_kernels))[log2_size(itemsize)];
    const int64_t *step = line->strides[0];
    int64_t rows = line->numel / PIECE, done = rows * PIECE;
    td_nd nd = {.ndim = 2,
                .nop = 2,
                .numel = done,
                .sizes = {PIECE, rows},
                .strides = {{step[0], step[1]}, {step[0] * PIECE, step[1] * PIECE}},
                .data = {line->data[0], line->data[1]}};
    if (rows) run_planes(&(planes){.nd = &nd, .copy = copy, .row_dim = 1, .strip = 1}, 4, cost);
    copy(line->data[0] + done * step[0], (int64_t[]){step[0], 0}, line->data[1] + done * step[1],
         (int64_t[]){step[1], 0}, line->numel - done, 1);
}

/* Long rows fill a thread's time, and a place written twice is written by one thread: both go by
 * td_nd_run. */
static bool run_rows(const td_nd *given, int64_t itemsize, double cost)
{
    td_nd room;
    const td_nd *nd = td_nd_in_order(given, &room);
    int64_t from = nd->strides[0][1], behind = (nd->data[0] - nd->data[1]) & 4095;
    bool short_line = nd->numel * itemsize < 1 << 19; /* a longer one goes another way */
    /* backwards, or where a plain copy is slow (cpu/copy_rows.c) */
    if (nd->ndim == 1 && nd->strides[0][0] == itemsize &&
        (from == -itemsize || (from == itemsize && behind && behind < 64 && short_line))) {
        run_line(nd, itemsize, cost);
        return true;
    }
    if (nd->ndim < 2 || nd->numel == 0 || nd->sizes[0] > PIECE) return false;
    for (int d = 0; d < nd->ndim; d++)
        if (nd->strides[d][0] == 0) return false;
    int64_t rows = PIECE / nd->sizes[0], most = nd->sizes[1];
    planes p = {.nd = nd,
                .copy = (*TD_PICK(td_copy_rows_kernels))[log2_size(itemsize)],
                .row_dim = 1,
                .strip = rows < most ? rows : most};
    run_planes(&p, (4 * PIECE) / (p.strip * nd->sizes[0]), cost);
    return true;
}

/* ---- the walks ---- */

td_status td_cpu_copy(const td_walk *w)
{
    plan p;
    td_dtype to = (td_dtype)w->dtypes[0], from = (td_dtype)w->dtypes[1];
    td_loop loop = choose(&p, to, from);
    int64_t itemsize = td_itemsize(to);
    int row_dim = to == from ? transposed_dim(w->nd, itemsize) : 0;
    if (row_dim) run_transposed(w->nd, row_dim, itemsize, w->cost);
    else if (to != from || !run_rows(w->nd, itemsize, w->cost)) td_nd_run(w->nd, loop, &p, w->cost);
    return TD_OK;
}

td_status td_cpu_negate(const td_walk *w)
{
    td_dtype d = (td_dtype)w->dtypes[0];
    td_nd_run(w->nd,
              TD_PICK(td_convert_kernels)
                  ->negate[d == TD_F64   ? 2
                           : d == TD_F32 ? 1
                                         : 0],
              NULL, w->cost);
    return TD_OK;
}
