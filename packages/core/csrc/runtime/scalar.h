/* scalar.h - a Python number as C sees it. */
#ifndef TD_SCALAR_H
#define TD_SCALAR_H
#include "runtime/dtype.h"

typedef enum td_scalar_kind { TD_S_BOOL, TD_S_INT, TD_S_FLOAT, TD_S_COMPLEX } td_scalar_kind;

typedef struct td_scalar {
    td_scalar_kind kind;
    int64_t i;     /* value of a bool or int (two's complement for uint64) */
    double re, im; /* value as double; re is filled for every kind, im is 0 unless complex */
} td_scalar;

static inline td_scalar td_scalar_int(int64_t v) { return (td_scalar){TD_S_INT, v, (double)v, 0}; }
static inline td_scalar td_scalar_bool(bool v) { return (td_scalar){TD_S_BOOL, v, (double)v, 0}; }
static inline td_scalar td_scalar_float(double v) { return (td_scalar){TD_S_FLOAT, 0, v, 0}; }
static inline td_scalar td_scalar_complex(double re, double im)
{
    return (td_scalar){TD_S_COMPLEX, 0, re, im};
}

/* The dtype a bare scalar has on its own: bool, int64, default float, default complex. */
td_dtype td_scalar_dtype(const td_scalar *s);

/* Does an integer dtype hold the number, its fraction aside? Negative ints wrap into unsigned
 * dtypes, as C's do; nothing else does. */
bool td_scalar_fits_integer(const td_scalar *s, td_dtype dtype);
/* Write / read one element of `dtype` at `where`; conversion is the C one, saturating nothing. */
void td_scalar_store(const td_scalar *s, td_dtype dtype, void *where);
td_scalar td_scalar_load(td_dtype dtype, const void *where);

/* single-element conversions of the narrow float formats (round to nearest even) */
float td_half_to_float(uint16_t h);
uint16_t td_float_to_half(float f);
static inline float td_bf16_to_float(uint16_t h)
{
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)h << 16};
    return v.f;
}
static inline uint16_t td_float_to_bf16(float f)
{
    union {
        float f;
        uint32_t u;
    } v = {f};
    if ((v.u & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
    return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}
float td_float8_to_float(td_dtype dtype, uint8_t b);
uint8_t td_float_to_float8(td_dtype dtype, float f);

#endif
