/* activation.c - activation functions, and their derivatives times the incoming gradient
 * (name_backward) where one pass beats several ops. Numbers of the call are read by their place in
 * the schema; x is the first operand, y the second. */
#include "cpu/simd/vmath_erf.h"
#include "cpu/simd/vrow.h"

/* numbers that stand both for float and double vectors */
#define C(value) vset(x, value)

/* the normal density */
#define VDENSITY(x) (vexp((x) * (x) * C(-0.5)) * C(0.39894228040143268))
/* the argument of the logistic curve in gelu's tanh form, and its derivative */
#define GELU_ARG(x) ((x) * C(1.5957691216057308) * vfma((x) * (x), C(0.044715), C(1)))
#define GELU_ARG_SLOPE(x) (C(1.5957691216057308) * vfma((x) * (x), C(0.134145), C(1)))

/* log(1 + e^x) without overflow, where y is e^-|x| */
#define VSOFTPLUS(x) (vmax(vzero(x), x) + vlog1p(vexp(-vabs(x))))
/* tanh(log(1 + e^x)) = (w) / (w + 2), w = e^x (e^x + 2) */
#define MISH_W(x) LET(vec e_ = vexp(vmin(C(20), x)), e_ * (e_ + C(2)))

#define SELU_ALPHA 1.6732632423543772848
#define SELU_SCALE 1.0507009873554804934

/* ---- functions of x ---- */
/* log of q = p / d, where d is 1 - p rounded: near 1/2 the logarithm has the size of what both
 * roundings lost, which is put back */
#define LOGIT(p, d)                                                                \
    LET(vec q = (p) / (d); vec lost = vfma(-q, d, p) - q * (((C(1) - (d)) - (p))), \
                           vlog(q) + vsel(vlt(vabs(q - C(1)), C(0.5)), lost / (p), vzero(q)))
#define LIGHT_UNARY(X)                                                           \
    X(relu6, , vmin(C(6), vmax(vzero(x), x)))                                    \
    X(hardtanh, vec low = VARG(1); vec high = VARG(2), vmin(high, vmax(low, x))) \
    X(leaky_relu, vec slope = VARG(1), vsel(vgt(x, vzero(x)), x, x * slope))     \
    X(threshold, vec limit = VARG(1); vec value = VARG(2), vsel(vle(x, limit), value, x))
#define SHORT_UNARY(X)                                                           \
    X(hardshrink, vec lambd = VARG(1), vsel(vle(vabs(x), lambd), vzero(x), x))   \
    X(softshrink, vec lambd = VARG(1),                                           \
      vsel(vgt(x, lambd), x - lambd, vsel(vlt(x, -lambd), x + lambd, x * C(0)))) \
    X(hardsigmoid, , vmin(C(6), vmax(vzero(x), x + C(3))) / C(6))                \
    X(hardswish, , x *vmin(C(6), vmax(vzero(x), x + C(3))) / C(6))
#define UNARY(X)                                                                                \
    X(elu, vec alpha = VARG(1); vec scale = VARG(2);                                            \
      vec in_scale = VARG(3),                                                                   \
      vsel(vgt(x, vzero(x)), x * scale, vexpm1(x * in_scale) * alpha * scale))                  \
    X(selu, , vsel(vgt(x, vzero(x)), x *C(SELU_SCALE), vexpm1(x) * C(SELU_ALPHA * SELU_SCALE))) \
    X(celu, vec alpha = VARG(1), vsel(vgt(x, vzero(x)), x, vexpm1(x / alpha) * alpha))          \
    X(gelu_erf, , x *vnormal(x))                                                                \
    X(gelu_tanh, , x *vsigmoid(GELU_ARG(x)))                                                    \
    X(silu, , x / (C(1) + vexp(-x)))                                                            \
    X(mish, , LET(vec w = MISH_W(x), vsel(vgt(x, C(20)), x, x * (w / (w + C(2))))))             \
    X(log_sigmoid, , vmin(vzero(x), x) - vlog1p(vexp(-vabs(x))))                                \
    X(softplus, vec beta = VARG(1);                                                             \
      vec limit = VARG(2), vsel(vgt(x * beta, limit), x, VSOFTPLUS(x * beta) / beta))           \
    X(logit_plain, , LOGIT(x, C(1) - (x)))                                                      \
    X(logit_eps, vec eps = VARG(1),                                                             \
      LET(vec p = vmin(C(1) - eps, vmax(eps, x)), LOGIT(p, C(1) - (p))))

/* ---- the gradient x times the derivative at y (and prelu, whose slope is y) ---- */
/* The logistic curve by e^-|x|, which keeps denormals where e^x is one. */
#define LOGISTIC(x) \
    LET(vec e = vexp(-vabs(x)), vsel(vlt(x, vzero(x)), e, vset(x, 1)) / (vset(x, 1) + e))
#define SIGMOID_SLOPE(s) ((s) * (C(1) - (s)))
#define LIGHT_BINARY(X)                                                          \
    X(prelu, , vsel(vgt(x, vzero(x)), x, x *y))                                  \
    X(tanh_backward, , x *(C(1) - y * y))                                        \
    X(sigmoid_backward, , x *(C(1) - y) * y)                                     \
    X(threshold_backward, vec limit = VARG(2), vsel(vle(y, limit), vzero(x), x)) \
    X(leaky_relu_backward, vec slope = VARG(2), vsel(vgt(y, vzero(x)), x, x * slope))
#define SHORT_BINARY(X)                                                                 \
    X(hardtanh_backward, vec low = VARG(2);                                             \
      vec high = VARG(3), vsel(vle(y, low), vzero(x), vsel(vge(y, high), vzero(x), x))) \
    X(hardshrink_backward, vec lambd = VARG(2), vsel(vle(vabs(y), lambd), vzero(x), x)) \
    X(hardsigmoid_backward, , vsel(vlt(vabs(y), C(3)), x / C(6), vzero(x)))             \
    X(hardswish_backward, ,                                                             \
      vsel(vle(y, C(-3)), vzero(x), vsel(vge(y, C(3)), x, x *(y / C(3) + C(0.5)))))     \
    X(elu_backward_result, vec alpha = VARG(1); vec scale = VARG(2);                    \
      vec in_scale = VARG(3),                                                           \
      vsel(vgt(y, vzero(x)), x * scale, x * in_scale * (y + alpha * scale)))
#define BINARY(X)                                                                                 \
    X(gelu_erf_backward, , x *vfma(y, VDENSITY(y), vnormal(y)))                                   \
    X(gelu_tanh_backward, ,                                                                       \
      LET(vec z = vmin(C(40), vmax(C(-40), y)); /* beyond, 0 meets infinity */                    \
          vec s = vsigmoid(GELU_ARG(z)), x * (s + z * SIGMOID_SLOPE(s) * GELU_ARG_SLOPE(z))))     \
    X(silu_backward, , LET(vec s = vsigmoid(y), x * s * vfma(y, C(1) - s, C(1))))                 \
    X(mish_backward, ,                                                                            \
      LET(vec w = MISH_W(y); vec t = w / (w + C(2)), x * (t + y * vsigmoid(y) * (C(1) - t * t)))) \
    X(log_sigmoid_backward, , x *LOGISTIC(-y))                                                    \
    X(softplus_backward, vec beta = VARG(2);                                                      \
      vec limit = VARG(3), vsel(vgt(y * beta, limit), x, x * LOGISTIC(y * beta)))                 \
    X(logit_backward_plain, ,                                                                     \
      vsel(vlt(y, vzero(x)), C(NAN), vsel(vgt(y, C(1)), C(NAN), x / (y * (C(1) - y)))))           \
    X(logit_backward_eps, vec eps = VARG(2),                                                      \
      vsel(vlt(y, eps), vzero(x), vsel(vgt(y, C(1) - eps), vzero(x), x / (y * (C(1) - y)))))      \
    X(elu_backward_input, vec alpha = VARG(1); vec scale = VARG(2);                               \
      vec in_scale = VARG(3),                                                                     \
      vsel(vgt(y, vzero(x)), x * scale, x * in_scale * alpha * scale * vexp(y * in_scale)))

#define DEFINE_ROWS_1(name, setup, expression) VROWS(name, 1, setup, expression)
#define DEFINE_ROWS_2(name, setup, expression) VROWS(name, 2, setup, expression)
UNARY(DEFINE_ROWS_1)
BINARY(DEFINE_ROWS_2)
#define DEFINE_SHORT_1(name, setup, expression) SHORT_ROWS(name, 1, setup, expression)
#define DEFINE_SHORT_2(name, setup, expression) SHORT_ROWS(name, 2, setup, expression)
SHORT_UNARY(DEFINE_SHORT_1)
SHORT_BINARY(DEFINE_SHORT_2)
#define DEFINE_LIGHT_1(name, setup, expression) \
    LIGHT_ROWS(name, 1, setup, expression)      \
    LIGHT_LOOPS(name, 1)
#define DEFINE_LIGHT_2(name, setup, expression) \
    LIGHT_ROWS(name, 2, setup, expression)      \
    LIGHT_LOOPS(name, 2)
LIGHT_UNARY(DEFINE_LIGHT_1)
LIGHT_BINARY(DEFINE_LIGHT_2)

/* ---- ops that choose between two rows by an argument ---- */
static bool is_tanh(const void *context, int k) { return td_letter_arg(context, k) == 't'; }
static bool is_true(const void *context, int k) { return ((const td_arg *)context)[k].i != 0; }

#define CHOOSE(name, arity, condition, yes, no)                              \
    TD_CHOICE(name##_f32_row, arity, condition, yes##_f32_row, no##_f32_row) \
    TD_CHOICE(name##_f64_row, arity, condition, yes##_f64_row, no##_f64_row)
CHOOSE(gelu, 1, is_tanh(context, 1), gelu_tanh, gelu_erf)
CHOOSE(gelu_backward, 2, is_tanh(context, 2), gelu_tanh_backward, gelu_erf_backward)
CHOOSE(elu_backward, 2, is_true(context, 4), elu_backward_result, elu_backward_input)
CHOOSE(logit, 1, td_has_arg(context, 1), logit_eps, logit_plain)
CHOOSE(logit_backward, 2, td_has_arg(context, 2), logit_backward_eps, logit_backward_plain)
CHOOSE(softshrink_backward, 2, 1, hardshrink_backward, hardshrink_backward)

#define NAMES_1(X) \
    X(elu)         \
    X(selu)        \
    X(celu)        \
    X(gelu)        \
    X(silu)        \
    X(mish)        \
    X(log_sigmoid) \
    X(softplus)    \
    X(hardshrink)  \
    X(softshrink)  \
    X(hardsigmoid) \
    X(hardswish)   \
    X(logit)
#define NAMES_2(X)          \
    X(hardtanh_backward)    \
    X(gelu_backward)        \
    X(silu_backward)        \
    X(mish_backward)        \
    X(log_sigmoid_backward) \
    X(softplus_backward)    \
    X(hardshrink_backward)  \
    X(softshrink_backward)  \
    X(hardsigmoid_backward) \
    X(hardswish_backward)   \
    X(logit_backward)       \
    X(elu_backward)
#define LOOPS_1(name) FLOAT_LOOPS(name, 1)
#define LOOPS_2(name) FLOAT_LOOPS(name, 2)
NAMES_1(LOOPS_1)
NAMES_2(LOOPS_2)

/* ---- integers ---- */
INT_TYPES(INT_LOOP, relu6, 1, x > 6 ? 6 : x > 0 ? x : 0)
INT_TYPES(INT_LOOP_WITH, threshold, 1, T limit = INT_ARG(1);
          T value = INT_ARG(2), x <= limit ? value : x)
INT_TYPES(INT_LOOP_WITH, threshold_backward, 2, T limit = INT_ARG(2), y <= limit ? 0 : x)
INT_TYPES(INT_LOOP_WITH, hardtanh, 1, T low = INT_ARG(1);
          T high = INT_ARG(2), x<low ? low : x> high ? high : x)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
#define LIGHT_ENTRIES(name, setup, expression) FLOAT_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(activation)[] = {
    LIGHT_UNARY(LIGHT_ENTRIES) LIGHT_BINARY(LIGHT_ENTRIES) NAMES_1(ENTRIES) NAMES_2(ENTRIES)
        INT_TYPES(INT_ENTRY, "relu6", relu6) INT_TYPES(INT_ENTRY, "threshold", threshold)
            INT_TYPES(INT_ENTRY, "threshold_backward", threshold_backward)
                INT_TYPES(INT_ENTRY, "hardtanh", hardtanh){NULL, 0, NULL},
};
/* clang-format on */
