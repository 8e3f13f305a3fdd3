/* conv.c - patches and planes of convolutions, float and double, on one instruction set. */
#include "cpu/conv/conv.h"
#include <stddef.h>
#include "cpu/matmul/isa.h"
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#define NR (TD_NV * LANES)

#define REAL float
#define VEC vf
#define V(op) TD_PASTE(vf, op)
#define G(name) TD_PASTE(name, f32)
#define LANES VF_LANES
#include "cpu/conv/patches.h"
#include "cpu/conv/plane.h"
#undef REAL
#undef VEC
#undef V
#undef G
#undef LANES

#define REAL double
#define VEC vd
#define V(op) TD_PASTE(vd, op)
#define G(name) TD_PASTE(name, f64)
#define LANES VD_LANES
#include "cpu/conv/patches.h"
#include "cpu/conv/plane.h"

const td_conv_kernels TD_SYM(td_conv_kernels) = {{
    {patches_f32, patches_work_f32, turned_f32, turned_work_f32, plane_f32, plane_work_f32,
     plane_weight_f32},
    {patches_f64, patches_work_f64, turned_f64, turned_work_f64, plane_f64, plane_work_f64,
     plane_weight_f64},
}};
