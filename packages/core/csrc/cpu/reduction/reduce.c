/* reduce.c - reducers that add or multiply: sum, nansum, prod, norms, and any, all, count of bools.
 * Floats are added in float lanes over ROW_BLOCK elements, the blocks in double; halves are widened
 * in registers; integers are added and multiplied modulo 2^64. */
#include "cpu/reduction/reduce.h"
#include <complex.h>
#include "cpu/reduction/norm_power.h"
#include "cpu/simd/complex_numbers.h"
#include "cpu/simd/half_rows.h"
#include "cpu/simd/rows.h"

#define ROW_BLOCK 4096 /* elements */

#define OF_REAL(v) ((double)(v))
#define OF_NUMBER(v) ((v) == (v) ? (double)(v) : 0.0)
#define OF_ABS(v) fabs((double)(v))
#define OF_SQUARE(v) ((double)(v) * (double)(v))
#define SQUARE_OF_BF16(v) OF_SQUARE(td_bf16_load(v))
#define SQUARE_OF_F16(v) OF_SQUARE(td_f16_widen_1(v))

/* ---- dense rows ---- */

ROW_SUM_F32(add_f32, MAP_SAME)
ROW_FOLD_F64(add_f64, 0, MAP_SAME, JOIN_ADD)
ROW_SUM_F32(nanadd_f32, MAP_NUMBER)
ROW_FOLD_F64(nanadd_f64, 0, MAP_NUMBER, JOIN_ADD)
ROW_SUM_F32(abs_f32, MAP_ABS)
ROW_FOLD_F64(abs_f64, 0, MAP_ABS, JOIN_ADD)
ROW_SUM_F32(square_f32, MAP_SQUARE)
ROW_FOLD_F64(square_f64, 0, MAP_SQUARE, JOIN_ADD)
ROW_FOLD_F32(multiply_f32, 1, MAP_SAME, JOIN_MUL)
ROW_FOLD_F64(multiply_f64, 1, MAP_SAME, JOIN_MUL)

#define BLOCKED_ROW(name, T, fold, START, OP)                           \
    ROW_FN T name##_block(const T *x, int64_t n) { return fold(x, n); } \
    static inline double name(const T *x, int64_t n)                    \
    {                                                                   \
        double total = START;                                           \
        for (; n > ROW_BLOCK; n -= ROW_BLOCK, x += ROW_BLOCK)           \
            total = total OP(double) name##_block(x, ROW_BLOCK);        \
        return total OP(double) name##_block(x, n);                     \
    }
/* Squares in float have half the range of their root: a block whose sum is infinite, NaN or near
 * the denormals is added again in double. */
#define SQUARES_OR(sum, name, x, n) \
    ((sum) >= 0x1p-100F && (sum) < INFINITY ? (double)(sum) : name##_again(x, n))
#define AGAIN(name, T, OF)                                      \
    static TD_CALLED double name##_again(const T *x, int64_t n) \
    {                                                           \
        double total = 0;                                       \
        for (int64_t i = 0; i < n; i++) total += OF(x[i]);      \
        return total;                                           \
    }
AGAIN(norm2_row_f32, float, OF_SQUARE)
ROW_FN float norm2_row_f32_block(const float *x, int64_t n) { return square_f32(x, n); }
static double norm2_row_f32(const float *x, int64_t n)
{
    double total = 0;
    for (int64_t m; n > 0; n -= m, x += m) {
        m = n < ROW_BLOCK ? n : ROW_BLOCK;
        float sum = norm2_row_f32_block(x, m);
        total += SQUARES_OR(sum, norm2_row_f32, x, m);
    }
    return total;
}
BLOCKED_ROW(sum_row_f32, float, add_f32, 0, +)
BLOCKED_ROW(sum_row_f64, double, add_f64, 0, +)
BLOCKED_ROW(nansum_row_f32, float, nanadd_f32, 0, +)
BLOCKED_ROW(nansum_row_f64, double, nanadd_f64, 0, +)
BLOCKED_ROW(norm1_row_f32, float, abs_f32, 0, +)
BLOCKED_ROW(norm1_row_f64, double, abs_f64, 0, +)
BLOCKED_ROW(norm2_row_f64, double, square_f64, 0, +)
BLOCKED_ROW(prod_row_f32, float, multiply_f32, 1, *)
BLOCKED_ROW(prod_row_f64, double, multiply_f64, 1, *)

/* Half types: 512 elements at a time, widened in registers. */
#define AS_IS(sum, name, x, n) (double)(sum)
#define HALF_ROW(name, v, MAP, KEEP)                                                     \
    ROW_SUM(name##_sum, uint16_t, v, MAP)                                                \
    ROW_FN float name##_piece(const uint16_t *x, int64_t n) { return name##_sum(x, n); } \
    static double name(const uint16_t *x, int64_t n)                                     \
    {                                                                                    \
        double total = 0;                                                                \
        for (int64_t m; n > 0; n -= m, x += m) {                                         \
            m = n < 512 ? n : 512;                                                       \
            float sum = name##_piece(x, m);                                              \
            total += KEEP(sum, name, x, m);                                              \
        }                                                                                \
        return total;                                                                    \
    }
HALF_ROW(sum_row_bf16, vb, MAP_SAME, AS_IS)
HALF_ROW(sum_row_f16, vh, MAP_SAME, AS_IS)
AGAIN(norm2_row_bf16, uint16_t, SQUARE_OF_BF16)
HALF_ROW(norm2_row_bf16, vb, MAP_SQUARE, SQUARES_OR)
HALF_ROW(norm2_row_f16, vh, MAP_SQUARE, AS_IS)

/* ---- dense columns: four rows a turn, so that accumulators are loaded and stored once for them
 * ---- */

#define COLS_OF_FOUR(name, T, MAP)                                                          \
    static void name(double *restrict acc, const char *x, int64_t m, int64_t n, int64_t xn) \
    {                                                                                       \
        for (int64_t c = 0; c < m; c++) acc[c] = 0;                                         \
        for (; n >= 4; n -= 4, x += 4 * xn) {                                               \
            const T *p = (const T *)x, *q = (const T *)(x + xn);                            \
            const T *r = (const T *)(x + 2 * xn), *s = (const T *)(x + 3 * xn);             \
            for (int64_t c = 0; c < m; c++)                                                 \
                acc[c] += (MAP(p[c]) + MAP(q[c])) + (MAP(r[c]) + MAP(s[c]));                \
        }                                                                                   \
        for (; n > 0; n--, x += xn)                                                         \
            for (int64_t c = 0; c < m; c++) acc[c] += MAP(((const T *)x)[c]);               \
    }
/* The same sums of half types, where four rows are added in float, as the elements of a row are.
 * Two groups of four a turn, so that accumulators are loaded and stored half as often. */
#define ROW16(k) ((const uint16_t *)(x + (k) * xn) + c)
#define HALF_FOUR(of, k) \
    ((of(ROW16(k)) + of(ROW16((k) + 1))) + (of(ROW16((k) + 2)) + of(ROW16((k) + 3))))
#define HALF_COLS(name, of, of_one)                                                            \
    VFN void name##_turn(double *restrict acc, const char *x, int64_t m, int64_t xn, int rows) \
    {                                                                                          \
        int64_t c = 0;                                                                         \
        for (; c + VF_WIDTH <= m; c += VF_WIDTH) {                                             \
            vd low = vd_load(acc + c), high = vd_load(acc + c + VD_WIDTH);                     \
            ROW_UNROLL for (int k = 0; k < rows; k += 4)                                       \
            {                                                                                  \
                vf four = HALF_FOUR(of, k);                                                    \
                low += vf_low(four);                                                           \
                high += vf_high(four);                                                         \
            }                                                                                  \
            vd_store(acc + c, low);                                                            \
            vd_store(acc + c + VD_WIDTH, high);                                                \
        }                                                                                      \
        for (; c < m; c++)                                                                     \
            for (int k = 0; k < rows; k += 4) acc[c] += (double)HALF_FOUR(of_one, k);          \
    }                                                                                          \
    static void name(double *restrict acc, const char *x, int64_t m, int64_t n, int64_t xn)    \
    {                                                                                          \
        for (int64_t c = 0; c < m; c++) acc[c] = 0;                                            \
        for (; n >= 8; n -= 8, x += 8 * xn) name##_turn(acc, x, m, xn, 8);                     \
        for (; n >= 4; n -= 4, x += 4 * xn) name##_turn(acc, x, m, xn, 4);                     \
        for (; n > 0; n--, x += xn)                                                            \
            for (int64_t c = 0; c < m; c++) acc[c] += (double)of_one(ROW16(0));                \
    }
#define ONE_BF16(p) td_bf16_load(*(p))
#define ONE_F16(p) td_f16_widen_1(*(p))
#define ADDING_HALVES(name, ACC_ROW, of, of_one) \
    HALF_COLS(name##_cols, of, of_one)           \
    TD_BLOCK(name, uint16_t, double, ACC_ROW, name##_cols, 0, a += (double)of_one(&v))
#define ADDING(name, T, ACC_ROW, MAP) \
    COLS_OF_FOUR(name##_cols, T, MAP) \
    TD_BLOCK(name, T, double, ACC_ROW, name##_cols, 0, a += MAP(v))
ADDING(sum_f32, float, sum_row_f32, OF_REAL)
ADDING(sum_f64, double, sum_row_f64, OF_REAL)
ADDING_HALVES(sum_bf16, sum_row_bf16, vb_load, ONE_BF16)
ADDING_HALVES(sum_f16, sum_row_f16, vh_load, ONE_F16)
ADDING(norm2_bf16, uint16_t, norm2_row_bf16, SQUARE_OF_BF16)
ADDING(norm2_f16, uint16_t, norm2_row_f16, SQUARE_OF_F16)
ADDING(nansum_f32, float, nansum_row_f32, OF_NUMBER)
ADDING(nansum_f64, double, nansum_row_f64, OF_NUMBER)
ADDING(norm1_f32, float, norm1_row_f32, OF_ABS)
ADDING(norm1_f64, double, norm1_row_f64, OF_ABS)
ADDING(norm2_f32, float, norm2_row_f32, OF_SQUARE)
ADDING(norm2_f64, double, norm2_row_f64, OF_SQUARE)

#define TIMES(name, T)                                       \
    TD_PLAIN_COLS(name##_cols, T, double, 1, a *= (double)v) \
    TD_BLOCK(name, T, double, prod_row_##T, name##_cols, 1, a *= (double)v)
#define prod_row_float prod_row_f32
#define prod_row_double prod_row_f64
TIMES(prod_f32, float)
TIMES(prod_f64, double)

/* ---- what is left to the compiler ---- */

#define PLAIN(name, T, ACC, START, STEP)            \
    TD_PLAIN_ROW(name##_row, T, ACC, START, STEP)   \
    TD_PLAIN_COLS(name##_cols, T, ACC, START, STEP) \
    TD_BLOCK(name, T, ACC, name##_row, name##_cols, START, STEP)
#define INTEGER(T, suffix)                                         \
    PLAIN(sum_##suffix, T, uint64_t, 0, a += (uint64_t)(int64_t)v) \
    PLAIN(prod_##suffix, T, uint64_t, 1, a *= (uint64_t)(int64_t)v)
INTEGER(uint8_t, u8)
INTEGER(int8_t, i8)
INTEGER(int16_t, i16)
INTEGER(int32_t, i32)
INTEGER(int64_t, i64)
INTEGER(uint64_t, u64)
/* Counts of bytes in bytes, before one of them can overflow. */
#define COUNT_LANES 64
static int64_t count_row(const uint8_t *x, int64_t n)
{
    int64_t total = 0;
    for (; n >= COUNT_LANES;) {
        uint8_t lane[COUNT_LANES] = {0};
        int turns = n / COUNT_LANES < 255 ? (int)(n / COUNT_LANES) : 255;
        for (int i = 0; i < turns; i++, x += COUNT_LANES)
            for (int k = 0; k < COUNT_LANES; k++) lane[k] = (uint8_t)(lane[k] + (x[k] != 0));
        for (int k = 0; k < COUNT_LANES; k++) total += lane[k];
        n -= (int64_t)turns * COUNT_LANES;
    }
    for (int64_t i = 0; i < n; i++) total += x[i] != 0;
    return total;
}
TD_PLAIN_COLS(count_cols, uint8_t, int64_t, 0, a += v != 0)
TD_BLOCK(count_bool, uint8_t, int64_t, count_row, count_cols, 0, a += v != 0)
PLAIN(norm0_f32, float, double, 0, a += v != 0)
PLAIN(norm0_f64, double, double, 0, a += v != 0)
PLAIN(prod_c64, float complex, double complex, 1, a = cmultiply(a, v))
PLAIN(prod_c128, double complex, double complex, 1, a = cmultiply(a, v))

/* any and all look at a block at a time and stop early. */
#define LOOK 4096
#define STOPPING_ROW(name, VERDICT, SEEN)                         \
    static uint8_t name(const uint8_t *x, int64_t n)              \
    {                                                             \
        for (int64_t i = 0; i < n; i += LOOK) {                   \
            int64_t end = n - i < LOOK ? n : i + LOOK;            \
            uint8_t seen = 0;                                     \
            for (int64_t j = i; j < end; j++) seen |= SEEN(x[j]); \
            if (seen) return VERDICT;                             \
        }                                                         \
        return !(VERDICT);                                        \
    }
#define IS_TRUE(v) ((v) != 0)
#define IS_FALSE(v) ((v) == 0)
STOPPING_ROW(any_row, 1, IS_TRUE)
STOPPING_ROW(all_row, 0, IS_FALSE)
TD_PLAIN_COLS(any_cols, uint8_t, uint8_t, 0, a |= v != 0)
TD_PLAIN_COLS(all_cols, uint8_t, uint8_t, 1, a &= v != 0)
TD_BLOCK(any_bool, uint8_t, uint8_t, any_row, any_cols, 0, a |= v != 0)
TD_BLOCK(all_bool, uint8_t, uint8_t, all_row, all_cols, 1, a &= v != 0)

/* Norms of any p want the exponent from the context, so they have a block of their own. */
#define POWER(name, T)                                                                          \
    static void name(void *accs, const char *x, int64_t m, int64_t xm, int64_t n, int64_t xn,   \
                     int64_t first, const td_reduce_context *context)                           \
    {                                                                                           \
        double exponent = context->exponent;                                                    \
        for (int64_t c = 0; c < m; c++) {                                                       \
            double a = 0;                                                                       \
            for (int64_t i = 0; i < n; i++)                                                     \
                a += td_norm_power(fabs((double)TD_ELEMENT(T, x + c * xm + i * xn)), exponent); \
            ((double *)accs)[c] = a;                                                            \
        }                                                                                       \
    }
POWER(normp_f32, float)
POWER(normp_f64, double)

/* ---- joining and finishing ---- */

TD_JOIN(join_add, double, a += v)
TD_JOIN(join_mul, double, a *= v)
TD_JOIN(join_add_int, uint64_t, a += v)
TD_JOIN(join_mul_int, uint64_t, a *= v)
TD_JOIN(join_mul_complex, double complex, a = cmultiply(a, v))
TD_JOIN(join_any, uint8_t, a |= v)
TD_JOIN(join_all, uint8_t, a &= v)

TD_FINISH(to_f32, float, double, a / context->divisor)
TD_FINISH(to_f64, double, double, a / context->divisor)
TD_FINISH(root_f32, float, double, sqrt(a))
TD_FINISH(root_f64, double, double, sqrt(a))
TD_FINISH(unpower_f32, float, double, pow(a, 1 / context->exponent))
TD_FINISH(unpower_f64, double, double, pow(a, 1 / context->exponent))
TD_FINISH(to_i64, int64_t, uint64_t, a)
TD_FINISH(to_c64, float complex, double complex, a)
TD_FINISH(to_c128, double complex, double complex, a)
TD_FINISH(to_bool, uint8_t, uint8_t, a)

#define REDUCER(ACC, out, block, join, finish)               \
    {                                                        \
        sizeof(ACC), {out, 0}, block, join, { finish, NULL } \
    }
#define INTEGERS(op)                                                   \
    [TD_BOOL] = REDUCER(uint64_t, TD_I64, op##_u8, join_##op, to_i64), \
    [TD_U8] = REDUCER(uint64_t, TD_I64, op##_u8, join_##op, to_i64),   \
    [TD_I8] = REDUCER(uint64_t, TD_I64, op##_i8, join_##op, to_i64),   \
    [TD_I16] = REDUCER(uint64_t, TD_I64, op##_i16, join_##op, to_i64), \
    [TD_I32] = REDUCER(uint64_t, TD_I64, op##_i32, join_##op, to_i64), \
    [TD_I64] = REDUCER(uint64_t, TD_I64, op##_i64, join_##op, to_i64), \
    [TD_U64] = REDUCER(uint64_t, TD_I64, op##_u64, join_##op, to_i64)
#define join_sum join_add_int
#define join_prod join_mul_int
#define FLOATS(op, join, finish)                                                                  \
    [TD_F32] = REDUCER(double, TD_F32, op##_f32, join, finish##_f32), [TD_F64] =                  \
                                                                          REDUCER(double, TD_F64, \
                                                                                  op##_f64, join, \
                                                                                  finish##_f64)

#define HALVES(op, join, finish)                                                               \
    [TD_F16] = REDUCER(double, TD_F32, op##_f16, join, finish), [TD_BF16] = REDUCER(           \
                                                                    double, TD_F32, op##_bf16, \
                                                                    join, finish)

const td_reducers TD_SYM(td_sum_reducers) = {
    [TD_SUM] = {INTEGERS(sum), FLOATS(sum, join_add, to), HALVES(sum, join_add, to_f32)},
    [TD_NANSUM] = {FLOATS(nansum, join_add, to)},
    [TD_PROD] = {INTEGERS(prod), FLOATS(prod, join_mul, to),
                 [TD_C64] = REDUCER(double complex, TD_C64, prod_c64, join_mul_complex, to_c64),
                 [TD_C128] = REDUCER(double complex, TD_C128, prod_c128, join_mul_complex,
                                     to_c128)},
    [TD_NORM0] = {FLOATS(norm0, join_add, to)},
    [TD_NORM1] = {FLOATS(norm1, join_add, to)},
    [TD_NORM2] = {FLOATS(norm2, join_add, root), HALVES(norm2, join_add, root_f32)},
    [TD_NORMP] = {FLOATS(normp, join_add, unpower)},
    [TD_ANY] = {[TD_BOOL] = REDUCER(uint8_t, TD_BOOL, any_bool, join_any, to_bool)},
    [TD_ALL] = {[TD_BOOL] = REDUCER(uint8_t, TD_BOOL, all_bool, join_all, to_bool)},
    [TD_COUNT] = {[TD_BOOL] = REDUCER(int64_t, TD_I64, count_bool, join_add_int, to_i64)},
};
