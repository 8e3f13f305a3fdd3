/* copy.c - walks that copy, convert and negate on the processor: every dtype, any strides. */
#include <string.h>
#include "cpu/convert.h"
#include "cpu/run/device.h"
#include "runtime/cpu.h"
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

/* ---- transposes: memory order of the two differs ---- */

#define STRIP 64 /* rows of one piece of work */

typedef struct transposition {
    const td_nd *nd;
    td_transpose kernel;
    int row_dim; /* the dimension the input is dense in; the output is dense in dimension 0 */
    int64_t itemsize, strips;
} transposition;

/* Which dimension a fast transpose may run along, or 0. */
static int transposed_dim(const td_nd *nd, int64_t itemsize)
{
    if (nd->ndim < 2 || nd->strides[0][0] != itemsize || nd->strides[0][1] == itemsize ||
        nd->sizes[0] < 4)
        return 0;
    for (int d = 1; d < nd->ndim; d++)
        if (nd->strides[d][1] == itemsize && nd->sizes[d] >= 4) return d;
    return 0;
}

static void transpose_piece(void *context, int64_t begin, int64_t end)
{
    const transposition *t = context;
    const td_nd *nd = t->nd;
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t row = piece % t->strips * STRIP, rest = piece / t->strips;
        char *out = nd->data[0] + row * nd->strides[t->row_dim][0],
             *in = nd->data[1] + row * t->itemsize;
        for (int d = 1; d < nd->ndim; d++) {
            if (d == t->row_dim) continue;
            out += rest % nd->sizes[d] * nd->strides[d][0];
            in += rest % nd->sizes[d] * nd->strides[d][1];
            rest /= nd->sizes[d];
        }
        int64_t rows = nd->sizes[t->row_dim] - row;
        t->kernel(out, nd->strides[t->row_dim][0], in, nd->strides[0][1],
                  rows < STRIP ? rows : STRIP, nd->sizes[0]);
    }
}

static void run_transposed(const td_nd *nd, int row_dim, int64_t itemsize, double cost)
{
    int64_t rows = nd->sizes[row_dim], strips = (rows + STRIP - 1) / STRIP,
            planes = nd->numel / rows / nd->sizes[0];
    transposition t = {nd, TD_PICK(td_convert_kernels)->transpose[log2_size(itemsize)], row_dim,
                       itemsize, strips};
    int64_t grain = 16384 / (STRIP * nd->sizes[0]);
    void *token = td_heavy_begin((double)nd->numel * cost);
    td_parallel(planes * strips, grain > 1 ? grain : 1, transpose_piece, &t);
    td_heavy_end(token);
}

/* ---- the walks ---- */

td_status td_cpu_copy(const td_walk *w)
{
    plan p;
    td_dtype to = (td_dtype)w->dtypes[0], from = (td_dtype)w->dtypes[1];
    td_loop loop = choose(&p, to, from);
    int row_dim = to == from ? transposed_dim(w->nd, td_itemsize(to)) : 0;
    if (row_dim) run_transposed(w->nd, row_dim, td_itemsize(to), w->cost);
    else td_nd_run(w->nd, loop, &p, w->cost);
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
