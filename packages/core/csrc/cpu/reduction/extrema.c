/* extrema.c - reducers that pick: min, max, their indices, and the largest and smallest magnitude.
 * NaN wins over every number; among equals the first index wins. Of complex numbers there is no
 * order. 16 and 32 bits without a sign come as wider integers (ops/reduction/reduce.c). */
#include "cpu/reduction/reduce.h"
#include "cpu/simd/rows.h"

/* ---- values ---- */

ROW_FOLD_F32(max_row_f32, -INFINITY, MAP_SAME, JOIN_MAX)
ROW_FOLD_F64(max_row_f64, -INFINITY, MAP_SAME, JOIN_MAX)
ROW_FOLD_F32(min_row_f32, INFINITY, MAP_SAME, JOIN_MIN)
ROW_FOLD_F64(min_row_f64, INFINITY, MAP_SAME, JOIN_MIN)
ROW_FOLD_F32(absmax_row_f32, 0, MAP_ABS, JOIN_MAX)
ROW_FOLD_F64(absmax_row_f64, 0, MAP_ABS, JOIN_MAX)
ROW_FOLD_F32(absmin_row_f32, INFINITY, MAP_ABS, JOIN_MIN)
ROW_FOLD_F64(absmin_row_f64, INFINITY, MAP_ABS, JOIN_MIN)

#define IS_NAN(v) ((v) != (v))
#define TAKE_MAX a = (v > a) | IS_NAN(v) ? v : a
#define TAKE_MIN a = (v < a) | IS_NAN(v) ? v : a
#define TAKE_ABSMAX     \
    v = v < 0 ? -v : v; \
    TAKE_MAX
#define TAKE_ABSMIN     \
    v = v < 0 ? -v : v; \
    TAKE_MIN
#define REAL_VALUES(op, START, STEP)                                           \
    TD_PLAIN_COLS(op##_cols_f32, float, float, START, STEP)                    \
    TD_PLAIN_COLS(op##_cols_f64, double, double, START, STEP)                  \
    TD_BLOCK(op##_f32, float, float, op##_row_f32, op##_cols_f32, START, STEP) \
    TD_BLOCK(op##_f64, double, double, op##_row_f64, op##_cols_f64, START, STEP)
REAL_VALUES(max, -INFINITY, TAKE_MAX)
REAL_VALUES(min, INFINITY, TAKE_MIN)
REAL_VALUES(absmax, 0, TAKE_ABSMAX)
REAL_VALUES(absmin, INFINITY, TAKE_ABSMIN)
TD_JOIN(join_max_f32, float, TAKE_MAX)
TD_JOIN(join_max_f64, double, TAKE_MAX)
TD_JOIN(join_min_f32, float, TAKE_MIN)
TD_JOIN(join_min_f64, double, TAKE_MIN)
TD_FINISH(to_f32, float, float, a)
TD_FINISH(to_f64, double, double, a)

#define INTEGER_VALUES(T, suffix, LEAST, MOST)                                                  \
    TD_PLAIN_ROW(max_row_##suffix, T, T, LEAST, a = v > a ? v : a)                              \
    TD_PLAIN_ROW(min_row_##suffix, T, T, MOST, a = v < a ? v : a)                               \
    TD_PLAIN_COLS(max_cols_##suffix, T, T, LEAST, a = v > a ? v : a)                            \
    TD_PLAIN_COLS(min_cols_##suffix, T, T, MOST, a = v < a ? v : a)                             \
    TD_BLOCK(max_##suffix, T, T, max_row_##suffix, max_cols_##suffix, LEAST, a = v > a ? v : a) \
    TD_BLOCK(min_##suffix, T, T, min_row_##suffix, min_cols_##suffix, MOST, a = v < a ? v : a)  \
    TD_JOIN(join_max_##suffix, T, a = v > a ? v : a)                                            \
    TD_JOIN(join_min_##suffix, T, a = v < a ? v : a)                                            \
    TD_FINISH(to_##suffix, T, T, a)
INTEGER_VALUES(uint8_t, u8, 0, UINT8_MAX)
INTEGER_VALUES(int8_t, i8, INT8_MIN, INT8_MAX)
INTEGER_VALUES(int16_t, i16, INT16_MIN, INT16_MAX)
INTEGER_VALUES(int32_t, i32, INT32_MIN, INT32_MAX)
INTEGER_VALUES(int64_t, i64, INT64_MIN, INT64_MAX)
INTEGER_VALUES(uint64_t, u64, 0, UINT64_MAX)

/* ---- indices: find the value, then the first place that holds it ---- */

static int64_t find_f32(const float *x, int64_t n, float wanted)
{
    vf w = vf_set(wanted);
    bool nan = IS_NAN(wanted);
    int64_t i = 0;
    for (; i + VF_WIDTH <= n; i += VF_WIDTH) {
        vf v = vf_load(x + i);
        if (vf_any(nan ? vf_isnan(v) : vf_eq(v, w))) break;
    }
    for (; i < n; i++)
        if (x[i] == wanted || (nan && IS_NAN(x[i]))) return i;
    return 0;
}

#define FIND(name, T)                                                                         \
    static int64_t name(const T *x, int64_t n, T wanted)                                      \
    {                                                                                         \
        bool nan = IS_NAN(wanted);                                                            \
        for (int64_t i = 0; i < n; i += 64) {                                                 \
            int64_t end = n - i < 64 ? n : i + 64;                                            \
            uint8_t hit = 0;                                                                  \
            for (int64_t j = i; j < end; j++) hit |= (x[j] == wanted) | (nan & IS_NAN(x[j])); \
            if (!hit) continue;                                                               \
            for (int64_t j = i; j < end; j++)                                                 \
                if ((x[j] == wanted) | (nan & IS_NAN(x[j]))) return j;                        \
        }                                                                                     \
        return 0;                                                                             \
    }

/* Columns keep values and row numbers apart, so that the compiler can take several columns at once.
 */
#define STRIP 256
#define INDEX_COLS(name, T, ACC, BETTER)                                                    \
    VFN void name(ACC *acc, const char *x, int64_t m, int64_t xm, int64_t n, int64_t xn,    \
                  int64_t first)                                                            \
    {                                                                                       \
        T best[STRIP];                                                                      \
        T where[STRIP]; /* as wide as the value: one mask serves both */                    \
        memset(where, 0, (size_t)m * sizeof(T));                                            \
        for (int64_t c = 0; c < m; c++) best[c] = TD_ELEMENT(T, x + c * xm);                \
        for (int64_t i = 1; i < n; i++) {                                                   \
            const char *row = x + i * xn;                                                   \
            T number = (T)i;                                                                \
            for (int64_t c = 0; c < m; c++) {                                               \
                T v = TD_ELEMENT(T, row + c * xm), a = best[c];                             \
                bool take = BETTER;                                                         \
                best[c] = take ? v : a;                                                     \
                where[c] = take ? number : where[c];                                        \
            }                                                                               \
        }                                                                                   \
        for (int64_t c = 0; c < m; c++) acc[c] = (ACC){first + (int64_t)where[c], best[c]}; \
    }

#define EXACT_ROWS(T)                                          \
    ((T)0.5 != 0      ? (sizeof(T) == 4 ? 1 << 24 : 1ll << 52) \
     : sizeof(T) == 1 ? 127                                    \
     : sizeof(T) == 2 ? 32767                                  \
                      : 1ll << 30)
#define BETTER_MAX ((v > a) | (IS_NAN(v) & !IS_NAN(a)))
#define BETTER_MIN ((v < a) | (IS_NAN(v) & !IS_NAN(a)))
#define INDEX(op, BETTER, T, suffix, ACC)                                                          \
    INDEX_COLS(arg##op##_cols_##suffix, T, ACC, BETTER)                                            \
    static void arg##op##_##suffix(void *accs, const char *x, int64_t m, int64_t xm, int64_t n,    \
                                   int64_t xn, int64_t first, const td_reduce_context *context)    \
    {                                                                                              \
        ACC *acc = accs;                                                                           \
        if (n > TD_SHORT_ROW && xn == (int64_t)sizeof(T)) {                                        \
            for (int64_t c = 0; c < m; c++) {                                                      \
                const T *row = (const T *)(x + c * xm);                                            \
                T value = op##_row_##suffix(row, n);                                               \
                acc[c] = (ACC){first + find_##suffix(row, n, value), value};                       \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        if (xm == (int64_t)sizeof(T) && m >= 4 && n <= EXACT_ROWS(T)) {                            \
            for (int64_t c = 0; c < m; c += STRIP)                                                 \
                arg##op##_cols_##suffix(acc + c, x + c * xm, m - c < STRIP ? m - c : STRIP,        \
                                        sizeof(T), n, xn, first);                                  \
            return;                                                                                \
        }                                                                                          \
        if (n <= TD_SHORT_ROW) {                                                                   \
            for (int64_t c = 0; c < m; c += STRIP)                                                 \
                arg##op##_cols_##suffix(acc + c, x + c * xm, m - c < STRIP ? m - c : STRIP, xm, n, \
                                        xn, first);                                                \
            return;                                                                                \
        }                                                                                          \
        for (int64_t c = 0; c < m; c++) {                                                          \
            const char *at = x + c * xm;                                                           \
            T a = TD_ELEMENT(T, at);                                                               \
            int64_t where = 0;                                                                     \
            for (int64_t i = 1; i < n; i++) {                                                      \
                T v = TD_ELEMENT(T, at + i * xn);                                                  \
                if (!(BETTER)) continue;                                                           \
                a = v;                                                                             \
                where = i;                                                                         \
            }                                                                                      \
            acc[c] = (ACC){first + where, a};                                                      \
        }                                                                                          \
    }                                                                                              \
    static void join_arg##op##_##suffix(void *into, const void *from, int64_t m)                   \
    {                                                                                              \
        ACC *p = into;                                                                             \
        const ACC *q = from;                                                                       \
        for (int64_t c = 0; c < m; c++) {                                                          \
            T a = p[c].value, v = q[c].value;                                                      \
            if (BETTER) p[c] = q[c];                                                               \
        }                                                                                          \
    }
#define INDICES(T, suffix)                                \
    typedef struct found_##suffix {                       \
        int64_t index;                                    \
        T value;                                          \
    } found_##suffix;                                     \
    INDEX(max, BETTER_MAX, T, suffix, found_##suffix)     \
    INDEX(min, BETTER_MIN, T, suffix, found_##suffix)     \
    TD_FINISH(value_##suffix, T, found_##suffix, a.value) \
    TD_FINISH(index_##suffix, int64_t, found_##suffix, a.index)
FIND(find_f64, double)
FIND(find_u8, uint8_t)
FIND(find_i8, int8_t)
FIND(find_i16, int16_t)
FIND(find_i32, int32_t)
FIND(find_i64, int64_t)
FIND(find_u64, uint64_t)
INDICES(float, f32)
INDICES(double, f64)
INDICES(uint8_t, u8)
INDICES(int8_t, i8)
INDICES(int16_t, i16)
INDICES(int32_t, i32)
INDICES(int64_t, i64)
INDICES(uint64_t, u64)

#define VALUE(T, dtype, op, suffix) \
    [dtype] = {sizeof(T), {dtype, 0}, op##_##suffix, join_##op##_##suffix, {to_##suffix, NULL}}
#define FOUND(T, dtype, op, suffix)    \
    [dtype] = {sizeof(found_##suffix), \
               {dtype, TD_I64},        \
               op##_##suffix,          \
               join_##op##_##suffix,   \
               {value_##suffix, index_##suffix}}
#define EVERY_REAL(ROW, op)                                                                 \
    ROW(uint8_t, TD_BOOL, op, u8), ROW(uint8_t, TD_U8, op, u8), ROW(int8_t, TD_I8, op, i8), \
        ROW(int16_t, TD_I16, op, i16), ROW(int32_t, TD_I32, op, i32),                       \
        ROW(int64_t, TD_I64, op, i64), ROW(uint64_t, TD_U64, op, u64),                      \
        ROW(float, TD_F32, op, f32), ROW(double, TD_F64, op, f64)
#define MAGNITUDE(op, join)                                                               \
    [TD_F32] = {sizeof(float), {TD_F32, 0}, op##_f32, join_##join##_f32, {to_f32, NULL}}, \
    [TD_F64] = {sizeof(double), {TD_F64, 0}, op##_f64, join_##join##_f64, {to_f64, NULL}}

const td_reducers TD_SYM(td_extremum_reducers) = {
    [TD_MIN] = {EVERY_REAL(VALUE, min)},       [TD_MAX] = {EVERY_REAL(VALUE, max)},
    [TD_ABSMIN] = {MAGNITUDE(absmin, min)},    [TD_ABSMAX] = {MAGNITUDE(absmax, max)},
    [TD_ARGMIN] = {EVERY_REAL(FOUND, argmin)}, [TD_ARGMAX] = {EVERY_REAL(FOUND, argmax)},
};
