/* integers.c - random_, randint, randperm. */
#include "ops/creation.h"
#include "ops/layout.h"
#include "ops/random/random.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define GENERATOR(k) (call->args[k].generator)

/* One word of 32 bits serves ranges of 16: then no value is likelier than another by more than
 * 2^-16 of itself. */
#define NARROW_RANGE 65536

/* ---- what a dtype holds ---- */

/* Integers up to 2^digits are exact in a floating dtype. */
static int digits_of(td_dtype d)
{
    return d == TD_F16 ? 11 : d == TD_BF16 ? 8 : d == TD_F32 ? 24 : 53;
}

static int64_t largest_of(td_dtype d)
{
    if (d == TD_F16) return 65504;
    /* complex ones are refused later */
    if (td_is_floating(d) || td_itemsize(d) >= 8) return INT64_MAX;
    return d == TD_BOOL ? 1 : ((int64_t)1 << (8 * td_itemsize(d) - td_dtypes[d].is_signed)) - 1;
}

static int64_t smallest_of(td_dtype d)
{
    if (d == TD_F16) return -65504;
    return td_is_floating(d) || td_dtypes[d].is_signed ? -largest_of(d) - 1 : 0;
}

/* The largest value of random_() and random_(from, None). */
static int64_t natural_top(td_dtype d)
{
    return td_is_floating(d) ? (int64_t)1 << digits_of(d) : largest_of(d);
}

static td_status check_dtype(td_dtype d, const char *name)
{
    bool missing =
        td_is_complex(d) || td_is_float8(d) || (d >= TD_U16 && d <= TD_U64) || d >= TD_QINT8;
    return missing ? td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for %s", name,
                             td_dtypes[d].name)
                   : TD_OK;
}

/* ---- bounds ---- */

/* Beyond 2^digits only every 2^k-th integer exists in a floating dtype. */
static uint64_t gap_mask(int64_t x, int digits)
{
    uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    int bits = magnitude ? 64 - __builtin_clzll(magnitude) : 0;
    return bits > digits ? ((uint64_t)1 << (bits - digits)) - 1 : 0;
}

/* Shrink [low, top] to numbers of the dtype, so that rounding never leaves it. */
static td_status representable(td_dtype d, int64_t *low, int64_t *top)
{
    if (!td_is_floating(d)) return TD_OK;
    int64_t from = *low, to = *top;
    uint64_t mask = gap_mask(from, digits_of(d));
    bool overflow = false;
    if ((uint64_t)from & mask)
        overflow = td_add_overflows((int64_t)((uint64_t)from & ~mask), (int64_t)mask + 1, low);
    *top = (int64_t)((uint64_t)to & ~gap_mask(to, digits_of(d)));
    if (!overflow && *low <= *top) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "random_: no %s number lies between %lld and %lld",
                   td_dtypes[d].name, (long long)from, (long long)to);
}

static td_status check_bounds(td_dtype d, int64_t low, int64_t top)
{
    const char *name = td_dtypes[d].name;
    if (low < smallest_of(d) || low > largest_of(d))
        return td_fail(TD_RUNTIME_ERROR, "random_: from=%lld is out of bounds for %s",
                       (long long)low, name);
    if (top < smallest_of(d) || top > largest_of(d))
        return td_fail(TD_RUNTIME_ERROR, "random_: to - 1 = %lld is out of bounds for %s",
                       (long long)top, name);
    return TD_OK;
}

static td_sampling sampling_of(const td_integer_params *p)
{
    if (p->range && p->range <= NARROW_RANGE) return (td_sampling){TD_SAMPLE_INTEGERS, p, TD_I64};
    return (td_sampling){TD_SAMPLE_WIDE_INTEGERS, p, TD_I64};
}

/* Integers from low to top, both included. */
static td_status draw(td_tensor *t, td_generator *g, int64_t low, int64_t top)
{
    TD_TRY(check_dtype((td_dtype)t->dtype, "random_"));
    TD_TRY(check_bounds((td_dtype)t->dtype, low, top));
    TD_TRY(representable((td_dtype)t->dtype, &low, &top));
    if (td_is_meta(t)) return TD_OK;
    td_integer_params params = {low, (uint64_t)top - (uint64_t)low + 1};
    td_sampling how = sampling_of(&params);
    return td_sample_tensor(t, g, &how);
}

static td_status draw_below(td_tensor *t, td_generator *g, int64_t from, int64_t to)
{
    TD_TRY(check_dtype((td_dtype)t->dtype, "random_"));
    if (from < to) return draw(t, g, from, to - 1);
    return td_fail(TD_RUNTIME_ERROR,
                   "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                   (long long)from, (long long)to);
}

td_status td_op_random_(td_call *call)
{
    TD_TRY(td_random_target(SELF, "random_"));
    return draw(SELF, GENERATOR(1), 0, natural_top((td_dtype)SELF->dtype));
}

td_status td_op_random_to(td_call *call)
{
    TD_TRY(td_random_target(SELF, "random_"));
    return draw_below(SELF, GENERATOR(2), 0, TD_INT(1));
}

td_status td_op_random_from(td_call *call)
{
    TD_TRY(td_random_target(SELF, "random_"));
    if (TD_HAS(2)) return draw_below(SELF, GENERATOR(3), TD_INT(1), TD_INT(2));
    int64_t from = TD_INT(1), top = natural_top((td_dtype)SELF->dtype);
    if (from <= top) return draw(SELF, GENERATOR(3), from, top);
    return td_fail(TD_RUNTIME_ERROR,
                   "random_: from=%lld is larger than %lld, the largest value for %s",
                   (long long)from, (long long)top, td_dtypes[SELF->dtype].name);
}

/* ---- randint ---- */
static td_status sized(td_call *call, int sizes_at, td_generator *g, int64_t from, int64_t to)
{
    td_options o = {0};
    TD_TRY(td_factory_options(call, sizes_at + 2, TD_I64, TD_CPU, &o));
    td_tensor *shell; /* bounds are looked at before memory is taken */
    TD_TRY(td_tensor_empty(&shell, o.dtype, TD_META, (int)TD_LEN(sizes_at), TD_INTS(sizes_at)));
    td_status status = draw_below(shell, g, from, to);
    td_tensor_free(shell);
    TD_TRY(status);
    TD_TRY(td_tensor_empty(OUT, o.dtype, o.device, (int)TD_LEN(sizes_at), TD_INTS(sizes_at)));
    return draw_below(call->out[0], g, from, to);
}

static td_status like(td_call *call, int options_at, td_generator *g, int64_t from, int64_t to)
{
    td_options o = {0};
    TD_TRY(
        td_factory_options(call, options_at, (td_dtype)SELF->dtype, (td_device)SELF->device, &o));
    td_memory_format format =
        TD_HAS(options_at + 4) ? (td_memory_format)TD_INT(options_at + 4) : TD_PRESERVE_FORMAT;
    TD_TRY(td_empty_format(OUT, SELF, o.dtype, o.device, format));
    return draw_below(call->out[0], g, from, to);
}

td_status td_op_randint(td_call *call) { return sized(call, 1, GENERATOR(2), 0, TD_INT(0)); }
td_status td_op_randint_low(td_call *call)
{
    return sized(call, 2, GENERATOR(3), TD_INT(0), TD_INT(1));
}
td_status td_op_randint_like(td_call *call) { return like(call, 3, GENERATOR(2), 0, TD_INT(1)); }
td_status td_op_randint_like_low(td_call *call)
{
    return like(call, 4, GENERATOR(3), TD_INT(1), TD_INT(2));
}

/* ---- randperm ---- */
static td_status check_permutation(int64_t n, td_dtype d)
{
    TD_TRY(check_dtype(d, "randperm"));
    if (d == TD_BOOL) return td_fail(TD_NOT_IMPLEMENTED, "randperm is not implemented for bool");
    if (n < 0)
        return td_fail(TD_RUNTIME_ERROR, "randperm expects n >= 0, but got n=%lld", (long long)n);
    int64_t top = td_is_floating(d) ? (int64_t)1 << digits_of(d) : largest_of(d);
    if (n - 1 <= top) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "randperm: n=%lld is too large for %s, which counts to %lld exactly",
                   (long long)n, td_dtypes[d].name, (long long)top);
}

static td_status permutation(td_tensor **out, int64_t n, td_generator *g)
{
    td_integer_params any = {0, 0};
    td_sampling how = sampling_of(&any);
    td_tensor *words;
    TD_TRY(td_sample_new(&words, 1, &n, g, &how));
    td_status status = td_permutation_run(words);
    if (status == TD_OK) *out = words;
    else td_tensor_free(words);
    return status;
}

td_status td_op_randperm(td_call *call)
{
    td_options o = {0};
    int64_t n = TD_INT(0);
    TD_TRY(td_factory_options(call, 2, TD_I64, TD_CPU, &o));
    TD_TRY(check_permutation(n, o.dtype));
    if (o.device == TD_META) return td_tensor_empty(OUT, o.dtype, TD_META, 1, &n);
    td_tensor *made = NULL;
    TD_TRY(permutation(&made, n, GENERATOR(1)));
    td_status status = td_cast(OUT, made, o.dtype);
    td_tensor_free(made);
    return status;
}
