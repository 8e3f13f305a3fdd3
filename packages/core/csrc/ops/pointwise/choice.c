/* choice.c - operators that pick among elementwise loops by an argument, or whose operands differ
 * in dtype. */
#include <string.h>
#include "cpu/pointwise/wide_run.h"
#include "ops/pointwise/pointwise.h"

#define RULE(symbol, name, promotion, cost) \
    static td_op_loops symbol##_loops;      \
    static const td_op symbol = {name, "", NULL, name, &symbol##_loops, cost, promotion, 1, 0, 0}
RULE(true_division, "div", TD_PROMOTE_FLOAT, 0.5f);
RULE(truncated_division, "div_trunc", TD_PROMOTE_SAME, 1);
RULE(floor_division, "floor_divide", TD_PROMOTE_SAME, 2);

static td_status divide(td_call *call, const td_op *rule, td_pointwise_check check)
{
    if (!rule->loops->numbers) rule->loops->numbers = td_find_numbers(rule->loop);
    return td_pointwise_as(call, rule, check);
}

/* div(self, other, *, str? rounding_mode) */
td_status td_op_div_mode(td_call *call)
{
    if (!TD_HAS(2)) return divide(call, &true_division, NULL);
    const char *mode = call->args[2].str;
    if (strcmp(mode, "trunc") == 0) return divide(call, &truncated_division, td_row_check_divisor);
    if (strcmp(mode, "floor") == 0) return divide(call, &floor_division, td_row_check_divisor);
    return td_fail(
        TD_RUNTIME_ERROR,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'", mode);
}

/* where(condition, self, other): the condition takes no part in promotion */
td_status td_op_where(td_call *call)
{
    td_tensor *condition = TD_TENSOR(0);
    if (condition->dtype != TD_BOOL && condition->dtype != TD_U8)
        return td_fail(
            TD_RUNTIME_ERROR,
            "where expected condition to be a boolean tensor, but got a tensor with dtype %s",
            td_dtypes[condition->dtype].type_name);
    td_pointwise p = {.in = {3, {condition, TD_TENSOR(1), TD_TENSOR(2)}},
                      .keep = 1,
                      .cost = 0.5,
                      .context = call->args,
                      .context_bytes = td_context_bytes(call)};
    TD_TRY(td_result_type(2, p.in.t + 1, &p.compute));
    p.result = p.compute;
    TD_TRY(td_require_entry("where", "where", p.compute, &p.entry));
    return td_pointwise_run(&p, &call->out[0]);
}

/* float_power(self, exponent): pow in float64, or complex128 if an operand is complex */
td_status td_op_float_power(td_call *call)
{
    td_pointwise p = {.in = {2, {TD_TENSOR(0), TD_TENSOR(1)}},
                      .compute = TD_F64,
                      .cost = 20,
                      .context = call->args,
                      .context_bytes = td_context_bytes(call)};
    if (td_is_complex((td_dtype)p.in.t[0]->dtype) || td_is_complex((td_dtype)p.in.t[1]->dtype))
        p.compute = TD_C128;
    p.result = p.compute;
    if (p.in.t[0]->flags & p.in.t[1]->flags & TD_FLAG_WRAPPED)
        return td_fail(TD_TYPE_ERROR,
                       "float_power(): one of the operands must be a Tensor, but both are numbers");
    const td_tensor *out = call->out[0];
    if (out && out->dtype != p.result)
        return td_fail(
            TD_RUNTIME_ERROR,
            "float_power: the target has dtype %s but the operation's result requires dtype %s",
            td_dtypes[out->dtype].type_name, td_dtypes[p.result].type_name);
    TD_TRY(td_require_entry(call->op->name, call->op->loop, p.compute, &p.entry));
    return td_pointwise_run(&p, &call->out[0]);
}
