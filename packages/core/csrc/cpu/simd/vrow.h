/* vrow.h - rows of vector expressions, for float and double at once.
 *
 *   VROWS(relu, 1, , vmax(vzero(x), x))     defines relu_f32_row and relu_f64_row
 *
 * `setup` runs once per row and may declare constants; `expression` sees x (y, z) as vectors. */
#ifndef TD_VROW_H
#define TD_VROW_H
#include "cpu/simd/elementwise.h"
#include "cpu/simd/dtypes.h"
#include "cpu/simd/vec.h"
#include "cpu/simd/vec16.h"

#define VLOAD_1(v, how, ...) v x = how(px + i __VA_ARGS__);
#define VLOAD_2(v, how, ...) v x = how(px + i __VA_ARGS__), y = how(py + i __VA_ARGS__);
#define VLOAD_3(v, how, ...) \
    v x = how(px + i __VA_ARGS__), y = how(py + i __VA_ARGS__), z = how(pz + i __VA_ARGS__);

/* Most expressions take the compiler longer than all else in a row, so they stand in it once, for
 * whole vectors and for what a row leaves over. */
#define VROW(symbol, arity, v, type, width, setup, expression)                                   \
    TD_ROW(symbol)                                                                               \
    {                                                                                            \
        typedef __typeof__(((v){0})[0]) real __attribute__((unused));                            \
        typedef v vec __attribute__((unused));                                                   \
        type *o = out;                                                                           \
        TD_UNPACK_##arity(type)(void) context;                                                   \
        setup;                                                                                   \
        for (int64_t i = 0; i < n; i += width) {                                                 \
            VLOAD_##arity(v, v##_load_up_to, , n - i) v##_store_up_to(o + i, expression, n - i); \
        }                                                                                        \
    }

#define VROWS(name, arity, setup, expression)                           \
    VROW(name##_f32_row, arity, vf, float, VF_WIDTH, setup, expression) \
    VROW(name##_f64_row, arity, vd, double, VD_WIDTH, setup, expression)

/* An expression of a few instructions stands in its row twice: a test for each vector would take a
 * fifth of the time. */
#define SHORT_ROW(symbol, arity, v, type, width, setup, expression)                      \
    TD_ROW(symbol)                                                                       \
    {                                                                                    \
        typedef __typeof__(((v){0})[0]) real __attribute__((unused));                    \
        typedef v vec __attribute__((unused));                                           \
        type *o = out;                                                                   \
        TD_UNPACK_##arity(type)(void) context;                                           \
        setup;                                                                           \
        int64_t i = 0;                                                                   \
        for (; i + width <= n; i += width) {                                             \
            VLOAD_##arity(v, v##_load, ) v##_store(o + i, expression);                   \
        }                                                                                \
        if (i < n) {                                                                     \
            VLOAD_##arity(v, v##_load_n, , n - i) v##_store_n(o + i, expression, n - i); \
        }                                                                                \
    }

#define SHORT_ROWS(name, arity, setup, expression)                           \
    SHORT_ROW(name##_f32_row, arity, vf, float, VF_WIDTH, setup, expression) \
    SHORT_ROW(name##_f64_row, arity, vd, double, VD_WIDTH, setup, expression)

/* tests, whose results are truth values: `expression` is of C operators alone, as x may be a vector
 * where another text includes these lines */
#define VTRUTHS(name, arity, expression)                          \
    TD_C_ROW(name##_f32_row, arity, uint8_t, float, , expression) \
    TD_C_ROW(name##_f64_row, arity, uint8_t, double, , expression)
#define VTRUTHS_SWAPPED(name, other)            \
    TD_SWAPPED(name##_f32_row, other##_f32_row) \
    TD_SWAPPED(name##_f64_row, other##_f64_row)

/* ---- what takes less time than to bring 16 bits into a buffer of float32 and back has rows of
 * float16 and bfloat16, too, which widen and round in registers ---- */
#define LIGHT_ROWS(name, arity, setup, expression)                              \
    SHORT_ROWS(name, arity, setup, expression)                                  \
    SHORT_ROW(name##_f16_row, arity, vh, uint16_t, VF_WIDTH, setup, expression) \
    SHORT_ROW(name##_bf16_row, arity, vb, uint16_t, VF_WIDTH, setup, expression)
/* To such a row memory holds bits, no numbers: no conversion. */
#define LIGHT_LOOPS_16(name, arity)                                   \
    TD_LOOP(name##_f16, name##_f16_row, TD_I16, VINS_##arity(TD_I16)) \
    TD_LOOP(name##_bf16, name##_bf16_row, TD_I16, VINS_##arity(TD_I16))
#define LIGHT_LOOPS(name, arity)                                      \
    LIGHT_LOOPS_16(name, arity)                                       \
    TD_LOOP(name##_f32, name##_f32_row, TD_F32, VINS_##arity(TD_F32)) \
    TD_LOOP(name##_f64, name##_f64_row, TD_F64, VINS_##arity(TD_F64))
#define LIGHT_CHOICES_16(CHOICE, name) CHOICE(name, f16) CHOICE(name, bf16)

/* a number of the call as a vector of the row's type */
#define VARG(k) VSET_(vec, (real)td_real_arg(context, k))
#define VSET_(vec, value) _Generic((vec){0}, vf: vf_set, vd: vd_set)(value)

/* one row of C of an integer type; `expression` may use T and U */
#define INT_ROW(suffix, type, utype, dtype, name, arity, setup, expression) \
    TD_ROW(name##_##suffix##_row)                                           \
    {                                                                       \
        typedef type T __attribute__((unused));                             \
        typedef utype U __attribute__((unused));                            \
        type *o = out;                                                      \
        TD_UNPACK_##arity(type)(void) context;                              \
        setup;                                                              \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                \
        {                                                                   \
            TD_LOAD_##arity(type) o[i] = (type)(expression);                \
        }                                                                   \
    }
/* ---- one number as the second operand: frequent enough to be spared the buffer that repeats it
 * ---- */

#define NUMBER_ROW(symbol, m, v, type, number, width, setup, expression) \
    TD_ROW(symbol)                                                       \
    {                                                                    \
        typedef number real __attribute__((unused));                     \
        typedef v vec __attribute__((unused));                           \
        type *o = out;                                                   \
        const type *px = in[0];                                          \
        v y = v##_set(*(const number *)in[1]);                           \
        (void)context;                                                   \
        setup;                                                           \
        int64_t i = 0;                                                   \
        for (; i + width <= n; i += width) {                             \
            v x = m##_load(px + i);                                      \
            m##_store(o + i, expression);                                \
        }                                                                \
        if (i < n) {                                                     \
            v x = m##_load_n(px + i, n - i);                             \
            m##_store_n(o + i, expression, n - i);                       \
        }                                                                \
    }
#define NUMBER_ROWS(name, setup, expression)                                             \
    NUMBER_ROW(name##_number_f32_row, vf, vf, float, float, VF_WIDTH, setup, expression) \
    NUMBER_ROW(name##_number_f64_row, vd, vd, double, double, VD_WIDTH, setup, expression)

/* Beside 16 bits the number is a float32: loops of td_number_loops, where all lies side by side. */
#define NUMBER_LOOP_16(name, suffix)                                                         \
    static void name##_number_##suffix(char *const *data, const int64_t *strides, int64_t n, \
                                       const void *context)                                  \
    {                                                                                        \
        (void)strides;                                                                       \
        name##_number_##suffix##_row(data[0], (const void *const *)(data + 1), n, context);  \
    }
#define NUMBER_ROWS_16(name, setup, expression)                                              \
    NUMBER_ROW(name##_number_f16_row, vh, vf, uint16_t, float, VF_WIDTH, setup, expression)  \
    NUMBER_ROW(name##_number_bf16_row, vb, vf, uint16_t, float, VF_WIDTH, setup, expression) \
    NUMBER_LOOP_16(name, f16)                                                                \
    NUMBER_LOOP_16(name, bf16)
/* the same where the number may also be the first operand: `first` computes that, of x behind y */
#define NUMBER_FIRST_LOOP_16(name, suffix)                                                      \
    static void name##_number_##suffix(char *const *data, const int64_t *strides, int64_t n,    \
                                       const void *context)                                     \
    {                                                                                           \
        if (strides[1])                                                                         \
            name##_number_##suffix##_row(data[0], (const void *const *)(data + 1), n, context); \
        else                                                                                    \
            name##_first_##suffix##_row(data[0], (const void *const[]){data[2], data[1]}, n,    \
                                        context);                                               \
    }
#define NUMBER_FIRST_ROWS_16(name, setup, expression, first)                                 \
    NUMBER_ROW(name##_number_f16_row, vh, vf, uint16_t, float, VF_WIDTH, setup, expression)  \
    NUMBER_ROW(name##_number_bf16_row, vb, vf, uint16_t, float, VF_WIDTH, setup, expression) \
    NUMBER_ROW(name##_first_f16_row, vh, vf, uint16_t, float, VF_WIDTH, setup, first)        \
    NUMBER_ROW(name##_first_bf16_row, vb, vf, uint16_t, float, VF_WIDTH, setup, first)       \
    NUMBER_FIRST_LOOP_16(name, f16)                                                          \
    NUMBER_FIRST_LOOP_16(name, bf16)
/* the same for expressions of many instructions, which stand in their row once */
#define LONG_NUMBER_ROW(symbol, m, expression)                           \
    TD_ROW(symbol)                                                       \
    {                                                                    \
        typedef vf vec __attribute__((unused));                          \
        uint16_t *o = out;                                               \
        const uint16_t *px = in[0];                                      \
        vf y = vf_set(*(const float *)in[1]);                            \
        (void)context;                                                   \
        for (int64_t i = 0; i < n; i += VF_WIDTH) {                      \
            bool whole = n - i >= VF_WIDTH;                              \
            vf x = whole ? m##_load(px + i) : m##_load_n(px + i, n - i); \
            vf made = expression;                                        \
            if (whole) m##_store(o + i, made);                           \
            else m##_store_n(o + i, made, n - i);                        \
        }                                                                \
    }
#define LONG_NUMBER_ROWS_16(name, expression)               \
    LONG_NUMBER_ROW(name##_number_f16_row, vh, expression)  \
    LONG_NUMBER_ROW(name##_number_bf16_row, vb, expression) \
    NUMBER_LOOP_16(name, f16)                               \
    NUMBER_LOOP_16(name, bf16)
/* the same with two operands before the number */
#define NUMBER_ROW_3(symbol, m, expression)                                  \
    TD_ROW(symbol)                                                           \
    {                                                                        \
        uint16_t *o = out;                                                   \
        const uint16_t *px = in[0], *py = in[1];                             \
        vf z = vf_set(*(const float *)in[2]);                                \
        (void)context;                                                       \
        int64_t i = 0;                                                       \
        for (; i + VF_WIDTH <= n; i += VF_WIDTH) {                           \
            vf x = m##_load(px + i), y = m##_load(py + i);                   \
            m##_store(o + i, expression);                                    \
        }                                                                    \
        if (i < n) {                                                         \
            vf x = m##_load_n(px + i, n - i), y = m##_load_n(py + i, n - i); \
            m##_store_n(o + i, expression, n - i);                           \
        }                                                                    \
    }
#define NUMBER_ROWS_3(name, expression)                  \
    NUMBER_ROW_3(name##_number_f16_row, vh, expression)  \
    NUMBER_ROW_3(name##_number_bf16_row, vb, expression) \
    NUMBER_LOOP_16(name, f16)                            \
    NUMBER_LOOP_16(name, bf16)
#define NUMBER_ENTRY(name) {#name, name##_number_f16, name##_number_bf16, false}
#define NUMBER_FIRST_ENTRY(name) {#name, name##_number_f16, name##_number_bf16, true}

/* The loops of an op that has both kinds of rows. Where the number comes first, the number row of
 * `turned` takes the operands in each other's place, if it gives the same then: `when`. */
#define NUMBER_LOOP(name, turned, when, suffix, dtype, type)                                    \
    static void name##_##suffix(char *const *data, const int64_t *strides, int64_t n,           \
                                const void *context)                                            \
    {                                                                                           \
        static const uint8_t dtypes[] = {dtype, dtype, dtype};                                  \
        const int64_t size = sizeof(type), x = strides[1], y = strides[2];                      \
        if (strides[0] == size && x == size && y == 0)                                          \
            name##_number_##suffix##_row(data[0], (const void *const *)(data + 1), n, context); \
        else if (strides[0] == size && x == 0 && y == size && (when))                           \
            turned##_number_##suffix##_row(data[0], (const void *const[]){data[2], data[1]}, n, \
                                           context);                                            \
        else td_drive(name##_##suffix##_row, 2, dtypes, data, strides, n, context);             \
    }
#define NUMBER_LOOPS(name, turned, when)                \
    LIGHT_LOOPS_16(name, 2)                             \
    NUMBER_LOOP(name, turned, when, f32, TD_F32, float) \
    NUMBER_LOOP(name, turned, when, f64, TD_F64, double)

#endif
