/* loss_pairs.h - what a loss of an element x with its target t is, and its slope by x: vector
 * expressions of x, t and the parameter p, for the processor's loops (loss.c) and for devices. */
#ifndef TD_LOSS_PAIRS_H
#define TD_LOSS_PAIRS_H

/* Elements added up in the working precision before their sum goes to double: the same everywhere,
 * so that the bits are. */
#define TD_LOSS_BLOCK 1024

#define SIGN(d) \
    vsel(vgt(d, vzero(d)), vset(d, 1), vsel(vlt(d, vzero(d)), vset(d, -1), (d) * vset(d, 0)))
#define MSE_VALUE (x - t) * (x - t)
#define MSE_SLOPE vset(x, 2) * (x - t)
#define L1_VALUE vabs(x - t)
#define L1_SLOPE SIGN(x - t)
#define SMOOTH_L1_VALUE                                              \
    vsel(vlt(vabs(x - t), p), vset(x, 0.5f) * (x - t) * (x - t) / p, \
         vabs(x - t) - vset(x, 0.5f) * p)
#define SMOOTH_L1_SLOPE vsel(vlt(vabs(x - t), p), (x - t) / p, SIGN(x - t))
#define HUBER_VALUE                                              \
    vsel(vle(vabs(x - t), p), vset(x, 0.5f) * (x - t) * (x - t), \
         p * (vabs(x - t) - vset(x, 0.5f) * p))
#define HUBER_SLOPE vsel(vle(vabs(x - t), p), x - t, p * SIGN(x - t))
/* log(1 + e^z) without overflow: the exponential is of a negative number */
#define SOFTPLUS(z) (vmax(vzero(z), z) + vlog1p(vexp(-vabs(z))))
#define SOFT_MARGIN_VALUE SOFTPLUS(-t *x)
#define SOFT_MARGIN_SLOPE -t / (vset(x, 1) + vexp(t * x))
/* logarithms stay above -100 */
#define LOG_100(v) vmax(vset(v, -100), vlog(v))
#define BCE_VALUE (t - vset(x, 1)) * vmax(vset(x, -100), vlog1p(-x)) - t *LOG_100(x)
#define BCE_SLOPE (x - t) / vmax(vset(x, 1e-12f), (vset(x, 1) - x) * x)
/* of either sign what is small is added to what is 0 for a sure and right answer */
#define BCE_LOGITS_VALUE vsel(vgt(x, vzero(x)), vset(x, 1) - t, -t) * x + vlog1p(vexp(-vabs(x)))
#define BCE_LOGITS_TAIL (vset(x, 1) / (vset(x, 1) + vexp(vabs(x))))
#define BCE_LOGITS_SLOPE \
    vsel(vgt(x, vzero(x)), (vset(x, 1) - t) - BCE_LOGITS_TAIL, BCE_LOGITS_TAIL - t)

#endif
