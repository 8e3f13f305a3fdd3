/* indexing.c - the loops behind indexing: gather, scatter, block copies, masks. See index.h. */
#include "cpu/indexing.h"
#include <complex.h>
#include <string.h>
#include "cpu/indexing_masks.h"
#include "cpu/simd/complex_numbers.h"
#include "cpu/simd/half_rows.h"

#define BY_SIZE(name) {name##_u8, name##_u16, name##_u32, name##_u64, name##_u128}

/* ---- indices ---- */

/* Are n indices of a row below `size`? Negative ones are large as unsigned numbers. */
static bool in_range(const int64_t *index, int64_t n, int64_t size)
{
    uint64_t outside = 0;
    for (int64_t i = 0; i < n; i++) outside |= (uint64_t)index[i] >= (uint64_t)size;
    return !outside;
}

#define BLOCK 256 /* indices: copied, checked, then used while they are in the nearest cache */

/* Copies n <= BLOCK indices: no other thread can change what was checked. */
static bool take_indices(int64_t *restrict to, const char *index, int64_t stride, int64_t n,
                         int64_t size)
{
    uint64_t outside = 0;
    if (stride != sizeof(int64_t)) {
        for (int64_t i = 0; i < n; i++) to[i] = *(const int64_t *)(index + i * stride);
        return in_range(to, n, size);
    }
    for (int64_t i = 0; i < n; i++) {
        to[i] = ((const int64_t *)index)[i];
        outside |= (uint64_t)to[i] >= (uint64_t)size;
    }
    return !outside;
}

/* For loops that no vector helps: an index is read once, and that number is checked and used. Any
 * number is right where the indices are the call's own. */
static inline uint64_t last_place(const td_gather_places *p)
{
    return p->outside ? (uint64_t)p->size - 1 : UINT64_MAX;
}
static inline int64_t index_at(const char *index) { return *(const volatile int64_t *)index; }
static inline void note_outside(const td_gather_places *p)
{
    atomic_store_explicit(p->outside, true, memory_order_relaxed);
}

/* ---- moving elements ---- */

#define GATHER(suffix, type)                                                                     \
    static void gather_dense_##suffix(type *restrict to, const int64_t *index, const type *from, \
                                      int64_t n)                                                 \
    {                                                                                            \
        for (int64_t i = 0; i < n; i++) to[i] = from[index[i]];                                  \
    }                                                                                            \
    static void gather_block_##suffix(char *const *data, const int64_t *strides,                 \
                                      const int64_t *index, int64_t n, int64_t apart)            \
    {                                                                                            \
        if (strides[0] == sizeof(type) && strides[2] == 0 && apart == sizeof(type)) {            \
            gather_dense_##suffix((type *)data[0], index, (const type *)data[2], n);             \
            return;                                                                              \
        }                                                                                        \
        for (int64_t i = 0; i < n; i++)                                                          \
            *(type *)(data[0] + i * strides[0]) =                                                \
                *(const type *)(data[2] + i * strides[2] + index[i] * apart);                    \
    }                                                                                            \
    static void gather_##suffix(char *const *data, const int64_t *strides, int64_t n,            \
                                const void *context)                                             \
    {                                                                                            \
        const td_gather_places *p = context;                                                     \
        char *at[3] = {data[0], data[1], data[2]};                                               \
        int64_t taken[BLOCK];                                                                    \
        for (; n > 0; n -= BLOCK) {                                                              \
            int64_t m = n < BLOCK ? n : BLOCK;                                                   \
            if (take_indices(taken, at[1], strides[1], m, p->size))                              \
                gather_block_##suffix(at, strides, taken, m, p->apart);                          \
            else note_outside(p);                                                                \
            for (int k = 0; k < 3; k++) at[k] += m * strides[k];                                 \
        }                                                                                        \
    }
SIZES(GATHER)

/* A row of a scatter: WRITE(at, from) for each number and the place that its index names. The
 * second loop is that of places and numbers side by side. */
#define SCATTER_ROW(type, WRITE)                                                         \
    const td_gather_places *p = context;                                                 \
    char *to = data[0];                                                                  \
    const char *index = data[1], *from = data[2];                                        \
    int64_t apart = p->apart, s0 = s[0], s1 = s[1], s2 = s[2];                           \
    uint64_t last = last_place(p);                                                       \
    bool dense = s0 == 0 && s1 == 8 && s2 == sizeof(type) && apart == sizeof(type);      \
    for (int64_t i = 0; !dense && i < n; i++) {                                          \
        int64_t place = index_at(index + i * s1);                                        \
        if ((uint64_t)place <= last)                                                     \
            WRITE((type *)(to + i * s0 + place * apart), (const type *)(from + i * s2)); \
        else note_outside(p);                                                            \
    }                                                                                    \
    for (int64_t i = 0; dense && i < n; i++) {                                           \
        int64_t place = index_at(index + 8 * i);                                         \
        if ((uint64_t)place <= last) WRITE((type *)to + place, (const type *)from + i);  \
        else note_outside(p);                                                            \
    }
#define MOVE_ONE(at, from) *(at) = *(from)
#define SCATTER(suffix, type)                                                    \
    static void scatter_##suffix(char *const *data, const int64_t *s, int64_t n, \
                                 const void *context)                            \
    {                                                                            \
        SCATTER_ROW(type, MOVE_ONE)                                              \
    }
SIZES(SCATTER)

#define COPY(suffix, type)                                                                   \
    static void copy_##suffix(char *const *data, const int64_t *strides, int64_t n,          \
                              const void *context)                                           \
    {                                                                                        \
        (void)context;                                                                       \
        for (int64_t i = 0; i < n; i++)                                                      \
            *(type *)(data[0] + i * strides[0]) = *(const type *)(data[1] + i * strides[1]); \
    }
SIZES(COPY)

#define MASKED_FILL(suffix, type)                                                                  \
    static void fill_row_##suffix(type *restrict to, const type *restrict from,                    \
                                  const uint8_t *mask, type v, int64_t n)                          \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) to[i] = mask[i] ? v : from[i];                             \
    }                                                                                              \
    static void masked_fill_##suffix(char *const *data, const int64_t *s, int64_t n,               \
                                     const void *context)                                          \
    {                                                                                              \
        type v = *(const type *)context;                                                           \
        if (s[0] == sizeof(type) && s[1] == sizeof(type) && s[2] == 1 && data[0] != data[1])       \
            fill_row_##suffix((type *)data[0], (const type *)data[1], (const uint8_t *)data[2], v, \
                              n);                                                                  \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                *(type *)(data[0] + i * s[0]) = *(const uint8_t *)(data[2] + i * s[2])             \
                                                    ? v                                            \
                                                    : *(const type *)(data[1] + i * s[1]);         \
    }
SIZES(MASKED_FILL)

/* ---- blocks ---- */

#define TAKE(suffix, type)                                                                         \
    static void take_##suffix(char *dense, const char *indexed, const td_index_walk *w, int64_t o, \
                              int64_t i, int64_t n)                                                \
    {                                                                                              \
        type *to = (type *)dense + (o * w->count + i) * w->inner;                                  \
        const char *from = indexed + w->outer_at[o];                                               \
        const int64_t *at = w->at + i;                                                             \
        if (w->inner == 1)                                                                         \
            for (int64_t k = 0; k < n; k++) to[k] = *(const type *)(from + at[k]);                 \
        else                                                                                       \
            for (int64_t k = 0; k < n; k++)                                                        \
                for (int64_t m = 0; m < w->inner; m++)                                             \
                    *to++ = *(const type *)(from + at[k] + w->inner_at[m]);                        \
    }
SIZES(TAKE)

static void take_bytes(char *dense, const char *indexed, const td_index_walk *w, int64_t o,
                       int64_t i, int64_t n)
{
    char *to = dense + (o * w->count + i) * w->inner * w->run;
    for (int64_t k = i; k < i + n; k++)
        for (int64_t m = 0; m < w->inner; m++, to += w->run)
            memcpy(to, indexed + w->outer_at[o] + w->at[k] + w->inner_at[m], (size_t)w->run);
}

static void take(char *dense, const char *indexed, const td_index_walk *w, int64_t begin,
                 int64_t end)
{
    static void (*const by_size[])(char *, const char *, const td_index_walk *, int64_t, int64_t,
                                   int64_t) = BY_SIZE(take);
    bool small = w->run <= 16 && (w->run & (w->run - 1)) == 0;
    while (begin < end) {
        int64_t o = begin / w->count, i = begin % w->count,
                n = w->count - i < end - begin ? w->count - i : end - begin;
        (small ? by_size[__builtin_ctzll((uint64_t)w->run)] : take_bytes)(dense, indexed, w, o, i,
                                                                          n);
        begin += n;
    }
}

/* ---- arithmetic: X(name, dtype, type, load, store) ---- */

#define PLAIN(x) (x)
#define INTEGERS(X)                        \
    X(u8, TD_U8, uint8_t, PLAIN, PLAIN)    \
    X(i8, TD_I8, int8_t, PLAIN, PLAIN)     \
    X(i16, TD_I16, int16_t, PLAIN, PLAIN)  \
    X(i32, TD_I32, int32_t, PLAIN, PLAIN)  \
    X(i64, TD_I64, int64_t, PLAIN, PLAIN)  \
    X(u16, TD_U16, uint16_t, PLAIN, PLAIN) \
    X(u32, TD_U32, uint32_t, PLAIN, PLAIN) \
    X(u64, TD_U64, uint64_t, PLAIN, PLAIN)
#define FLOATS(X)                                           \
    X(f16, TD_F16, uint16_t, td_f16_load, td_f16_store)     \
    X(bf16, TD_BF16, uint16_t, td_bf16_load, td_bf16_store) \
    WIDE_FLOATS(X)
#define WIDE_FLOATS(X) X(f32, TD_F32, float, PLAIN, PLAIN) X(f64, TD_F64, double, PLAIN, PLAIN)
#define COMPLEXES(X) \
    X(c64, TD_C64, float complex, PLAIN, PLAIN) X(c128, TD_C128, double complex, PLAIN, PLAIN)

/* unsigned arithmetic wraps and gives the bits of the signed one */
#define ADD_INTEGER(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define MUL_INTEGER(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define ADD_NUMBER(a, b) ((a) + (b))
#define MUL_NUMBER(a, b) ((a) * (b))
#define DIV_NUMBER(a, b) ((a) / (b))
#define DIV_INTEGER(a, b) \
    floor_div(a, b) /* towards minus infinity; the divisor is a count, so positive */
static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
/* NaN on either side is kept */
#define MAX_NUMBER(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#define MIN_NUMBER(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))

/* `to` takes n numbers of `from`, side by side */
#define PUT_ROW(op, expression, name, type, load, store)                                   \
    static void row_##op##_##name(type *restrict to, const type *restrict from, int64_t n) \
    {                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                    \
            to[i] = (type)store(expression(load(to[i]), load(from[i])));                   \
    }
/* float16 by blocks of float32: the processor converts eight at a time */
#define HALF_BLOCK 256
#define PUT_HALF_ROW(op)                                                                        \
    static void row_##op##_f16(uint16_t *restrict to, const uint16_t *restrict from, int64_t n) \
    {                                                                                           \
        float a[HALF_BLOCK], b[HALF_BLOCK];                                                     \
        for (; n > 0; n -= HALF_BLOCK, to += HALF_BLOCK, from += HALF_BLOCK) {                  \
            int64_t m = n < HALF_BLOCK ? n : HALF_BLOCK;                                        \
            td_f16_widen(a, to, m);                                                             \
            td_f16_widen(b, from, m);                                                           \
            row_##op##_f32(a, b, m);                                                            \
            td_f16_narrow(to, a, m);                                                            \
        }                                                                                       \
    }
#define PUT_SCATTER(op, expression, name, type, load, store)                          \
    static inline void meet_##op##_##name(type *at, const type *from)                 \
    {                                                                                 \
        *at = (type)store(expression(load(*at), load(*from)));                        \
    }                                                                                 \
    static void scatter_##op##_##name(char *const *data, const int64_t *s, int64_t n, \
                                      const void *context)                            \
    {                                                                                 \
        SCATTER_ROW(type, meet_##op##_##name)                                         \
    }
#define PUT_COMBINE(op, expression, name, type, load, store)                                     \
    static void combine_##op##_##name(char *const *data, const int64_t *s, int64_t n,            \
                                      const void *context)                                       \
    {                                                                                            \
        (void)context;                                                                           \
        if (s[0] == sizeof(type) && s[1] == sizeof(type) && n > 1) {                             \
            row_##op##_##name((type *)data[0], (const type *)data[1], n);                        \
            return;                                                                              \
        }                                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                        \
            type *at = (type *)(data[0] + i * s[0]);                                             \
            *at = (type)store(expression(load(*at), load(*(const type *)(data[1] + i * s[1])))); \
        }                                                                                        \
    }
#define PUT(op, expression, name, type, load, store)     \
    PUT_ROW(op, expression, name, type, load, store)     \
    PUT_SCATTER(op, expression, name, type, load, store) \
    PUT_COMBINE(op, expression, name, type, load, store)
#define PUT_INTEGER(name, dtype, type, load, store) \
    PUT(add, ADD_INTEGER, name, type, load, store)  \
    PUT(mul, MUL_INTEGER, name, type, load, store)  \
    PUT(div, DIV_INTEGER, name, type, load, store)  \
    PUT(max, MAX_NUMBER, name, type, load, store) PUT(min, MIN_NUMBER, name, type, load, store)
#define PUT_FLOAT(name, dtype, type, load, store) \
    PUT(add, ADD_NUMBER, name, type, load, store) \
    PUT(mul, MUL_NUMBER, name, type, load, store) \
    PUT(div, DIV_NUMBER, name, type, load, store) \
    PUT(max, MAX_NUMBER, name, type, load, store) PUT(min, MIN_NUMBER, name, type, load, store)
/* of 16 bits: several sums or products meet in `many`, not here */
#define PUT_16(scattered, row, op, expression, name, widen_1, narrow_1) \
    row(op, expression, name, uint16_t, widen_1, narrow_1)              \
        scattered(op, expression, name, uint16_t, widen_1, narrow_1)    \
            PUT_COMBINE(op, expression, name, uint16_t, widen_1, narrow_1)
#define NOT_SCATTERED(op, expression, name, type, load, store)
#define F16_ROW(op, expression, name, type, load, store) PUT_HALF_ROW(op)
#define PUT_F16(op, expression, scattered) \
    PUT_16(scattered, F16_ROW, op, expression, f16, td_f16_widen_1, td_f16_narrow_1)
#define PUT_BF16(op, expression, scattered) \
    PUT_16(scattered, PUT_ROW, op, expression, bf16, td_bf16_load, td_bf16_store)
#define PUT_HALF(X)                   \
    X(add, ADD_NUMBER, NOT_SCATTERED) \
    X(mul, MUL_NUMBER, NOT_SCATTERED) \
    X(div, DIV_NUMBER, PUT_SCATTER)   \
    X(max, MAX_NUMBER, PUT_SCATTER)   \
    X(min, MIN_NUMBER, PUT_SCATTER)
#define PUT_COMPLEX(name, dtype, type, load, store) \
    PUT(add, ADD_NUMBER, name, type, load, store)   \
    PUT(mul, cmultiply, name, type, load, store)    \
    PUT(div, cdivide, name, type, load, store)
INTEGERS(PUT_INTEGER)
WIDE_FLOATS(PUT_FLOAT)
PUT_HALF(PUT_F16)
PUT_HALF(PUT_BF16)
COMPLEXES(PUT_COMPLEX)

/* ---- sums and products of 16-bit numbers ---- */

#define MANY(op, expression, name, widen_1, narrow_1)                                            \
    static void many_##op##_##name(char *to, const char *from, const int64_t *of, int64_t count, \
                                   int64_t apart, int64_t n)                                     \
    {                                                                                            \
        float sum[HALF_BLOCK], row[HALF_BLOCK];                                                  \
        if (n == 1) { /* the same without the cost of a block */                                 \
            float one = widen_1(*(const uint16_t *)to);                                          \
            for (int64_t k = 0; k < count; k++)                                                  \
                one = expression(one, widen_1(*(const uint16_t *)(from + of[k] * apart)));       \
            *(uint16_t *)to = narrow_1(one);                                                     \
            return;                                                                              \
        }                                                                                        \
        for (; n > 0; n -= HALF_BLOCK, to += 2 * HALF_BLOCK, from += 2 * HALF_BLOCK) {           \
            int64_t m = n < HALF_BLOCK ? n : HALF_BLOCK;                                         \
            td_##name##_widen(sum, (const uint16_t *)to, m);                                     \
            for (int64_t k = 0; k < count; k++) {                                                \
                td_##name##_widen(row, (const uint16_t *)(from + of[k] * apart), m);             \
                row_##op##_f32(sum, row, m);                                                     \
            }                                                                                    \
            td_##name##_narrow((uint16_t *)to, sum, m);                                          \
        }                                                                                        \
    }
MANY(add, ADD_NUMBER, f16, td_f16_widen_1, td_f16_narrow_1)
MANY(mul, MUL_NUMBER, f16, td_f16_widen_1, td_f16_narrow_1)
MANY(add, ADD_NUMBER, bf16, td_bf16_load, td_bf16_store)
MANY(mul, MUL_NUMBER, bf16, td_bf16_load, td_bf16_store)

/* truth values: any and all */
#define OR_TRUTH(a, b) ((a) || (b))
#define AND_TRUTH(a, b) ((a) && (b))
PUT(max, OR_TRUTH, truth, uint8_t, PLAIN, PLAIN)
PUT(min, AND_TRUTH, truth, uint8_t, PLAIN, PLAIN)

/* ---- the table ---- */

#define ENTRY(op, kind, name, dtype) [dtype] = kind##_##op##_##name,
#define SCATTER_ADD(name, dtype, type, load, store) ENTRY(add, scatter, name, dtype)
#define SCATTER_MUL(name, dtype, type, load, store) ENTRY(mul, scatter, name, dtype)
#define SCATTER_MAX(name, dtype, type, load, store) ENTRY(max, scatter, name, dtype)
#define SCATTER_MIN(name, dtype, type, load, store) ENTRY(min, scatter, name, dtype)
#define SCATTER_DIV(name, dtype, type, load, store) ENTRY(div, scatter, name, dtype)
#define COMBINE_DIV(name, dtype, type, load, store) ENTRY(div, combine, name, dtype)
#define COMBINE_ADD(name, dtype, type, load, store) ENTRY(add, combine, name, dtype)
#define COMBINE_MUL(name, dtype, type, load, store) ENTRY(mul, combine, name, dtype)
#define COMBINE_MAX(name, dtype, type, load, store) ENTRY(max, combine, name, dtype)
#define COMBINE_MIN(name, dtype, type, load, store) ENTRY(min, combine, name, dtype)
#define NUMBERS(X) INTEGERS(X) FLOATS(X) COMPLEXES(X)
#define WIDE_NUMBERS(X) INTEGERS(X) WIDE_FLOATS(X) COMPLEXES(X)
#define REALS(X) INTEGERS(X) FLOATS(X)

#define MOVES(kind)                                                                              \
    {                                                                                            \
        [TD_BOOL] = kind##_u8,        [TD_U8] = kind##_u8,          [TD_I8] = kind##_u8,         \
        [TD_I16] = kind##_u16,        [TD_I32] = kind##_u32,        [TD_I64] = kind##_u64,       \
        [TD_U16] = kind##_u16,        [TD_U32] = kind##_u32,        [TD_U64] = kind##_u64,       \
        [TD_F16] = kind##_u16,        [TD_BF16] = kind##_u16,       [TD_F32] = kind##_u32,       \
        [TD_F64] = kind##_u64,        [TD_C32] = kind##_u32,        [TD_C64] = kind##_u64,       \
        [TD_C128] = kind##_u128,      [TD_F8_E4M3FN] = kind##_u8,   [TD_F8_E5M2] = kind##_u8,    \
        [TD_F8_E4M3FNUZ] = kind##_u8, [TD_F8_E5M2FNUZ] = kind##_u8, [TD_F8_E8M0FNU] = kind##_u8, \
    }

const td_index_kernels TD_SYM(td_index_kernels) = {
    .gather = BY_SIZE(gather),
    .scatter =
        {
            [TD_PUT_COPY] = MOVES(scatter),
            [TD_PUT_ADD] = {WIDE_NUMBERS(SCATTER_ADD)[TD_BOOL] = scatter_max_truth},
            [TD_PUT_MUL] = {WIDE_NUMBERS(SCATTER_MUL)[TD_BOOL] = scatter_min_truth},
            [TD_PUT_DIV] = {NUMBERS(SCATTER_DIV)},
            [TD_PUT_MAX] = {REALS(SCATTER_MAX)[TD_BOOL] = scatter_max_truth},
            [TD_PUT_MIN] = {REALS(SCATTER_MIN)[TD_BOOL] = scatter_min_truth},
        },
    .combine =
        {
            [TD_PUT_COPY] = MOVES(copy),
            [TD_PUT_ADD] = {NUMBERS(COMBINE_ADD)[TD_BOOL] = combine_max_truth},
            [TD_PUT_MUL] = {NUMBERS(COMBINE_MUL)[TD_BOOL] = combine_min_truth},
            [TD_PUT_DIV] = {NUMBERS(COMBINE_DIV)},
            [TD_PUT_MAX] = {REALS(COMBINE_MAX)[TD_BOOL] = combine_max_truth},
            [TD_PUT_MIN] = {REALS(COMBINE_MIN)[TD_BOOL] = combine_min_truth},
        },
    .many =
        {
            [TD_PUT_ADD] = {[TD_F16] = many_add_f16, [TD_BF16] = many_add_bf16},
            [TD_PUT_MUL] = {[TD_F16] = many_mul_f16, [TD_BF16] = many_mul_bf16},
        },
    .masked_fill = BY_SIZE(masked_fill),
    .take = take,
    .count = count,
    .compress = BY_SIZE(compress),
    .positions = positions,
    .in_range = in_range,
};
