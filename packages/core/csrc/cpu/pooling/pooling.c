/* pooling.c - the loops of pooling for float and double; see pooling.h and rows.h. */
#include "cpu/pooling/pooling.h"
#include <math.h>
#include <string.h>
#include "cpu/pooling/quarters.h"

#define NAME(x) x##_f32
#define TYPE float
#define ACC float
#define LOWEST (-INFINITY)
#define IS_NAN(x) ((x) != (x))
#define VECTOR vf
#define WIDTH VF_WIDTH
#define V(f) vf_##f
#define AVERAGE
#include "cpu/pooling/rows.h"

#define NAME(x) x##_f64
#define TYPE double
#define ACC double
#define LOWEST ((double)-INFINITY)
#define IS_NAN(x) ((x) != (x))
#define VECTOR vd
#define WIDTH VD_WIDTH
#define V(f) vd_##f
#define AVERAGE
#include "cpu/pooling/rows.h"

#define FLOATS(name) {[TD_F32] = name##_f32, [TD_F64] = name##_f64}

#define LOOPS(of)                                                           \
    {                                                                       \
        .max = FLOATS(of##max),                                             \
        .max_backward = FLOATS(of##max_backward),                           \
        .average = FLOATS(of##average),                                     \
        .average_backward = FLOATS(of##average_backward),                   \
        .adaptive_max = FLOATS(of##adaptive_max),                           \
        .adaptive_average = FLOATS(of##adaptive_average),                   \
        .adaptive_average_backward = FLOATS(of##adaptive_average_backward), \
    }

const td_pooling_kernels TD_SYM(td_pooling_kernels) = {LOOPS(), LOOPS(pixel_)};
