/* loss_alignment_run.c - steps one after the other, sequences shared out among threads. */
#include "cpu/loss_alignment_run.h"
#include <math.h>
#include <string.h>
#include "cpu/loss_alignment.h"
#include "runtime/cpu.h"
#include "runtime/scratch.h"

#define STATE_NS 2.0
#define PAD TD_ALIGNMENT_PAD

typedef struct job {
    const td_alignments *a;
    td_alignment_step step;
    int64_t batch, states, item;
    char *out;
    td_scratch scratch; /* two rows with room on either side, and what a skip costs */
} job;

static void fill(void *to, int64_t n, double value, int64_t item)
{
    for (int64_t i = 0; i < n; i++)
        if (item == 8) ((double *)to)[i] = value;
        else ((float *)to)[i] = (float)value;
}

/* Counts that are used for addresses. */
static td_status check_counts(const char *what, const td_tensor *counts, int64_t most)
{
    const int64_t *count = td_data(counts);
    for (int64_t n = 0; n < counts->numel; n++)
        if (count[n] < 0 || count[n] > most)
            return td_fail(TD_RUNTIME_ERROR, "_alignments: %s are 0 to %lld, got %lld", what,
                           (long long)most, (long long)count[n]);
    return TD_OK;
}

/* Another thread may write to counts after they were looked at. */
static int64_t count_of(const td_tensor *counts, int64_t n, int64_t most)
{
    int64_t count = ((const int64_t *)td_data(counts))[n];
    return count < 0 ? 0 : count > most ? most : count;
}

/* Where an alignment may begin: the first two states, or the last two of those that are real. */
static void begin_at(char *row, const job *j, int64_t real)
{
    int64_t first = j->a->back && real > 2 ? real - 2 : 0, count = real < 2 ? real : 2;
    fill(row + first * j->item, count, 0, j->item);
}

static void add_emitted(char *row, const char *emitted, int64_t n, int64_t item)
{
    for (int64_t i = 0; i < n; i++)
        if (item == 8) ((double *)row)[i] += ((const double *)emitted)[i];
        else ((float *)row)[i] += ((const float *)emitted)[i];
}

static void run_sequence(const job *j, int64_t n, char *room)
{
    const td_alignments *a = j->a;
    int64_t item = j->item, row = (j->states + 2 * PAD) * item,
            real = count_of(a->states, n, j->states),
            steps = count_of(a->steps, n, a->emitted->sizes[0]);
    char *now = room + PAD * item, *next = now + row, *skip = next + row;
    const uint8_t *skips = (const uint8_t *)td_data(a->skips) + n * j->states;
    fill(room, 2 * (j->states + 2 * PAD), -INFINITY, item);
    for (int64_t s = 0; s < j->states; s++)
        fill(skip + s * item, 1, skips[s] ? 0 : -INFINITY, item);
    for (int64_t k = 0; k < steps; k++) {
        int64_t at = ((a->back ? steps - 1 - k : k) * j->batch + n) * j->states * item;
        const char *emitted = (const char *)td_data(a->emitted) + at;
        if (k == 0) {
            begin_at(next, j, real);
            add_emitted(next, emitted, real, item);
        } else {
            j->step(next, now, skip, emitted, real, a->back ? 1 : -1);
        }
        memcpy(j->out + at, next, (size_t)(real * item));
        char *last = now;
        now = next;
        next = last;
    }
}

static void run_sequences(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    char *room = td_scratch_take(&j->scratch);
    for (int64_t n = begin; n < end; n++) run_sequence(j, n, room);
    td_scratch_give(&j->scratch, room);
}

td_status td_alignments_check(const td_tensor *states, const td_tensor *steps, const td_tensor *out)
{
    TD_TRY(check_counts("states", states, out->sizes[2]));
    return check_counts("steps", steps, out->sizes[0]);
}

td_status td_alignments_run(const td_alignments *a, td_tensor *out)
{
    bool is_double = a->emitted->dtype == TD_F64;
    job j = {.a = a,
             .step = TD_PICK(td_alignment_kernels)->step[is_double],
             .batch = out->sizes[1],
             .states = out->sizes[2],
             .item = td_itemsize((td_dtype)out->dtype),
             .out = td_data(out)};
    TD_TRY(td_alignments_check(a->states, a->steps, out));
    fill(j.out, out->numel, -INFINITY, j.item);
    TD_TRY(td_scratch_begin(&j.scratch, 3 * (j.states + 2 * PAD) * j.item));
    void *token = td_heavy_begin((double)out->numel * STATE_NS);
    td_parallel(j.batch, 1, run_sequences, &j);
    td_heavy_end(token);
    td_scratch_end(&j.scratch);
    return TD_OK;
}
