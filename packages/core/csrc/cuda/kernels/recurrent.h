/* recurrent.h - one step of a recurrent cell, a thread a unit of a row: the lines of
 * cpu/recurrent/cells.h. The products with the weights are launches of matmul.h between them.
 *
 *   td_recurrent_alone<td_recurrent_begin<D>>          a thread a slot of all steps: what the
 *                                                      products are added to
 *   td_recurrent_alone<td_recurrent_lstm_forward<D>>   and so on for backward, gru, tanh and relu */
#ifndef TD_RECURRENT_TEXT_H
#define TD_RECURRENT_TEXT_H
#include "cpu/simd/device/convert.h"
#include "cpu/simd/vmath.h"

#include "cpu/recurrent/rows.h" /* after the types that a device has no header for */

struct td_recurrent_call { /* laid out as in csrc/cuda/recurrent.c */
    char *slots, *cell, *hidden, *carry, *to_state, *to_share;
    const char *before, *grad, *share, *bias;
    int64_t n;                         /* threads with work */
    int64_t rows, units, gates, a_row; /* a_row: slots of a row */
    int64_t share_step, share_row;     /* bytes */
};

template <int D> struct td_recurrent_begin {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_recurrent_call &c, int64_t at)
    {
        int64_t unit = at % c.units, slot = at / c.units % c.a_row;
        int64_t row = at / c.units / c.a_row % c.rows, time = at / c.units / c.a_row / c.rows;
        const T *share = (const T *)(c.share + time * c.share_step + row * c.share_row);
        ((T *)c.slots)[at] = slot < c.gates ? share[slot * c.units + unit]
                             : c.bias       ? ((const T *)c.bias)[unit]
                                            : T(0);
    }
};

template <class T> VFN td_cell_rows td_cell_rows_of(const td_recurrent_call &c, int64_t row)
{
    int64_t one = row * c.units, wide = row * c.units * c.gates;
    td_cell_rows r;
    r.slots = (T *)c.slots + row * c.units * c.a_row;
    r.apart = r.to_apart = c.units;
    r.before = (const T *)c.before + one;
    r.cell = (T *)c.cell + one;
    r.hidden = (T *)c.hidden + one;
    r.grad = (const T *)c.grad + one;
    r.carry = (T *)c.carry + one;
    r.to_state = (T *)c.to_state + wide;
    r.to_share = (T *)c.to_share + wide;
    return r;
}
#define TD_CELL_WORK(name) template <int D> struct td_recurrent_##name;
TD_CELL_WORK(lstm_forward)
TD_CELL_WORK(lstm_backward)
TD_CELL_WORK(gru_forward)
TD_CELL_WORK(gru_backward)
TD_CELL_WORK(tanh_forward)
TD_CELL_WORK(tanh_backward)
TD_CELL_WORK(relu_forward)
TD_CELL_WORK(relu_backward)

#define ROW(name, part)                                               \
    template <> struct td_recurrent_##name<TD_CELL_DTYPE> {           \
        static TD_IN void one(const td_recurrent_call &c, int64_t at) \
        {                                                             \
            td_cell_rows r = td_cell_rows_of<real>(c, at / c.units);  \
            REAL(part)(&r, at % c.units, WIDTH);                      \
        }                                                             \
    };
#define REAL(name) name##_f32
#define WIDTH 1
#define LOAD(p) vf(*(p))
#define LOAD_N(p, k) LOAD(p)
#define STORE(p, x) ((void)(*(p) = (x).v))
#define STORE_N(p, x, k) STORE(p, x)
#define TD_CELL_DTYPE TD_F32
#define real float
#define vec vf
#include "cpu/recurrent/cells.h"

#undef TD_CELL_DTYPE
#define REAL(name) name##_f64
#define WIDTH 1
#define LOAD(p) vd(*(p))
#define LOAD_N(p, k) LOAD(p)
#define STORE(p, x) ((void)(*(p) = (x).v))
#define STORE_N(p, x, k) STORE(p, x)
#define TD_CELL_DTYPE TD_F64
#define real double
#define vec vd
#include "cpu/recurrent/cells.h"

template <class Work>
__global__ void __launch_bounds__(256)
    td_recurrent_alone(const __grid_constant__ td_recurrent_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
