/* checks.c - what single elementwise operators refuse before they compute, and where their dtypes
 * leave the common rule. A row names its check: check="divisor" is td_row_check_divisor. */
#include <string.h>
#include "cpu/pointwise/zero_run.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/device.h"

/* ---- alpha of sums, value of addcmul ---- */

static td_status check_factor(const td_call *call, td_pointwise *p, int k)
{
    const td_scalar *alpha = &call->args[k].scalar;
    if (alpha->kind == TD_S_BOOL && p->compute != TD_BOOL)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: a Boolean factor is only supported for Boolean results, not for %s.",
                       call->op->name, td_dtypes[p->compute].type_name);
    if (alpha->kind == TD_S_FLOAT && td_is_integral(p->compute))
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: For integral input tensors, a factor must not be a floating point number.",
            call->op->name);
    if (alpha->kind == TD_S_COMPLEX && !td_is_complex(p->compute))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: For non-complex input tensors, a factor must not be a complex number.",
                       call->op->name);
    return TD_OK;
}

td_status td_row_check_alpha(const td_call *call, td_pointwise *p)
{
    return check_factor(call, p, 2);
}
td_status td_row_check_value(const td_call *call, td_pointwise *p)
{
    return check_factor(call, p, 3);
}

td_status td_row_check_difference(const td_call *call, td_pointwise *p)
{
    bool a = p->in.t[0]->dtype == TD_BOOL, b = p->in.t[1]->dtype == TD_BOOL;
    if (a && b)
        return td_fail(TD_RUNTIME_ERROR,
                       "Subtraction, the `-` operator, with two bool tensors is not supported. Use "
                       "the `^` or `logical_xor()` operator instead.");
    if (a || b)
        return td_fail(
            TD_RUNTIME_ERROR,
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead.");
    return td_row_check_alpha(call, p);
}

td_status td_row_check_negation(const td_call *call, td_pointwise *p)
{
    if (p->compute != TD_BOOL) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "Negation, the `-` operator, on a bool tensor is not supported. If you are "
                   "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
}

/* ---- integer division ---- */

td_status td_row_check_divisor(const td_call *call, td_pointwise *p)
{
    td_tensor *divisor = p->in.t[1];
    if (!td_is_integral(p->compute) || p->compute == TD_BOOL) return TD_OK;
    if (td_is_meta(divisor) || divisor->numel == 0) return TD_OK;
    int bits = 8 * (int)td_itemsize(p->compute);
    bool found;
    td_tensor *near = divisor; /* a divisor on a device comes here to be looked at */
    if (!td_on_host(divisor)) TD_TRY(td_to_host(&near, divisor));
    td_status status = td_find_zero(near, bits == 64 ? -1 : ((int64_t)1 << bits) - 1, &found);
    if (near != divisor) td_tensor_free(near);
    TD_TRY(status);
    return found ? td_fail(TD_RUNTIME_ERROR, "ZeroDivisionError: %s of integers by zero",
                           call->op->name)
                 : TD_OK;
}

/* ---- Python numbers where a tensor has to be ---- */

td_status td_row_check_two_numbers(const td_call *call, td_pointwise *p)
{
    for (int k = 0; k < p->in.n; k++)
        if (!(p->in.t[k]->flags & TD_FLAG_WRAPPED)) return TD_OK;
    return td_fail(TD_TYPE_ERROR, "%s(): one of the operands must be a Tensor, but all are numbers",
                   call->op->name);
}

td_status td_row_check_remainder(const td_call *call, td_pointwise *p)
{
    TD_TRY(td_row_check_two_numbers(call, p));
    return td_row_check_divisor(call, p);
}

/* ---- Python numbers that do not fit ---- */

static bool wrapped_integer(const td_tensor *t, td_scalar *value)
{
    if (!(t->flags & TD_FLAG_WRAPPED) || !td_is_integral((td_dtype)t->dtype) || td_is_meta(t))
        return false;
    *value = td_scalar_load((td_dtype)t->dtype, td_data(t));
    return true;
}

static void integer_range(td_dtype d, int64_t *low, int64_t *high)
{
    int bits = 8 * (int)td_itemsize(d);
    *high = d == TD_BOOL ? 1
            : bits == 64 ? INT64_MAX
                         : ((int64_t)1 << (bits - td_dtypes[d].is_signed)) - 1;
    *low = td_dtypes[d].is_signed ? -*high - 1 : 0;
}

/* Negative numbers down to -max are let through to unsigned dtypes, where they wrap. */
td_status td_row_check_fits(const td_call *call, td_pointwise *p)
{
    if (!td_is_integral(p->compute) || td_itemsize(p->compute) == 8) return TD_OK;
    int64_t low, high;
    integer_range(p->compute, &low, &high);
    if (low == 0) low = -high;
    for (int k = 1; k < p->in.n; k++) {
        td_scalar v;
        if (wrapped_integer(p->in.t[k], &v) && (v.i < low || v.i > high))
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: value cannot be converted to type %s without overflow: %lld",
                           call->op->name, td_dtypes[p->compute].name, (long long)v.i);
    }
    return TD_OK;
}

/* A comparison with such a number is answered by the numbers' values. */
td_status td_row_check_number_of_any_size(const td_call *call, td_pointwise *p)
{
    if (!td_is_integral(p->compute) || td_itemsize(p->compute) == 8) return TD_OK;
    int64_t low, high;
    integer_range(p->compute, &low, &high);
    for (int k = 0; k < p->in.n; k++) {
        td_scalar v;
        if (wrapped_integer(p->in.t[k], &v) && (v.i < low || v.i > high)) p->compute = TD_I64;
    }
    return TD_OK;
}

td_status td_row_check_power(const td_call *call, td_pointwise *p)
{
    td_scalar exponent;
    TD_TRY(td_row_check_two_numbers(call, p));
    if (!td_is_integral(p->compute) || p->in.n < 2 || !wrapped_integer(p->in.t[1], &exponent))
        return TD_OK;
    if (exponent.i < 0)
        return td_fail(TD_RUNTIME_ERROR, "Integers to negative integer powers are not allowed.");
    return td_row_check_fits(call, p);
}

td_status td_row_check_clamp(const td_call *call, td_pointwise *p)
{
    if (p->in.n < 2)
        return td_fail(TD_RUNTIME_ERROR, "clamp: At least one of 'min' or 'max' must not be None");
    return td_row_check_fits(call, p);
}

/* ---- words and numbers among the arguments ---- */

/* the word is the one text among the arguments */
td_status td_row_check_approximate(const td_call *call, td_pointwise *p)
{
    for (int k = 0; k < call->nargs; k++) {
        if (call->args[k].kind != TD_ARG_STR) continue;
        const char *word = call->args[k].str;
        if (strcmp(word, "none") != 0 && strcmp(word, "tanh") != 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "approximate argument must be either none or tanh, but got '%s'.", word);
    }
    return TD_OK;
}

td_status td_row_check_alpha_not_zero(const td_call *call, td_pointwise *p)
{
    if (call->args[1].scalar.re != 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "ZeroDivisionError: alpha cannot be 0 for CELU");
}

td_status td_row_check_lambd(const td_call *call, td_pointwise *p)
{
    double lambd = call->args[1].scalar.re;
    if (lambd >= 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "lambda must be greater or equal to 0, but found to be %g.",
                   lambd);
}

td_status td_row_check_order(const td_call *call, td_pointwise *p)
{
    int64_t n = call->args[call->args[0].kind == TD_ARG_INT ? 0 : 1].i;
    if (n >= 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "polygamma(n, x) does not support negative n, but got %lld.",
                   (long long)n);
}

/* ---- dtypes ---- */

td_status td_row_check_not_integral(const td_call *call, td_pointwise *p)
{
    if (!td_is_integral(p->compute)) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: integer division is not supported; convert an operand of dtype %s to a "
                   "floating dtype, or use div with a rounding_mode and add",
                   call->op->name, td_dtypes[p->compute].name);
}

td_status td_row_check_same_dtypes(const td_call *call, td_pointwise *p)
{
    for (int k = 1; k < p->in.n; k++) {
        const td_tensor *a = p->in.t[0], *b = p->in.t[k];
        if (a->dtype == b->dtype || (b->flags & TD_FLAG_WRAPPED)) continue;
        return td_fail(TD_RUNTIME_ERROR, "%s: expected operands of one dtype, but got %s and %s",
                       call->op->name, td_dtypes[a->dtype].name, td_dtypes[b->dtype].name);
    }
    return TD_OK;
}

/* of bools, a number */
td_status td_row_check_square(const td_call *call, td_pointwise *p)
{
    if (p->compute == TD_BOOL) p->compute = p->result = TD_I64;
    return TD_OK;
}

/* an angle is a real number of floating dtype, of integers too */
td_status td_row_check_angle(const td_call *call, td_pointwise *p)
{
    if (td_is_integral(p->compute)) p->compute = td_default_dtype;
    p->result = td_to_real(p->compute);
    return TD_OK;
}
