/* half.h - float16 and bfloat16 as integers: conversion of one element without branches, so that
 * loops over it vectorise where the processor has no instruction for it. Round to nearest even; NaN
 * becomes 0x7e00 with its sign, or as bfloat16 the default NaN of x86, 0xffc0. */
#ifndef TD_HALF_H
#define TD_HALF_H
#include <stdint.h>
#include <string.h>

static inline uint32_t td_bits_f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float td_f32_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline float td_bf16_load(uint16_t h) { return td_f32_bits((uint32_t)h << 16); }
static inline uint16_t td_bf16_store(float f)
{
    uint32_t u = td_bits_f32(f);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0xffc0u : rounded);
}

/* Shift the 15 value bits into float32's place, then scale by 2^112: denormals come out right by
 * themselves. */
static inline float td_f16_load(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, value = (uint32_t)(h & 0x7fffu) << 13;
    float scaled = td_f32_bits(value) * 0x1p112f;
    uint32_t special = value | 0x7f800000u;
    return td_f32_bits(sign | ((h & 0x7fffu) >= 0x7c00u ? special : td_bits_f32(scaled)));
}

/* Normal results round by integer arithmetic; denormal ones by adding a number whose last bit is
 * 2^-24. */
static inline uint16_t td_f16_store(float f)
{
    uint32_t u = td_bits_f32(f), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
    uint32_t denormal = td_bits_f32(td_f32_bits(a) + 0.5f) - 0x3f000000u;
    uint32_t r = a < 0x38800000u ? denormal : normal;
    r = a >= 0x47800000u ? 0x7c00u : r;
    r = a > 0x7f800000u ? 0x7e00u : r;
    return (uint16_t)(sign | r);
}

#endif
