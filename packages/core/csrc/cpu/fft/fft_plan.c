/* fft_plan.c - factors of a length and the numbers that its passes multiply by. All of them are
 * computed in double from an angle of at most an eighth of the circle, so each is right to its last
 * bit or two. */
#include "cpu/fft/fft_plan.h"
#include <math.h>
#include <string.h>
#include "cpu/fft/fft_run.h"
#include "runtime/alloc.h"

#define SHORT_LINE 8192
#define NEAR_POINTS 192 /* two copies of so many vectors fit the first cache */

/* ---- memory ---- */

static td_status take(td_fft_plan *p, void *out, int64_t count, int64_t each)
{
    int64_t bytes;
    void *block = NULL;
    if (!__builtin_mul_overflow(count, each, &bytes)) block = td_alloc_struct(bytes);
    if (!block)
        return td_fail(TD_MEMORY_ERROR,
                       "no memory for the plan of a Fourier transform of %lld points",
                       (long long)p->n);
    p->block_bytes[p->nblocks] = bytes;
    p->blocks[p->nblocks++] = block;
    p->bytes += bytes;
    memcpy(out, &block, sizeof block);
    return TD_OK;
}

void td_fft_plan_free(td_fft_plan *p)
{
    if (!p) return;
    td_fft_plan_free(p->wide);
    while (p->nblocks--) td_free_struct(p->blocks[p->nblocks], p->block_bytes[p->nblocks]);
    td_free_struct(p, sizeof *p);
}

/* ---- numbers ---- */

static void put(int type, void *to, int64_t at, double x)
{
    if (type) ((double *)to)[at] = x;
    else ((float *)to)[at] = (float)x;
}

/* exp(-2 pi i k / n), 0 <= k < n */
static void root(double *re, double *im, int64_t k, int64_t n)
{
    int64_t eighth = (int64_t)((__int128)8 * k / n),
            rest = (int64_t)((__int128)8 * k - (__int128)eighth * n);
    double angle = (double)(eighth % 2 ? n - rest : rest) / (double)n * (M_PI / 4), c = cos(angle),
           s = sin(angle);
    bool turned = (eighth + 1) / 2 % 2; /* nearer to the imaginary axis */
    double x = turned ? s : c, y = turned ? c : s;
    *re = eighth >= 2 && eighth < 6 ? -x : x;
    *im = eighth >= 4 ? y : -y;
}

static void put_root(int type, void *to, int64_t at, int64_t k, int64_t n)
{
    double re, im;
    root(&re, &im, k % n, n);
    put(type, to, 2 * at, re);
    put(type, to, 2 * at + 1, im);
}

/* a point of split memory */
static void put_lane(int type, void *to, int64_t point, int lane, int lanes, int64_t k, int64_t n)
{
    double re, im;
    root(&re, &im, k % n, n);
    put(type, to, (2 * point) * lanes + lane, re);
    put(type, to, (2 * point + 1) * lanes + lane, im);
}

/* ---- passes ---- */

/* Radices of n, those of two last, because the last pass multiplies by nothing; 0 if a prime factor
 * is too large. */
static int radices_of(int64_t n, int64_t *radix)
{
    int count = 0, twos = 0;
    for (int64_t p = 3; p <= TD_FFT_MAX_PRIME; p += 2)
        /* a p that is no prime finds its factors gone */
        for (; n % p == 0; n /= p) radix[count++] = p;
    for (; n % 2 == 0; n /= 2) twos++;
    for (int passes = (twos + 3) / 4; passes > 0; passes--) {
        int part = twos / passes;
        twos -= part;
        radix[count++] = (int64_t)1 << part;
    }
    if (n > 1) return 0;
    if (!count) radix[count++] = 1;
    return count;
}

static td_status stages_new(td_fft_plan *p, td_fft_stages **out, int64_t n, const int64_t *radix,
                            int count)
{
    td_fft_stages *s = NULL;
    char *numbers = NULL;
    int64_t total = 0, done = 1, each = 2 * td_fft_itemsize(p);
    for (int i = 0; i < count; i++) total += n / (done *= radix[i]) * (radix[i] - 1) + radix[i];
    TD_TRY(take(p, &s, 1, sizeof *s));
    TD_TRY(take(p, &numbers, total, each));
    *s = (td_fft_stages){n, count};
    done = 1;
    for (int i = 0; i < count; done *= radix[i++]) {
        int64_t r = radix[i], left = n / (done * r);
        s->pass[i] = (td_fft_pass){r, left, done, numbers, numbers + left * (r - 1) * each};
        for (int64_t k = 0; k < left; k++)
            for (int64_t j = 1; j < r; j++)
                put_root(p->type, numbers, k * (r - 1) + j - 1, k * j, left * r);
        numbers += left * (r - 1) * each;
        for (int64_t t = 0; t < r; t++) put_root(p->type, numbers, t, r - t, r); /* cos and +sin */
        numbers += r * each;
    }
    *out = s;
    return TD_OK;
}

static td_status stages_of(td_fft_plan *p, td_fft_stages **out, int64_t n)
{
    int64_t radix[TD_FFT_MAX_PASSES];
    return stages_new(p, out, n, radix, radices_of(n, radix));
}

/* ---- folding ---- */

/* Work of lines of n points, `lines` at a time in vectors: vectors times passes, odd radices by
 * their length. */
static double work_of(int64_t n, int64_t lines, int lanes)
{
    int64_t radix[TD_FFT_MAX_PASSES];
    double passes = 1;
    int count = radices_of(n, radix);
    for (int i = 0; i < count; i++)
        passes += radix[i] % 2 && radix[i] > 7 ? 1 + (double)radix[i] / 4 : 1;
    return passes * (double)n * (double)((lines + lanes - 1) / lanes);
}

/* The rectangle with the least work; 0 if n is prime. n has small prime factors only. */
static int64_t rows_of(int64_t n, int lanes, double *work_of_it)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t d = 2; d <= n / d; d++) {
        if (n % d) continue;
        for (int turn = 0; turn < 2; turn++) {
            int64_t n1 = turn ? n / d : d, n2 = n / n1;
            double work = work_of(n1, n2, lanes) + work_of(n2, n1, lanes);
            if (work < least) least = work, best = n1;
        }
    }
    *work_of_it = least;
    return best;
}

/* Bringing lines into lanes and back is work of two passes, turning a rectangle of one. What the
 * first cache does not hold takes half as long again. */
static bool better_side_by_side(int64_t n, int lanes, double folded)
{
    double aside = (work_of(n, lanes, lanes) + 2 * (double)n) / lanes;
    return (n > NEAR_POINTS ? 1.5 : 1) * aside < folded + (double)n / lanes;
}

/* Factors for all columns where they are few. Long lines multiply by two factors instead of reading
 * n numbers more. */
static td_status fold(td_fft_plan *p, int64_t n1)
{
    int lanes = td_fft_kernel_of(p)->lanes;
    int64_t n = p->n, n2 = n / n1, blocks = (n2 + lanes - 1) / lanes, each = 2 * td_fft_itemsize(p);
    int64_t fine = n <= SHORT_LINE ? blocks : 1;
    TD_TRY(stages_of(p, &p->columns, n1));
    TD_TRY(stages_of(p, &p->rows, n2));
    TD_TRY(take(p, &p->fine, fine * n1 * lanes, each));
    for (int64_t b = 0; b < fine; b++)
        for (int64_t k = 0; k < n1; k++)
            for (int lane = 0; lane < lanes; lane++)
                put_lane(p->type, p->fine, b * n1 + k, lane, lanes, k * (b * lanes + lane), n);
    if (fine == blocks) return TD_OK;
    TD_TRY(take(p, &p->coarse, n1 * blocks, each));
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t k = 0; k < n1; k++) put_root(p->type, p->coarse, b * n1 + k, k * b * lanes, n);
    return TD_OK;
}

/* ---- chirp ---- */

/* The cheapest length of at least `least` points: a power of two, or 3 or 5 times one. */
static int64_t wide_enough(int64_t least)
{
    int64_t best = 0;
    for (int64_t odd = 1; odd <= 5; odd += 2) {
        int64_t m = odd;
        while (m < least) m *= 2;
        if (!best || m < best) best = m;
    }
    return best;
}

/* j^2 modulo 2 n, by differences */
static void chirps(td_fft_plan *p)
{
    for (int64_t j = 0, square = 0; j < p->n; j++) {
        put_root(p->type, p->chirp, j, square, 2 * p->n);
        square = (int64_t)(((__int128)square + 2 * j + 1) % (2 * p->n));
    }
}

/* In double, whatever the type of the plan. */
static td_status chirp_spectrum(td_fft_plan *p, double *line)
{
    td_fft_plan *wide;
    int64_t m = p->wide->n;
    TD_TRY(td_fft_plan_new(&wide, m, 1));
    memset(line, 0, (size_t)m * 16);
    for (int64_t j = 0, square = 0; j < p->n; j++) {
        double *at = line + 2 * j, *back = line + 2 * (j ? m - j : 0);
        root(&at[0], &at[1], square, 2 * p->n);
        back[0] = at[0];
        back[1] = at[1] = -at[1];
        square = (int64_t)(((__int128)square + 2 * j + 1) % (2 * p->n));
    }
    td_fft_job job = {.kind = TD_FFT_C2C,
                      .plan = wide,
                      .in = line,
                      .out = line,
                      .count = 1,
                      .points = m,
                      .sign = 1,
                      .scale = 1 / (double)m};
    td_status status = td_fft_run(&job);
    for (int64_t k = 0; k < 2 * m; k++) put(p->type, p->spectrum, k, line[k]);
    td_fft_plan_free(wide);
    return status;
}

static td_status chirp(td_fft_plan *p)
{
    double *line;
    int64_t m, each = 2 * td_fft_itemsize(p);
    if (p->n > INT64_MAX / 64)
        return td_fail(TD_MEMORY_ERROR, "no memory for a Fourier transform of %lld points",
                       (long long)p->n);
    m = wide_enough(2 * p->n - 1);
    TD_TRY(td_fft_plan_new(&p->wide, m, p->type));
    p->bytes += p->wide->bytes;
    TD_TRY(take(p, &p->chirp, p->n, each));
    TD_TRY(take(p, &p->spectrum, m, each));
    chirps(p);
    if (!(line = td_alloc(m * 16)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space",
                       (long long)m * 16);
    td_status status = chirp_spectrum(p, line);
    td_free(line, m * 16);
    return status;
}

/* ---- plans ---- */

static td_status halves(td_fft_plan *p)
{
    int lanes = td_fft_kernel_of(p)->lanes;
    int64_t blocks = p->n / 2 / lanes + 1, each = 2 * td_fft_itemsize(p);
    TD_TRY(take(p, &p->half_fine, lanes, each));
    TD_TRY(take(p, &p->half_coarse, blocks, each));
    for (int lane = 0; lane < lanes; lane++)
        put_lane(p->type, p->half_fine, 0, lane, lanes, 1 + lane, 2 * p->n);
    for (int64_t b = 0; b < blocks; b++) put_root(p->type, p->half_coarse, b, b * lanes, 2 * p->n);
    return TD_OK;
}

static td_status build(td_fft_plan *p)
{
    int64_t radix[TD_FFT_MAX_PASSES], n1;
    double folded;
    int count = radices_of(p->n, radix), lanes = td_fft_kernel_of(p)->lanes;
    TD_TRY(halves(p));
    if (!count) return chirp(p);
    n1 = rows_of(p->n, lanes, &folded);
    p->side_by_side = better_side_by_side(p->n, lanes, folded);
    if (p->n <= TD_FFT_LONGEST_LANES || !n1) TD_TRY(stages_new(p, &p->whole, p->n, radix, count));
    return n1 ? fold(p, n1) : TD_OK;
}

td_status td_fft_plan_new(td_fft_plan **out, int64_t n, int type)
{
    td_fft_plan *p = td_alloc_struct(sizeof *p);
    if (!p) return td_fail(TD_MEMORY_ERROR, "no memory for the plan of a Fourier transform");
    *p = (td_fft_plan){.n = n, .type = type, .refs = 1, .bytes = sizeof *p};
    td_status status = build(p);
    if (status == TD_OK) *out = p;
    else td_fft_plan_free(p);
    return status;
}
