/* convert.c - loops that copy, convert and negate elements. data[0] is written, data[1] read.
 * Complex numbers need none of their own: the driver (cpu/run/copy.c) moves their halves with the
 * real loops. */
#include "cpu/convert.h"
#include "cpu/simd/half_rows.h"

typedef struct bytes16 {
    uint64_t low, high;
} bytes16;

#define COPY(symbol, type)                                                                        \
    static void symbol(char *const *data, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                             \
        char *out = data[0];                                                                      \
        const char *in = data[1];                                                                 \
        int64_t so = strides[0], si = strides[1];                                                 \
        (void)context;                                                                            \
        if (so == sizeof(type) && si == sizeof(type)) {                                           \
            memmove(out, in, (size_t)n * sizeof(type));                                           \
        } else if (so == sizeof(type) && si == 0 && n > 0) {                                      \
            type value = *(const type *)in;                                                       \
            for (int64_t i = 0; i < n; i++) ((type *)out)[i] = value;                             \
        } else {                                                                                  \
            for (int64_t i = 0; i < n; i++)                                                       \
                *(type *)(out + i * so) = *(const type *)(in + i * si);                           \
        }                                                                                         \
    }
COPY(copy_1, uint8_t)
COPY(copy_2, uint16_t)
COPY(copy_4, uint32_t)
COPY(copy_8, uint64_t)
COPY(copy_16, bytes16)

/* Float to integer is defined for every input: what does not fit (NaN too) becomes the smallest
 * value of the 32- or 64-bit signed type it passes through, as the hardware does; narrower types
 * keep its low bits. */
static inline int32_t to_i32(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}
static inline int64_t to_i64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
static inline int32_t to_i32_f(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}
static inline int64_t to_i64_f(float x)
{
    return x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN;
}
static inline uint64_t to_u64(double x)
{
    return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)(int64_t)(x - 0x1p63) + ((uint64_t)1 << 63)
                                     : (uint64_t)to_i64(x);
}

#define AS_IS(x) (x)
#define TRUTH(x) ((x) != 0)

#define CONVERT(symbol, to, from, expression)                                                     \
    static void symbol(char *const *data, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                             \
        char *out = data[0];                                                                      \
        const char *in = data[1];                                                                 \
        int64_t so = strides[0], si = strides[1];                                                 \
        (void)context;                                                                            \
        if (so == sizeof(to) && si == sizeof(from)) {                                             \
            to *restrict o = (to *)out;                                                           \
            const from *restrict x = (const from *)in;                                            \
            for (int64_t i = 0; i < n; i++) o[i] = (to)expression(x[i]);                          \
        } else {                                                                                  \
            for (int64_t i = 0; i < n; i++)                                                       \
                *(to *)(out + i * so) = (to)expression(*(const from *)(in + i * si));             \
        }                                                                                         \
    }

/* one source type to every destination: bool, the integer widths, both floats */
#define FROM_INTEGER(name, type)                   \
    CONVERT(name##_to_truth, uint8_t, type, TRUTH) \
    CONVERT(name##_to_8, uint8_t, type, AS_IS)     \
    CONVERT(name##_to_16, uint16_t, type, AS_IS)   \
    CONVERT(name##_to_32, uint32_t, type, AS_IS)   \
    CONVERT(name##_to_64, uint64_t, type, AS_IS)   \
    CONVERT(name##_to_f32, float, type, AS_IS)     \
    CONVERT(name##_to_f64, double, type, AS_IS)
FROM_INTEGER(u8, uint8_t)
FROM_INTEGER(i8, int8_t)
FROM_INTEGER(i16, int16_t)
FROM_INTEGER(i32, int32_t)
FROM_INTEGER(i64, int64_t)
FROM_INTEGER(u16, uint16_t)
FROM_INTEGER(u32, uint32_t)
FROM_INTEGER(u64, uint64_t)
CONVERT(f32_to_truth, uint8_t, float, TRUTH)
CONVERT(f32_to_8_strided, uint8_t, float, to_i32_f)
CONVERT(f32_to_16, uint16_t, float, to_i32_f)
CONVERT(f32_to_i32, int32_t, float, to_i32_f)
CONVERT(f32_to_u32, uint32_t, float, to_i64_f)
CONVERT(f32_to_i64_each, int64_t, float, to_i64_f)
CONVERT(f32_to_u64, uint64_t, float, to_u64)
CONVERT(f32_to_f64, double, float, AS_IS)
CONVERT(f64_to_truth, uint8_t, double, TRUTH)
CONVERT(f64_to_8, uint8_t, double, to_i32)
CONVERT(f64_to_16, uint16_t, double, to_i32)
CONVERT(f64_to_i32, int32_t, double, to_i32)
CONVERT(f64_to_u32, uint32_t, double, to_i64)
CONVERT(f64_to_i64_each, int64_t, double, to_i64)
CONVERT(f64_to_u64, uint64_t, double, to_u64)
CONVERT(f64_to_f32, float, double, AS_IS)
CONVERT(bf16_to_f32_strided, float, uint16_t, td_bf16_load)

/* The low bytes of 32 integers at a time: the processor's own conversion gives the smallest integer
 * for what does not fit, which the compiler would compare and choose. */
static int64_t f32_to_bytes(uint8_t *out, const float *x, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
    const __m256i byte = _mm256_set1_epi32(0xff), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; i + 32 <= n; i += 32) {
        __m256i v[4];
        for (int k = 0; k < 4; k++)
            v[k] = _mm256_and_si256(_mm256_cvttps_epi32(_mm256_loadu_ps(x + i + 8 * k)), byte);
        __m256i low = _mm256_packus_epi32(v[0], v[1]), high = _mm256_packus_epi32(v[2], v[3]);
        __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
        _mm256_storeu_si256((__m256i *)(out + i), bytes);
    }
#endif
    return i;
}
static void f32_to_8(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    int64_t done = strides[0] == 1 && strides[1] == 4
                       ? f32_to_bytes((uint8_t *)data[0], (const float *)data[1], n)
                       : 0;
    char *rest[] = {data[0] + done, data[1] + 4 * done};
    f32_to_8_strided(rest, strides, n - done, context);
}

/* Integers of 64 bits, by way of 32 where all of a vector fit in them: there is no instruction for
 * more before AVX-512. How many of n numbers were converted. */
static int64_t f32_to_longs(int64_t *out, const float *x, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
    const __m256i odd = _mm256_set1_epi32(INT32_MIN); /* what does not fit becomes this */
    for (; i + 8 <= n; i += 8) {
        __m256i v = _mm256_cvttps_epi32(_mm256_loadu_ps(x + i));
        if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(v, odd))) {
            for (int k = 0; k < 8; k++) out[i + k] = to_i64_f(x[i + k]);
            continue;
        }
        __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_cvtepi32_epi64(low));
        _mm256_storeu_si256((__m256i *)(out + i + 4), _mm256_cvtepi32_epi64(high));
    }
#endif
    return i;
}
static int64_t f64_to_longs(int64_t *out, const double *x, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
    const __m128i odd = _mm_set1_epi32(INT32_MIN);
    for (; i + 4 <= n; i += 4) {
        __m128i v = _mm256_cvttpd_epi32(_mm256_loadu_pd(x + i));
        if (_mm_movemask_epi8(_mm_cmpeq_epi32(v, odd)))
            for (int k = 0; k < 4; k++) out[i + k] = to_i64(x[i + k]);
        else _mm256_storeu_si256((__m256i *)(out + i), _mm256_cvtepi32_epi64(v));
    }
#endif
    return i;
}
#define TO_LONGS(name, type)                                                               \
    static void name##_to_i64(char *const *data, const int64_t *strides, int64_t n,        \
                              const void *context)                                         \
    {                                                                                      \
        const int64_t size = sizeof(type);                                                 \
        int64_t done = strides[0] == 8 && strides[1] == size                               \
                           ? name##_to_longs((int64_t *)data[0], (const type *)data[1], n) \
                           : 0;                                                            \
        char *rest[] = {data[0] + 8 * done, data[1] + size * done};                        \
        name##_to_i64_each(rest, strides, n - done, context);                              \
    }
TO_LONGS(f32, float)
TO_LONGS(f64, double)

/* One number for a whole row, as where a bias is added, is converted once. */
static bool repeats(char *const *data, const int64_t *strides, int64_t n, td_loop convert)
{
    if (strides[1] != 0 || strides[0] != sizeof(float) || n < 2) return false;
    float *out = (float *)data[0];
    convert(data, strides, 1, NULL);
    for (int64_t i = 1; i < n; i++) out[i] = out[0];
    return true;
}

static void bf16_to_f32(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    if (repeats(data, strides, n, bf16_to_f32_strided)) return;
    if (strides[0] == 4 && strides[1] == 2)
        td_bf16_widen((float *)data[0], (const uint16_t *)data[1], n);
    else bf16_to_f32_strided(data, strides, n, context);
}

CONVERT(f32_to_bf16_strided, uint16_t, float, td_bf16_store)
static void f32_to_bf16(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    if (strides[0] == 2 && strides[1] == 4)
        td_bf16_narrow((uint16_t *)data[0], (const float *)data[1], n);
    else f32_to_bf16_strided(data, strides, n, context);
}

CONVERT(f16_to_f32_strided, float, uint16_t, td_f16_widen_1)
static void f16_to_f32(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    if (repeats(data, strides, n, f16_to_f32_strided)) return;
    if (strides[0] == 4 && strides[1] == 2)
        td_f16_widen((float *)data[0], (const uint16_t *)data[1], n);
    else f16_to_f32_strided(data, strides, n, context);
}

CONVERT(f32_to_f16_strided, uint16_t, float, td_f16_narrow_1)
static void f32_to_f16(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    if (strides[0] == 2 && strides[1] == 4)
        td_f16_narrow((uint16_t *)data[0], (const float *)data[1], n);
    else f32_to_f16_strided(data, strides, n, context);
}

#define COMPLEX_TRUTH(symbol, type, mask)                                                         \
    static void symbol(char *const *data, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                             \
        (void)context;                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                         \
            const type *x = (const type *)(data[1] + i * strides[1]);                             \
            *(uint8_t *)(data[0] + i * strides[0]) = (x[0] mask) != 0 || (x[1] mask) != 0;        \
        }                                                                                         \
    }
COMPLEX_TRUTH(truth_c32, uint16_t, &0x7fff)
COMPLEX_TRUTH(truth_c64, float, )
COMPLEX_TRUTH(truth_c128, double, )

#define NEGATE(symbol, type, expression)                                                          \
    static void symbol(char *const *data, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                             \
        (void)context;                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                         \
            type *x = (type *)(data[0] + i * strides[0]);                                         \
            *x = expression;                                                                      \
        }                                                                                         \
    }
NEGATE(negate_16, uint16_t, *x ^ 0x8000)
NEGATE(negate_f32, float, -*x)
NEGATE(negate_f64, double, -*x)

/* ---- transposes ---- */

/* Square tiles, so that whole cache lines are read and whole lines written; what remains at the
 * edges one by one. */
#define TRANSPOSE(symbol, type, TILE)                                                           \
    static void symbol##_edge(char *out, int64_t so, const char *in, int64_t si, int64_t rows,  \
                              int64_t cols)                                                     \
    {                                                                                           \
        for (int64_t r = 0; r < rows; r++)                                                      \
            for (int64_t c = 0; c < cols; c++)                                                  \
                ((type *)(out + r * so))[c] = ((const type *)(in + c * si))[r];                 \
    }                                                                                           \
    static void symbol(char *out, int64_t so, const char *in, int64_t si, int64_t rows,         \
                       int64_t cols)                                                            \
    {                                                                                           \
        int64_t r = 0, full = cols - cols % TILE;                                               \
        for (; r + TILE <= rows; r += TILE) {                                                   \
            char *row = out + r * so;                                                           \
            const char *column = in + r * (int64_t)sizeof(type);                                \
            for (int64_t c = 0; c < full; c += TILE)                                            \
                symbol##_tile(row + c * (int64_t)sizeof(type), so, column + c * si, si);        \
            symbol##_edge(row + full * (int64_t)sizeof(type), so, column + full * si, si, TILE, \
                          cols - full);                                                         \
        }                                                                                       \
        symbol##_edge(out + r * so, so, in + r * (int64_t)sizeof(type), si, rows - r, cols);    \
    }

#define TRANSPOSE_TILE(symbol, type, TILE)                                           \
    static void symbol##_tile(char *out, int64_t so, const char *in, int64_t si)     \
    {                                                                                \
        type tile[TILE][TILE];                                                       \
        for (int c = 0; c < TILE; c++) memcpy(tile[c], in + c * si, sizeof tile[c]); \
        for (int r = 0; r < TILE; r++)                                               \
            for (int c = 0; c < TILE; c++) ((type *)(out + r * so))[c] = tile[c][r]; \
    }

TRANSPOSE_TILE(transpose_1, uint8_t, 16)
TRANSPOSE_TILE(transpose_2, uint16_t, 16)
TRANSPOSE_TILE(transpose_8, uint64_t, 8)
TRANSPOSE_TILE(transpose_16, bytes16, 4)
#ifdef __AVX2__
#include "cpu/simd/transpose_avx2.h"
#else
#define TILE_4 16
TRANSPOSE_TILE(transpose_4, uint32_t, 16)
#endif
TRANSPOSE(transpose_1, uint8_t, 16)
TRANSPOSE(transpose_2, uint16_t, 16)
TRANSPOSE(transpose_4, uint32_t, TILE_4)
TRANSPOSE(transpose_8, uint64_t, 8)
TRANSPOSE(transpose_16, bytes16, 4)

/* ---- the table ---- */

/* a row of `real` for one destination: integers of every source, then the floats given */
#define FROM_INTEGERS(suffix)                                                           \
    [TD_BOOL] = u8_to_##suffix, [TD_U8] = u8_to_##suffix, [TD_I8] = i8_to_##suffix,     \
    [TD_I16] = i16_to_##suffix, [TD_I32] = i32_to_##suffix, [TD_I64] = i64_to_##suffix, \
    [TD_U16] = u16_to_##suffix, [TD_U32] = u32_to_##suffix, [TD_U64] = u64_to_##suffix
#define INTEGER_ROW(suffix, f32, f64) {FROM_INTEGERS(suffix), [TD_F32] = f32, [TD_F64] = f64}

const td_convert_kernels TD_SYM(td_convert_kernels) = {
    .copy = {copy_1, copy_2, copy_4, copy_8, copy_16},
    .real =
        {
            [TD_BOOL] = INTEGER_ROW(truth, f32_to_truth, f64_to_truth),
            [TD_U8] = INTEGER_ROW(8, f32_to_8, f64_to_8),
            [TD_I8] = INTEGER_ROW(8, f32_to_8, f64_to_8),
            [TD_I16] = INTEGER_ROW(16, f32_to_16, f64_to_16),
            [TD_U16] = INTEGER_ROW(16, f32_to_16, f64_to_16),
            [TD_I32] = INTEGER_ROW(32, f32_to_i32, f64_to_i32),
            [TD_U32] = INTEGER_ROW(32, f32_to_u32, f64_to_u32),
            [TD_I64] = INTEGER_ROW(64, f32_to_i64, f64_to_i64),
            [TD_U64] = INTEGER_ROW(64, f32_to_u64, f64_to_u64),
            [TD_F16] = {[TD_F16] = copy_2, [TD_F32] = f32_to_f16},
            [TD_BF16] = {[TD_BF16] = copy_2, [TD_F32] = f32_to_bf16},
            [TD_F32] = {FROM_INTEGERS(f32), [TD_F16] = f16_to_f32, [TD_BF16] = bf16_to_f32,
                        [TD_F32] = copy_4, [TD_F64] = f64_to_f32},
            [TD_F64] = {FROM_INTEGERS(f64), [TD_F32] = f32_to_f64, [TD_F64] = copy_8},
        },
    .truth = {truth_c32, truth_c64, truth_c128},
    .negate = {negate_16, negate_f32, negate_f64},
    .transpose = {transpose_1, transpose_2, transpose_4, transpose_8, transpose_16},
};
