/* resample_grid.h - values of images and volumes at places between their pixels. One instance per
 * instruction set (TD_PICK). Numbers are float32 or float64; tensors are row-major. */
#ifndef TD_RESAMPLE_GRID_H
#define TD_RESAMPLE_GRID_H
#include "runtime/loops.h"

typedef enum td_grid_mode { TD_SAMPLE_LINEAR, TD_SAMPLE_NEAREST, TD_SAMPLE_CUBIC } td_grid_mode;
typedef enum td_grid_padding {
    TD_OUTSIDE_ZEROS,
    TD_OUTSIDE_BORDER,
    TD_OUTSIDE_REFLECTED
} td_grid_padding;

/* Places are read from `grid` in [-1, 1], the last dimension of the image first. */
typedef struct td_grid {
    int dims; /* 2 or 3 */
    td_grid_mode mode;
    td_grid_padding padding;
    bool align;       /* are -1 and 1 the centres of the outermost pixels? */
    int64_t sizes[3]; /* of the input's last dimensions */
    /* plane: numbers of a channel, below 2^31; places: of a sample */
    int64_t channels, plane, places;
    const char *in, *grid; /* of the first sample */
    char *out;             /* [sample][channel][place] */
    /* for the gradients: of `out`; then what is made, of `in` (zeros before) and of `grid` */
    const char *by_out;
    char *by_in, *by_grid;
} td_grid;

typedef struct td_grid_kernels {
    /* places begin <= place < end of one sample */
    void (*run[2])(const td_grid *s, int64_t sample, int64_t begin, int64_t end);
    void (*by_grid[2])(const td_grid *s, int64_t sample, int64_t begin, int64_t end);
    /* channels begin <= channel < end of one sample, at all places */
    void (*by_in[2])(const td_grid *s, int64_t sample, int64_t begin, int64_t end);
} td_grid_kernels;

extern const td_grid_kernels td_grid_kernels_generic;
#ifdef __x86_64__
extern const td_grid_kernels td_grid_kernels_avx2, td_grid_kernels_avx512;
#endif

/* All samples, shared out among threads (cpu/resample_grid_run.c). */
void td_grid_run(const td_grid *s, int64_t samples, bool wide);
void td_grid_run_backward(const td_grid *s, int64_t samples, bool wide);

/* What a device with kernels of its own is asked for (TD_WORK_GRID): values where there is `out`,
 * else the gradients that there are. */
typedef struct td_grid_job {
    const td_grid *grid;
    int64_t samples;
    bool wide;
} td_grid_job;
#endif
