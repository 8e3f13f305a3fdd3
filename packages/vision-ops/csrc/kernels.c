/* kernels.c - operators on boxes and regions of pictures, for float and double. Contract of all:
 * arrays are contiguous, shapes were checked, results are filled by the caller with zeros where a
 * kernel adds. Kernels allocate nothing and cannot fail.
 *
 * A region is a row (picture, x1, y1, x2, y2) of rois; each is cut into rows x columns bins. */
#include <math.h>
#include <stdint.h>

typedef struct Bins {
    int64_t regions, channels, height, width; /* of the pictures; channels of the result */
    int64_t rows, columns;                    /* bins of a region */
    int64_t of_picture;                       /* channels of a picture */
    double scale;                             /* from the units of regions to places of a picture */
    int64_t samples;                          /* along a side of a bin; 0: as many as places */
    int64_t aligned; /* places lie at the middle of their squares; sides may be any size */
} Bins;

typedef struct Window {
    int64_t height, width, rows, columns; /* of the picture, of the kernel */
    int64_t out_height, out_width;
    int64_t stride[2], padding[2], dilation[2]; /* down, right */
    int64_t channels, offset_groups, masked;
} Window;

static int64_t limit(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

#define T float
#define NAME(stem) taeda_vision_##stem##_f32
#include "kernels.h"
#undef T
#undef NAME
#define T double
#define NAME(stem) taeda_vision_##stem##_f64
#include "kernels.h"
