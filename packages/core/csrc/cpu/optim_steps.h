/* optim_steps.h - the arithmetic of optimizer steps: the same lines for the processor's loops
 * (cpu/optim.c) and for a device, where a thread computes one element (cuda/kernels/optim.h).
 *
 * Around them stand `o`, the parameters, and the arrays p, g, m, v, top of a slice; i is the
 * element, `real` what is computed in. What a step makes of the slice's counter is computed by the
 * host in double. */
#ifndef TD_OPTIM_STEPS_H
#define TD_OPTIM_STEPS_H

/* ---- SGD; `decay` and `momentum` say what there is ---- */
#define TD_SGD_NUMBERS(real)                                                           \
    real lr = (real) - o->lr, wd = (real)o->weight_decay, sign = o->maximize ? -1 : 1; \
    real keep = (real)(o->first ? 0 : o->momentum),                                    \
         take = (real)(o->first ? 1 : 1 - o->dampening);                               \
    real ahead = (real)(o->nesterov ? o->momentum : 1), direct = o->nesterov ? 1 : 0;
#define TD_SGD_STEP(real, LOAD, STORE)                        \
    real x = LOAD(p[i]), d = sign * LOAD(g[i]);               \
    if (decay) d += wd * x;                                   \
    if (momentum) {                                           \
        real b = o->first ? d : keep * LOAD(m[i]) + take * d; \
        m[i] = STORE(b);                                      \
        d = o->nesterov ? direct * d + ahead * b : b;         \
    }                                                         \
    p[i] = STORE(x + lr * d);

/* ---- Adam and AdamW; `decay` is that of the gradient, `amsgrad` says whether there is `top`
 * ---- */
#define TD_ADAM_RATE(step) (-o->lr / (1 - pow(o->beta1, step)))
#define TD_ADAM_CORRECTION(step) (1 / sqrt(1 - pow(o->beta2, step)))
#define TD_ADAM_NUMBERS(real, rate, correction)                           \
    real step = (real)(rate);                                             \
    real correct = (real)(correction), eps = (real)o->eps;                \
    real wd = (real)o->weight_decay, sign = o->maximize ? -1 : 1;         \
    real shrink = (real)(o->decoupled ? 1 - o->lr * o->weight_decay : 1); \
    real take1 = (real)(1 - o->beta1), keep2 = (real)o->beta2, take2 = (real)(1 - o->beta2);
#define TD_ADAM_STEP(real, LOAD, STORE, ROOT)                               \
    real x = LOAD(p[i]) * shrink, d = sign * LOAD(g[i]), mean = LOAD(m[i]); \
    if (decay) d += wd * x;                                                 \
    mean += take1 * (d - mean);                                             \
    real square = keep2 * LOAD(v[i]) + take2 * d * d;                       \
    m[i] = STORE(mean);                                                     \
    v[i] = STORE(square);                                                   \
    if (amsgrad) {                                                          \
        real before = LOAD(top[i]);                                         \
        square = square > before || square != square ? square : before;     \
        top[i] = STORE(square);                                             \
    }                                                                       \
    p[i] = STORE(x + step * mean / (ROOT(square) * correct + eps));

/* ---- Adagrad; m is the sum of squares ---- */
#define TD_ADAGRAD_RATE(step) (-o->lr / (1 + (step - 1) * o->lr_decay))
#define TD_ADAGRAD_NUMBERS(real, rate)            \
    real step = (real)(rate), eps = (real)o->eps; \
    real wd = (real)o->weight_decay, sign = o->maximize ? -1 : 1;
#define TD_ADAGRAD_STEP(real, LOAD, STORE, ROOT) \
    real x = LOAD(p[i]), d = sign * LOAD(g[i]);  \
    if (decay) d += wd * x;                      \
    real total = LOAD(m[i]) + d * d;             \
    m[i] = STORE(total);                         \
    p[i] = STORE(x + step * d / (ROOT(total) + eps));

#endif
