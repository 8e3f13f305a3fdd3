/* optim.h - kernels over lists of tensors: optimizer steps, scaling, norms. One instance per
 * instruction set, all equal to the bit; half and bfloat16 compute in float32. */
#ifndef TD_OPTIM_KERNELS_H
#define TD_OPTIM_KERNELS_H
#include <stdbool.h>
#include <stdint.h>

/* One tensor of each list, as flat memory, and what is particular to it. */
typedef struct td_slice {
    char *data[5]; /* parameter, gradient, state */
    int64_t numel;
    double step;         /* steps counted so far, this one included */
    const void *counter; /* or where a device with kernels of its own has that number, in float32 */
} td_slice;

enum { TD_PARAM, TD_GRAD, TD_STATE, TD_STATE2, TD_STATE3 };

/* Elements [begin, begin + n) of a slice. */
typedef void (*td_slice_kernel)(const td_slice *slice, int64_t begin, int64_t n,
                                const void *params);

typedef struct td_sgd_params { /* momentum buffer in TD_STATE unless momentum is 0 */
    double lr, momentum, dampening, weight_decay, grad_scale;
    bool nesterov, maximize, first;
} td_sgd_params;

/* means of the gradient and of its square, and with amsgrad the latter's maximum */
typedef struct td_adam_params {
    double lr, beta1, beta2, weight_decay, eps, grad_scale;
    bool amsgrad, maximize, decoupled;
} td_adam_params;

typedef struct td_adagrad_params { /* sum of squares in TD_STATE */
    double lr, lr_decay, weight_decay, eps, grad_scale;
    bool maximize;
} td_adagrad_params;

/* grad_scale 1 means none; else gradients are divided by it, also where they stand. */
enum { TD_OPTIM_F16, TD_OPTIM_BF16, TD_OPTIM_F32, TD_OPTIM_F64, TD_OPTIM_KINDS };

typedef double (*td_norm_kernel)(const void *data, int64_t n, double p);

typedef struct td_optim_kernels {
    td_slice_kernel sgd[TD_OPTIM_KINDS], adam[TD_OPTIM_KINDS], adagrad[TD_OPTIM_KINDS];
    /* a double */
    td_slice_kernel multiply[TD_OPTIM_KINDS], divide[TD_OPTIM_KINDS], add[TD_OPTIM_KINDS];
    /* sum of |x|^p; the largest or smallest |x| for p of +-infinity */
    td_norm_kernel power_sum[TD_OPTIM_KINDS];
} td_optim_kernels;

extern const td_optim_kernels td_optim_kernels_generic;
#ifdef __x86_64__
extern const td_optim_kernels td_optim_kernels_avx2, td_optim_kernels_avx512;
#endif

#endif
