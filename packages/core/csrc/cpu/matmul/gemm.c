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

#include "cpu/simd/of_float.h"
#include "cpu/matmul/tile.h"
#include "cpu/matmul/pack.h"
#include "cpu/matmul/core.h"

#include "cpu/simd/of_double.h"
#include "cpu/matmul/tile.h"
#include "cpu/matmul/pack.h"
#include "cpu/matmul/core.h"

#define KERNELS(lanes, type)                                                 \
    {MR,           TD_NV * (lanes), plan_##type,   work_##type,  run_##type, \
     panel_##type, pack_a_##type,   dot_of_##type, pack_b_##type}
const td_gemm_kernels TD_SYM(td_gemm_kernels) = {{KERNELS(VF_LANES, f32), KERNELS(VD_LANES, f64)}};
