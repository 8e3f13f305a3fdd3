/* gemm_vec_any.h - the operations of gemm_vec.h on any machine, by the compiler's vectors: 8 floats or 4 doubles
 * (two registers each on SSE2 and NEON). */
#pragma GCC diagnostic ignored "-Wpsabi" /* 32-byte vectors never cross a real call */

#define VF_LANES 8
#define VD_LANES 4
typedef float vf __attribute__((vector_size(32)));
typedef double vd __attribute__((vector_size(32)));
typedef int32_t vi __attribute__((vector_size(32)));

#define TD_ANY_VECTOR(v, real, lanes)                                                                       \
    TD_INLINE v v##_zero(void) { return (v){0}; }                                                           \
    TD_INLINE v v##_set1(real x) { return (v){0} + x; }                                                     \
    TD_INLINE v v##_load(const real *p)                                                                     \
    {                                                                                                       \
        v r;                                                                                                \
        memcpy(&r, p, sizeof r);                                                                            \
        return r;                                                                                           \
    }                                                                                                       \
    TD_INLINE void v##_store(real *p, v a) { memcpy(p, &a, sizeof a); }                                     \
    TD_INLINE v v##_load_part(uint32_t bits, const real *p)                                                 \
    {                                                                                                       \
        v r = {0};                                                                                          \
        for (int i = 0; i < lanes; i++)                                                                     \
            if (bits >> i & 1) r[i] = p[i];                                                                 \
        return r;                                                                                           \
    }                                                                                                       \
    TD_INLINE v v##_or(v a, v b) { return (v)((vi)a | (vi)b); }                                             \
    TD_INLINE v v##_load_onto(v rest, uint32_t bits, const real *p) { return v##_or(rest, v##_load_part(bits, p)); } \
    TD_INLINE void v##_store_part(real *p, uint32_t bits, v a)                                              \
    {                                                                                                       \
        for (int i = 0; i < lanes; i++)                                                                     \
            if (bits >> i & 1) p[i] = a[i];                                                                 \
    }                                                                                                       \
    TD_INLINE v v##_fma(v a, v b, v c) { return a * b + c; }                                                \
    TD_INLINE v v##_add(v a, v b) { return a + b; }                                                         \
    TD_INLINE v v##_mul(v a, v b) { return a * b; }                                                         \
    TD_INLINE real v##_sum(v a)                                                                             \
    {                                                                                                       \
        real s = 0;                                                                                         \
        for (int i = 0; i < lanes; i++) s += a[i];                                                          \
        return s;                                                                                           \
    }                                                                                                       \
    TD_INLINE v v##_even(v a, v b)                                                                          \
    {                                                                                                       \
        v r;                                                                                                \
        for (int i = 0; i < lanes / 2; i++) {                                                               \
            r[i] = a[2 * i];                                                                                \
            r[i + lanes / 2] = b[2 * i];                                                                    \
        }                                                                                                   \
        return r;                                                                                           \
    }                                                                                                       \
    TD_INLINE v v##_gather(uint32_t bits, const real *p, int64_t stride)                                    \
    {                                                                                                       \
        v r = {0};                                                                                          \
        for (int i = 0; i < lanes; i++)                                                                     \
            if (bits >> i & 1) r[i] = p[i * stride];                                                        \
        return r;                                                                                           \
    }                                                                                                       \
    TD_INLINE void v##_transpose(v *r)                                                                      \
    {                                                                                                       \
        for (int i = 0; i < lanes; i++)                                                                     \
            for (int j = i + 1; j < lanes; j++) {                                                           \
                real t = r[i][j];                                                                           \
                r[i][j] = r[j][i];                                                                          \
                r[j][i] = t;                                                                                \
            }                                                                                               \
    }
TD_ANY_VECTOR(vf, float, VF_LANES)
TD_ANY_VECTOR(vd, double, VD_LANES)

TD_INLINE vf vf_fnma(vf a, vf b, vf c) { return c - a * b; }
TD_INLINE vf vf_sub(vf a, vf b) { return a - b; }
TD_INLINE vf vf_max(vf a, vf b)
{
    vi take_a = a > b;
    return (vf)(((vi)a & take_a) | ((vi)b & ~take_a));
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
