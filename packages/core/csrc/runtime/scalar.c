/* scalar.c - reading and writing single elements of every dtype, and the narrow float formats.
 * Conversions between floats round to nearest, ties to even (to float8_e8m0fnu: up). */
#include "runtime/scalar.h"
#include <math.h>
#include <string.h>

typedef union bits32 {
    float f;
    uint32_t u;
} bits32;

static float float_of_bits(uint32_t u) { return ((bits32){.u = u}).f; }
static uint32_t bits_of_float(float f) { return ((bits32){.f = f}).u; }

/* ---- formats of sign, exponent and mantissa ----
 * For a small format with m mantissa bits and exponent bias b, shifting a float32's bits right by
 * 23 - m and subtracting the difference of the biases gives the code of a normal number; below,
 * adding a power of two whose last mantissa bit weighs as much as the format's smallest step lets
 * the adder do the rounding. */
typedef struct small_format {
    int mantissa, bias;
    uint32_t largest;  /* code of the largest finite number */
    uint32_t overflow; /* code of what is larger */
    uint32_t nan;
    bool unsigned_zero; /* -0 does not exist: its code is NaN */
} small_format;

static const small_format HALF = {10, 15, 0x7bff, 0x7c00, 0x7e00, false};
static const small_format FLOAT8[] = {
    {3, 7, 0x7e, 0x7e, 0x7f, false}, /* saturates, infinities included */
    {2, 15, 0x7b, 0x7c, 0x7f, false},
    {3, 8, 0x7f, 0x80, 0x80, true},
    {2, 16, 0x7f, 0x80, 0x80, true},
};

/* |f| as a code without sign; `u` is the bits of |f|, not NaN. */
static inline uint32_t encode(const small_format *s, uint32_t u)
{
    int shift = 23 - s->mantissa;
    uint32_t smallest_normal = (uint32_t)(128 - s->bias) << 23;
    if (u < smallest_normal) {
        uint32_t magic = smallest_normal + ((uint32_t)shift << 23);
        return bits_of_float(float_of_bits(u) + float_of_bits(magic)) - magic;
    }
    if (u > 0x7f000000u) return s->overflow; /* keeps the rounding below from reaching the NaNs */
    u += ((u >> shift) & 1) + (1u << (shift - 1)) - 1;
    uint32_t code = (u >> shift) - ((uint32_t)(127 - s->bias) << s->mantissa);
    return code > s->largest ? s->overflow : code;
}

static inline float decode(const small_format *s, uint32_t code)
{
    if (code >> s->mantissa == 0)
        return (float)code * float_of_bits((uint32_t)(128 - s->bias - s->mantissa) << 23);
    return float_of_bits((code << (23 - s->mantissa)) + ((uint32_t)(127 - s->bias) << 23));
}

float td_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, code = h & 0x7fff;
    if (code >= 0x7c00) return float_of_bits(sign | 0x7f800000u | (code & 0x3ff) << 13);
    return float_of_bits(sign | bits_of_float(decode(&HALF, code)));
}

uint16_t td_float_to_half(float f)
{
    uint32_t u = bits_of_float(f), sign = u >> 16 & 0x8000;
    u &= 0x7fffffffu;
    return (uint16_t)(sign | (u > 0x7f800000u ? HALF.nan : encode(&HALF, u)));
}

/* e8m0: a bare exponent, 2^(code - 127); zero and the sign do not exist */
static float e8m0_to_float(uint8_t b)
{
    return b == 0 ? 0x1p-127f : b == 255 ? NAN : float_of_bits((uint32_t)b << 23);
}

static uint8_t float_to_e8m0(float f)
{
    uint32_t u = bits_of_float(f) & 0x7fffffffu, exponent = u >> 23, mantissa = u & 0x7fffff;
    if (exponent == 255) return 255;
    if (exponent == 0) return mantissa > 0x400000;
    if (mantissa >= 0x400000) exponent++; /* ties go up */
    return (uint8_t)exponent;
}

float td_float8_to_float(td_dtype dtype, uint8_t b)
{
    if (dtype == TD_F8_E8M0FNU) return e8m0_to_float(b);
    const small_format *s = &FLOAT8[dtype - TD_F8_E4M3FN];
    if (s->unsigned_zero && b == 0x80) return NAN;
    uint32_t sign = (uint32_t)(b & 0x80) << 24, code = b & 0x7f;
    if (!s->unsigned_zero && code > s->largest)
        return float_of_bits(
            sign | (code == s->overflow && s->overflow != s->nan ? 0x7f800000u : 0x7fc00000u));
    return float_of_bits(sign | bits_of_float(decode(s, code)));
}

uint8_t td_float_to_float8(td_dtype dtype, float f)
{
    if (dtype == TD_F8_E8M0FNU) return float_to_e8m0(f);
    const small_format *s = &FLOAT8[dtype - TD_F8_E4M3FN];
    uint32_t u = bits_of_float(f), sign = u >> 24 & 0x80;
    u &= 0x7fffffffu;
    uint32_t code = u > 0x7f800000u ? s->nan : encode(s, u);
    if (s->unsigned_zero && (code == 0 || code == 0x80)) return (uint8_t)code;
    return (uint8_t)(sign | code);
}

/* ---- one element ---- */
td_dtype td_scalar_dtype(const td_scalar *s)
{
    switch (s->kind) {
        case TD_S_BOOL: return TD_BOOL;
        case TD_S_INT: return TD_I64;
        case TD_S_FLOAT: return td_default_dtype;
        default: return td_to_complex(td_default_dtype);
    }
}

bool td_scalar_fits_integer(const td_scalar *s, td_dtype dtype)
{
    if (dtype == TD_BOOL) return true;
    bool is_signed = td_dtypes[dtype].is_signed, whole = s->kind <= TD_S_INT;
    double size = ldexp(1.0, 8 * (int)td_itemsize(dtype)), limit = is_signed ? size / 2 : size;
    if (td_itemsize(dtype) == 8 && whole) /* re tells a number above int64 from its bits */
        return dtype == TD_U64 || (s->i < 0) == (s->re < 0);
    if (td_itemsize(dtype) == 8) return s->re < limit && s->re >= (is_signed ? -limit : 0);
    if (whole) return s->re < limit && s->re > (is_signed ? -limit - 1 : -limit);
    return s->re <= limit - 1 && s->re >= (is_signed ? -limit : 0);
}

/* What is out of int64's range, and NaN, becomes its smallest number, as the processor's
 * instruction has it; uint64's upper half is kept. */
static int64_t integer_of(const td_scalar *s)
{
    if (s->kind <= TD_S_INT) return s->i;
    if (s->re >= -0x1p63 && s->re < 0x1p63) return (int64_t)s->re;
    return s->re >= 0x1p63 && s->re < 0x1p64 ? (int64_t)(uint64_t)s->re : INT64_MIN;
}

/* An int goes to float32 in one rounding, unless it is a uint64 that int64 does not hold. */
static float single_of(const td_scalar *s)
{
    bool fits = s->kind == TD_S_INT && (s->i < 0) == (s->re < 0);
    return fits ? (float)s->i : (float)s->re;
}

#define PUT(type, value)                         \
    do {                                         \
        type put_value = (type)(value);          \
        memcpy(where, &put_value, sizeof(type)); \
        return;                                  \
    } while (0)

void td_scalar_store(const td_scalar *s, td_dtype dtype, void *where)
{
    switch (dtype) {
        case TD_BOOL: PUT(uint8_t, s->kind <= TD_S_INT ? s->i != 0 : s->re != 0 || s->im != 0);
        case TD_U8:
        case TD_I8:
        case TD_QINT8:
        case TD_QUINT8:
        case TD_QUINT4X2:
        case TD_QUINT2X4: PUT(uint8_t, integer_of(s));
        case TD_I16:
        case TD_U16: PUT(uint16_t, integer_of(s));
        case TD_I32:
        case TD_U32:
        case TD_QINT32: PUT(uint32_t, integer_of(s));
        case TD_I64:
        case TD_U64: PUT(int64_t, integer_of(s));
        case TD_F16: PUT(uint16_t, td_float_to_half(single_of(s)));
        case TD_BF16: PUT(uint16_t, td_float_to_bf16(single_of(s)));
        case TD_F32: PUT(float, single_of(s));
        case TD_F64: PUT(double, s->re);
        case TD_C32:
            memcpy(where,
                   (uint16_t[2]){td_float_to_half(single_of(s)), td_float_to_half((float)s->im)},
                   4);
            return;
        case TD_C64: memcpy(where, (float[2]){single_of(s), (float)s->im}, 8); return;
        case TD_C128: memcpy(where, (double[2]){s->re, s->im}, 16); return;
        default: PUT(uint8_t, td_float_to_float8(dtype, single_of(s)));
    }
}

#define GET(type, name) \
    type name;          \
    memcpy(&name, where, sizeof name)

static td_scalar load_unsigned64(const void *where)
{
    GET(uint64_t, v);
    return (td_scalar){TD_S_INT, (int64_t)v, (double)v, 0};
}

static td_scalar load_complex(td_dtype dtype, const void *where)
{
    if (dtype == TD_C128) {
        GET(double, re);
        where = (const char *)where + sizeof re;
        GET(double, im);
        return td_scalar_complex(re, im);
    }
    td_dtype part = td_to_real(dtype);
    td_scalar re = td_scalar_load(part, where),
              im = td_scalar_load(part, (const char *)where + td_itemsize(part));
    return td_scalar_complex(re.re, im.re);
}

#define AS_INT(type)             \
    {                            \
        GET(type, v);            \
        return td_scalar_int(v); \
    }

td_scalar td_scalar_load(td_dtype dtype, const void *where)
{
    switch (dtype) {
        case TD_BOOL: {
            GET(uint8_t, v);
            return td_scalar_bool(v != 0);
        }
        case TD_U8:
        case TD_QUINT8:
        case TD_QUINT4X2:
        case TD_QUINT2X4: AS_INT(uint8_t)
        case TD_I8:
        case TD_QINT8: AS_INT(int8_t)
        case TD_I16: AS_INT(int16_t)
        case TD_U16: AS_INT(uint16_t)
        case TD_I32:
        case TD_QINT32: AS_INT(int32_t)
        case TD_U32: AS_INT(uint32_t)
        case TD_I64: AS_INT(int64_t)
        case TD_U64: return load_unsigned64(where);
        case TD_F16: {
            GET(uint16_t, v);
            return td_scalar_float(td_half_to_float(v));
        }
        case TD_BF16: {
            GET(uint16_t, v);
            return td_scalar_float(td_bf16_to_float(v));
        }
        case TD_F32: {
            GET(float, v);
            return td_scalar_float(v);
        }
        case TD_F64: {
            GET(double, v);
            return td_scalar_float(v);
        }
        case TD_C32:
        case TD_C64:
        case TD_C128: return load_complex(dtype, where);
        default: {
            GET(uint8_t, v);
            return td_scalar_float(td_float8_to_float(dtype, v));
        }
    }
}
