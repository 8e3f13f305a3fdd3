/* sampling.h - values of images and volumes at places between their pixels. One instance per
 * instruction set (TD_PICK). Numbers are float32 or float64; tensors are row-major. */
#ifndef TD_SAMPLING_H
#define TD_SAMPLING_H
#include "runtime/loops.h"

typedef enum td_sampling_mode {
    TD_SAMPLE_LINEAR,
    TD_SAMPLE_NEAREST,
    TD_SAMPLE_CUBIC
} td_sampling_mode;
typedef enum td_sampling_padding {
    TD_OUTSIDE_ZEROS,
    TD_OUTSIDE_BORDER,
    TD_OUTSIDE_REFLECTED
} td_sampling_padding;

/* Places are read from `grid` in [-1, 1], the last dimension of the image first. */
typedef struct td_sampling {
    int dims; /* 2 or 3 */
    td_sampling_mode mode;
    td_sampling_padding padding;
    bool align;       /* are -1 and 1 the centres of the outermost pixels? */
    int64_t sizes[3]; /* of the input's last dimensions */
    /* plane: numbers of a channel, below 2^31; places: of a sample */
    int64_t channels, plane, places;
    const char *in, *grid; /* of the first sample */
    char *out;             /* [sample][channel][place] */
} td_sampling;

typedef struct td_sampling_kernels {
    /* places begin <= place < end of one sample */
    void (*run[2])(const td_sampling *s, int64_t sample, int64_t begin, int64_t end);
} td_sampling_kernels;

extern const td_sampling_kernels td_sampling_kernels_generic;
#ifdef __x86_64__
extern const td_sampling_kernels td_sampling_kernels_avx2, td_sampling_kernels_avx512;
#endif

/* All samples, shared out among threads (cpu/sampling_run.c). */
void td_sampling_run(const td_sampling *s, int64_t samples, bool wide);
#endif
