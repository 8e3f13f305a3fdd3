/* recurrent.c - one step of a recurrent cell on rows of numbers. See recurrent.h. */
#include "cpu/recurrent/recurrent.h"
#include "cpu/simd/vmath.h"
#include "runtime/loops.h"

#define ROW(name, part)                                             \
    static void REAL(name)(const td_cell_rows *r, int64_t n)        \
    {                                                               \
        int64_t j = 0;                                              \
        for (; j + WIDTH <= n; j += WIDTH) REAL(part)(r, j, WIDTH); \
        if (j < n) REAL(part)(r, j, n - j);                         \
    }

#define REAL(name) name##_f32
#define WIDTH VF_WIDTH
#define LOAD vf_load
#define LOAD_N vf_load_n
#define STORE vf_store
#define STORE_N vf_store_n
#define real float
#define vec vf
#include "cpu/recurrent/cells.h"

#define REAL(name) name##_f64
#define WIDTH VD_WIDTH
#define LOAD vd_load
#define LOAD_N vd_load_n
#define STORE vd_store
#define STORE_N vd_store_n
#define real double
#define vec vd
#include "cpu/recurrent/cells.h"

#define CELL(name, ...)                                         \
    {                                                           \
        {__VA_ARGS__, name##_forward_f32, name##_backward_f32}, \
        {__VA_ARGS__, name##_forward_f64, name##_backward_f64}, \
    }
const td_recurrent_kernels TD_SYM(td_recurrent_kernels) = {
    .cells = {[TD_CELL_LSTM] = CELL(lstm, 4, 4, 3),
              [TD_CELL_GRU] = CELL(gru, 3, 4, 3),
              [TD_CELL_TANH] = CELL(tanh, 1, 0, 0),
              [TD_CELL_RELU] = CELL(relu, 1, 0, 0)},
};
