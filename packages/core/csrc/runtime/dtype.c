/* dtype.c - the table of element types, promotion and permitted casts. */
#include "runtime/dtype.h"

#define ROW(name, type_name, size, category, is_signed) \
    {name, type_name, size, TD_CAT_##category, is_signed}

const td_dtype_info td_dtypes[TD_NDTYPES] = {
    [TD_BOOL] = ROW("bool", "Bool", 1, BOOL, 0),
    [TD_U8] = ROW("uint8", "Byte", 1, INTEGRAL, 0),
    [TD_I8] = ROW("int8", "Char", 1, INTEGRAL, 1),
    [TD_I16] = ROW("int16", "Short", 2, INTEGRAL, 1),
    [TD_I32] = ROW("int32", "Int", 4, INTEGRAL, 1),
    [TD_I64] = ROW("int64", "Long", 8, INTEGRAL, 1),
    [TD_U16] = ROW("uint16", "UInt16", 2, INTEGRAL, 0),
    [TD_U32] = ROW("uint32", "UInt32", 4, INTEGRAL, 0),
    [TD_U64] = ROW("uint64", "UInt64", 8, INTEGRAL, 0),
    [TD_F16] = ROW("float16", "Half", 2, FLOAT, 1),
    [TD_BF16] = ROW("bfloat16", "BFloat16", 2, FLOAT, 1),
    [TD_F32] = ROW("float32", "Float", 4, FLOAT, 1),
    [TD_F64] = ROW("float64", "Double", 8, FLOAT, 1),
    [TD_C32] = ROW("complex32", "ComplexHalf", 4, COMPLEX, 1),
    [TD_C64] = ROW("complex64", "ComplexFloat", 8, COMPLEX, 1),
    [TD_C128] = ROW("complex128", "ComplexDouble", 16, COMPLEX, 1),
    [TD_F8_E4M3FN] = ROW("float8_e4m3fn", "Float8_e4m3fn", 1, FLOAT, 1),
    [TD_F8_E5M2] = ROW("float8_e5m2", "Float8_e5m2", 1, FLOAT, 1),
    [TD_F8_E4M3FNUZ] = ROW("float8_e4m3fnuz", "Float8_e4m3fnuz", 1, FLOAT, 1),
    [TD_F8_E5M2FNUZ] = ROW("float8_e5m2fnuz", "Float8_e5m2fnuz", 1, FLOAT, 1),
    [TD_F8_E8M0FNU] = ROW("float8_e8m0fnu", "Float8_e8m0fnu", 1, FLOAT, 0),
    [TD_QINT8] = ROW("qint8", "QInt8", 1, QUANTIZED, 1),
    [TD_QUINT8] = ROW("quint8", "QUInt8", 1, QUANTIZED, 0),
    [TD_QINT32] = ROW("qint32", "QInt32", 4, QUANTIZED, 1),
    [TD_QUINT4X2] = ROW("quint4x2", "QUInt4x2", 1, QUANTIZED, 0),
    [TD_QUINT2X4] = ROW("quint2x4", "QUInt2x4", 1, QUANTIZED, 0),
};

td_dtype td_default_dtype = TD_F32;

td_dtype td_to_complex(td_dtype d)
{
    if (td_is_complex(d)) return d;
    if (!td_is_floating(d)) d = td_default_dtype;
    return d == TD_F64 ? TD_C128 : d == TD_F16 ? TD_C32 : TD_C64;
}

td_dtype td_to_real(td_dtype d)
{
    return d == TD_C128 ? TD_F64 : d == TD_C64 ? TD_F32 : d == TD_C32 ? TD_F16 : d;
}

static bool is_wide_unsigned(td_dtype d) { return d >= TD_U16 && d <= TD_U64; }
static td_dtype later(td_dtype a, td_dtype b) { return a > b ? a : b; }

/* Bool and the five integers, which the enum lists by width; uint8 beside int8 is the pair neither
 * of which fits. */
static td_dtype promote_integers(td_dtype a, td_dtype b)
{
    if (a != TD_BOOL && b != TD_BOOL && later(a, b) == TD_I8) return TD_I16;
    return later(a, b);
}

/* half, bfloat16, float32, float64; the two short ones meet in float32. */
static td_dtype promote_floats(td_dtype a, td_dtype b)
{
    if (a != b && later(a, b) == TD_BF16) return TD_F32;
    return later(a, b);
}

int td_promote(td_dtype a, td_dtype b)
{
    if (a == b) return a;
    /* float8 and quantized meet only themselves */
    if (a >= TD_F8_E4M3FN || b >= TD_F8_E4M3FN) return -1;
    bool floating_a = td_is_floating(a), floating_b = td_is_floating(b);
    if (is_wide_unsigned(a)) return floating_b ? (int)b : -1;
    if (is_wide_unsigned(b)) return floating_a ? (int)a : -1;
    if (td_is_integral(a) && td_is_integral(b)) return promote_integers(a, b);
    if (td_is_integral(a)) return b;
    if (td_is_integral(b)) return a;
    td_dtype real = promote_floats(td_to_real(a), td_to_real(b));
    return floating_a && floating_b ? real : td_to_complex(real);
}

bool td_can_cast(td_dtype from, td_dtype to)
{
    if (td_is_complex(from) && !td_is_complex(to)) return false;
    if (td_is_floating(from) && td_is_integral(to)) return false;
    return from == TD_BOOL || to != TD_BOOL;
}
