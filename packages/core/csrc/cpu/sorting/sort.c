/* sort.c - keys, packs and the loops of radix sort and selection. */
#include "cpu/sorting/sort.h"
#include <stdbool.h>
#include <string.h>
#include "cpu/simd/half.h"

typedef uint64_t narrow;
typedef td_wide_pack wide;

/* ---- keys ---- */

static inline uint32_t key_u8(uint8_t v) { return v; }
static inline uint32_t key_i8(int8_t v) { return (uint8_t)v ^ 0x80u; }
static inline uint32_t key_i16(int16_t v) { return (uint16_t)v ^ 0x8000u; }
static inline uint32_t key_u16(uint16_t v) { return v; }
static inline uint32_t key_i32(int32_t v) { return (uint32_t)v ^ 0x80000000u; }
static inline uint32_t key_u32(uint32_t v) { return v; }
static inline uint64_t key_i64(int64_t v) { return (uint64_t)v ^ 0x8000000000000000u; }
static inline uint64_t key_u64(uint64_t v) { return v; }
static inline uint32_t key_f32(float v)
{
    uint32_t u = td_bits_f32(v + 0.f); /* -0 becomes 0 */
    uint32_t flipped = u ^ ((uint32_t)((int32_t)u >> 31) | 0x80000000u);
    return v != v ? UINT32_MAX : flipped;
}
static inline uint64_t key_f64(double v)
{
    uint64_t u;
    double w = v + 0.;
    memcpy(&u, &w, 8);
    uint64_t flipped = u ^ ((uint64_t)((int64_t)u >> 63) | 0x8000000000000000u);
    return v != v ? UINT64_MAX : flipped;
}
/* 16-bit floats: two bytes of key are enough */
static inline uint32_t key_half(uint16_t v, uint16_t infinity)
{
    uint32_t magnitude = v & 0x7fffu, u = magnitude ? v : 0;
    uint32_t flipped = (u ^ (u & 0x8000u ? 0xffffu : 0x8000u)) & 0xffffu;
    return magnitude > infinity ? 0xffffu : flipped;
}
static inline uint32_t key_f16(uint16_t v) { return key_half(v, 0x7c00); }
static inline uint32_t key_bf16(uint16_t v) { return key_half(v, 0x7f80); }

/* ---- packs ---- */

#define PACKS(P, suffix)                                                                         \
    static void insertion_##suffix(void *packs, int64_t n)                                       \
    {                                                                                            \
        P *p = packs;                                                                            \
        for (int64_t i = 1; i < n; i++) {                                                        \
            P v = p[i];                                                                          \
            int64_t j = i;                                                                       \
            for (; j > 0 && v < p[j - 1]; j--) p[j] = p[j - 1];                                  \
            p[j] = v;                                                                            \
        }                                                                                        \
    }                                                                                            \
    static void count_##suffix(int64_t *counts, const void *packs, int64_t n)                    \
    {                                                                                            \
        const P *p = packs;                                                                      \
        for (int64_t i = 0; i < n; i++)                                                          \
            _Pragma("GCC unroll 8") for (int d = 0; d < (int)sizeof(P) / 2; d++)                 \
                counts[d * TD_RADIX + (int)(p[i] >> (4 * sizeof(P) + 8 * (unsigned)d) & 255)]++; \
    }                                                                                            \
    static void count_digit_##suffix(int64_t *counts, const void *packs, int64_t n, int shift)   \
    {                                                                                            \
        const P *p = packs;                                                                      \
        for (int64_t i = 0; i < n; i++) counts[(int)(p[i] >> shift & 255)]++;                    \
    }                                                                                            \
    static void scatter_##suffix(void *out, const void *packs, int64_t n, int shift,             \
                                 int64_t *next)                                                  \
    {                                                                                            \
        P *o = out;                                                                              \
        const P *p = packs;                                                                      \
        for (int64_t i = 0; i < n; i++) o[next[(int)(p[i] >> shift & 255)]++] = p[i];            \
    }                                                                                            \
    /* quickselect by the median of three; packs are distinct */                                 \
    static void select_##suffix(void *packs, int64_t n, int64_t k)                               \
    {                                                                                            \
        P *p = packs;                                                                            \
        int64_t low = 0, high = n - 1;                                                           \
        while (high - low > 16) {                                                                \
            P a = p[low], b = p[low + (high - low) / 2], c = p[high];                            \
            P pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);         \
            int64_t i = low, j = high;                                                           \
            while (i <= j) {                                                                     \
                while (p[i] < pivot) i++;                                                        \
                while (pivot < p[j]) j--;                                                        \
                if (i > j) break;                                                                \
                P t = p[i];                                                                      \
                p[i++] = p[j];                                                                   \
                p[j--] = t;                                                                      \
            }                                                                                    \
            if (k <= j) high = j;                                                                \
            else if (k >= i) low = i;                                                            \
            else return;                                                                         \
        }                                                                                        \
        insertion_##suffix(p + low, high - low + 1);                                             \
    }
PACKS(narrow, narrow)
PACKS(wide, wide)

/* ---- elements: T of the row, K its key, P the pack ---- */

#define BLOCK 64
#define ELEMENTS(suffix, T, K, P, packs_name)                                                      \
    static void make_##suffix(void *packs, const void *data, int64_t first, int64_t n,             \
                              int descending)                                                      \
    {                                                                                              \
        P *p = packs;                                                                              \
        const T *x = (const T *)data + first;                                                      \
        K flip = descending ? (K) ~(K)0 : 0;                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            p[i] = (P)(key_##suffix(x[i]) ^ flip) << (8 * sizeof(K)) | (P)(first + i);             \
    }                                                                                              \
    static void write_##suffix(void *values, int64_t values_step, int64_t *indices,                \
                               int64_t indices_step, const void *packs, const void *data,          \
                               int64_t n)                                                          \
    {                                                                                              \
        T *v = values;                                                                             \
        const T *x = data;                                                                         \
        const P *p = packs;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int64_t at = (int64_t)(p[i] & (P)(K) ~(K)0);                                           \
            v[i * values_step] = x[at];                                                            \
            indices[i * indices_step] = at;                                                        \
        }                                                                                          \
    }                                                                                              \
    /* Blocks whose best key is no better than the k-th one found so far are passed over. */       \
    static void top_##suffix(void *buffer, const void *data, int64_t n, int64_t k, int descending) \
    {                                                                                              \
        P *p = buffer;                                                                             \
        const T *x = data;                                                                         \
        K flip = descending ? (K) ~(K)0 : 0, limit = (K) ~(K)0, keys[BLOCK];                       \
        int64_t have = 0, room = td_top_capacity(k);                                               \
        bool full = false; /* `limit` is the k-th key found: only smaller ones can matter */       \
        for (int64_t first = 0; first < n; first += BLOCK) {                                       \
            int64_t m = n - first < BLOCK ? n - first : BLOCK;                                     \
            K best = (K) ~(K)0;                                                                    \
            for (int64_t i = 0; i < m; i++) {                                                      \
                keys[i] = (K)(key_##suffix(x[first + i]) ^ flip);                                  \
                best = keys[i] < best ? keys[i] : best;                                            \
            }                                                                                      \
            if (full && best >= limit) continue;                                                   \
            for (int64_t i = 0; i < m; i++)                                                        \
                if (!full || keys[i] < limit)                                                      \
                    p[have++] = (P)keys[i] << (8 * sizeof(K)) | (P)(first + i);                    \
            if (have + BLOCK <= room) continue;                                                    \
            select_##packs_name(p, have, k - 1);                                                   \
            limit = (K)(p[k - 1] >> (8 * sizeof(K)));                                              \
            have = k;                                                                              \
            full = true;                                                                           \
        }                                                                                          \
        if (have > k) select_##packs_name(p, have, k - 1);                                         \
    }
ELEMENTS(u8, uint8_t, uint32_t, narrow, narrow)
ELEMENTS(i8, int8_t, uint32_t, narrow, narrow)
ELEMENTS(i16, int16_t, uint32_t, narrow, narrow)
ELEMENTS(u16, uint16_t, uint32_t, narrow, narrow)
ELEMENTS(i32, int32_t, uint32_t, narrow, narrow)
ELEMENTS(u32, uint32_t, uint32_t, narrow, narrow)
ELEMENTS(f16, uint16_t, uint32_t, narrow, narrow)
ELEMENTS(bf16, uint16_t, uint32_t, narrow, narrow)
ELEMENTS(f32, float, uint32_t, narrow, narrow)
ELEMENTS(i64, int64_t, uint64_t, wide, wide)
ELEMENTS(u64, uint64_t, uint64_t, wide, wide)
ELEMENTS(f64, double, uint64_t, wide, wide)

#define PACK_ROW(P, suffix)                                                      \
    {sizeof(P),      sizeof(P) / 2,        4 * sizeof(P),    insertion_##suffix, \
     count_##suffix, count_digit_##suffix, scatter_##suffix, select_##suffix}
#define ROW(is_wide, suffix) {is_wide, make_##suffix, write_##suffix, top_##suffix}
const td_sort_kernels TD_SYM(td_sort_kernels) = {
    .pack = {PACK_ROW(narrow, narrow), PACK_ROW(wide, wide)},
    .of = {[TD_BOOL] = ROW(0, u8),
           [TD_U8] = ROW(0, u8),
           [TD_I8] = ROW(0, i8),
           [TD_I16] = ROW(0, i16),
           [TD_I32] = ROW(0, i32),
           [TD_I64] = ROW(1, i64),
           [TD_U16] = ROW(0, u16),
           [TD_U32] = ROW(0, u32),
           [TD_U64] = ROW(1, u64),
           [TD_F16] = ROW(0, f16),
           [TD_BF16] = ROW(0, bf16),
           [TD_F32] = ROW(0, f32),
           [TD_F64] = ROW(1, f64)},
};
