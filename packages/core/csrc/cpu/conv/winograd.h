/* winograd.h - 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3): 36 multiplications where 144
 * stand.
 *
 *   input tiles 6x6 ──▶ 36 numbers each    36 products [outputs x channels] [channels x tiles]     ──▶ output tiles 4x4
 *   weights 3x3     ──▶ 36 numbers each
 *
 * With interpolation points 0, +-3/4, +-3/2 the error is about three times that of direct
 * summation. */
#ifndef TD_WINOGRAD_H
#define TD_WINOGRAD_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef struct td_winograd {
    int64_t channels, outputs;
    int64_t in[2], out[2], pad[2];
    const float *x;
    int64_t x_image, x_channel;
    float *y;
    int64_t y_image, y_channel;
    const float *bias;    /* one per output, or NULL */
    const float *weights; /* transformed */
    int64_t tiles[2];     /* down and across an image */
    int64_t all_tiles;    /* of all images */
} td_winograd;

#define TD_WINOGRAD_STEP \
    32 /* tiles whose products are summed at a time for the gradient of the weights */

typedef struct td_winograd_kernel {
    int64_t block;                         /* tiles of one step */
    int64_t (*work)(const td_winograd *p); /* bytes of scratch */
    /* w[outputs][channels][9] to 36 packed matrices of outputs x channels; channels [begin, end) */
    void (*weights)(float *to, const float *w, int64_t outputs, int64_t channels, int64_t begin,
                    int64_t end);
    /* steps [begin, end) */
    void (*run)(const td_winograd *p, int64_t begin, int64_t end, void *work);
    /* The gradient of the weights by F(3x3, 4x4): output's gradient (`y`, only read) and input,
     * `outputs` of one and `channels` of the other from the given ones on. dw: [all outputs][all
     * channels][9]. */
    int64_t (*gradient_work)(int64_t outputs, int64_t channels);
    void (*gradient)(const td_winograd *p, int64_t output, int64_t outputs, int64_t channel,
                     int64_t channels, float *dw, void *work);
} td_winograd_kernel;

extern const td_winograd_kernel td_winograd_kernel_generic;
#ifdef __x86_64__
extern const td_winograd_kernel td_winograd_kernel_avx2, td_winograd_kernel_avx512;
#endif
#endif
