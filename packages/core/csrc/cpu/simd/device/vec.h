/* vec.h - the vector type of the elementwise kernels where a thread computes one element: vectors
 * of width 1.
 *
 * The same names as cpu/simd/vec.h, so that the lines of the kernel tables and of vmath*.h serve as
 * device code: a program takes the headers of this folder in place of those of the same name. NVRTC
 * compiles it without a library header and with
 * --device-as-default-execution-space, so functions need no mark. Behind tests/cuda/emulate.h the
 * same text is C++ for g++.
 *
 * A cast between numbers and bits keeps the bits, as it does between vectors. */
#ifndef TD_VEC_H
#define TD_VEC_H
#ifndef TD_EMULATE
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INFINITY __uint_as_float(0x7f800000)
#define NAN __uint_as_float(0x7fc00000)
#define M_PI 3.14159265358979323846
#define DBL_EPSILON 2.220446049250313e-16
#define INT64_MAX 0x7fffffffffffffffLL
#define INT64_MIN (-INT64_MAX - 1)
#define INT32_MIN (-0x7fffffff - 1)
#define __builtin_fabs td_fabs
#define __builtin_ctzll(x) (__ffsll((long long)(x)) - 1)
#define TD_IN __device__ __forceinline__
static TD_IN float td_fabs(float x) { return fabsf(x); }
static TD_IN double td_fabs(double x) { return fabs(x); }
#endif
/* the C library's reentrant form */
static inline float td_lgammaf_r(float x, int *) { return lgammaf(x); }
static inline double td_lgamma_r(double x, int *) { return lgamma(x); }
#define lgammaf_r td_lgammaf_r
#define lgamma_r td_lgamma_r
#define VFN static TD_IN
#ifdef TD_EMULATE
#define TD_CALLED
#else
#define TD_CALLED __noinline__
#endif
#define VFN_CALLED static TD_CALLED
#define FP_FAST_FMAF 1
#define VF_WIDTH 1
#define VD_WIDTH 1

struct vf;
struct vd;
#define TD_BITS(name, type, other, float_t)                                             \
    struct name {                                                                       \
        type v;                                                                         \
        name() = default;                                                               \
        TD_IN name(type x) : v(x) {}                                                    \
        TD_IN explicit name(other x);                                                   \
        TD_IN explicit name(float_t x);                                                 \
        friend TD_IN name operator&(name a, name b) { return name((type)(a.v & b.v)); } \
        friend TD_IN name operator|(name a, name b) { return name((type)(a.v | b.v)); } \
        friend TD_IN name operator^(name a, name b) { return name((type)(a.v ^ b.v)); } \
        friend TD_IN name operator+(name a, name b) { return name((type)(a.v + b.v)); } \
        friend TD_IN name operator-(name a, name b) { return name((type)(a.v - b.v)); } \
        friend TD_IN name operator<<(name a, int n) { return name((type)(a.v << n)); }  \
        friend TD_IN name operator>>(name a, int n) { return name((type)(a.v >> n)); }  \
        TD_IN name operator~() const { return name((type)~v); }                         \
        TD_IN name operator-() const { return name((type)(0 - v)); }                    \
    };
struct vi;
struct vu;
struct vl;
struct vw;
TD_BITS(vi, int32_t, vu, vf)
TD_BITS(vu, uint32_t, vi, vf)
TD_BITS(vl, int64_t, vw, vd)
TD_BITS(vw, uint64_t, vl, vd)
struct mask { /* of either width */
    bool v;
    mask() = default;
    TD_IN mask(bool x) : v(x) {}
    TD_IN mask operator~() const { return mask(!v); }
    friend TD_IN mask operator&(mask a, mask b) { return mask(a.v && b.v); }
};
typedef mask mf;
typedef mask md;

#define TD_NUMBER(name, type, bits, unsigned_bits)                              \
    struct name {                                                               \
        type v;                                                                 \
        name() = default;                                                       \
        TD_IN name(type x) : v(x) {}                                            \
        TD_IN explicit name(bits x);                                            \
        TD_IN explicit name(unsigned_bits x) : name(bits(x)) {}                 \
        TD_IN type &operator[](int) { return v; }                               \
        friend TD_IN name operator+(name a, name b) { return name(a.v + b.v); } \
        friend TD_IN name operator-(name a, name b) { return name(a.v - b.v); } \
        friend TD_IN name operator*(name a, name b) { return name(a.v * b.v); } \
        friend TD_IN name operator/(name a, name b) { return name(a.v / b.v); } \
        TD_IN name operator-() const { return name(-v); }                       \
    };
TD_IN vi::vi(vu x) : v((int32_t)x.v) {}
TD_IN vu::vu(vi x) : v((uint32_t)x.v) {}
TD_IN vl::vl(vw x) : v((int64_t)x.v) {}
TD_IN vw::vw(vl x) : v((uint64_t)x.v) {}
TD_NUMBER(vf, float, vi, vu)
TD_NUMBER(vd, double, vl, vw)
TD_IN vi::vi(vf x) : v((int32_t)__float_as_uint(x.v)) {}
TD_IN vu::vu(vf x) : v(__float_as_uint(x.v)) {}
TD_IN vl::vl(vd x) : v((int64_t)__double_as_longlong(x.v)) {}
TD_IN vw::vw(vd x) : v((uint64_t)__double_as_longlong(x.v)) {}
TD_IN vf::vf(vi x) : v(__uint_as_float((uint32_t)x.v)) {}
TD_IN vd::vd(vl x) : v(__longlong_as_double(x.v)) {}
VFN vi td_to(vf x, vi *) { return vi((int32_t)x.v); }
VFN vf td_to(vi x, vf *) { return vf((float)x.v); }
#define __builtin_convertvector(x, type) td_to(x, (type *)0)

VFN vf vf_set(float x) { return vf(x); }
VFN vd vd_set(double x) { return vd(x); }
VFN vf vf_abs(vf a) { return vf(fabsf(a.v)); }
VFN vd vd_abs(vd a) { return vd(fabs(a.v)); }
VFN vf vf_copysign(vf a, vf b) { return vf(copysignf(a.v, b.v)); }
VFN vd vd_copysign(vd a, vd b) { return vd(copysign(a.v, b.v)); }
VFN vf vf_fma(vf a, vf b, vf c) { return vf(__fmaf_rn(a.v, b.v, c.v)); }
VFN vd vd_fma(vd a, vd b, vd c) { return vd(__fma_rn(a.v, b.v, c.v)); }
VFN vf vf_min(vf a, vf b) { return a.v < b.v ? a : b; } /* the second if either is NaN */
VFN vd vd_min(vd a, vd b) { return a.v < b.v ? a : b; }
VFN vf vf_max(vf a, vf b) { return a.v > b.v ? a : b; }
VFN vd vd_max(vd a, vd b) { return a.v > b.v ? a : b; }
VFN vf vf_sqrt(vf a) { return vf(sqrtf(a.v)); }
VFN vd vd_sqrt(vd a) { return vd(sqrt(a.v)); }
VFN vf vf_sel(mf m, vf a, vf b) { return m.v ? a : b; }
VFN vd vd_sel(md m, vd a, vd b) { return m.v ? a : b; }
VFN bool vf_any(mf m) { return m.v; }
VFN bool vd_any(md m) { return m.v; }
VFN vf vf_round(vf a) { return vf(rintf(a.v)); }
VFN vd vd_round(vd a) { return vd(rint(a.v)); }
VFN vf vf_floor(vf a) { return vf(floorf(a.v)); }
VFN vd vd_floor(vd a) { return vd(floor(a.v)); }
VFN vf vf_ceil(vf a) { return vf(ceilf(a.v)); }
VFN vd vd_ceil(vd a) { return vd(ceil(a.v)); }
VFN vf vf_trunc(vf a) { return vf(truncf(a.v)); }
VFN vd vd_trunc(vd a) { return vd(trunc(a.v)); }
#define VCOMPARE(name, operator)                              \
    VFN mf vf_##name(vf a, vf b) { return a.v operator b.v; } \
    VFN md vd_##name(vd a, vd b) { return a.v operator b.v; }
VCOMPARE(lt, <)
VCOMPARE(le, <=)
VCOMPARE(gt, >)
VCOMPARE(ge, >=)
VCOMPARE(eq, ==)
VCOMPARE(ne, !=)
VFN mf vf_isnan(vf a) { return a.v != a.v; }
VFN md vd_isnan(vd a) { return a.v != a.v; }
VFN vd vf_low(vf x) { return vd((double)x.v); } /* width 1: both halves are the element */
VFN vd vf_high(vf x) { return vd((double)x.v); }
VFN vf vf_join(vd low, vd) { return vf((float)low.v); }

/* ---- picked by argument type ---- */
template <class... T> struct td_kind_of {
    enum { value = 0 };
};
template <class T, class... Rest> struct td_kind_of<T, Rest...> {
    enum { value = td_kind_of<Rest...>::value };
};
template <class... Rest> struct td_kind_of<vd, Rest...> {
    enum { value = 1 };
};
#define VPICK(name, x)                                                                \
    ([](auto... a) {                                                                  \
        if constexpr (td_kind_of<decltype(a)...>::value == 1) return vd_##name(a...); \
        else return vf_##name(a...);                                                  \
    })
VFN vf td_set_like(vf, float c) { return vf(c); }
VFN vd td_set_like(vd, double c) { return vd(c); }
#define vset(like, c) td_set_like(like, c)
#define vzero(like) td_set_like(like, 0)
VFN vf vsel(mask m, vf a, vf b) { return m.v ? a : b; }
VFN vd vsel(mask m, vd a, vd b) { return m.v ? a : b; }
#define TD_BOTH_1(name, p)                  \
    VFN vf name(vf a) { return vf_##p(a); } \
    VFN vd name(vd a) { return vd_##p(a); }
#define TD_BOTH_2(name, p)                           \
    VFN vf name(vf a, vf b) { return vf_##p(a, b); } \
    VFN vd name(vd a, vd b) { return vd_##p(a, b); }
#define TD_BOTH_MASK(name, p)                          \
    VFN mask name(vf a, vf b) { return vf_##p(a, b); } \
    VFN mask name(vd a, vd b) { return vd_##p(a, b); }
VFN vf vfma(vf a, vf b, vf c) { return vf_fma(a, b, c); }
VFN vd vfma(vd a, vd b, vd c) { return vd_fma(a, b, c); }
TD_BOTH_2(vmin, min)
TD_BOTH_2(vmax, max)
TD_BOTH_2(vcopysign, copysign)
TD_BOTH_1(vsqrt, sqrt)
TD_BOTH_1(vabs, abs)
TD_BOTH_1(vround, round)
TD_BOTH_1(vfloor, floor)
TD_BOTH_1(vceil, ceil)
TD_BOTH_1(vtrunc, trunc)
TD_BOTH_MASK(vlt, lt)
TD_BOTH_MASK(vle, le)
TD_BOTH_MASK(vgt, gt)
TD_BOTH_MASK(vge, ge)
TD_BOTH_MASK(veq, eq)
TD_BOTH_MASK(vne, ne)
VFN mask visnan(vf a) { return a.v != a.v; }
VFN mask visnan(vd a) { return a.v != a.v; }
VFN mask vand(mask a, mask b) { return a & b; }

template <class V, class R, int N> VFN V td_poly(V x, const R (&c)[N])
{
    constexpr int last = N - 1;
    V square = x * x, one = V(c[last]), two = V(c[last - 1]);
#pragma unroll
    for (int k = last - 2; k >= 0; k -= 2) {
        one = vfma(one, square, V(c[k]));
        if (k > 0) two = vfma(two, square, V(c[k - 1]));
    }
    return last % 2 ? vfma(one, x, two) : vfma(two, x, one);
}
#define VPOLY(x, c) td_poly(x, c)
#define LET(declarations, value) \
    ([&] {                       \
        declarations;            \
        return value;            \
    }())
#endif
