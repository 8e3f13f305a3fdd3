/* gemm_vec_any.h - the operations of gemm_vec.h on any machine, by the compiler's vectors: 8 floats
 * or 4 doubles (two registers each on SSE2 and NEON). */
#pragma GCC diagnostic ignored "-Wpsabi" /* 32-byte vectors never cross a real call */

#define VF_LANES 8
#define VD_LANES 4
typedef float vf __attribute__((vector_size(32)));
typedef double vd __attribute__((vector_size(32)));
typedef int32_t vi __attribute__((vector_size(32)));

/* Fused where the processor has an instruction for it: in software it would take a hundred times as
 * long. Halves: a register has 16 bytes there, and of a loop over the lanes the compiler makes
 * scalar code. */
#if defined __aarch64__
#include <arm_neon.h>
#define TD_LOW_F(a) ((float32x4_t)__builtin_shufflevector(a, a, 0, 1, 2, 3))
#define TD_HIGH_F(a) ((float32x4_t)__builtin_shufflevector(a, a, 4, 5, 6, 7))
#define TD_LOW_D(a) ((float64x2_t)__builtin_shufflevector(a, a, 0, 1))
#define TD_HIGH_D(a) ((float64x2_t)__builtin_shufflevector(a, a, 2, 3))
TD_INLINE vf vf_fma(vf a, vf b, vf c)
{
    float32x4_t low = vfmaq_f32(TD_LOW_F(c), TD_LOW_F(a), TD_LOW_F(b)),
                high = vfmaq_f32(TD_HIGH_F(c), TD_HIGH_F(a), TD_HIGH_F(b));
    return (vf)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
TD_INLINE vd vd_fma(vd a, vd b, vd c)
{
    float64x2_t low = vfmaq_f64(TD_LOW_D(c), TD_LOW_D(a), TD_LOW_D(b)),
                high = vfmaq_f64(TD_HIGH_D(c), TD_HIGH_D(a), TD_HIGH_D(b));
    return (vd)__builtin_shufflevector(low, high, 0, 1, 2, 3);
}
#elif defined FP_FAST_FMAF
TD_INLINE vf vf_fma(vf a, vf b, vf c)
{
    for (int i = 0; i < VF_LANES; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
TD_INLINE vd vd_fma(vd a, vd b, vd c)
{
    for (int i = 0; i < VD_LANES; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#else
TD_INLINE vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
TD_INLINE vd vd_fma(vd a, vd b, vd c) { return a * b + c; }
#endif

#define TD_ANY_VECTOR(v, real, lanes)                                    \
    TD_INLINE v v##_zero(void) { return (v){0}; }                        \
    TD_INLINE v v##_set1(real x) { return (v){0} + x; }                  \
    TD_INLINE v v##_load(const real *p)                                  \
    {                                                                    \
        v r;                                                             \
        memcpy(&r, p, sizeof r);                                         \
        return r;                                                        \
    }                                                                    \
    TD_INLINE void v##_store(real *p, v a) { memcpy(p, &a, sizeof a); }  \
    TD_INLINE v v##_load_part(uint32_t bits, const real *p)              \
    {                                                                    \
        v r = {0};                                                       \
        for (int i = 0; i < lanes; i++)                                  \
            if (bits >> i & 1) r[i] = p[i];                              \
        return r;                                                        \
    }                                                                    \
    TD_INLINE v v##_or(v a, v b) { return (v)((vi)a | (vi)b); }          \
    TD_INLINE v v##_load_onto(v rest, uint32_t bits, const real *p)      \
    {                                                                    \
        return v##_or(rest, v##_load_part(bits, p));                     \
    }                                                                    \
    TD_INLINE void v##_store_part(real *p, uint32_t bits, v a)           \
    {                                                                    \
        for (int i = 0; i < lanes; i++)                                  \
            if (bits >> i & 1) p[i] = a[i];                              \
    }                                                                    \
    TD_INLINE v v##_add(v a, v b) { return a + b; }                      \
    TD_INLINE v v##_mul(v a, v b) { return a * b; }                      \
    TD_INLINE real v##_sum(v a)                                          \
    {                                                                    \
        real s = 0;                                                      \
        for (int i = 0; i < lanes; i++) s += a[i];                       \
        return s;                                                        \
    }                                                                    \
    TD_INLINE v v##_even(v a, v b)                                       \
    {                                                                    \
        v r;                                                             \
        for (int i = 0; i < lanes / 2; i++) {                            \
            r[i] = a[2 * i];                                             \
            r[i + lanes / 2] = b[2 * i];                                 \
        }                                                                \
        return r;                                                        \
    }                                                                    \
    TD_INLINE v v##_gather(uint32_t bits, const real *p, int64_t stride) \
    {                                                                    \
        v r = {0};                                                       \
        for (int i = 0; i < lanes; i++)                                  \
            if (bits >> i & 1) r[i] = p[i * stride];                     \
        return r;                                                        \
    }                                                                    \
    TD_INLINE void v##_transpose(v *r)                                   \
    {                                                                    \
        for (int i = 0; i < lanes; i++)                                  \
            for (int j = i + 1; j < lanes; j++) {                        \
                real t = r[i][j];                                        \
                r[i][j] = r[j][i];                                       \
                r[j][i] = t;                                             \
            }                                                            \
    }
TD_ANY_VECTOR(vf, float, VF_LANES)
TD_ANY_VECTOR(vd, double, VD_LANES)

TD_INLINE vf vf_fnma(vf a, vf b, vf c) { return vf_fma(-a, b, c); }
TD_INLINE vf vf_sub(vf a, vf b) { return a - b; }
TD_INLINE vf vf_max(vf a, vf b)
{
    vi take_a = a > b;
    return (vf)(((vi)a & take_a) | ((vi)b & ~take_a));
}
/* a, but minus infinity where the mask is: a score that is hidden counts for nothing, NaN or not */
TD_INLINE vf vf_hidden(vf mask, vf a)
{
    vf hide = vf_set1(-INFINITY);
    vi hidden = mask == hide;
    return (vf)(((vi)hide & hidden) | ((vi)a & ~hidden));
}
/* The larger of a, a magnitude, and |b|, as their bits are ordered: a NaN is above infinity. */
TD_INLINE vf vf_wider(vf a, vf b)
{
    vi magnitude = (vi)b & 0x7fffffff, take_a = (vi)a > magnitude;
    return (vf)(((vi)a & take_a) | (magnitude & ~take_a));
}
/* the smaller of |a| and |b|, by the same order */
TD_INLINE vf vf_narrower(vf a, vf b)
{
    vi x = (vi)a & 0x7fffffff, y = (vi)b & 0x7fffffff, take_x = x < y;
    return (vf)((x & take_x) | (y & ~take_x));
}
TD_INLINE vf vf_select(uint32_t bits, vf a, vf b)
{
    vf r;
    for (int i = 0; i < VF_LANES; i++) r[i] = bits >> i & 1 ? a[i] : b[i];
    return r;
}
TD_INLINE float vf_top(vf a)
{
    float top = a[0];
    for (int i = 1; i < VF_LANES; i++) top = top > a[i] ? top : a[i];
    return top;
}
TD_INLINE vf vf_round(vf a)
{
    vf magic = vf_set1(12582912.f); /* 1.5 * 2^23: the sum has no room for a fraction */
    return (a + magic) - magic;
}
TD_INLINE vf vf_scale(vf a, vf n) /* n from -127 to 0; -127 gives 0 */
{
    return a * (vf)((__builtin_convertvector(n, vi) + 127) << 23);
}
