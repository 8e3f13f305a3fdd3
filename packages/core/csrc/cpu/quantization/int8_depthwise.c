/* int8_depthwise.c - the kernels of int8_depthwise.h: channels are the lanes. */
#include "cpu/quantization/int8_depthwise.h"
#include <math.h>
#include <string.h>
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#if defined(__AVX512F__)
#include "cpu/quantization/int8_depthwise_quads.h"
#elif defined(__AVX2__)
#include "cpu/quantization/int8_depthwise_pairs.h"
#else
#include "cpu/quantization/int8_depthwise_any.h"
#endif
#include "cpu/quantization/int8_panels_put.h"

/* ---- some windows and a panel of channels, of which `width` are there ---- */

TD_INLINE TD_HAS_SUMS void some(const int mr, const td_int8_product *p, const td_int8_taps *t,
                                int64_t window, int64_t channel, int width)
{
    int32_t sums[MR][TD_PANEL];
    int64_t taps = p->words * TD_WORD;
    td_int8_rows r = {.m = t->m, .out = t->out, .out_row = t->out_row};
    tile(mr, p->words, t->at + window * taps, taps, channel, width, t->flip,
         p->panels + channel * taps, sums);
    put(p, &r, window, mr, channel, sums[0], TD_PANEL);
}

static TD_HAS_SUMS void whole(const td_int8_product *p, const td_int8_taps *t, int64_t window,
                              int64_t channel)
{
    some(MR, p, t, window, channel, TD_PANEL);
}

static TD_HAS_SUMS void single(const td_int8_product *p, const td_int8_taps *t, int64_t window,
                               int64_t channel)
{
    some(1, p, t, window, channel, TD_PANEL);
}

static TD_HAS_SUMS void rest(const td_int8_product *p, const td_int8_taps *t, int64_t window,
                             int64_t channel)
{
    some(1, p, t, window, channel, (int)(p->n - channel));
}

static TD_HAS_SUMS void run(const td_int8_product *p, const td_int8_taps *t)
{
    for (int64_t channel = 0; channel < p->n; channel += TD_PANEL) {
        int64_t window = 0;
        bool all = channel + TD_PANEL <= p->n;
        for (; all && window + MR <= t->m; window += MR) whole(p, t, window, channel);
        for (; window < t->m; window++) (all ? single : rest)(p, t, window, channel);
    }
}

const td_int8_depthwise_kernels TD_SYM(td_int8_depthwise_kernels) = {run};
