/* steps_run.c - numbers in parts, each a thread's. The ends of parts are joined by comparisons, so
 * their number changes nothing. */
#include "cpu/quantization/steps_run.h"
#include <math.h>
#include "runtime/pool.h"

#define GRAIN (1 << 15) /* numbers of a thread, at least */
#define PARTS 64        /* of a range, at most */

td_steps td_steps_of(float scale, int64_t zero, bool with_sign)
{
    return (td_steps){1 / scale, (float)zero, with_sign ? -128 : 0};
}

typedef struct job {
    const td_steps *s;
    const float *x;
    int64_t n, k, row; /* numbers; of rows: their length, and bytes from one to the next */
    uint8_t *to;
    int64_t step; /* of a range: numbers of a part */
    float ends[PARTS][2];
} job;

static void quantize_part(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    TD_PICK(td_steps_kernels)->quantize(j->s, j->x + begin, end - begin, j->to + begin);
}

void td_steps_quantize(const td_steps *s, const float *x, int64_t n, uint8_t *to)
{
    job j = {.s = s, .x = x, .to = to};
    void *token = td_heavy_begin((double)n / 8);
    td_parallel(n, GRAIN, quantize_part, &j);
    td_heavy_end(token);
}

typedef struct back {
    const uint8_t *q;
    uint8_t flip;
    float scale, zero;
    float *to;
} back;

static void floats_part(void *context, int64_t begin, int64_t end)
{
    const back *b = context;
    TD_PICK(td_steps_kernels)
        ->floats(b->q + begin, b->flip, b->scale, b->zero, end - begin, b->to + begin);
}

void td_steps_floats(const uint8_t *q, float scale, int64_t zero, bool with_sign, int64_t n,
                     float *to)
{
    back b = {q, with_sign ? 0x80 : 0, scale, (float)(zero + (with_sign ? 128 : 0)), to};
    void *token = td_heavy_begin((double)n / 8);
    td_parallel(n, GRAIN, floats_part, &b);
    td_heavy_end(token);
}

static void quantize_rows(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    for (int64_t i = begin; i < end; i++)
        TD_PICK(td_steps_kernels)->quantize(j->s, j->x + i * j->k, j->k, j->to + i * j->row);
}

void td_steps_quantize_rows(const td_steps *s, const float *x, int64_t m, int64_t k, uint8_t *to,
                            int64_t row)
{
    job j = {.s = s, .x = x, .k = k, .row = row, .to = to};
    td_parallel(m, 1 + GRAIN / k, quantize_rows, &j);
}

static void range_parts(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i * j->step, n = j->n - from < j->step ? j->n - from : j->step;
        TD_PICK(td_steps_kernels)->range(j->x + from, n, j->ends[i]);
    }
}

bool td_steps_range(const float *x, int64_t n, float ends[2])
{
    job j = {.x = x, .n = n};
    int64_t parts = n / GRAIN < 1 ? 1 : n / GRAIN > PARTS ? PARTS : n / GRAIN;
    bool finite = true;
    j.step = (n + parts - 1) / parts;
    parts = (n + j.step - 1) / j.step;
    td_parallel(parts, 1, range_parts, &j);
    ends[0] = j.ends[0][0], ends[1] = j.ends[0][1];
    for (int64_t i = 0; i < parts; i++) {
        finite = finite && isfinite(j.ends[i][0]) && isfinite(j.ends[i][1]);
        if (isnan(j.ends[i][0]) || j.ends[i][0] < ends[0]) ends[0] = j.ends[i][0];
        if (j.ends[i][1] > ends[1]) ends[1] = j.ends[i][1];
    }
    return finite;
}
