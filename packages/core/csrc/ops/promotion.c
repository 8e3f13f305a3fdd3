/* promotion.c - type promotion of operands. Values are never looked at. */
#include "ops/promotion.h"

static td_status no_promotion(td_dtype a, td_dtype b)
{
    bool float8 = td_is_float8(a) || td_is_float8(b);
    return td_fail(TD_RUNTIME_ERROR,
                   "Promotion for %s is not supported, attempted to promote %s and %s",
                   float8 ? "Float8 Types" : "uint16, uint32, uint64 types", td_dtypes[a].type_name,
                   td_dtypes[b].type_name);
}

/* -1 stands for "no operand of this class yet". */
static td_status join(int *dtype, td_dtype more)
{
    int both = *dtype < 0 ? (int)more : td_promote((td_dtype)*dtype, more);
    if (both < 0) return no_promotion((td_dtype)*dtype, more);
    *dtype = both;
    return TD_OK;
}

/* The dtype a Python number has beside others of its kind: floats and complex numbers follow the
 * default. */
static td_dtype number_dtype(td_dtype d)
{
    if (td_is_complex(d)) return td_to_complex(td_default_dtype);
    return td_is_floating(d) ? td_default_dtype : d;
}

static td_status combine(int high, int low, int *out)
{
    *out = high < 0 ? low : high;
    if (high < 0 || low < 0 || td_is_complex((td_dtype)high)) return TD_OK;
    if (td_is_floating((td_dtype)high)) {
        if (td_is_complex((td_dtype)low)) *out = (int)td_to_complex((td_dtype)high);
        return TD_OK;
    }
    if (high == TD_BOOL || !td_is_integral((td_dtype)low)) return join(out, (td_dtype)low);
    return TD_OK;
}

td_status td_result_type(int n, td_tensor *const *operands, td_dtype *out)
{
    int number = -1, scalar = -1, sized = -1;
    for (int k = 0; k < n; k++) {
        const td_tensor *t = operands[k];
        if (t->ndim > 0) TD_TRY(join(&sized, (td_dtype)t->dtype));
        else if (t->flags & TD_FLAG_WRAPPED)
            TD_TRY(join(&number, number_dtype((td_dtype)t->dtype)));
        else TD_TRY(join(&scalar, (td_dtype)t->dtype));
    }
    TD_TRY(combine(scalar, number, &scalar));
    TD_TRY(combine(sized, scalar, &sized));
    *out = (td_dtype)sized;
    return TD_OK;
}
