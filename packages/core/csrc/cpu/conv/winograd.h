/* winograd.h - 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3): 36 multiplications where 144
 * stand.
 *
 *   input tiles 6x6 ──▶ 36 numbers each    36 products [outputs x channels] [channels x tiles]     ──▶ output tiles 4x4
 *   weights 3x3     ──▶ 36 numbers each
 *
 * With interpolation points 0, +-3/4, +-3/2 the error is about three times that of direct
 * summation, as long as the numbers of a tile are of about one size: every output of a tile gets
 * errors of its largest input, also an output that does not see it. Where sizes differ by more than
 * TD_WINOGRAD_SPREAD, and where an input is infinite or NaN, plain sums are computed. */
#ifndef TD_WINOGRAD_H
#define TD_WINOGRAD_H
#include <stdint.h>
#include "runtime/cpu.h"

#define TD_WINOGRAD_SPREAD 128.f

/* Two numbers for each tile, as far as the tiles of one image go row by row. */
typedef struct td_tile_sizes {
    float *most;  /* the largest magnitude that the tile owns; NaN if one of them is */
    float *least; /* at most the largest magnitude of a place in the middle of its windows */
} td_tile_sizes;

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
    const float *plain;   /* weights as they came: [outputs][channels][9] */
    float limit;          /* inputs above it may leave float's range on the way */
    td_tile_sizes sizes;
} td_winograd;

#define TD_WINOGRAD_STEP \
    32 /* tiles whose products are summed at a time for the gradient of the weights */

typedef struct td_winograd_kernel {
    int64_t block;                         /* tiles of one step */
    int64_t (*work)(const td_winograd *p); /* bytes of scratch */
    /* w[outputs][channels][9] to 36 packed matrices of outputs x channels; channels [begin, end).
     * most[9]: the largest magnitude of each tap among them */
    void (*weights)(float *to, const float *w, int64_t outputs, int64_t channels, int64_t begin,
                    int64_t end, float *most);
    /* steps [begin, end); writes `sizes` */
    void (*run)(const td_winograd *p, int64_t begin, int64_t end, void *work);
    /* The gradient of the weights by F(3x3, 4x4): output's gradient (`y`, only read) and input,
     * `outputs` of one and `channels` of the other from the given ones on. dw: [all outputs][all
     * channels][9]. Sizes of the tiles of both are written where they are asked for. */
    int64_t (*gradient_work)(int64_t outputs, int64_t channels);
    void (*gradient)(const td_winograd *p, int64_t output, int64_t outputs, int64_t channel,
                     int64_t channels, float *dw, td_tile_sizes x, td_tile_sizes y, void *work);
} td_winograd_kernel;

/* the other kernel (cpu/conv/winograd_plain.c): tiles that need plain sums */
typedef struct td_winograd_plain {
    int64_t (*work)(const td_winograd *p); /* bytes of scratch */
    /* rows of tiles [begin, end), counted through all images: finds by `sizes` what `run` may have
     * spoiled, and computes it again */
    void (*mend)(const td_winograd *p, int64_t begin, int64_t end, void *work);
} td_winograd_plain;

extern const td_winograd_kernel td_winograd_kernel_generic;
extern const td_winograd_plain td_winograd_plain_generic;
#ifdef __x86_64__
extern const td_winograd_plain td_winograd_plain_avx2, td_winograd_plain_avx512;
extern const td_winograd_kernel td_winograd_kernel_avx2, td_winograd_kernel_avx512;
#endif
#endif
