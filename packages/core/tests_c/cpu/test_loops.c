/* test_loops.c - every loop of every table, of the instruction set that TAEDA_ISA names.
 *
 * What the rows of the tables are (operands' dtypes, arguments of the call) stands in loops.gen.h,
 * which tools/hunt/c_tests.py makes from the tables' own text and the op table: a new loop is
 * tested without a new line. Two judges:
 *
 *   a plain loop       one element after the other gives the same bits as any length, stride, offset and in-place use at once
 *   a plain function   of C's library, or of C's operators, gives the same value up to rounding, where one is listed in PLAIN
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "harness.h"
#include "runtime/checksum.h"
#include "runtime/op.h"
#include "loops.gen.h"

enum { MOST = 600, SPARE = 64, PLACE = 16 };
static const int64_t LENGTHS[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 515};
enum { COUNT = sizeof LENGTHS / sizeof *LENGTHS };

/* ---- operands ---- */
typedef struct room {
    char bytes[(3 * MOST + 2 * SPARE) * PLACE];
} room;

static double number(void)
{
    static const double special[] = {0.0, -0.0, 1.0,  -1.0, 0.5,   -0.5, INFINITY, -INFINITY,
                                     NAN, 20,   88.8, -104, 1e-45, 2,    8191,     1e30};
    /* one draw after the other: compilers order arguments as they like */
    int64_t kind = below(8), which = below(2000001);
    switch (kind) {
        case 0: return special[which % 16];
        case 1: return ldexp((double)(which % 1000000) / 1e6, (int)below(200) - 100);
        case 2: return (double)(which % 40 - 20);
        default: return ((double)which - 1e6) / 3e5;
    }
}

static void put(td_dtype d, char *at)
{
    if (d == TD_BOOL) *at = (char)below(2);
    else if (td_is_integral(d)) {
        bool any = below(2);
        uint64_t bits =
            any ? harness_random() : (uint64_t)(below(19) - (td_dtypes[d].is_signed ? 9 : 0));
        memcpy(at, &bits, (size_t)td_itemsize(d));
    } else if (td_is_float8(d)) *at = (char)below(256);
    else {
        double re = number(), im = td_is_complex(d) ? number() : 0;
        td_scalar s = td_is_complex(d) ? td_scalar_complex(re, im) : td_scalar_float(re);
        td_scalar_store(&s, d, at);
    }
}

/* NaN is NaN, whatever its bits; of a complex number each part */
static bool same_part(td_dtype d, const char *a, const char *b)
{
    td_scalar x = td_scalar_load(d, a), y = td_scalar_load(d, b);
    return (td_is_floating(d) && isnan(x.re) && isnan(y.re)) ||
           !memcmp(a, b, (size_t)td_itemsize(d));
}

static bool same(td_dtype d, const char *a, const char *b)
{
    if (!td_is_complex(d)) return same_part(d, a, b);
    td_dtype part = td_to_real(d);
    int64_t size = td_itemsize(part);
    return same_part(part, a, b) && same_part(part, a + size, b + size);
}

/* ---- a plain loop ---- */
typedef struct layout {
    const char *name;
    int strides[4];
    int shift;
} layout;
static const layout LAYOUTS[] = {
    {"side by side", {1, 1, 1, 1}, 0}, {"shifted", {1, 1, 1, 1}, 1},
    {"apart", {2, 3, 1, 2}, 1},        {"backwards", {-1, 1, -1, 1}, 2},
    {"repeated", {1, 0, 1, 0}, 0},     {"repeated, turned", {3, -2, 0, 1}, 1},
};

static char *start(room *r, int64_t n, int64_t size, int stride, int shift)
{
    return r->bytes + (SPARE + shift + (stride < 0 ? -stride * (n - 1) : 0)) * size;
}

static void one_layout(const loop_row *row, td_loop loop, const layout *l, int64_t n, bool in_place)
{
    static room rooms[5];
    char *data[4], *plain[4];
    int64_t strides[4], size = td_itemsize((td_dtype)row->dtypes[0]);
    for (int k = 0; k < row->operands; k++) {
        int64_t each = td_itemsize((td_dtype)row->dtypes[k]);
        strides[k] = l->strides[k] * each;
        data[k] = start(&rooms[k], n, each, l->strides[k], l->shift * (k + 1));
        for (int64_t i = 0; i < n; i++) put((td_dtype)row->dtypes[k], data[k] + i * strides[k]);
        plain[k] = data[k];
    }
    if (in_place) {
        strides[0] = strides[1];
        memcpy(&rooms[0], &rooms[1], sizeof(room));
        data[0] = data[1] = rooms[0].bytes + (data[1] - rooms[1].bytes);
    } else {
        memset(rooms[0].bytes, 0x5A, sizeof(room));
    }
    memset(rooms[4].bytes, 0x5A, sizeof(room));
    if (in_place) memcpy(&rooms[4], &rooms[1], sizeof(room));
    plain[0] = rooms[4].bytes + (data[0] - rooms[0].bytes);
    for (int64_t i = 0; i < n; i++) {
        char *at[4];
        for (int k = 0; k < row->operands; k++) at[k] = plain[k] + i * strides[k];
        loop(at, strides, 1, row->arguments);
    }
    loop(data, strides, n, row->arguments);
    for (int64_t i = 0; i < n; i++) {
        char *got = data[0] + i * strides[0], *wanted = plain[0] + i * strides[0];
        if (same((td_dtype)row->dtypes[0], got, wanted)) memcpy(got, wanted, (size_t)size);
        else {
            FAIL("%s %s: element %d of %d, %s%s", row->name, td_dtypes[row->dtype].name, (int)i,
                 (int)n, l->name, in_place ? ", in place" : "");
            return;
        }
    }
    if (memcmp(&rooms[0], &rooms[4], sizeof(room)))
        FAIL("%s %s wrote beside its %d elements, %s", row->name, td_dtypes[row->dtype].name,
             (int)n, l->name);
}

static const loop_row *row_of(const td_loop_entry *e)
{
    for (const loop_row *row = loop_rows; row->name; row++)
        if (row->dtype == e->dtype && !strcmp(row->name, e->name)) return row;
    return NULL;
}

static int each_loop(void (*judge)(const loop_row *row, td_loop loop))
{
    int seen = 0;
    for (const td_loop_entry *const *tables = td_loop_tables(); *tables; tables++)
        for (const td_loop_entry *e = *tables; e->name; e++, seen++) {
            const loop_row *row = row_of(e);
            if (row) judge(row, e->loop);
            else FAIL("%s %s: no row of loops.gen.h", e->name, td_dtypes[e->dtype].name);
        }
    return seen;
}

static void against_a_plain_loop(const loop_row *row, td_loop loop)
{
    for (size_t l = 0; l < sizeof LAYOUTS / sizeof *LAYOUTS; l++)
        for (int k = 0; k < COUNT; k++) one_layout(row, loop, &LAYOUTS[l], LENGTHS[k], false);
    if (row->operands > 1 && row->dtypes[0] == row->dtypes[1])
        for (int k = 0; k < COUNT; k++) one_layout(row, loop, &LAYOUTS[k % 4], LENGTHS[k], true);
}

TEST(every_loop_is_its_plain_loop_for_any_length_stride_and_offset)
{
    EQUAL(each_loop(against_a_plain_loop), LOOP_ROWS);
    CHECK(LOOP_ROWS > 1000);
}

/* ---- a plain function ---- */
#define PLAIN(X)                                           \
    X(add, x + y)                                          \
    X(sub, x - y)                                          \
    X(mul, x * y)                                          \
    X(div, x / y)                                          \
    X(maximum, isnan(x) || isnan(y) ? NAN : x > y ? x : y) \
    X(minimum, isnan(x) || isnan(y) ? NAN : x < y ? x : y) \
    X(fmax, fmax(x, y))                                    \
    X(fmin, fmin(x, y))                                    \
    X(atan2, atan2(x, y))                                  \
    X(hypot, hypot(x, y))                                  \
    X(copysign, copysign(x, y))                            \
    X(exp, exp(x))                                         \
    X(exp2, exp2(x))                                       \
    X(expm1, expm1(x))                                     \
    X(log, log(x))                                         \
    X(log2, log2(x))                                       \
    X(log10, log10(x))                                     \
    X(log1p, log1p(x))                                     \
    X(sqrt, sqrt(x))                                       \
    X(rsqrt, 1 / sqrt(x))                                  \
    X(sin, sin(x))                                         \
    X(cos, cos(x))                                         \
    X(tan, tan(x))                                         \
    X(asin, asin(x))                                       \
    X(acos, acos(x))                                       \
    X(atan, atan(x))                                       \
    X(sinh, sinh(x))                                       \
    X(cosh, cosh(x))                                       \
    X(tanh, tanh(x))                                       \
    X(asinh, asinh(x))                                     \
    X(acosh, acosh(x))                                     \
    X(atanh, atanh(x))                                     \
    X(neg, -x)                                             \
    X(abs, fabs(x))                                        \
    X(floor, floor(x))                                     \
    X(ceil, ceil(x))                                       \
    X(trunc, trunc(x))                                     \
    X(square, x * x)                                       \
    X(reciprocal, 1 / x)                                   \
    X(erf, erf(x))                                         \
    X(erfc, erfc(x))                                       \
    X(sigmoid, 1 / (1 + exp(-x)))                          \
    X(relu, isnan(x) ? NAN : x > 0 ? x : 0)                \
    X(eq, x == y)                                          \
    X(ne, x != y)                                          \
    X(lt, x < y)                                           \
    X(le, x <= y)                                          \
    X(gt, x > y)                                           \
    X(ge, x >= y)                                          \
    X(isnan, isnan(x))                                     \
    X(logical_not, x == 0)
#define PLAIN_FUNCTION(name, value) \
    static double plain_##name(double x, double y) { return value; }
PLAIN(PLAIN_FUNCTION)
#define PLAIN_ROW(name, value) {#name, plain_##name},
static const struct {
    const char *name;
    double (*f)(double, double);
} plain_rows[] = {PLAIN(PLAIN_ROW){NULL, NULL}};

/* a few units in the last place of the result's type */
static double tolerance(td_dtype d)
{
    return d == TD_F64    ? 0x1p-49
           : d == TD_F32  ? 0x1p-20
           : d == TD_F16  ? 0x1p-9
           : d == TD_BF16 ? 0x1p-6
                          : 0;
}

static bool close_to(td_dtype d, double got, double wanted)
{
    td_scalar s = td_scalar_float(wanted);
    char place[16];
    td_scalar_store(&s, d, place);
    double rounded = td_scalar_load(d, place).re;
    if (isnan(wanted)) return isnan(got);
    if (got == rounded) return true;
    double least = d == TD_F64 ? 0x1p-1022 : d == TD_F16 ? 0x1p-14 : 0x1p-126;
    return fabs(got - wanted) <= tolerance(d) * fmax(fabs(wanted), least);
}

static int compared;

static void against_a_plain_function(const loop_row *row, td_loop loop)
{
    double (*f)(double, double) = NULL;
    for (int k = 0; plain_rows[k].name; k++)
        if (!strcmp(plain_rows[k].name, row->name)) f = plain_rows[k].f;
    bool real = td_is_floating((td_dtype)row->dtype) && !td_is_float8((td_dtype)row->dtype);
    if (!f || !real) return;
    for (int i = 0; i < 2000; i++) {
        _Alignas(16) char place[3][16];
        double x[3] = {0};
        for (int k = 1; k < row->operands && k < 3; k++) {
            put((td_dtype)row->dtypes[k], place[k]);
            x[k] = td_scalar_load((td_dtype)row->dtypes[k], place[k]).re;
        }
        loop((char *[]){place[0], place[1], place[2]}, (int64_t[]){16, 16, 16}, 1, row->arguments);
        double got = td_scalar_load((td_dtype)row->dtypes[0], place[0]).re, wanted = f(x[1], x[2]);
        if (!close_to((td_dtype)row->dtypes[0], got, wanted))
            FAIL("%s %s of %.17g, %.17g is %.17g, not %.17g", row->name, td_dtypes[row->dtype].name,
                 x[1], x[2], got, wanted);
    }
    compared++;
}

TEST(real_loops_have_the_values_of_plain_functions)
{
    each_loop(against_a_plain_function);
    CHECK(compared > 150);
}

/* Integers: C's operators on unsigned numbers, which wrap round. */
static void against_integers(const loop_row *row, td_loop loop)
{
    static const char *const names[] = {"add",         "sub",        "mul",
                                        "bitwise_and", "bitwise_or", "bitwise_xor"};
    int which = -1;
    for (int k = 0; k < 6; k++)
        if (!strcmp(names[k], row->name)) which = k;
    td_dtype d = (td_dtype)row->dtype;
    if (which < 0 || !td_is_integral(d) || d == TD_BOOL) return;
    for (int i = 0; i < 300; i++) {
        uint64_t x = 0, y = 0, got = 0, size = (uint64_t)td_itemsize(d);
        put(d, (char *)&x);
        put(d, (char *)&y);
        loop((char *[]){(char *)&got, (char *)&x, (char *)&y}, (int64_t[]){8, 8, 8}, 1,
             row->arguments);
        uint64_t wanted[] = {x + y, x - y, x * y, x & y, x | y, x ^ y};
        if (memcmp(&got, &wanted[which], size))
            FAIL("%s %s of %llx, %llx", row->name, td_dtypes[d].name, (long long)x, (long long)y);
    }
    compared++;
}

TEST(integer_loops_wrap_round)
{
    compared = 0;
    each_loop(against_integers);
    CHECK(compared > 20);
}

/* ---- the bits of every loop, for comparison with another processor ---- */
static void one_nan(td_dtype d, char *at, int64_t n)
{
    td_dtype part = td_to_real(d);
    int64_t size = td_itemsize(part);
    if (!td_is_floating(part)) return;
    for (int64_t i = 0; i < n * td_itemsize(d) / size; i++)
        if (isnan(td_scalar_load(part, at + i * size).re))
            memset(at + i * size, 0x7F, (size_t)size);
}

static void tell_bits(const loop_row *row, td_loop loop)
{
    static room rooms[4];
    char *data[4];
    int64_t strides[4], n = 400;
    harness_seed((uint64_t)(row - loop_rows) + 1);
    for (int k = 0; k < row->operands; k++) {
        strides[k] = td_itemsize((td_dtype)row->dtypes[k]);
        data[k] = rooms[k].bytes;
        for (int64_t i = 0; i < n; i++) put((td_dtype)row->dtypes[k], data[k] + i * strides[k]);
    }
    loop(data, strides, n, row->arguments);
    one_nan((td_dtype)row->dtypes[0], data[0], n);
    printf("%s %s %08x\n", row->name, td_dtypes[row->dtype].name,
           td_crc32c(0, data[0], (size_t)(n * strides[0])));
}

void harness_digests(void) { each_loop(tell_bits); }
