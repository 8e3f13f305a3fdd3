/* optim.h - optimizer steps, one number applied, and norms over lists of tensors: many tensors in
 * one launch. The formulas are those of cpu/optim_steps.h, so the processor's bits.
 *
 *   td_optim_alone<td_optim_sgd<D>>          a thread an element, as adam, adagrad and number
 *   td_optim_alone<td_optim_counts<TD_F32>>  a thread a tensor: what its counter gives
 *   td_optim_together<td_optim_powers<D>>    64 threads a chunk: its sum of |x|^p, or extreme */
#ifndef TD_OPTIM_TEXT_H
#define TD_OPTIM_TEXT_H
#include "cpu/optim_steps.h"
#include "cuda/kernels/reduce.h"

#define TD_OPTIM_SLICES 40
#define TD_OPTIM_CHUNK 8192
#define TD_OPTIM_LANES 32

struct td_optim_slice {
    char *data[5];           /* parameter, gradient, state */
    int64_t first, numel;    /* its first thread, or the number of its first chunk; elements */
    double rate, correction; /* what its counter gives */
    const float *counter;    /* or the counter itself; then that is in `counted` */
};
struct td_optim_call {              /* laid out as in csrc/cuda/optim.c */
    int64_t n, count;               /* threads or chunks with work; slices */
    double *partial, *counted;      /* counted: two numbers a slice */
    const float *scale, *found_inf; /* numbers on the device, or NULL */
    double lr, lr_decay, momentum, dampening, beta1, beta2, weight_decay, eps, grad_scale, number,
        p;
    int64_t nesterov, maximize, first, amsgrad, decoupled, operation;
    td_optim_slice slices[TD_OPTIM_SLICES];
};

VFN const td_optim_slice &td_slice_of(const td_optim_call &c, int64_t at)
{
    int low = 0, high = (int)c.count - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (c.slices[middle].first <= at) low = middle;
        else high = middle - 1;
    }
    return c.slices[low];
}
/* what the counter of a slice gives */
VFN double td_rate_of(const td_optim_call *o, const td_optim_slice &s)
{
    return s.counter ? o->counted[2 * (&s - o->slices)] : s.rate;
}
VFN double td_correction_of(const td_optim_call *o, const td_optim_slice &s)
{
    return s.counter ? o->counted[2 * (&s - o->slices) + 1] : s.correction;
}
VFN float td_root(float x) { return sqrtf(x); }
VFN double td_root(double x) { return sqrt(x); }
VFN double td_power(double x, double y) { return pow(x, y); }

#define TD_OPTIM_ARRAYS                                              \
    typedef typename td_mem<D>::type T;                              \
    typedef typename td_real<D>::type R;                             \
    const td_optim_slice &s = td_slice_of(*o, at);                   \
    int64_t i = at - s.first;                                        \
    T *p = (T *)s.data[0], *g = (T *)s.data[1], *m = (T *)s.data[2]; \
    R scale = (R)(o->scale ? (double)*o->scale : o->grad_scale);     \
    if (o->found_inf && *o->found_inf != 0) return;                  \
    if (scale != 1) g[i] = TD_OPTIM_STORE(TD_OPTIM_LOAD(g[i]) / scale);
#define TD_OPTIM_LOAD(x) (td_read<D, R>(x))
#define TD_OPTIM_STORE(x) (td_made<D>((R)(x)))

template <int D> struct td_optim_sgd {
    static TD_IN void one(const td_optim_call *o, int64_t at)
    {
        TD_OPTIM_ARRAYS
        bool decay = o->weight_decay != 0, momentum = o->momentum != 0;
        TD_SGD_NUMBERS(R)
        TD_SGD_STEP(R, TD_OPTIM_LOAD, TD_OPTIM_STORE)
    }
};
template <int D> struct td_optim_adam {
    static TD_IN void one(const td_optim_call *o, int64_t at)
    {
        TD_OPTIM_ARRAYS
        T *v = (T *)s.data[3], *top = (T *)s.data[4];
        bool decay = o->weight_decay != 0 && !o->decoupled, amsgrad = o->amsgrad;
        TD_ADAM_NUMBERS(R, td_rate_of(o, s), td_correction_of(o, s))
        TD_ADAM_STEP(R, TD_OPTIM_LOAD, TD_OPTIM_STORE, td_root)
    }
};
template <int D> struct td_optim_adagrad {
    static TD_IN void one(const td_optim_call *o, int64_t at)
    {
        TD_OPTIM_ARRAYS
        bool decay = o->weight_decay != 0;
        TD_ADAGRAD_NUMBERS(R, td_rate_of(o, s))
        TD_ADAGRAD_STEP(R, TD_OPTIM_LOAD, TD_OPTIM_STORE, td_root)
    }
};
template <int D> struct td_optim_counts { /* `operation` is 1 for Adam */
    static TD_IN void one(const td_optim_call *o, int64_t at)
    {
        const td_optim_slice &s = o->slices[at];
        if (!s.counter) return;
        double step = (double)*s.counter;
        o->counted[2 * at] = o->operation ? TD_ADAM_RATE(step) : TD_ADAGRAD_RATE(step);
        o->counted[2 * at + 1] = o->operation ? TD_ADAM_CORRECTION(step) : 0;
    }
};
template <int D> struct td_optim_number {
    static TD_IN void one(const td_optim_call *o, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        typedef typename td_real<D>::type R;
        const td_optim_slice &s = td_slice_of(*o, at);
        T &to = ((T *)s.data[0])[at - s.first];
        R x = TD_OPTIM_LOAD(to), number = (R)o->number;
        to = TD_OPTIM_STORE(o->operation == 'm'   ? x * number
                            : o->operation == 'd' ? x / number
                                                  : x + number);
    }
};

/* ---- norms: 32 running sums in double, joined from left to right as in cpu/optim.c ---- */
VFN double td_power_join(double p, double all, double a)
{
    if (p == (double)INFINITY) return all > a || all != all ? all : a;
    if (p == -(double)INFINITY) return all < a || all != all ? all : a;
    return all + a;
}
VFN double td_power_of(double p, double a)
{
    return p == 2                                                      ? a * a
           : p == 1 || p == (double)INFINITY || p == -(double)INFINITY ? a
           : p == 0                                                    ? (double)(a != 0)
                                                                       : td_power(a, p);
}
template <int D> struct td_optim_powers {
    static TD_IN void unit(const td_optim_call *o, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        typedef typename td_real<D>::type R;
        __shared__ double lanes[TD_OPTIM_LANES];
        const td_optim_slice &s = td_slice_of(*o, at);
        int64_t begin = (at - s.first) * TD_OPTIM_CHUNK, left = s.numel - begin;
        int64_t n = left < TD_OPTIM_CHUNK ? left : TD_OPTIM_CHUNK;
        const T *x = (const T *)s.data[0] + begin;
        double none = o->p == -(double)INFINITY ? (double)INFINITY : 0, mine = none;
        if (threadIdx.x < TD_OPTIM_LANES) {
            for (int64_t i = threadIdx.x; i < n; i += TD_OPTIM_LANES)
                mine =
                    td_power_join(o->p, mine, td_power_of(o->p, fabs((double)TD_OPTIM_LOAD(x[i]))));
            lanes[threadIdx.x] = mine;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            double all = none;
            for (int k = 0; k < TD_OPTIM_LANES; k++) all = td_power_join(o->p, all, lanes[k]);
            o->partial[at] = all;
        }
        __syncthreads();
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_optim_alone(const __grid_constant__ td_optim_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(&c, at);
}
template <class Work>
__global__ void __launch_bounds__(64) td_optim_together(const __grid_constant__ td_optim_call c)
{
    for (int64_t unit = blockIdx.x; unit < c.n; unit += gridDim.x) Work::unit(&c, unit);
}
#endif
