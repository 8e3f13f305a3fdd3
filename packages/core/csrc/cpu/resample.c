/* resample.c - weighted sums of neighbours along the last two dimensions of planes. See resample.h.
 *
 * For each output row: the input rows it needs are added up into a line (in the first cache), then
 * the line's columns. */
#include "cpu/resample.h"
#include <stdbool.h>
#include <string.h>

#define KERNELS(suffix, type)                                                                     \
    static void add_line_##suffix(char *to, const char *from, double weight, int64_t n)           \
    {                                                                                             \
        type *restrict out = (type *)to, w = (type)weight;                                        \
        const type *restrict in = (const type *)from;                                             \
        for (int64_t k = 0; k < n; k++) out[k] += w * in[k];                                      \
    }                                                                                             \
                                                                                                  \
    /* the line of output row `row`; a single tap of weight 1 is the input's own row */           \
    static const type *gather_rows_##suffix(const td_taps *rows, const type *plane, int64_t row,  \
                                            int64_t width, type *line)                            \
    {                                                                                             \
        const type *weight = rows->weight;                                                        \
        if (rows->count == 1 && weight[row] == 1) return plane + rows->place[row] * width;        \
        memset(line, 0, (size_t)width * sizeof *line);                                            \
        for (int64_t t = 0; t < rows->count; t++)                                                 \
            add_line_##suffix((char *)line,                                                       \
                              (const char *)(plane + rows->place[t * rows->out + row] * width),   \
                              (double)weight[t * rows->out + row], width);                        \
        return line;                                                                              \
    }                                                                                             \
                                                                                                  \
    static void columns_##suffix(const td_taps *c, const type *restrict line, type *restrict out) \
    {                                                                                             \
        const type *restrict w = c->weight;                                                       \
        const int32_t *restrict at = c->place;                                                    \
        int64_t n = c->out;                                                                       \
        if (c->count == 2) {                                                                      \
            for (int64_t i = 0; i < n; i++)                                                       \
                out[i] = w[i] * line[at[i]] + w[n + i] * line[at[n + i]];                         \
            return;                                                                               \
        }                                                                                         \
        for (int64_t i = 0; i < n; i++) out[i] = w[i] * line[at[i]];                              \
        for (int64_t t = 1; t < c->count; t++)                                                    \
            for (int64_t i = 0; i < n; i++) out[i] += w[t * n + i] * line[at[t * n + i]];         \
    }                                                                                             \
                                                                                                  \
    static void planes_##suffix(const td_planes *p, int64_t begin, int64_t end)                   \
    {                                                                                             \
        const td_taps *r = &p->rows, *c = &p->columns;                                            \
        for (int64_t plane = begin; plane < end; plane++)                                         \
            for (int64_t row = 0; row < r->out; row++)                                            \
                columns_##suffix(                                                                 \
                    c,                                                                            \
                    gather_rows_##suffix(r, (const type *)p->from + plane * r->in * c->in, row,   \
                                         c->in, (type *)p->line),                                 \
                    (type *)p->to + (plane * r->out + row) * c->out);                             \
    }                                                                                             \
                                                                                                  \
    static void adjoint_##suffix(const td_planes *p, int64_t begin, int64_t end)                  \
    {                                                                                             \
        const td_taps *r = &p->rows, *c = &p->columns;                                            \
        const type *column_weight = c->weight, *row_weight = r->weight;                           \
        type *line = (type *)p->line;                                                             \
        for (int64_t plane = begin; plane < end; plane++) {                                       \
            type *to = (type *)p->to + plane * r->in * c->in;                                     \
            memset(to, 0, (size_t)(r->in * c->in) * sizeof *to);                                  \
            for (int64_t row = 0; row < r->out; row++) {                                          \
                const type *g = (const type *)p->from + (plane * r->out + row) * c->out;          \
                memset(line, 0, (size_t)c->in * sizeof *line);                                    \
                for (int64_t t = 0; t < c->count; t++)                                            \
                    for (int64_t i = 0; i < c->out; i++)                                          \
                        line[c->place[t * c->out + i]] += column_weight[t * c->out + i] * g[i];   \
                for (int64_t t = 0; t < r->count; t++)                                            \
                    add_line_##suffix((char *)(to + r->place[t * r->out + row] * c->in),          \
                                      (const char *)line, (double)row_weight[t * r->out + row],   \
                                      c->in);                                                     \
            }                                                                                     \
        }                                                                                         \
    }
KERNELS(f32, float)
KERNELS(f64, double)

const td_resample_kernels TD_SYM(td_resample_kernels) = {
    .planes = {planes_f32, planes_f64},
    .adjoint = {adjoint_f32, adjoint_f64},
    .add_line = {add_line_f32, add_line_f64},
};
