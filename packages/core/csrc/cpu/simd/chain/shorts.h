/* shorts.h - what a short float in a chain is between two operations: the float of vf that memory
 * would have given back (vec16.h). */
#ifndef TD_SHORTS_H
#define TD_SHORTS_H
#include "cpu/simd/vec16.h"

VFN vf vh_rounded(vf x) { return vh_widen(vh_narrow(x)); }
VFN vf vb_rounded(vf x) { return (vf)(vb_round(x) << 16); }
VFN vf vh_set(uint16_t x) { return vf_set(td_f16_load(x)); }
VFN vf vb_set(uint16_t x) { return vf_set(td_bf16_load(x)); }

#endif
