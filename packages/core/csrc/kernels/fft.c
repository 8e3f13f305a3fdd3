/* fft.c - the passes of Fourier transforms in float and double on one instruction set. */
#include "kernels/fft.h"
#include "kernels/gemm_vec.h"
#include "kernels/fft_vec.h"
#include "runtime/loops.h"

#define REAL float
#define VEC vf
#define V(op) TD_PASTE(vf, op)
#define G(name) TD_PASTE(name, f32)
#define LANES VF_LANES
#include "kernels/fft_numbers.h"
#include "kernels/fft_butterflies.h"
#include "kernels/fft_passes.h"
#include "kernels/fft_lines.h"
#include "kernels/fft_halves.h"
#undef REAL
#undef VEC
#undef V
#undef G
#undef LANES
#undef CV
#undef SPLIT
#undef FFT_PASS
#undef FFT_ENDS

#define REAL double
#define VEC vd
#define V(op) TD_PASTE(vd, op)
#define G(name) TD_PASTE(name, f64)
#define LANES VD_LANES
#include "kernels/fft_numbers.h"
#include "kernels/fft_butterflies.h"
#include "kernels/fft_passes.h"
#include "kernels/fft_lines.h"
#include "kernels/fft_halves.h"
#undef LANES

#define FFT_KERNEL(lanes, type)                                                                                \
    {                                                                                                          \
        lanes, stages_##type, load_##type, store_##type, gather_##type, scatter_##type, turn_##type,           \
            unfold_##type, fold_##type, unfold_lanes_##type, fold_lanes_##type, widen_##type, narrow_##type,   \
            mirror_##type, multiply_##type                                                                     \
    }
const td_fft_kernels TD_SYM(td_fft_kernels) = {{FFT_KERNEL(VF_LANES, f32), FFT_KERNEL(VD_LANES, f64)}};
