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

/* Which window: those of a line follow each other, and divisions tell only the first of some. */
typedef struct td_int8_window {
    int64_t sample, z, y, x;
} td_int8_window;

static inline td_int8_window td_int8_window_of(const td_int8_windows *g, int64_t window)
{
    int64_t line = window / g->out[2], plane = line / g->out[1];
    return (td_int8_window){plane / g->out[0], plane % g->out[0], line % g->out[1],
                            window % g->out[2]};
}

static inline void td_int8_next(const td_int8_windows *g, td_int8_window *w)
{
    if (++w->x < g->out[2]) return;
    w->x = 0;
    if (++w->y < g->out[1]) return;
    w->y = 0;
    if (++w->z < g->out[0]) return;
    w->z = 0;
    w->sample++;
}

static inline td_int8_corner td_int8_corner_of(const td_int8_windows *g, const td_int8_window *w)
{
    return (td_int8_corner){w->sample, w->z * g->stride[0] - g->padding[0],
                            w->y * g->stride[1] - g->padding[1],
                            w->x * g->stride[2] - g->padding[2]};
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
