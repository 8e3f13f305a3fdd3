/* int8_windows.h - where the windows of a convolution of integers lie. */
#ifndef TD_INT8_WINDOWS_H
#define TD_INT8_WINDOWS_H
#include <stdbool.h>
#include <stdint.h>

/* channels last, three places each: what a window has not is 1, or 0 of padding */
typedef struct td_int8_windows {
    int64_t samples, channels;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} td_int8_windows;

/* The first tap of a window, its padding taken off: any of these may lie outside. */
typedef struct td_int8_corner {
    int64_t sample, z, y, x;
} td_int8_corner;

static inline td_int8_corner td_int8_corner_of(const td_int8_windows *g, int64_t window)
{
    int64_t line = window / g->out[2], plane = line / g->out[1], sample = plane / g->out[0];
    return (td_int8_corner){sample, plane % g->out[0] * g->stride[0] - g->padding[0],
                            line % g->out[1] * g->stride[1] - g->padding[1],
                            window % g->out[2] * g->stride[2] - g->padding[2]};
}

/* The bytes before the line that holds the taps (a, b, ...) of a window, or -1: it lies outside. */
static inline int64_t td_int8_line(const td_int8_windows *g, const td_int8_corner *corner,
                                   int64_t a, int64_t b)
{
    int64_t z = corner->z + a * g->dilation[0], y = corner->y + b * g->dilation[1];
    if (z < 0 || z >= g->in[0] || y < 0 || y >= g->in[1]) return -1;
    return ((corner->sample * g->in[0] + z) * g->in[1] + y) * g->in[2] * g->channels;
}
#endif
