/* gemm.c - the serial product kernels of float and double on one instruction set. */
#include "cpu/matmul/gemm.h"
#include <stddef.h>
#include "cpu/matmul/isa.h"
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#define TD_GEMM_NC 3072
#define TD_SMALL_BYTES \
    65536 /* what an operand used in place may measure: about the first cache twice */

#define MR TD_MR
#define NR (TD_NV * LANES)

#define REAL float
#define VEC vf
#define V(op) TD_PASTE(vf, op)
#define G(name) TD_PASTE(name, f32)
#define LANES VF_LANES
#include "cpu/matmul/tile.h"
#include "cpu/matmul/pack.h"
#include "cpu/matmul/core.h"
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
#include "cpu/matmul/tile.h"
#include "cpu/matmul/pack.h"
#include "cpu/matmul/core.h"
#undef LANES

const td_gemm_kernels TD_SYM(td_gemm_kernels) = {{
    {MR, TD_NV * VF_LANES, plan_f32, work_f32, run_f32, panel_f32, pack_a_f32, dot_of_f32,
     pack_b_f32},
    {MR, TD_NV * VD_LANES, plan_f64, work_f64, run_f64, panel_f64, pack_a_f64, dot_of_f64,
     pack_b_f64},
}};
