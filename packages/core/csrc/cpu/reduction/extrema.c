/* extrema.c - reducers that pick: min, max, their indices, and the largest and smallest magnitude.
 * NaN wins over every number; among equals the first index wins. Of complex numbers there is no
 * order. 16 and 32 bits without a sign come as wider integers (ops/reduction/reduce.c). */
#include "cpu/reduction/reduce.h"
#include "cpu/simd/half.h"
#include "cpu/simd/rows.h"

/* ---- values ---- */

#define VALUE_ROW(FOLD, name, T, IDENTITY, JOIN) \
    FOLD(name##_fold, IDENTITY, MAP_SAME, JOIN)  \
    ROW_FN T name(const T *x, int64_t n) { return name##_fold(x, n); }
VALUE_ROW(ROW_FOLD_F32, max_row_f32, float, -INFINITY, JOIN_MAX)
VALUE_ROW(ROW_FOLD_F64, max_row_f64, double, -INFINITY, JOIN_MAX)
VALUE_ROW(ROW_FOLD_F32, min_row_f32, float, INFINITY, JOIN_MIN)
VALUE_ROW(ROW_FOLD_F64, min_row_f64, double, INFINITY, JOIN_MIN)
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

/* ---- values of integers ----
 * One loop serves max and min, with and without a sign: `v ^ turn` puts each of these orders into
 * that of numbers with a sign, where the largest is taken. Accumulators hold what is turned. */

#define LOWEST(T) ((T)(1ull << (8 * sizeof(T) - 1)))
#define TURNED(T, v) ((T)((v) ^ turn))
#define LARGER a = v > a ? v : a
#define INTEGER_VALUES(T, suffix, KEY)                                                    \
    static T top_row_##suffix(const T *x, int64_t n, T turn)                              \
    {                                                                                     \
        T a = LOWEST(T);                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                 \
            T v = KEY(T, x[i]);                                                           \
            LARGER;                                                                       \
        }                                                                                 \
        return a;                                                                         \
    }                                                                                     \
    static void top_cols_##suffix(T *restrict acc, const char *x, int64_t m, int64_t n,   \
                                  int64_t xn, T turn)                                     \
    {                                                                                     \
        for (int64_t c = 0; c < m; c++) acc[c] = LOWEST(T);                               \
        for (int64_t i = 0; i < n; i++, x += xn)                                          \
            for (int64_t c = 0; c < m; c++) {                                             \
                T v = KEY(T, ((const T *)x)[c]), a = acc[c];                              \
                LARGER;                                                                   \
                acc[c] = a;                                                               \
            }                                                                             \
    }                                                                                     \
    static void top_##suffix(void *accs, const char *x, int64_t m, int64_t xm, int64_t n, \
                             int64_t xn, int64_t first, const td_reduce_context *context) \
    {                                                                                     \
        T *acc = accs, turn = (T)context->turn;                                           \
        if (n > TD_SHORT_ROW && xn == (int64_t)sizeof(T)) {                               \
            for (int64_t c = 0; c < m; c++)                                               \
                acc[c] = top_row_##suffix((const T *)(x + c * xm), n, turn);              \
        } else if (xm == (int64_t)sizeof(T) && m >= 4) {                                  \
            top_cols_##suffix(acc, x, m, n, xn, turn);                                    \
        } else {                                                                          \
            for (int64_t c = 0; c < m; c++) {                                             \
                T a = LOWEST(T);                                                          \
                const char *at = x + c * xm;                                              \
                for (int64_t i = 0; i < n; i++, at += xn) {                               \
                    T v = KEY(T, TD_ELEMENT(T, at));                                      \
                    LARGER;                                                               \
                }                                                                         \
                acc[c] = a;                                                               \
            }                                                                             \
        }                                                                                 \
    }                                                                                     \
    TD_JOIN(join_top_##suffix, T, LARGER)
#define TURNED_VALUES(T, suffix)      \
    INTEGER_VALUES(T, suffix, TURNED) \
    TD_FINISH(to_##suffix, T, T, a ^ (T)context->turn)
TURNED_VALUES(int8_t, i8)
TURNED_VALUES(int16_t, i16)
TURNED_VALUES(int32_t, i32)
TURNED_VALUES(int64_t, i64)

/* Floats of 16 bits are compared as integers, too: where the sign is set, the other bits are turned
 * around, and what is larger than infinity, NaN, counts as the largest of all. */
#define ORDERED(v) ((int16_t)((v) ^ (((v) >> 15) & 0x7fff)))
#define FLOAT16_VALUES(suffix, infinity, LOAD)                                  \
    static inline int16_t key_##suffix(int16_t v, int16_t turn)                 \
    {                                                                           \
        int16_t size = (int16_t)(v & 0x7fff), nan = size > (infinity) ? -1 : 0; \
        int16_t key = (int16_t)(ORDERED(v) ^ turn);                             \
        return (int16_t)((key | nan) & ~(nan & INT16_MIN));                     \
    }                                                                           \
    static inline float value_of_##suffix(int16_t key, int16_t turn)            \
    {                                                                           \
        int16_t v = (int16_t)(key ^ turn);                                      \
        return key == INT16_MAX ? NAN : LOAD((uint16_t)ORDERED(v));             \
    }                                                                           \
    INTEGER_VALUES(int16_t, suffix, KEY_##suffix)                               \
    TD_FINISH(to_##suffix, float, int16_t, value_of_##suffix(a, (int16_t)context->turn))
#define KEY_f16(T, v) key_f16(v, turn)
#define KEY_bf16(T, v) key_bf16(v, turn)
FLOAT16_VALUES(f16, 0x7c00, td_f16_load)
FLOAT16_VALUES(bf16, 0x7f80, td_bf16_load)

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

/* SEEN(T, v) is the value by which a number is compared: itself, or turned. */
#define ITSELF(T, v) (v)

/* Columns keep values and row numbers apart, so that the compiler can take several columns at once.
 */
#define STRIP 256
#define INDEX_COLS(name, T, ACC, BETTER, SEEN)                                              \
    VFN void name(ACC *acc, const char *x, int64_t m, int64_t xm, int64_t n, int64_t xn,    \
                  int64_t first, T turn)                                                    \
    {                                                                                       \
        T best[STRIP];                                                                      \
        T where[STRIP]; /* as wide as the value: one mask serves both */                    \
        memset(where, 0, (size_t)m * sizeof(T));                                            \
        for (int64_t c = 0; c < m; c++) best[c] = SEEN(T, TD_ELEMENT(T, x + c * xm));       \
        for (int64_t i = 1; i < n; i++) {                                                   \
            const char *row = x + i * xn;                                                   \
            T number = (T)i;                                                                \
            for (int64_t c = 0; c < m; c++) {                                               \
                T v = SEEN(T, TD_ELEMENT(T, row + c * xm)), a = best[c];                    \
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
#define INDEX(op, BETTER, T, suffix, ACC, SEEN, ROW)                                               \
    INDEX_COLS(arg##op##_cols_##suffix, T, ACC, BETTER, SEEN)                                      \
    static void arg##op##_##suffix(void *accs, const char *x, int64_t m, int64_t xm, int64_t n,    \
                                   int64_t xn, int64_t first, const td_reduce_context *context)    \
    {                                                                                              \
        ACC *acc = accs;                                                                           \
        T turn = (T)context->turn;                                                                 \
        (void)turn;                                                                                \
        if (n > TD_SHORT_ROW && xn == (int64_t)sizeof(T)) {                                        \
            for (int64_t c = 0; c < m; c++) {                                                      \
                const T *row = (const T *)(x + c * xm);                                            \
                T value = ROW;                                                                     \
                acc[c] = (ACC){first + find_##suffix(row, n, SEEN(T, value)), value};              \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        if (xm == (int64_t)sizeof(T) && m >= 4 && n <= EXACT_ROWS(T)) {                            \
            for (int64_t c = 0; c < m; c += STRIP)                                                 \
                arg##op##_cols_##suffix(acc + c, x + c * xm, m - c < STRIP ? m - c : STRIP,        \
                                        sizeof(T), n, xn, first, turn);                            \
            return;                                                                                \
        }                                                                                          \
        if (n <= TD_SHORT_ROW) {                                                                   \
            for (int64_t c = 0; c < m; c += STRIP)                                                 \
                arg##op##_cols_##suffix(acc + c, x + c * xm, m - c < STRIP ? m - c : STRIP, xm, n, \
                                        xn, first, turn);                                          \
            return;                                                                                \
        }                                                                                          \
        for (int64_t c = 0; c < m; c++) {                                                          \
            const char *at = x + c * xm;                                                           \
            T a = SEEN(T, TD_ELEMENT(T, at));                                                      \
            int64_t where = 0;                                                                     \
            for (int64_t i = 1; i < n; i++) {                                                      \
                T v = SEEN(T, TD_ELEMENT(T, at + i * xn));                                         \
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
#define FOUND_TYPE(T, suffix)       \
    typedef struct found_##suffix { \
        int64_t index;              \
        T value;                    \
    } found_##suffix;               \
    TD_FINISH(index_##suffix, int64_t, found_##suffix, a.index)
#define FLOAT_INDICES(T, suffix)                                                        \
    FOUND_TYPE(T, suffix)                                                               \
    INDEX(max, BETTER_MAX, T, suffix, found_##suffix, ITSELF, max_row_##suffix(row, n)) \
    INDEX(min, BETTER_MIN, T, suffix, found_##suffix, ITSELF, min_row_##suffix(row, n)) \
    TD_FINISH(value_##suffix, T, found_##suffix, a.value)
#define INTEGER_INDICES(T, suffix)                                                       \
    FIND(find_##suffix, T)                                                               \
    FOUND_TYPE(T, suffix)                                                                \
    INDEX(top, v > a, T, suffix, found_##suffix, TURNED, top_row_##suffix(row, n, turn)) \
    TD_FINISH(value_##suffix, T, found_##suffix, a.value ^ (T)context->turn)
FIND(find_f64, double)
FLOAT_INDICES(float, f32)
FLOAT_INDICES(double, f64)
INTEGER_INDICES(int8_t, i8)
INTEGER_INDICES(int16_t, i16)
INTEGER_INDICES(int32_t, i32)
INTEGER_INDICES(int64_t, i64)

#define VALUE(T, dtype, op, suffix) \
    [dtype] = {sizeof(T), {dtype, 0}, op##_##suffix, join_##op##_##suffix, {to_##suffix, NULL}}
#define FOUND(dtype, op, suffix)       \
    [dtype] = {sizeof(found_##suffix), \
               {dtype, TD_I64},        \
               op##_##suffix,          \
               join_##op##_##suffix,   \
               {value_##suffix, index_##suffix}}
#define TOP(dtype, suffix, TURN)                                             \
    [dtype] = {sizeof(int##suffix##_t), {dtype, 0},           top_i##suffix, \
               join_top_i##suffix,      {to_i##suffix, NULL}, TURN}
#define TOP_INDEX(dtype, suffix, TURN)             \
    [dtype] = {sizeof(found_i##suffix),            \
               {dtype, TD_I64},                    \
               argtop_i##suffix,                   \
               join_argtop_i##suffix,              \
               {value_i##suffix, index_i##suffix}, \
               TURN}
/* -1 turns every order around; LOWEST puts numbers without a sign below and above zero */
#define INTEGERS(ROW, turn)                                                                       \
    ROW(TD_BOOL, 8, turn ^ LOWEST(int8_t)), ROW(TD_U8, 8, turn ^ LOWEST(int8_t)),                 \
        ROW(TD_I8, 8, turn), ROW(TD_I16, 16, turn), ROW(TD_I32, 32, turn), ROW(TD_I64, 64, turn), \
        ROW(TD_U64, 64, turn ^ LOWEST(int64_t))
#define TOP_16(dtype, suffix, TURN)                                  \
    [dtype] = {sizeof(int16_t),   {TD_F32, 0},         top_##suffix, \
               join_top_##suffix, {to_##suffix, NULL}, TURN}
#define FLOATS_16(turn) TOP_16(TD_F16, f16, turn), TOP_16(TD_BF16, bf16, turn)
#define FLOATS(op) VALUE(float, TD_F32, op, f32), VALUE(double, TD_F64, op, f64)
#define FLOATS_FOUND(op) FOUND(TD_F32, op, f32), FOUND(TD_F64, op, f64)
#define MAGNITUDE(op, join)                                                               \
    [TD_F32] = {sizeof(float), {TD_F32, 0}, op##_f32, join_##join##_f32, {to_f32, NULL}}, \
    [TD_F64] = {sizeof(double), {TD_F64, 0}, op##_f64, join_##join##_f64, {to_f64, NULL}}

const td_reducers TD_SYM(td_extremum_reducers) = {
    [TD_MIN] = {INTEGERS(TOP, -1), FLOATS_16(-1), FLOATS(min)},
    [TD_MAX] = {INTEGERS(TOP, 0), FLOATS_16(0), FLOATS(max)},
    [TD_ABSMIN] = {MAGNITUDE(absmin, min)},
    [TD_ABSMAX] = {MAGNITUDE(absmax, max)},
    [TD_ARGMIN] = {INTEGERS(TOP_INDEX, -1), FLOATS_FOUND(argmin)},
    [TD_ARGMAX] = {INTEGERS(TOP_INDEX, 0), FLOATS_FOUND(argmax)},
};
