/* complex_functions.h - functions of complex numbers where a thread computes one element. A device
 * has no C library of them: these are of double parts, by the formulas of Kahan ("Branch cuts for
 * complex elementary functions", 1987), with the values of C's Annex G at infinities and zeros.
 * complex64 computes in complex128 and is rounded once. */
#ifndef TD_COMPLEX_FUNCTIONS_H
#define TD_COMPLEX_FUNCTIONS_H
#include "cpu/simd/complex_numbers.h"

#define RE(z) (z).re
#define IM(z) (z).im
#define CPAIR(re, im) td_pair(re, im)
#define CPRODUCT(a, b) cmultiply(a, b)
#define CPICK(x, name) name
#define TD_LN2 0.693147180559945309
#define TD_HALF_PI 1.57079632679489662

VFN c64 td_pair(float re, float im) { return c64(re, im); }
VFN c128 td_pair(double re, double im) { return c128(re, im); }

/* ---- arithmetic: sums by parts, products and quotients as in cpu/simd/complex_numbers.h ---- */
template <class R> VFN td_complex_of<R> operator-(td_complex_of<R> a)
{
    return td_complex_of<R>(-a.re, -a.im);
}
template <class R> VFN td_complex_of<R> operator+(td_complex_of<R> a, td_complex_of<R> b)
{
    return td_complex_of<R>(a.re + b.re, a.im + b.im);
}
template <class R> VFN td_complex_of<R> operator-(td_complex_of<R> a, td_complex_of<R> b)
{
    return td_complex_of<R>(a.re - b.re, a.im - b.im);
}
VFN c128 operator+(double a, c128 b) { return c128(a + b.re, b.im); }
template <class R> VFN td_complex_of<R> operator*(td_complex_of<R> a, R b)
{
    return td_complex_of<R>(a.re * b, a.im * b);
}
template <class R> VFN td_complex_of<R> cmultiply(td_complex_of<R> a, td_complex_of<R> b)
{
    return td_complex_of<R>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
template <class R> VFN td_complex_of<R> cdivide(td_complex_of<R> a, td_complex_of<R> b)
{
    if (__builtin_fabs(b.re) >= __builtin_fabs(b.im)) {
        if (b.re == 0 && b.im == 0)
            return td_complex_of<R>(a.re / __builtin_fabs(b.re), a.im / __builtin_fabs(b.im));
        R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return td_complex_of<R>((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    R ratio = b.re / b.im, scale = 1 / (b.re * ratio + b.im);
    return td_complex_of<R>((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}

/* ---- exponentials: e^x of a part may overflow where the product with a cosine does not ---- */
VFN bool td_finite(double x) { return x - x == 0; }
/* e^x (a, b) */
VFN_CALLED c128 td_times_exp(double x, double a, double b)
{
    double rest = x > 1400 ? 1400 : x;
    for (; rest > 700; rest -= 700) {
        const double step = 1.0142320547350045e304; /* e^700 */
        a *= step;
        b *= step;
    }
    double e = exp(rest);
    return c128(a * e, b * e);
}
VFN_CALLED c128 cexp(c128 z)
{
    double x = z.re, y = z.im;
    if (y == 0) return c128(exp(x), y);
    if (td_finite(y))
        return td_finite(x) ? td_times_exp(x, cos(y), sin(y))
               : x == x     ? (x > 0 ? c128(copysign(x, cos(y)), copysign(x, sin(y)))
                                     : c128(copysign(0.0, cos(y)), copysign(0.0, sin(y))))
                            : c128(x, x);
    if (x == INFINITY) return c128(x, (double)NAN);
    if (x == -INFINITY) return c128(0.0, copysign(0.0, y));
    return c128((double)NAN, (double)NAN);
}
VFN_CALLED c128 csinh(c128 z)
{
    double x = z.re, y = z.im;
    if (y == 0) return c128(sinh(x), y);
    if (!td_finite(y)) {
        if (x == 0) return c128(x, (double)NAN);
        return c128(isinf(x) ? INFINITY : (double)NAN, (double)NAN);
    }
    if (fabs(x) > 700 && td_finite(x)) {
        c128 w = td_times_exp(fabs(x), 0.5 * cos(y), 0.5 * sin(y));
        return c128(x < 0 ? -w.re : w.re, w.im);
    }
    if (isinf(x)) return c128(x * copysign(1.0, cos(y)), fabs(x) * copysign(1.0, sin(y)));
    return c128(sinh(x) * cos(y), cosh(x) * sin(y));
}
VFN_CALLED c128 ccosh(c128 z)
{
    double x = z.re, y = z.im;
    if (y == 0) return c128(cosh(x), x == x ? copysign(0.0, x) * copysign(1.0, y) : 0.0);
    if (x == 0) return td_finite(y) ? c128(cos(y), x * sin(y)) : c128((double)NAN, 0.0);
    if (!td_finite(y)) return c128(isinf(x) ? INFINITY : (double)NAN, (double)NAN);
    if (fabs(x) > 700 && td_finite(x)) {
        c128 w = td_times_exp(fabs(x), 0.5 * cos(y), 0.5 * sin(y));
        return c128(w.re, x < 0 ? -w.im : w.im);
    }
    if (isinf(x)) return c128(fabs(x) * copysign(1.0, cos(y)), x * copysign(1.0, sin(y)));
    return c128(cosh(x) * cos(y), sinh(x) * sin(y));
}
VFN_CALLED c128 ctanh(c128 z)
{
    double x = z.re, y = z.im;
    if (isinf(x)) return c128(copysign(1.0, x), copysign(0.0, td_finite(y) ? sin(2 * y) : y));
    if (y == 0) return c128(tanh(x), y);
    if (!td_finite(x) || !td_finite(y)) return c128(x == 0 ? x : (double)NAN, (double)NAN);
    double s = sin(y), c = cos(y);
    if (fabs(x) > 22) { /* the real part rounds to 1 */
        double e = exp(-fabs(x));
        return c128(copysign(1.0, x), 4 * s * c * e * e);
    }
    double h = sinh(x), below = h * h + c * c;
    return c128(h * cosh(x) / below, s * c / below);
}

/* ---- roots and logarithms ---- */
VFN_CALLED c128 csqrt(c128 z)
{
    double x = z.re, y = z.im;
    if (isinf(y)) return c128(INFINITY, y);
    if (y == 0 && x == x) return x < 0 ? c128(0.0, copysign(sqrt(-x), y)) : c128(sqrt(fabs(x)), y);
    if (isinf(x)) {
        double other = y == y ? 0.0 : y;
        return x > 0 ? c128(x, copysign(other, y)) : c128(other, copysign(INFINITY, y));
    }
    if (x != x || y != y) return c128((double)NAN, (double)NAN);
    double unit = 1, size = fmax(fabs(x), fabs(y));
    if (size > 0x1p1020) {
        x *= 0x1p-4;
        y *= 0x1p-4;
        unit = 4;
    } else if (size < 0x1p-900) {
        x *= 0x1p200;
        y *= 0x1p200;
        unit = 0x1p-100;
    }
    double root = sqrt(0.5 * (fabs(x) + hypot(x, y))), other = 0.5 * fabs(y) / root;
    return x >= 0 ? c128(unit * root, copysign(unit * other, y))
                  : c128(unit * other, copysign(unit * root, y));
}
/* x^2 + y^2 - 1 near 0, with the products' errors */
VFN double td_square_minus_one(double x, double y)
{
    double xx = x * x, yy = y * y, left = __fma_rn(x, x, -xx) + __fma_rn(y, y, -yy);
    double one = xx - 1, sum = one + yy, part = sum - one;
    return sum + ((one - (sum - part)) + (yy - part) + left);
}
/* log |z| */
VFN_CALLED double td_log_size(double x, double y)
{
    double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y)) return INFINITY;
    if (x != x || y != y) return NAN;
    if (a > 0x1p1000) return log(hypot(a * 0x1p-100, b * 0x1p-100)) + 100 * TD_LN2;
    if (a < 0x1p-900)
        return a == 0 ? -INFINITY : log(hypot(a * 0x1p600, b * 0x1p600)) - 600 * TD_LN2;
    if (a < 0.5 || a > 2) return log(hypot(a, b));
    double square = td_square_minus_one(a, b);
    return square > -0.5 ? 0.5 * log1p(square) : log(hypot(a, b));
}
VFN c128 clog(c128 z) { return c128(td_log_size(z.re, z.im), atan2(z.im, z.re)); }
VFN double cabs(c128 z) { return hypot(z.re, z.im); }
VFN float cabs(c64 z) { return hypotf(z.re, z.im); }

/* ---- inverses, by square roots of 1 - z and 1 + z ---- */
VFN_CALLED c128 cacos(c128 z)
{
    double x = z.re, y = z.im;
    if (isinf(x) && isinf(y)) return c128(x > 0 ? 0.5 * TD_HALF_PI : 1.5 * TD_HALF_PI, -y);
    if (x != x || y != y) {
        double re = x == 0 ? TD_HALF_PI : (double)NAN;
        return c128(re, isinf(x) ? x : isinf(y) ? -y : (double)NAN);
    }
    if (fabs(x) > 0x1p500 || fabs(y) > 0x1p500)
        return c128(fabs(atan2(y, x)), -copysign(td_log_size(x, y) + TD_LN2, y));
    c128 s = csqrt(c128(1 - x, -y)), t = csqrt(c128(1 + x, y));
    return c128(2 * atan2(s.re, t.re), asinh(t.re * s.im - t.im * s.re));
}
VFN_CALLED c128 casin(c128 z)
{
    double x = z.re, y = z.im;
    if (x != x || y != y) {
        double re = x == 0 ? x : (double)NAN;
        return c128(re, isinf(x) ? x : isinf(y) ? y : (double)NAN);
    }
    if (fabs(x) > 0x1p500 || fabs(y) > 0x1p500) {
        double re = isinf(x) ? (isinf(y) ? 0.5 * TD_HALF_PI : TD_HALF_PI) : atan2(fabs(x), fabs(y));
        return c128(copysign(re, x), copysign(td_log_size(x, y) + TD_LN2, y));
    }
    c128 s = csqrt(c128(1 - x, -y)), t = csqrt(c128(1 + x, y));
    return c128(atan2(x, s.re * t.re - s.im * t.im), asinh(s.re * t.im - s.im * t.re));
}
VFN c128 casinh(c128 z)
{
    c128 w = casin(c128(-z.im, z.re));
    return c128(w.im, -w.re);
}
VFN c128 cacosh(c128 z)
{
    c128 w = cacos(z);
    return w.re != w.re && w.im == w.im ? c128(fabs(w.im), w.re)
                                        : c128(fabs(w.im), copysign(w.re, z.im));
}
VFN_CALLED c128 catanh(c128 z)
{
    double x = fabs(z.re), y = z.im, v = fabs(y);
    if (isinf(x) || isinf(v)) {
        return c128(copysign(0.0, z.re), y == y ? copysign(TD_HALF_PI, y) : y);
    }
    if (x != x || y != y) return c128(x == 0 ? z.re : (double)NAN, (double)NAN);
    double re, im;
    if (x > 0x1p60 || v > 0x1p60) {
        double size = hypot(x * 0.5, v * 0.5); /* x / |z|^2 */
        re = x * 0.5 / size / size * 0.5;
        im = TD_HALF_PI;
    } else if (x == 1 && v < 0x1p-30) {
        re = v == 0 ? INFINITY : 0.5 * (TD_LN2 - log(v));
        im = v == 0 ? 0.0 : 0.5 * atan2(2.0, -v);
    } else {
        double square = v > 0x1p-500 ? v * v : 0.0;
        re = 0.25 * log1p(4 * x / ((1 - x) * (1 - x) + square));
        im = 0.5 * atan2(2 * v, (1 - x) * (1 + x) - square);
    }
    return c128(copysign(re, z.re), copysign(im, y));
}

/* f(z) = -i g(iz) */
#define TURNED(name, hyperbolic)                \
    VFN c128 name(c128 z)                       \
    {                                           \
        c128 w = hyperbolic(c128(-z.im, z.re)); \
        return c128(w.im, -w.re);               \
    }
TURNED(csin, csinh)
TURNED(ctan, ctanh)
TURNED(catan, catanh)
VFN c128 ccos(c128 z) { return ccosh(c128(-z.im, z.re)); }
/* A product that is no number although a part of an operand is infinite is infinite, as in C. */
VFN_CALLED c128 td_product(c128 a, c128 b)
{
    c128 z = cmultiply(a, b);
    if (z.re == z.re || z.im == z.im) return z;
    bool left = isinf(a.re) || isinf(a.im), right = isinf(b.re) || isinf(b.im);
    if (!left && !right) return z;
    if (left)
        a = c128(copysign(isinf(a.re) ? 1.0 : 0.0, a.re), copysign(isinf(a.im) ? 1.0 : 0.0, a.im));
    if (right)
        b = c128(copysign(isinf(b.re) ? 1.0 : 0.0, b.re), copysign(isinf(b.im) ? 1.0 : 0.0, b.im));
    a = c128(a.re == a.re ? a.re : copysign(0.0, a.re), a.im == a.im ? a.im : copysign(0.0, a.im));
    b = c128(b.re == b.re ? b.re : copysign(0.0, b.re), b.im == b.im ? b.im : copysign(0.0, b.im));
    return cmultiply(a, b) * (double)INFINITY;
}
VFN_CALLED c128 cpow(c128 x, c128 y) { return cexp(td_product(y, clog(x))); }

/* complex64, by complex128 */
#define ROUNDED_ONCE(name) \
    VFN c64 name(c64 z) { return c64(name(c128(z))); }
ROUNDED_ONCE(cexp)
ROUNDED_ONCE(clog)
ROUNDED_ONCE(csqrt)
ROUNDED_ONCE(csin)
ROUNDED_ONCE(ccos)
ROUNDED_ONCE(ctan)
ROUNDED_ONCE(csinh)
ROUNDED_ONCE(ccosh)
ROUNDED_ONCE(ctanh)
ROUNDED_ONCE(casin)
ROUNDED_ONCE(cacos)
ROUNDED_ONCE(catan)
ROUNDED_ONCE(casinh)
ROUNDED_ONCE(cacosh)
ROUNDED_ONCE(catanh)

#define COMPLEX_ROWS(name, arity, setup, expression)                               \
    TD_DEVICE_ROW(name##_c64_row, arity, c64, c64, c64, typedef float real_t;      \
                  typedef c64 complex_t, setup, expression)                        \
    TD_DEVICE_ROW(name##_c128_row, arity, c128, c128, c128, typedef double real_t; \
                  typedef c128 complex_t, setup, expression)
#endif
