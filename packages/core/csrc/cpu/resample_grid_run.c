/* resample_grid_run.c - how threads share the places of all samples. */
#include "cpu/resample_grid.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define PART 1024        /* places of one piece of work */
#define CHANNELS 16      /* of one piece, where all places of a channel go to one thread */
#define PLACE_NS 4.0     /* for the taps of a place */
#define VALUE_NS 0.6     /* for a number that is read */
#define GRAIN_NS 10000.0 /* worth a thread */

typedef struct job {
    const td_grid *s;
    int64_t parts; /* of a sample */
    void (*run)(const td_grid *s, int64_t sample, int64_t begin, int64_t end);
    int64_t part, count; /* numbers of a piece and of a sample: places, or channels */
} job;

static void run_parts(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i % j->parts * j->part, to = from + j->part;
        j->run(j->s, i / j->parts, from, to < j->count ? to : j->count);
    }
}

static double ns_of_place(const td_grid *s, int64_t channels)
{
    int taps = s->mode == TD_SAMPLE_NEAREST ? 1 : s->mode == TD_SAMPLE_LINEAR ? 1 << s->dims : 16;
    return PLACE_NS + VALUE_NS * taps * (double)channels;
}

static void share_out(job j, int64_t samples, double ns_of_piece)
{
    j.parts = (j.count + j.part - 1) / j.part;
    void *token = td_heavy_begin(ns_of_piece * (double)(samples * j.parts));
    td_parallel(samples * j.parts, (int64_t)(GRAIN_NS / (ns_of_piece + 1)) + 1, run_parts, &j);
    td_heavy_end(token);
}

static void share_places(job j, int64_t samples)
{
    j.part = PART;
    j.count = j.s->places;
    double places = (double)(j.count < PART ? j.count : PART);
    share_out(j, samples, ns_of_place(j.s, j.s->channels) * places);
}

void td_grid_run(const td_grid *s, int64_t samples, bool wide)
{
    share_places((job){.s = s, .run = TD_PICK(td_grid_kernels)->run[wide]}, samples);
}

void td_grid_run_backward(const td_grid *s, int64_t samples, bool wide)
{
    if (s->by_grid)
        share_places((job){.s = s, .run = TD_PICK(td_grid_kernels)->by_grid[wide]}, samples);
    if (!s->by_in) return;
    job j = {.s = s,
             .run = TD_PICK(td_grid_kernels)->by_in[wide],
             .part = CHANNELS,
             .count = s->channels};
    int64_t channels = s->channels < CHANNELS ? s->channels : CHANNELS;
    share_out(j, samples, ns_of_place(s, channels) * (double)s->places);
}
