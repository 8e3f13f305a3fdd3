/* resample_grid_run.c - how threads share the places of all samples. */
#include "cpu/resample_grid.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define PART 1024        /* places of one piece of work */
#define PLACE_NS 4.0     /* for the taps of a place */
#define VALUE_NS 0.6     /* for a number that is read */
#define GRAIN_NS 10000.0 /* worth a thread */

typedef struct job {
    const td_grid *s;
    int64_t parts; /* of a sample */
    bool wide;
} job;

static void run_parts(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i % j->parts * PART, to = from + PART;
        TD_PICK(td_grid_kernels)
            ->run[j->wide](j->s, i / j->parts, from, to < j->s->places ? to : j->s->places);
    }
}

void td_grid_run(const td_grid *s, int64_t samples, bool wide)
{
    int64_t parts = (s->places + PART - 1) / PART;
    job j = {s, parts, wide};
    int taps = s->mode == TD_SAMPLE_NEAREST ? 1 : s->mode == TD_SAMPLE_LINEAR ? 1 << s->dims : 16;
    double place = PLACE_NS + VALUE_NS * taps * (double)s->channels;
    double each = place * (double)(s->places < PART ? s->places : PART);
    void *token = td_heavy_begin(place * (double)(samples * s->places));
    td_parallel(samples * parts, (int64_t)(GRAIN_NS / (each + 1)) + 1, run_parts, &j);
    td_heavy_end(token);
}
