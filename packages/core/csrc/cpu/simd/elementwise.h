/* elementwise.h - from rows to loops.
 *
 * A row is the kernel proper: it computes n numbers that lie side by side. A loop (loops.h) also
 * takes strides, numbers that repeat, and short floats. td_drive makes the second from the first:
 * what does not lie side by side in a type rows know is brought into a buffer block by block, so
 * that every layout and every dtype gives the same bits. */
#ifndef TD_ELEMENTWISE_H
#define TD_ELEMENTWISE_H
#include <complex.h>
#include "runtime/op.h"
#include "cpu/convert.h"

/* in[k] are the operands, context the arguments of the call. `out` may be one of them. */
typedef void (*td_row)(void *out, const void *const *in, int64_t n, const void *context);

#define TD_BLOCK_BYTES 4096
#define TD_BLOCK_PAD 192 /* so that no two buffers share their low address bits */

static inline void td_move_part(td_dtype to, char *out, int64_t so, td_dtype from, const char *in,
                                int64_t si, int64_t n)
{
    const td_convert_kernels *k = &TD_SYM(td_convert_kernels);
    td_loop loop =
        to == from ? k->copy[__builtin_ctz((unsigned)td_itemsize(to))] : k->real[to][from];
    loop((char *const[]){out, (char *)in}, (int64_t[]){so, si}, n, NULL);
}

/* n elements from one dtype and stride to another; complex32 goes by halves. */
static inline void td_move(td_dtype to, char *out, int64_t so, td_dtype from, const char *in,
                           int64_t si, int64_t n)
{
    if (to == from || (to != TD_C32 && from != TD_C32)) {
        td_move_part(to, out, so, from, in, si, n);
        return;
    }
    td_dtype half_to = to == TD_C32 ? TD_F16 : TD_F32, half_from = from == TD_C32 ? TD_F16 : TD_F32;
    td_move_part(half_to, out, so, half_from, in, si, n);
    td_move_part(half_to, out + td_itemsize(half_to), so, half_from, in + td_itemsize(half_from),
                 si, n);
}

static inline bool td_row_ready(td_dtype d, int64_t stride)
{
    return td_row_dtype(d) == d && stride == td_itemsize(d);
}

static __attribute__((noinline, unused)) void
td_drive_blocks(td_row row, int nin, const uint8_t *dtypes, char *const *data,
                const int64_t *strides, int64_t n, const void *context)
{
    _Alignas(64) char buffers[TD_MAX_OPERANDS][TD_BLOCK_BYTES + TD_BLOCK_PAD];
    const void *in[TD_MAX_OPERANDS];
    int64_t widest = 1;
    for (int k = 0; k <= nin; k++) {
        int64_t size = td_itemsize(td_row_dtype((td_dtype)dtypes[k]));
        if (size > widest) widest = size;
    }
    int64_t block = TD_BLOCK_BYTES / widest;
    for (int64_t done = 0; done < n; done += block) {
        int64_t m = n - done < block ? n - done : block;
        for (int k = 1; k <= nin; k++) {
            td_dtype d = (td_dtype)dtypes[k], r = td_row_dtype(d);
            const char *from = data[k] + done * strides[k];
            in[k - 1] = td_row_ready(d, strides[k]) ? from : buffers[k];
            if (in[k - 1] != from && (strides[k] != 0 || done == 0))
                td_move(r, buffers[k], td_itemsize(r), d, from, strides[k], m);
        }
        td_dtype d = (td_dtype)dtypes[0], r = td_row_dtype(d);
        char *to = data[0] + done * strides[0];
        if (td_row_ready(d, strides[0])) {
            row(to, in, m, context);
        } else {
            row(buffers[0], in, m, context);
            td_move(d, to, strides[0], r, buffers[0], td_itemsize(r), m);
        }
    }
}

static inline void td_drive(td_row row, int nin, const uint8_t *dtypes, char *const *data,
                            const int64_t *strides, int64_t n, const void *context)
{
    bool ready = true;
    for (int k = 0; k <= nin; k++) ready = ready && td_row_ready((td_dtype)dtypes[k], strides[k]);
    if (ready) row(data[0], (const void *const *)(data + 1), n, context);
    else td_drive_blocks(row, nin, dtypes, data, strides, n, context);
}

/* A loop over `row`; the dtypes of output and operands follow. */
#define TD_LOOP(symbol, row, ...)                                                                 \
    static void symbol(char *const *data, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                             \
        static const uint8_t dtypes[] = {__VA_ARGS__};                                            \
        td_drive(row, sizeof dtypes - 1, dtypes, data, strides, n, context);                      \
    }

/* Once each: inline in their loops, as the compiler would have them, they would be compiled twice.
 */
#define TD_ROW(symbol) __attribute__((noinline)) TD_ROW_OF_ROWS(symbol)
/* A row that only calls another. */
#define TD_ROW_OF_ROWS(symbol) \
    static void symbol(void *out, const void *const *in, int64_t n, const void *context)

/* Argument k of the call as a number: rows read alpha, slopes and limits with it. */
static inline double td_real_arg(const void *context, int k)
{
    const td_arg *arg = (const td_arg *)context + k;
    return arg->kind == TD_ARG_SCALAR  ? arg->scalar.re
           : arg->kind == TD_ARG_FLOAT ? arg->f
                                       : (double)arg->i;
}
/* the same for rows of integers: 1.0 is 1; what does not fit saturates */
static inline int64_t td_int_arg(const void *context, int k)
{
    const td_scalar *s = &((const td_arg *)context)[k].scalar;
    if (s->kind != TD_S_FLOAT && s->kind != TD_S_COMPLEX) return s->i;
    return s->re >= 0x1p63 ? INT64_MAX : s->re >= -0x1p63 ? (int64_t)s->re : INT64_MIN;
}
/* the first letter of a str */
static inline char td_letter_arg(const void *context, int k)
{
    return ((const td_arg *)context)[k].str[0];
}
/* is it a Python number? */
static inline bool td_number_arg(const void *context, int k)
{
    const td_arg *arg = (const td_arg *)context + k;
    return arg->kind == TD_ARG_TENSOR && (arg->tensor->flags & TD_FLAG_WRAPPED);
}
static inline bool td_has_arg(const void *context, int k)
{
    return ((const td_arg *)context)[k].kind != TD_ARG_NONE;
}

/* ---- rows of plain C: `expression` of x (and y, z), which gcc vectorises; memory is the same or
 * disjoint
 * ---- */
#define TD_UNPACK_1(type) const type *px = in[0];
#define TD_UNPACK_2(type) const type *px = in[0], *py = in[1];
#define TD_UNPACK_3(type) const type *px = in[0], *py = in[1], *pz = in[2];
#define TD_LOAD_1(type) type x = px[i];
#define TD_LOAD_2(type) type x = px[i], y = py[i];
#define TD_LOAD_3(type) type x = px[i], y = py[i], z = pz[i];

#define TD_C_ROW(symbol, arity, to, from, setup, expression) \
    TD_ROW(symbol)                                           \
    {                                                        \
        to *o = out;                                         \
        TD_UNPACK_##arity(from)(void) context;               \
        setup;                                               \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) \
        {                                                    \
            TD_LOAD_##arity(from) o[i] = expression;         \
        }                                                    \
    }

/* A row with its two operands in each other's place. */
#define TD_SWAPPED(symbol, row) \
    TD_ROW_OF_ROWS(symbol) { row(out, (const void *const[]){in[1], in[0]}, n, context); }
/* A row that is one of two of the same `arity`, by the arguments of the call. */
#define TD_CHOICE(symbol, arity, condition, yes, no) \
    TD_ROW_OF_ROWS(symbol) { (condition ? yes : no)(out, in, n, context); }

/* x where the condition is true, else y: three operands, of which the first is a bool. */
#define TD_WHERE_ROW(symbol, type)                           \
    TD_ROW(symbol)                                           \
    {                                                        \
        type *o = out;                                       \
        const uint8_t *condition = in[0];                    \
        const type *px = in[1], *py = in[2];                 \
        (void)context;                                       \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) \
        {                                                    \
            type x = px[i], y = py[i];                       \
            o[i] = condition[i] ? x : y;                     \
        }                                                    \
    }

/* A row of complex numbers by one of real numbers: each part for itself. */
#define TD_PARTS_ROW(symbol, complex_type, row) \
    TD_ROW_OF_ROWS(symbol) { row(out, in, 2 * n, context); }

#endif
