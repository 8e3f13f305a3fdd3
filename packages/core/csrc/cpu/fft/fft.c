/* fft.c - the passes of Fourier transforms in float and double on one instruction set. */
#include "cpu/fft/fft.h"
#include "cpu/simd/gemm_vec.h"
#include "cpu/fft/vec.h"
#include "runtime/loops.h"

#include "cpu/simd/of_float.h"
#include "cpu/fft/numbers.h"
#include "cpu/fft/butterflies.h"
#include "cpu/fft/passes.h"
#include "cpu/fft/lines.h"
#include "cpu/fft/halves.h"
#undef CV
#undef SPLIT
#undef FFT_PASS
#undef FFT_ENDS

#include "cpu/simd/of_double.h"
#include "cpu/fft/numbers.h"
#include "cpu/fft/butterflies.h"
#include "cpu/fft/passes.h"
#include "cpu/fft/lines.h"
#include "cpu/fft/halves.h"

#define FFT_KERNEL(lanes, type)                                            \
    {lanes,         stages_##type,       load_##type,       store_##type,  \
     gather_##type, scatter_##type,      turn_##type,       unfold_##type, \
     fold_##type,   unfold_lanes_##type, fold_lanes_##type, widen_##type,  \
     narrow_##type, mirror_##type,       multiply_##type}
const td_fft_kernels TD_SYM(td_fft_kernels) = {
    {FFT_KERNEL(VF_LANES, f32), FFT_KERNEL(VD_LANES, f64)}};
