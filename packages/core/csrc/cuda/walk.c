/* walk.c - elementwise walks as launches of td_flat or td_strided (cpu/simd/device/pointwise.h). */
#include <string.h>
#include "cuda/program.h"
#include "runtime/op.h"

/* ---- laid out as the device text has them ---- */
#define OPERANDS 4
#define ARGS 8

typedef struct argument {
    int32_t kind, word;
    union {
        td_scalar scalar;
        int64_t i;
        double f;
    };
} argument;

typedef struct numbers {
    _Alignas(16) char bytes[OPERANDS][16];
} numbers;

typedef struct flat_call {
    numbers number;
    char *data[OPERANDS];
    int64_t n;
    uint32_t numbers;
    argument args[ARGS];
} flat_call;

typedef struct strided_call {
    numbers number;
    char *data[OPERANDS];
    uint32_t n, numbers;
    int32_t ndim;
    argument args[ARGS];
    struct {
        uint32_t size, magic, shift;
        int64_t strides[OPERANDS];
    } dim[TD_MAX_DIMS];
} strided_call;

_Static_assert(sizeof(argument) == 40 && sizeof(td_scalar) == 32,
               "the device text lays out arguments in the same way");
_Static_assert(sizeof(strided_call) <= 4096, "a launch carries 4,096 bytes of arguments");

static void fill_arguments(argument *to, const td_walk *w)
{
    const td_arg *args = w->context;
    int n = args ? (int)(w->context_bytes / (int64_t)sizeof *args) : 0;
    for (int k = 0; k < n && k < ARGS; k++) {
        to[k].kind = args[k].kind;
        switch (args[k].kind) {
            case TD_ARG_SCALAR: to[k].scalar = args[k].scalar; break;
            case TD_ARG_FLOAT: to[k].f = args[k].f; break;
            case TD_ARG_TENSOR: to[k].word = (args[k].tensor->flags & TD_FLAG_WRAPPED) != 0; break;
            case TD_ARG_STR: to[k].word = args[k].str[0]; break;
            case TD_ARG_NONE: break;
            default: to[k].i = args[k].i;
        }
    }
}

static void fill_numbers(numbers *to, const td_walk *w)
{
    for (int k = 1; k < w->nd->nop; k++)
        if (w->numbers >> k & 1)
            memcpy(to->bytes[k], w->nd->data[k], (size_t)td_itemsize((td_dtype)w->dtypes[k]));
}

/* Bits of `numbers` as the device text reads them. */
static uint32_t number_bits(const td_walk *w)
{
    uint32_t bits = w->numbers;
    for (int k = 1; w->wide && k < w->nd->nop; k++)
        if (w->dtypes[k] == w->wide->dtype) bits |= 1u << (16 + k);
    return bits;
}

/* ---- which program ---- */
static td_dtype bits_of(int64_t itemsize)
{
    return itemsize == 1   ? TD_U8
           : itemsize == 2 ? TD_I16
           : itemsize == 4 ? TD_I32
           : itemsize == 8 ? TD_I64
                           : TD_C128;
}

/* the loop of clamp depends on which bounds there are */
static const char *loop_name(const td_walk *w)
{
    if (strcmp(w->entry->name, "clamp")) return w->entry->name;
    const td_arg *args = w->context;
    return w->nd->nop == 4 ? "clamp_both" : args[1].kind != TD_ARG_NONE ? "clamp_min" : "clamp_max";
}

static td_cuda_program program_of(const td_walk *w, const char *how)
{
    td_cuda_program p = {.kind = "loop", .how = how, .dtype = w->dtypes[0], .from = w->dtypes[1]};
    if (w->kind == TD_WALK_LOOP) {
        p.name = loop_name(w);
        p.from = p.dtype = w->entry->dtype;
        return p;
    }
    if (w->kind == TD_WALK_NEGATE) {
        p.kind = "negate";
        p.from = p.dtype = w->dtypes[0] == TD_F32 || w->dtypes[0] == TD_F64 ? w->dtypes[0] : TD_I16;
    } else if (p.dtype == p.from) {
        p.kind = "copy";
        p.from = p.dtype = bits_of(td_itemsize((td_dtype)p.dtype));
    } else {
        p.kind = "cast";
    }
    p.name = p.kind;
    return p;
}

/* ---- geometry ---- */
static bool is_flat(const td_walk *w)
{
    const td_nd *nd = w->nd;
    if (nd->ndim > 1) return false;
    for (int k = 0; k < nd->nop; k++) {
        if (w->numbers >> k & 1) continue;
        if (w->wide && w->dtypes[k] == w->wide->dtype) return false;
        if (nd->ndim && nd->strides[0][k] != td_itemsize((td_dtype)w->dtypes[k])) return false;
        if ((uintptr_t)nd->data[k] & 15) return false;
    }
    return true;
}

/* x / size = (high 32 bits of x * magic + x) >> shift for x below 2^31 */
static void divide_by(uint32_t size, uint32_t *magic, uint32_t *shift)
{
    uint32_t s = 0;
    while (s < 31 && (1u << s) < size) s++;
    *shift = s;
    *magic = (uint32_t)((((uint64_t)1 << 32) * (((uint64_t)1 << s) - size)) / size + 1);
}

static td_status run_flat(const td_walk *w, int ordinal)
{
    flat_call c = {.n = w->nd->numel, .numbers = number_bits(w)};
    void *function;
    td_cuda_program p = program_of(w, "flat");
    TD_TRY(td_cuda_function(&p, ordinal, &function));
    int nop = w->kind == TD_WALK_NEGATE ? 2 : w->nd->nop;
    for (int k = 0; k < nop; k++) c.data[k] = w->nd->data[w->kind == TD_WALK_NEGATE ? 0 : k];
    fill_numbers(&c.number, w);
    if (w->kind == TD_WALK_LOOP) fill_arguments(c.args, w);
    int64_t chunk = 16 / td_itemsize((td_dtype)w->dtypes[0]);
    return td_cuda_launch(function, ordinal, c.n / (chunk > 4 ? 4 : chunk) + 1, &c, p.name);
}

static td_status run_strided(const td_walk *w, int ordinal)
{
    strided_call c = {.n = (uint32_t)w->nd->numel, .numbers = number_bits(w), .ndim = w->nd->ndim};
    void *function;
    td_cuda_program p = program_of(w, "strided");
    TD_TRY(td_cuda_function(&p, ordinal, &function));
    bool alone = w->kind == TD_WALK_NEGATE; /* one operand: read and written */
    int nop = alone ? 2 : w->nd->nop;
    for (int k = 0; k < nop; k++) c.data[k] = w->nd->data[alone ? 0 : k];
    for (int d = 0; d < c.ndim; d++) {
        c.dim[d].size = (uint32_t)w->nd->sizes[d];
        divide_by(c.dim[d].size, &c.dim[d].magic, &c.dim[d].shift);
        for (int k = 0; k < nop; k++)
            c.dim[d].strides[k] = w->numbers >> k & 1 ? 0 : w->nd->strides[d][alone ? 0 : k];
    }
    fill_numbers(&c.number, w);
    if (w->kind == TD_WALK_LOOP) fill_arguments(c.args, w);
    return td_cuda_launch(function, ordinal, c.n, &c, p.name);
}

#define MOST ((int64_t)1 << 30) /* elements of one strided launch: indices are 32 bits wide */

/* Too many elements for one launch: two halves of the longest dimension. */
static td_status run_halves(const td_walk *w, int ordinal);
static td_status run_one(const td_walk *w, int ordinal)
{
    if (w->nd->numel == 0) return TD_OK;
    if (is_flat(w)) return run_flat(w, ordinal);
    return w->nd->numel <= MOST ? run_strided(w, ordinal) : run_halves(w, ordinal);
}

static td_status run_halves(const td_walk *w, int ordinal)
{
    td_nd half = *w->nd;
    td_walk part = *w;
    int d = 0;
    for (int k = 1; k < half.ndim; k++)
        if (half.sizes[k] > half.sizes[d]) d = k;
    int64_t size = half.sizes[d], first = size / 2, rows = half.numel / size;
    part.nd = &half;
    half.sizes[d] = first;
    half.numel = rows * first;
    TD_TRY(run_one(&part, ordinal));
    for (int k = 0; k < half.nop; k++)
        if (!(w->numbers >> k & 1)) half.data[k] += first * half.strides[d][k];
    half.sizes[d] = size - first;
    half.numel = rows * (size - first);
    return run_one(&part, ordinal);
}

td_status td_cuda_walk(const td_walk *w, td_device device)
{
    int ordinal = td_device_index(device);
    if (w->nd->nop > OPERANDS)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "elementwise work on %d operands is not implemented for device 'cuda'",
                       w->nd->nop);
    TD_TRY(td_cuda_use(ordinal));
    return run_one(w, ordinal);
}
