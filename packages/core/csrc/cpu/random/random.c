/* random.c - samplers of numbers: uniform, normal, exponential, integers.
 * Plain C without fused multiply-add, for equal bits on every instruction set. The polynomials are
 * minimax fits: sine and cosine of an eighth of a turn, and the logarithm of [1/sqrt 2, sqrt 2]. */
#include "cpu/random/random.h"
#include <math.h>
#include "runtime/loops.h"
#include "cpu/simd/half.h"
#include "cpu/random/words.h"

#define EACH(i, n) for (int i = 0; i < (n); i++)

/* ---- uniform ---- */
static inline void uniform_f32(float *restrict out, const uint32_t *restrict w, int64_t first,
                               const td_uniform_params *p)
{
    float from = (float)p->from, step = (float)ldexp(p->width, -p->bits), last = (float)p->last;
    int shift = 32 - p->bits;
    EACH(i, TD_GROUP_WORDS)
    {
        float x = from + step * (float)(int32_t)(w[i] >> shift);
        out[i] = x > last ? last : x;
    }
}

/* 52 bits of a number as the mantissa of a double in [1, 2) */
static inline double from_bits(uint64_t bits)
{
    union {
        uint64_t u;
        double d;
    } v = {.u = bits >> 12 | 0x3ff0000000000000u};
    return v.d - 1;
}

static inline void uniform_f64(double *restrict out, const uint32_t *restrict w, int64_t first,
                               const td_uniform_params *p)
{
    double from = p->from, width = p->width, last = p->last;
    EACH(i, TD_GROUP_NUMBERS)
    {
        double x = from + width * from_bits(group_number(w, i));
        out[i] = x > last ? last : x;
    }
}

static inline void open_f64(double *restrict out, const uint32_t *restrict w, int64_t first,
                            const void *unused)
{
    EACH(i, TD_GROUP_NUMBERS) out[i] = from_bits(group_number(w, i)) + 0x1p-53;
}

/* ---- logarithm, sine and cosine of random words ---- */

/* In (0, 1]: small values keep 24 significant bits, which the tails of what is made of them need.
 */
static inline float open_f32(uint32_t word)
{
    return ((float)(int32_t)(word >> 1) + 0.5f) * 0x1p-31f;
}

/* of a normal number */
static inline float log_f32(float x)
{
    /* bits of 1/sqrt 2: the exponent field now counts from there */
    uint32_t shifted = td_bits_f32(x) - 0x3f3504f3u;
    float k = (float)((int32_t)shifted >> 23);
    float f = td_f32_bits((shifted & 0x7fffffu) + 0x3f3504f3u) - 1;
    float q = 0.0892737338f;
    q = q * f - 0.143447587f;
    q = q * f + 0.148710782f;
    q = q * f - 0.165662269f;
    q = q * f + 0.199660713f;
    q = q * f - 0.250017320f;
    q = q * f + 0.333338379f;
    return k * 0.693147181f + (f - f * f * (0.5f - f * q));
}

/* Radius and angle: the word is the angle in 2^-32 turns; what is left beyond whole quarters lies
 * within an eighth. */
static inline void circle_f32(uint32_t word, float radius, float *x, float *y)
{
    uint32_t quarter = (word + 0x20000000u) >> 30;
    float r = (float)(int32_t)(word - (quarter << 30)) * 0x1p-32f, z = r * r;
    float sine = r * (((-75.4020678f * z + 81.5925535f) * z - 41.3416626f) * z + 6.28318529f);
    float cosine = (((59.2204073f * z - 85.4428521f) * z + 64.9393162f) * z - 19.7392087f) * z + 1;
    float a = quarter & 1 ? sine : cosine, b = quarter & 1 ? cosine : sine;
    *x = radius * ((quarter + 1) & 2 ? -a : a);
    *y = radius * (quarter & 2 ? -b : b);
}

/* ---- normal: Box and Muller's pairs ---- */
static inline void normal_f32(float *restrict out, const uint32_t *restrict w, int64_t first,
                              const td_normal_params *p)
{
    float mean = (float)p->mean, std = (float)p->std;
    for (int half = 0; half < 2; half++, w += 32, out += 32) EACH(i, 16)
        {
            float x, y;
            circle_f32(w[16 + i], sqrtf(-2 * log_f32(open_f32(w[i]))), &x, &y);
            out[i] = x * std + mean;
            out[16 + i] = y * std + mean;
        }
}

static inline void normal_f64(double *restrict out, const uint32_t *restrict w, int64_t first,
                              const td_normal_params *p)
{
    EACH(i, 16)
    {
        double u = from_bits(group_number(w, i)) + 0x1p-53,
               angle = 6.283185307179586 * from_bits(group_number(w, 16 + i));
        double radius = sqrt(-2 * log(u));
        out[i] = radius * cos(angle) * p->std + p->mean;
        out[16 + i] = radius * sin(angle) * p->std + p->mean;
    }
}

/* ---- exponential ---- */
static inline void exponential_f32(float *restrict out, const uint32_t *restrict w, int64_t first,
                                   const double *scale)
{
    float s = (float)*scale;
    EACH(i, TD_GROUP_WORDS)
    {
        float u = open_f32(w[i]);
        u = u > 0x1.fffffep-1f ? 0x1.fffffep-1f : u; /* below 1: no sample is 0 */
        out[i] = -log_f32(u) * s;
    }
}

/* ---- integers: the top of word * range, so that no division is needed ---- */
static inline void integers(int64_t *restrict out, const uint32_t *restrict w, int64_t first,
                            const td_integer_params *p)
{
    uint64_t from = (uint64_t)p->from, range = p->range;
    EACH(i, TD_GROUP_WORDS) out[i] = (int64_t)(from + ((uint64_t)w[i] * range >> 32));
}

static inline void wide_integers(int64_t *restrict out, const uint32_t *restrict w, int64_t first,
                                 const td_integer_params *p)
{
    EACH(i, TD_GROUP_NUMBERS)
    {
        uint64_t x = group_number(w, i);
        if (p->range) x = (uint64_t)((unsigned __int128)x * p->range >> 64);
        out[i] = (int64_t)((uint64_t)p->from + x);
    }
}

SAMPLER(sample_uniform_f32, float, TD_GROUP_WORDS, td_uniform_params, uniform_f32)
SAMPLER(sample_uniform_f64, double, TD_GROUP_NUMBERS, td_uniform_params, uniform_f64)
SAMPLER(sample_open_f64, double, TD_GROUP_NUMBERS, void, open_f64)
SAMPLER(sample_normal_f32, float, TD_GROUP_WORDS, td_normal_params, normal_f32)
SAMPLER(sample_normal_f64, double, TD_GROUP_NUMBERS, td_normal_params, normal_f64)
SAMPLER(sample_exponential_f32, float, TD_GROUP_WORDS, double, exponential_f32)
SAMPLER(sample_integers, int64_t, TD_GROUP_WORDS, td_integer_params, integers)
SAMPLER(sample_wide_integers, int64_t, TD_GROUP_NUMBERS, td_integer_params, wide_integers)

const td_random_kernels TD_SYM(td_random_kernels) = {
    .uniform_f32 = sample_uniform_f32,
    .uniform_f64 = sample_uniform_f64,
    .open_f64 = sample_open_f64,
    .normal_f32 = sample_normal_f32,
    .normal_f64 = sample_normal_f64,
    .exponential_f32 = sample_exponential_f32,
    .integers = sample_integers,
    .wide_integers = sample_wide_integers,
};
