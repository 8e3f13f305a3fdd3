/* dtype.h - element types: their sizes, categories, and the promotion of two of them. */
#ifndef TD_DTYPE_H
#define TD_DTYPE_H
#include <stdbool.h>
#include <stdint.h>

typedef enum td_dtype {
    TD_BOOL,
    TD_U8,
    TD_I8,
    TD_I16,
    TD_I32,
    TD_I64,
    TD_U16,
    TD_U32,
    TD_U64,
    TD_F16,
    TD_BF16,
    TD_F32,
    TD_F64,
    TD_C32,
    TD_C64,
    TD_C128,
    TD_F8_E4M3FN,
    TD_F8_E5M2,
    TD_F8_E4M3FNUZ,
    TD_F8_E5M2FNUZ,
    TD_F8_E8M0FNU,
    TD_QINT8,
    TD_QUINT8,
    TD_QINT32,
    TD_QUINT4X2,
    TD_QUINT2X4,
    TD_NDTYPES
} td_dtype;

typedef enum td_category {
    TD_CAT_BOOL,
    TD_CAT_INTEGRAL,
    TD_CAT_FLOAT,
    TD_CAT_COMPLEX,
    TD_CAT_QUANTIZED
} td_category;

typedef struct td_dtype_info {
    const char *name;      /* "float32" */
    const char *type_name; /* the word of legacy messages: "Float", "Long", "BFloat16" */
    uint8_t itemsize;      /* bytes */
    uint8_t category;      /* td_category */
    uint8_t is_signed;
} td_dtype_info;

extern const td_dtype_info td_dtypes[TD_NDTYPES];

static inline int64_t td_itemsize(td_dtype d) { return td_dtypes[d].itemsize; }
static inline td_category td_category_of(td_dtype d) { return (td_category)td_dtypes[d].category; }
static inline bool td_is_floating(td_dtype d) { return td_dtypes[d].category == TD_CAT_FLOAT; }
static inline bool td_is_complex(td_dtype d) { return td_dtypes[d].category == TD_CAT_COMPLEX; }
/* bool counts as integral here, as it does in the field's messages */
static inline bool td_is_integral(td_dtype d) { return td_dtypes[d].category <= TD_CAT_INTEGRAL; }
static inline bool td_is_float8(td_dtype d) { return d >= TD_F8_E4M3FN && d <= TD_F8_E8M0FNU; }

/* float32 -> complex64 and back; other dtypes map to the nearest sensible one */
td_dtype td_to_complex(td_dtype d);
td_dtype td_to_real(td_dtype d);

/* The dtype both fit in, or -1 where the reference refuses (float8, unsigned 16..64 with other
 * integers). */
int td_promote(td_dtype a, td_dtype b);

/* May a result of dtype `from` be written into a tensor of dtype `to`? (no float->int,
 * complex->real, x->bool) */
bool td_can_cast(td_dtype from, td_dtype to);

/* Process-wide default of floating-point factories: TD_F32 unless set. */
extern td_dtype td_default_dtype;

#endif
