/* taeda_torch/functions.hpp - made from the table by tools/hold/torch_functions.py: edit torch_functions.txt. */
#ifndef TAEDA_TORCH_FUNCTIONS_HPP
#define TAEDA_TORCH_FUNCTIONS_HPP
#include "taeda_torch/input.hpp"

namespace at TAEDA_HIDDEN {

inline Tensor abs(const Tensor &self)
{
    static const detail::Row row("abs");
    return row.one({self});
}
inline Tensor Tensor::abs() const { return at::abs(*this); }
inline Tensor &abs_(Tensor &self)
{
    static const detail::Row row("abs_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::abs_() const { return at::abs_(const_cast<Tensor &>(*this)); }
inline Tensor acos(const Tensor &self)
{
    static const detail::Row row("acos");
    return row.one({self});
}
inline Tensor Tensor::acos() const { return at::acos(*this); }
inline Tensor &acos_(Tensor &self)
{
    static const detail::Row row("acos_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::acos_() const { return at::acos_(const_cast<Tensor &>(*this)); }
inline Tensor acosh(const Tensor &self)
{
    static const detail::Row row("acosh");
    return row.one({self});
}
inline Tensor Tensor::acosh() const { return at::acosh(*this); }
inline Tensor &acosh_(Tensor &self)
{
    static const detail::Row row("acosh_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::acosh_() const { return at::acosh_(const_cast<Tensor &>(*this)); }
inline Tensor asin(const Tensor &self)
{
    static const detail::Row row("asin");
    return row.one({self});
}
inline Tensor Tensor::asin() const { return at::asin(*this); }
inline Tensor &asin_(Tensor &self)
{
    static const detail::Row row("asin_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::asin_() const { return at::asin_(const_cast<Tensor &>(*this)); }
inline Tensor asinh(const Tensor &self)
{
    static const detail::Row row("asinh");
    return row.one({self});
}
inline Tensor Tensor::asinh() const { return at::asinh(*this); }
inline Tensor &asinh_(Tensor &self)
{
    static const detail::Row row("asinh_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::asinh_() const { return at::asinh_(const_cast<Tensor &>(*this)); }
inline Tensor atan(const Tensor &self)
{
    static const detail::Row row("atan");
    return row.one({self});
}
inline Tensor Tensor::atan() const { return at::atan(*this); }
inline Tensor &atan_(Tensor &self)
{
    static const detail::Row row("atan_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::atan_() const { return at::atan_(const_cast<Tensor &>(*this)); }
inline Tensor atanh(const Tensor &self)
{
    static const detail::Row row("atanh");
    return row.one({self});
}
inline Tensor Tensor::atanh() const { return at::atanh(*this); }
inline Tensor &atanh_(Tensor &self)
{
    static const detail::Row row("atanh_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::atanh_() const { return at::atanh_(const_cast<Tensor &>(*this)); }
inline Tensor atan2(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("atan2");
    return row.one({self, other});
}
inline Tensor Tensor::atan2(const Tensor &other) const { return at::atan2(*this, other); }
inline Tensor &atan2_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("atan2_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::atan2_(const Tensor &other) const { return at::atan2_(const_cast<Tensor &>(*this), other); }
inline Tensor ceil(const Tensor &self)
{
    static const detail::Row row("ceil");
    return row.one({self});
}
inline Tensor Tensor::ceil() const { return at::ceil(*this); }
inline Tensor &ceil_(Tensor &self)
{
    static const detail::Row row("ceil_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::ceil_() const { return at::ceil_(const_cast<Tensor &>(*this)); }
inline Tensor cos(const Tensor &self)
{
    static const detail::Row row("cos");
    return row.one({self});
}
inline Tensor Tensor::cos() const { return at::cos(*this); }
inline Tensor &cos_(Tensor &self)
{
    static const detail::Row row("cos_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::cos_() const { return at::cos_(const_cast<Tensor &>(*this)); }
inline Tensor cosh(const Tensor &self)
{
    static const detail::Row row("cosh");
    return row.one({self});
}
inline Tensor Tensor::cosh() const { return at::cosh(*this); }
inline Tensor &cosh_(Tensor &self)
{
    static const detail::Row row("cosh_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::cosh_() const { return at::cosh_(const_cast<Tensor &>(*this)); }
inline Tensor erf(const Tensor &self)
{
    static const detail::Row row("erf");
    return row.one({self});
}
inline Tensor Tensor::erf() const { return at::erf(*this); }
inline Tensor &erf_(Tensor &self)
{
    static const detail::Row row("erf_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::erf_() const { return at::erf_(const_cast<Tensor &>(*this)); }
inline Tensor erfc(const Tensor &self)
{
    static const detail::Row row("erfc");
    return row.one({self});
}
inline Tensor Tensor::erfc() const { return at::erfc(*this); }
inline Tensor &erfc_(Tensor &self)
{
    static const detail::Row row("erfc_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::erfc_() const { return at::erfc_(const_cast<Tensor &>(*this)); }
inline Tensor erfinv(const Tensor &self)
{
    static const detail::Row row("erfinv");
    return row.one({self});
}
inline Tensor Tensor::erfinv() const { return at::erfinv(*this); }
inline Tensor &erfinv_(Tensor &self)
{
    static const detail::Row row("erfinv_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::erfinv_() const { return at::erfinv_(const_cast<Tensor &>(*this)); }
inline Tensor exp(const Tensor &self)
{
    static const detail::Row row("exp");
    return row.one({self});
}
inline Tensor Tensor::exp() const { return at::exp(*this); }
inline Tensor &exp_(Tensor &self)
{
    static const detail::Row row("exp_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::exp_() const { return at::exp_(const_cast<Tensor &>(*this)); }
inline Tensor exp2(const Tensor &self)
{
    static const detail::Row row("exp2");
    return row.one({self});
}
inline Tensor Tensor::exp2() const { return at::exp2(*this); }
inline Tensor &exp2_(Tensor &self)
{
    static const detail::Row row("exp2_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::exp2_() const { return at::exp2_(const_cast<Tensor &>(*this)); }
inline Tensor expm1(const Tensor &self)
{
    static const detail::Row row("expm1");
    return row.one({self});
}
inline Tensor Tensor::expm1() const { return at::expm1(*this); }
inline Tensor &expm1_(Tensor &self)
{
    static const detail::Row row("expm1_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::expm1_() const { return at::expm1_(const_cast<Tensor &>(*this)); }
inline Tensor floor(const Tensor &self)
{
    static const detail::Row row("floor");
    return row.one({self});
}
inline Tensor Tensor::floor() const { return at::floor(*this); }
inline Tensor &floor_(Tensor &self)
{
    static const detail::Row row("floor_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::floor_() const { return at::floor_(const_cast<Tensor &>(*this)); }
inline Tensor frac(const Tensor &self)
{
    static const detail::Row row("frac");
    return row.one({self});
}
inline Tensor Tensor::frac() const { return at::frac(*this); }
inline Tensor &frac_(Tensor &self)
{
    static const detail::Row row("frac_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::frac_() const { return at::frac_(const_cast<Tensor &>(*this)); }
inline Tensor log(const Tensor &self)
{
    static const detail::Row row("log");
    return row.one({self});
}
inline Tensor Tensor::log() const { return at::log(*this); }
inline Tensor &log_(Tensor &self)
{
    static const detail::Row row("log_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::log_() const { return at::log_(const_cast<Tensor &>(*this)); }
inline Tensor log10(const Tensor &self)
{
    static const detail::Row row("log10");
    return row.one({self});
}
inline Tensor Tensor::log10() const { return at::log10(*this); }
inline Tensor &log10_(Tensor &self)
{
    static const detail::Row row("log10_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::log10_() const { return at::log10_(const_cast<Tensor &>(*this)); }
inline Tensor log1p(const Tensor &self)
{
    static const detail::Row row("log1p");
    return row.one({self});
}
inline Tensor Tensor::log1p() const { return at::log1p(*this); }
inline Tensor &log1p_(Tensor &self)
{
    static const detail::Row row("log1p_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::log1p_() const { return at::log1p_(const_cast<Tensor &>(*this)); }
inline Tensor log2(const Tensor &self)
{
    static const detail::Row row("log2");
    return row.one({self});
}
inline Tensor Tensor::log2() const { return at::log2(*this); }
inline Tensor &log2_(Tensor &self)
{
    static const detail::Row row("log2_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::log2_() const { return at::log2_(const_cast<Tensor &>(*this)); }
inline Tensor neg(const Tensor &self)
{
    static const detail::Row row("neg");
    return row.one({self});
}
inline Tensor Tensor::neg() const { return at::neg(*this); }
inline Tensor &neg_(Tensor &self)
{
    static const detail::Row row("neg_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::neg_() const { return at::neg_(const_cast<Tensor &>(*this)); }
inline Tensor reciprocal(const Tensor &self)
{
    static const detail::Row row("reciprocal");
    return row.one({self});
}
inline Tensor Tensor::reciprocal() const { return at::reciprocal(*this); }
inline Tensor &reciprocal_(Tensor &self)
{
    static const detail::Row row("reciprocal_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::reciprocal_() const { return at::reciprocal_(const_cast<Tensor &>(*this)); }
inline Tensor round(const Tensor &self)
{
    static const detail::Row row("round");
    return row.one({self});
}
inline Tensor Tensor::round() const { return at::round(*this); }
inline Tensor &round_(Tensor &self)
{
    static const detail::Row row("round_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::round_() const { return at::round_(const_cast<Tensor &>(*this)); }
inline Tensor round(const Tensor &self, int64_t decimals)
{
    static const detail::Row row("round.decimals");
    return row.one({self, decimals});
}
inline Tensor Tensor::round(int64_t decimals) const { return at::round(*this, decimals); }
inline Tensor &round_(Tensor &self, int64_t decimals)
{
    static const detail::Row row("round_.decimals");
    row.list({self, decimals});
    return self;
}
inline Tensor &Tensor::round_(int64_t decimals) const { return at::round_(const_cast<Tensor &>(*this), decimals); }
inline Tensor rsqrt(const Tensor &self)
{
    static const detail::Row row("rsqrt");
    return row.one({self});
}
inline Tensor Tensor::rsqrt() const { return at::rsqrt(*this); }
inline Tensor &rsqrt_(Tensor &self)
{
    static const detail::Row row("rsqrt_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::rsqrt_() const { return at::rsqrt_(const_cast<Tensor &>(*this)); }
inline Tensor sigmoid(const Tensor &self)
{
    static const detail::Row row("sigmoid");
    return row.one({self});
}
inline Tensor Tensor::sigmoid() const { return at::sigmoid(*this); }
inline Tensor &sigmoid_(Tensor &self)
{
    static const detail::Row row("sigmoid_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::sigmoid_() const { return at::sigmoid_(const_cast<Tensor &>(*this)); }
inline Tensor sign(const Tensor &self)
{
    static const detail::Row row("sign");
    return row.one({self});
}
inline Tensor Tensor::sign() const { return at::sign(*this); }
inline Tensor &sign_(Tensor &self)
{
    static const detail::Row row("sign_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::sign_() const { return at::sign_(const_cast<Tensor &>(*this)); }
inline Tensor sgn(const Tensor &self)
{
    static const detail::Row row("sgn");
    return row.one({self});
}
inline Tensor Tensor::sgn() const { return at::sgn(*this); }
inline Tensor &sgn_(Tensor &self)
{
    static const detail::Row row("sgn_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::sgn_() const { return at::sgn_(const_cast<Tensor &>(*this)); }
inline Tensor sin(const Tensor &self)
{
    static const detail::Row row("sin");
    return row.one({self});
}
inline Tensor Tensor::sin() const { return at::sin(*this); }
inline Tensor &sin_(Tensor &self)
{
    static const detail::Row row("sin_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::sin_() const { return at::sin_(const_cast<Tensor &>(*this)); }
inline Tensor sinh(const Tensor &self)
{
    static const detail::Row row("sinh");
    return row.one({self});
}
inline Tensor Tensor::sinh() const { return at::sinh(*this); }
inline Tensor &sinh_(Tensor &self)
{
    static const detail::Row row("sinh_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::sinh_() const { return at::sinh_(const_cast<Tensor &>(*this)); }
inline Tensor sqrt(const Tensor &self)
{
    static const detail::Row row("sqrt");
    return row.one({self});
}
inline Tensor Tensor::sqrt() const { return at::sqrt(*this); }
inline Tensor &sqrt_(Tensor &self)
{
    static const detail::Row row("sqrt_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::sqrt_() const { return at::sqrt_(const_cast<Tensor &>(*this)); }
inline Tensor square(const Tensor &self)
{
    static const detail::Row row("square");
    return row.one({self});
}
inline Tensor Tensor::square() const { return at::square(*this); }
inline Tensor &square_(Tensor &self)
{
    static const detail::Row row("square_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::square_() const { return at::square_(const_cast<Tensor &>(*this)); }
inline Tensor tan(const Tensor &self)
{
    static const detail::Row row("tan");
    return row.one({self});
}
inline Tensor Tensor::tan() const { return at::tan(*this); }
inline Tensor &tan_(Tensor &self)
{
    static const detail::Row row("tan_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::tan_() const { return at::tan_(const_cast<Tensor &>(*this)); }
inline Tensor tanh(const Tensor &self)
{
    static const detail::Row row("tanh");
    return row.one({self});
}
inline Tensor Tensor::tanh() const { return at::tanh(*this); }
inline Tensor &tanh_(Tensor &self)
{
    static const detail::Row row("tanh_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::tanh_() const { return at::tanh_(const_cast<Tensor &>(*this)); }
inline Tensor trunc(const Tensor &self)
{
    static const detail::Row row("trunc");
    return row.one({self});
}
inline Tensor Tensor::trunc() const { return at::trunc(*this); }
inline Tensor &trunc_(Tensor &self)
{
    static const detail::Row row("trunc_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::trunc_() const { return at::trunc_(const_cast<Tensor &>(*this)); }
inline Tensor lgamma(const Tensor &self)
{
    static const detail::Row row("lgamma");
    return row.one({self});
}
inline Tensor Tensor::lgamma() const { return at::lgamma(*this); }
inline Tensor &lgamma_(Tensor &self)
{
    static const detail::Row row("lgamma_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::lgamma_() const { return at::lgamma_(const_cast<Tensor &>(*this)); }
inline Tensor digamma(const Tensor &self)
{
    static const detail::Row row("digamma");
    return row.one({self});
}
inline Tensor Tensor::digamma() const { return at::digamma(*this); }
inline Tensor &digamma_(Tensor &self)
{
    static const detail::Row row("digamma_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::digamma_() const { return at::digamma_(const_cast<Tensor &>(*this)); }
inline Tensor deg2rad(const Tensor &self)
{
    static const detail::Row row("deg2rad");
    return row.one({self});
}
inline Tensor Tensor::deg2rad() const { return at::deg2rad(*this); }
inline Tensor &deg2rad_(Tensor &self)
{
    static const detail::Row row("deg2rad_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::deg2rad_() const { return at::deg2rad_(const_cast<Tensor &>(*this)); }
inline Tensor rad2deg(const Tensor &self)
{
    static const detail::Row row("rad2deg");
    return row.one({self});
}
inline Tensor Tensor::rad2deg() const { return at::rad2deg(*this); }
inline Tensor &rad2deg_(Tensor &self)
{
    static const detail::Row row("rad2deg_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::rad2deg_() const { return at::rad2deg_(const_cast<Tensor &>(*this)); }
inline Tensor logit(const Tensor &self, std::optional<double> eps = nullopt)
{
    static const detail::Row row("logit");
    return row.one({self, eps});
}
inline Tensor Tensor::logit(std::optional<double> eps) const { return at::logit(*this, eps); }
inline Tensor &logit_(Tensor &self, std::optional<double> eps = nullopt)
{
    static const detail::Row row("logit_");
    row.list({self, eps});
    return self;
}
inline Tensor &Tensor::logit_(std::optional<double> eps) const { return at::logit_(const_cast<Tensor &>(*this), eps); }
inline Tensor isnan(const Tensor &self)
{
    static const detail::Row row("isnan");
    return row.one({self});
}
inline Tensor Tensor::isnan() const { return at::isnan(*this); }
inline Tensor isinf(const Tensor &self)
{
    static const detail::Row row("isinf");
    return row.one({self});
}
inline Tensor Tensor::isinf() const { return at::isinf(*this); }
inline Tensor isfinite(const Tensor &self)
{
    static const detail::Row row("isfinite");
    return row.one({self});
}
inline Tensor Tensor::isfinite() const { return at::isfinite(*this); }
inline Tensor logical_not(const Tensor &self)
{
    static const detail::Row row("logical_not");
    return row.one({self});
}
inline Tensor Tensor::logical_not() const { return at::logical_not(*this); }
inline Tensor &logical_not_(Tensor &self)
{
    static const detail::Row row("logical_not_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::logical_not_() const { return at::logical_not_(const_cast<Tensor &>(*this)); }
inline Tensor bitwise_not(const Tensor &self)
{
    static const detail::Row row("bitwise_not");
    return row.one({self});
}
inline Tensor Tensor::bitwise_not() const { return at::bitwise_not(*this); }
inline Tensor &bitwise_not_(Tensor &self)
{
    static const detail::Row row("bitwise_not_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::bitwise_not_() const { return at::bitwise_not_(const_cast<Tensor &>(*this)); }
inline Tensor relu(const Tensor &self)
{
    static const detail::Row row("relu");
    return row.one({self});
}
inline Tensor Tensor::relu() const { return at::relu(*this); }
inline Tensor &relu_(Tensor &self)
{
    static const detail::Row row("relu_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::relu_() const { return at::relu_(const_cast<Tensor &>(*this)); }
inline Tensor elu(const Tensor &self, const Scalar &alpha = 1, const Scalar &scale = 1, const Scalar &input_scale = 1)
{
    static const detail::Row row("elu");
    return row.one({self, alpha, scale, input_scale});
}
inline Tensor Tensor::elu(const Scalar &alpha, const Scalar &scale, const Scalar &input_scale) const { return at::elu(*this, alpha, scale, input_scale); }
inline Tensor &elu_(Tensor &self, const Scalar &alpha = 1, const Scalar &scale = 1, const Scalar &input_scale = 1)
{
    static const detail::Row row("elu_");
    row.list({self, alpha, scale, input_scale});
    return self;
}
inline Tensor &Tensor::elu_(const Scalar &alpha, const Scalar &scale, const Scalar &input_scale) const { return at::elu_(const_cast<Tensor &>(*this), alpha, scale, input_scale); }
inline Tensor leaky_relu(const Tensor &self, const Scalar &negative_slope = 0.01)
{
    static const detail::Row row("leaky_relu");
    return row.one({self, negative_slope});
}
inline Tensor Tensor::leaky_relu(const Scalar &negative_slope) const { return at::leaky_relu(*this, negative_slope); }
inline Tensor &leaky_relu_(Tensor &self, const Scalar &negative_slope = 0.01)
{
    static const detail::Row row("leaky_relu_");
    row.list({self, negative_slope});
    return self;
}
inline Tensor &Tensor::leaky_relu_(const Scalar &negative_slope) const { return at::leaky_relu_(const_cast<Tensor &>(*this), negative_slope); }
inline Tensor gelu(const Tensor &self, string_view approximate = "none")
{
    static const detail::Row row("gelu");
    return row.one({self, approximate});
}
inline Tensor Tensor::gelu(string_view approximate) const { return at::gelu(*this, approximate); }
inline Tensor &gelu_(Tensor &self, string_view approximate = "none")
{
    static const detail::Row row("gelu_");
    row.list({self, approximate});
    return self;
}
inline Tensor &Tensor::gelu_(string_view approximate) const { return at::gelu_(const_cast<Tensor &>(*this), approximate); }
inline Tensor silu(const Tensor &self)
{
    static const detail::Row row("silu");
    return row.one({self});
}
inline Tensor Tensor::silu() const { return at::silu(*this); }
inline Tensor &silu_(Tensor &self)
{
    static const detail::Row row("silu_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::silu_() const { return at::silu_(const_cast<Tensor &>(*this)); }
inline Tensor softplus(const Tensor &self, const Scalar &beta = 1, const Scalar &threshold = 20)
{
    static const detail::Row row("softplus");
    return row.one({self, beta, threshold});
}
inline Tensor Tensor::softplus(const Scalar &beta, const Scalar &threshold) const { return at::softplus(*this, beta, threshold); }
inline Tensor hardtanh(const Tensor &self, const Scalar &min_val = -1, const Scalar &max_val = 1)
{
    static const detail::Row row("hardtanh");
    return row.one({self, min_val, max_val});
}
inline Tensor Tensor::hardtanh(const Scalar &min_val, const Scalar &max_val) const { return at::hardtanh(*this, min_val, max_val); }
inline Tensor &hardtanh_(Tensor &self, const Scalar &min_val = -1, const Scalar &max_val = 1)
{
    static const detail::Row row("hardtanh_");
    row.list({self, min_val, max_val});
    return self;
}
inline Tensor &Tensor::hardtanh_(const Scalar &min_val, const Scalar &max_val) const { return at::hardtanh_(const_cast<Tensor &>(*this), min_val, max_val); }
inline Tensor hardswish(const Tensor &self)
{
    static const detail::Row row("hardswish");
    return row.one({self});
}
inline Tensor Tensor::hardswish() const { return at::hardswish(*this); }
inline Tensor &hardswish_(Tensor &self)
{
    static const detail::Row row("hardswish_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::hardswish_() const { return at::hardswish_(const_cast<Tensor &>(*this)); }
inline Tensor hardsigmoid(const Tensor &self)
{
    static const detail::Row row("hardsigmoid");
    return row.one({self});
}
inline Tensor Tensor::hardsigmoid() const { return at::hardsigmoid(*this); }
inline Tensor &hardsigmoid_(Tensor &self)
{
    static const detail::Row row("hardsigmoid_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::hardsigmoid_() const { return at::hardsigmoid_(const_cast<Tensor &>(*this)); }
inline Tensor mish(const Tensor &self)
{
    static const detail::Row row("mish");
    return row.one({self});
}
inline Tensor Tensor::mish() const { return at::mish(*this); }
inline Tensor &mish_(Tensor &self)
{
    static const detail::Row row("mish_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::mish_() const { return at::mish_(const_cast<Tensor &>(*this)); }
inline Tensor selu(const Tensor &self)
{
    static const detail::Row row("selu");
    return row.one({self});
}
inline Tensor Tensor::selu() const { return at::selu(*this); }
inline Tensor &selu_(Tensor &self)
{
    static const detail::Row row("selu_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::selu_() const { return at::selu_(const_cast<Tensor &>(*this)); }
inline Tensor celu(const Tensor &self, const Scalar &alpha = 1.0)
{
    static const detail::Row row("celu");
    return row.one({self, alpha});
}
inline Tensor Tensor::celu(const Scalar &alpha) const { return at::celu(*this, alpha); }
inline Tensor &celu_(Tensor &self, const Scalar &alpha = 1.0)
{
    static const detail::Row row("celu_");
    row.list({self, alpha});
    return self;
}
inline Tensor &Tensor::celu_(const Scalar &alpha) const { return at::celu_(const_cast<Tensor &>(*this), alpha); }
inline Tensor prelu(const Tensor &self, const Tensor &weight)
{
    static const detail::Row row("prelu");
    return row.one({self, weight});
}
inline Tensor Tensor::prelu(const Tensor &weight) const { return at::prelu(*this, weight); }
inline Tensor softmax(const Tensor &self, int64_t dim, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("softmax.int");
    return row.one({self, dim, dtype});
}
inline Tensor Tensor::softmax(int64_t dim, std::optional<ScalarType> dtype) const { return at::softmax(*this, dim, dtype); }
inline Tensor log_softmax(const Tensor &self, int64_t dim, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("log_softmax.int");
    return row.one({self, dim, dtype});
}
inline Tensor Tensor::log_softmax(int64_t dim, std::optional<ScalarType> dtype) const { return at::log_softmax(*this, dim, dtype); }
inline Tensor add(const Tensor &self, const Tensor &other, const Scalar &alpha = 1)
{
    static const detail::Row row("add.Tensor");
    return row.one({self, other, alpha});
}
inline Tensor Tensor::add(const Tensor &other, const Scalar &alpha) const { return at::add(*this, other, alpha); }
inline Tensor &add_(Tensor &self, const Tensor &other, const Scalar &alpha = 1)
{
    static const detail::Row row("add_.Tensor");
    row.list({self, other, alpha});
    return self;
}
inline Tensor &Tensor::add_(const Tensor &other, const Scalar &alpha) const { return at::add_(const_cast<Tensor &>(*this), other, alpha); }
inline Tensor add(const Tensor &self, const Scalar &other, const Scalar &alpha = 1)
{
    static const detail::Row row("add.Tensor");
    return row.one({self, other, alpha});
}
inline Tensor Tensor::add(const Scalar &other, const Scalar &alpha) const { return at::add(*this, other, alpha); }
inline Tensor &add_(Tensor &self, const Scalar &other, const Scalar &alpha = 1)
{
    static const detail::Row row("add_.Tensor");
    row.list({self, other, alpha});
    return self;
}
inline Tensor &Tensor::add_(const Scalar &other, const Scalar &alpha) const { return at::add_(const_cast<Tensor &>(*this), other, alpha); }
inline Tensor sub(const Tensor &self, const Tensor &other, const Scalar &alpha = 1)
{
    static const detail::Row row("sub.Tensor");
    return row.one({self, other, alpha});
}
inline Tensor Tensor::sub(const Tensor &other, const Scalar &alpha) const { return at::sub(*this, other, alpha); }
inline Tensor &sub_(Tensor &self, const Tensor &other, const Scalar &alpha = 1)
{
    static const detail::Row row("sub_.Tensor");
    row.list({self, other, alpha});
    return self;
}
inline Tensor &Tensor::sub_(const Tensor &other, const Scalar &alpha) const { return at::sub_(const_cast<Tensor &>(*this), other, alpha); }
inline Tensor sub(const Tensor &self, const Scalar &other, const Scalar &alpha = 1)
{
    static const detail::Row row("sub.Tensor");
    return row.one({self, other, alpha});
}
inline Tensor Tensor::sub(const Scalar &other, const Scalar &alpha) const { return at::sub(*this, other, alpha); }
inline Tensor &sub_(Tensor &self, const Scalar &other, const Scalar &alpha = 1)
{
    static const detail::Row row("sub_.Tensor");
    row.list({self, other, alpha});
    return self;
}
inline Tensor &Tensor::sub_(const Scalar &other, const Scalar &alpha) const { return at::sub_(const_cast<Tensor &>(*this), other, alpha); }
inline Tensor rsub(const Tensor &self, const Tensor &other, const Scalar &alpha = 1)
{
    static const detail::Row row("rsub.Tensor");
    return row.one({self, other, alpha});
}
inline Tensor Tensor::rsub(const Tensor &other, const Scalar &alpha) const { return at::rsub(*this, other, alpha); }
inline Tensor rsub(const Tensor &self, const Scalar &other, const Scalar &alpha = 1)
{
    static const detail::Row row("rsub.Tensor");
    return row.one({self, other, alpha});
}
inline Tensor Tensor::rsub(const Scalar &other, const Scalar &alpha) const { return at::rsub(*this, other, alpha); }
inline Tensor mul(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("mul.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::mul(const Tensor &other) const { return at::mul(*this, other); }
inline Tensor &mul_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("mul_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::mul_(const Tensor &other) const { return at::mul_(const_cast<Tensor &>(*this), other); }
inline Tensor mul(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("mul.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::mul(const Scalar &other) const { return at::mul(*this, other); }
inline Tensor &mul_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("mul_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::mul_(const Scalar &other) const { return at::mul_(const_cast<Tensor &>(*this), other); }
inline Tensor div(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("div.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::div(const Tensor &other) const { return at::div(*this, other); }
inline Tensor &div_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("div_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::div_(const Tensor &other) const { return at::div_(const_cast<Tensor &>(*this), other); }
inline Tensor div(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("div.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::div(const Scalar &other) const { return at::div(*this, other); }
inline Tensor &div_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("div_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::div_(const Scalar &other) const { return at::div_(const_cast<Tensor &>(*this), other); }
inline Tensor div(const Tensor &self, const Tensor &other, std::optional<string_view> rounding_mode)
{
    static const detail::Row row("div.Tensor_mode");
    return row.one({self, other, rounding_mode});
}
inline Tensor Tensor::div(const Tensor &other, std::optional<string_view> rounding_mode) const { return at::div(*this, other, rounding_mode); }
inline Tensor &div_(Tensor &self, const Tensor &other, std::optional<string_view> rounding_mode)
{
    static const detail::Row row("div_.Tensor_mode");
    row.list({self, other, rounding_mode});
    return self;
}
inline Tensor &Tensor::div_(const Tensor &other, std::optional<string_view> rounding_mode) const { return at::div_(const_cast<Tensor &>(*this), other, rounding_mode); }
inline Tensor div(const Tensor &self, const Scalar &other, std::optional<string_view> rounding_mode)
{
    static const detail::Row row("div.Tensor_mode");
    return row.one({self, other, rounding_mode});
}
inline Tensor Tensor::div(const Scalar &other, std::optional<string_view> rounding_mode) const { return at::div(*this, other, rounding_mode); }
inline Tensor &div_(Tensor &self, const Scalar &other, std::optional<string_view> rounding_mode)
{
    static const detail::Row row("div_.Tensor_mode");
    row.list({self, other, rounding_mode});
    return self;
}
inline Tensor &Tensor::div_(const Scalar &other, std::optional<string_view> rounding_mode) const { return at::div_(const_cast<Tensor &>(*this), other, rounding_mode); }
inline Tensor true_divide(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("div.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::true_divide(const Tensor &other) const { return at::true_divide(*this, other); }
inline Tensor &true_divide_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("div_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::true_divide_(const Tensor &other) const { return at::true_divide_(const_cast<Tensor &>(*this), other); }
inline Tensor true_divide(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("div.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::true_divide(const Scalar &other) const { return at::true_divide(*this, other); }
inline Tensor &true_divide_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("div_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::true_divide_(const Scalar &other) const { return at::true_divide_(const_cast<Tensor &>(*this), other); }
inline Tensor floor_divide(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("floor_divide");
    return row.one({self, other});
}
inline Tensor Tensor::floor_divide(const Tensor &other) const { return at::floor_divide(*this, other); }
inline Tensor &floor_divide_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("floor_divide_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::floor_divide_(const Tensor &other) const { return at::floor_divide_(const_cast<Tensor &>(*this), other); }
inline Tensor floor_divide(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("floor_divide");
    return row.one({self, other});
}
inline Tensor Tensor::floor_divide(const Scalar &other) const { return at::floor_divide(*this, other); }
inline Tensor &floor_divide_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("floor_divide_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::floor_divide_(const Scalar &other) const { return at::floor_divide_(const_cast<Tensor &>(*this), other); }
inline Tensor remainder(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("remainder.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::remainder(const Tensor &other) const { return at::remainder(*this, other); }
inline Tensor &remainder_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("remainder_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::remainder_(const Tensor &other) const { return at::remainder_(const_cast<Tensor &>(*this), other); }
inline Tensor remainder(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("remainder.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::remainder(const Scalar &other) const { return at::remainder(*this, other); }
inline Tensor &remainder_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("remainder_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::remainder_(const Scalar &other) const { return at::remainder_(const_cast<Tensor &>(*this), other); }
inline Tensor fmod(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("fmod.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::fmod(const Tensor &other) const { return at::fmod(*this, other); }
inline Tensor &fmod_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("fmod_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::fmod_(const Tensor &other) const { return at::fmod_(const_cast<Tensor &>(*this), other); }
inline Tensor fmod(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("fmod.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::fmod(const Scalar &other) const { return at::fmod(*this, other); }
inline Tensor &fmod_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("fmod_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::fmod_(const Scalar &other) const { return at::fmod_(const_cast<Tensor &>(*this), other); }
inline Tensor pow(const Tensor &self, const Tensor &exponent)
{
    static const detail::Row row("pow.Tensor_Tensor");
    return row.one({self, exponent});
}
inline Tensor Tensor::pow(const Tensor &exponent) const { return at::pow(*this, exponent); }
inline Tensor &pow_(Tensor &self, const Tensor &exponent)
{
    static const detail::Row row("pow_.Tensor_Tensor");
    row.list({self, exponent});
    return self;
}
inline Tensor &Tensor::pow_(const Tensor &exponent) const { return at::pow_(const_cast<Tensor &>(*this), exponent); }
inline Tensor pow(const Tensor &self, const Scalar &exponent)
{
    static const detail::Row row("pow.Tensor_Tensor");
    return row.one({self, exponent});
}
inline Tensor Tensor::pow(const Scalar &exponent) const { return at::pow(*this, exponent); }
inline Tensor &pow_(Tensor &self, const Scalar &exponent)
{
    static const detail::Row row("pow_.Tensor_Tensor");
    row.list({self, exponent});
    return self;
}
inline Tensor &Tensor::pow_(const Scalar &exponent) const { return at::pow_(const_cast<Tensor &>(*this), exponent); }
inline Tensor maximum(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("maximum");
    return row.one({self, other});
}
inline Tensor Tensor::maximum(const Tensor &other) const { return at::maximum(*this, other); }
inline Tensor &maximum_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("maximum_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::maximum_(const Tensor &other) const { return at::maximum_(const_cast<Tensor &>(*this), other); }
inline Tensor minimum(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("minimum");
    return row.one({self, other});
}
inline Tensor Tensor::minimum(const Tensor &other) const { return at::minimum(*this, other); }
inline Tensor &minimum_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("minimum_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::minimum_(const Tensor &other) const { return at::minimum_(const_cast<Tensor &>(*this), other); }
inline Tensor fmax(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("fmax");
    return row.one({self, other});
}
inline Tensor Tensor::fmax(const Tensor &other) const { return at::fmax(*this, other); }
inline Tensor fmin(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("fmin");
    return row.one({self, other});
}
inline Tensor Tensor::fmin(const Tensor &other) const { return at::fmin(*this, other); }
inline Tensor hypot(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("hypot");
    return row.one({self, other});
}
inline Tensor Tensor::hypot(const Tensor &other) const { return at::hypot(*this, other); }
inline Tensor &hypot_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("hypot_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::hypot_(const Tensor &other) const { return at::hypot_(const_cast<Tensor &>(*this), other); }
inline Tensor eq(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("eq.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::eq(const Tensor &other) const { return at::eq(*this, other); }
inline Tensor &eq_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("eq_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::eq_(const Tensor &other) const { return at::eq_(const_cast<Tensor &>(*this), other); }
inline Tensor eq(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("eq.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::eq(const Scalar &other) const { return at::eq(*this, other); }
inline Tensor &eq_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("eq_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::eq_(const Scalar &other) const { return at::eq_(const_cast<Tensor &>(*this), other); }
inline Tensor ne(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("ne.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::ne(const Tensor &other) const { return at::ne(*this, other); }
inline Tensor &ne_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("ne_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::ne_(const Tensor &other) const { return at::ne_(const_cast<Tensor &>(*this), other); }
inline Tensor ne(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("ne.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::ne(const Scalar &other) const { return at::ne(*this, other); }
inline Tensor &ne_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("ne_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::ne_(const Scalar &other) const { return at::ne_(const_cast<Tensor &>(*this), other); }
inline Tensor lt(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("lt.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::lt(const Tensor &other) const { return at::lt(*this, other); }
inline Tensor &lt_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("lt_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::lt_(const Tensor &other) const { return at::lt_(const_cast<Tensor &>(*this), other); }
inline Tensor lt(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("lt.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::lt(const Scalar &other) const { return at::lt(*this, other); }
inline Tensor &lt_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("lt_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::lt_(const Scalar &other) const { return at::lt_(const_cast<Tensor &>(*this), other); }
inline Tensor le(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("le.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::le(const Tensor &other) const { return at::le(*this, other); }
inline Tensor &le_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("le_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::le_(const Tensor &other) const { return at::le_(const_cast<Tensor &>(*this), other); }
inline Tensor le(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("le.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::le(const Scalar &other) const { return at::le(*this, other); }
inline Tensor &le_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("le_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::le_(const Scalar &other) const { return at::le_(const_cast<Tensor &>(*this), other); }
inline Tensor gt(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("gt.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::gt(const Tensor &other) const { return at::gt(*this, other); }
inline Tensor &gt_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("gt_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::gt_(const Tensor &other) const { return at::gt_(const_cast<Tensor &>(*this), other); }
inline Tensor gt(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("gt.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::gt(const Scalar &other) const { return at::gt(*this, other); }
inline Tensor &gt_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("gt_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::gt_(const Scalar &other) const { return at::gt_(const_cast<Tensor &>(*this), other); }
inline Tensor ge(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("ge.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::ge(const Tensor &other) const { return at::ge(*this, other); }
inline Tensor &ge_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("ge_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::ge_(const Tensor &other) const { return at::ge_(const_cast<Tensor &>(*this), other); }
inline Tensor ge(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("ge.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::ge(const Scalar &other) const { return at::ge(*this, other); }
inline Tensor &ge_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("ge_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::ge_(const Scalar &other) const { return at::ge_(const_cast<Tensor &>(*this), other); }
inline Tensor logical_and(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("logical_and");
    return row.one({self, other});
}
inline Tensor Tensor::logical_and(const Tensor &other) const { return at::logical_and(*this, other); }
inline Tensor &logical_and_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("logical_and_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::logical_and_(const Tensor &other) const { return at::logical_and_(const_cast<Tensor &>(*this), other); }
inline Tensor logical_or(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("logical_or");
    return row.one({self, other});
}
inline Tensor Tensor::logical_or(const Tensor &other) const { return at::logical_or(*this, other); }
inline Tensor &logical_or_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("logical_or_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::logical_or_(const Tensor &other) const { return at::logical_or_(const_cast<Tensor &>(*this), other); }
inline Tensor logical_xor(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("logical_xor");
    return row.one({self, other});
}
inline Tensor Tensor::logical_xor(const Tensor &other) const { return at::logical_xor(*this, other); }
inline Tensor &logical_xor_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("logical_xor_");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::logical_xor_(const Tensor &other) const { return at::logical_xor_(const_cast<Tensor &>(*this), other); }
inline Tensor bitwise_and(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("bitwise_and.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::bitwise_and(const Tensor &other) const { return at::bitwise_and(*this, other); }
inline Tensor &bitwise_and_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("bitwise_and_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::bitwise_and_(const Tensor &other) const { return at::bitwise_and_(const_cast<Tensor &>(*this), other); }
inline Tensor bitwise_and(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("bitwise_and.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::bitwise_and(const Scalar &other) const { return at::bitwise_and(*this, other); }
inline Tensor &bitwise_and_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("bitwise_and_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::bitwise_and_(const Scalar &other) const { return at::bitwise_and_(const_cast<Tensor &>(*this), other); }
inline Tensor bitwise_or(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("bitwise_or.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::bitwise_or(const Tensor &other) const { return at::bitwise_or(*this, other); }
inline Tensor &bitwise_or_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("bitwise_or_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::bitwise_or_(const Tensor &other) const { return at::bitwise_or_(const_cast<Tensor &>(*this), other); }
inline Tensor bitwise_or(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("bitwise_or.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::bitwise_or(const Scalar &other) const { return at::bitwise_or(*this, other); }
inline Tensor &bitwise_or_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("bitwise_or_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::bitwise_or_(const Scalar &other) const { return at::bitwise_or_(const_cast<Tensor &>(*this), other); }
inline Tensor bitwise_xor(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("bitwise_xor.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::bitwise_xor(const Tensor &other) const { return at::bitwise_xor(*this, other); }
inline Tensor &bitwise_xor_(Tensor &self, const Tensor &other)
{
    static const detail::Row row("bitwise_xor_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::bitwise_xor_(const Tensor &other) const { return at::bitwise_xor_(const_cast<Tensor &>(*this), other); }
inline Tensor bitwise_xor(const Tensor &self, const Scalar &other)
{
    static const detail::Row row("bitwise_xor.Tensor");
    return row.one({self, other});
}
inline Tensor Tensor::bitwise_xor(const Scalar &other) const { return at::bitwise_xor(*this, other); }
inline Tensor &bitwise_xor_(Tensor &self, const Scalar &other)
{
    static const detail::Row row("bitwise_xor_.Tensor");
    row.list({self, other});
    return self;
}
inline Tensor &Tensor::bitwise_xor_(const Scalar &other) const { return at::bitwise_xor_(const_cast<Tensor &>(*this), other); }
inline Tensor addcmul(const Tensor &self, const Tensor &tensor1, const Tensor &tensor2, const Scalar &value = 1)
{
    static const detail::Row row("addcmul");
    return row.one({self, tensor1, tensor2, value});
}
inline Tensor Tensor::addcmul(const Tensor &tensor1, const Tensor &tensor2, const Scalar &value) const { return at::addcmul(*this, tensor1, tensor2, value); }
inline Tensor &addcmul_(Tensor &self, const Tensor &tensor1, const Tensor &tensor2, const Scalar &value = 1)
{
    static const detail::Row row("addcmul_");
    row.list({self, tensor1, tensor2, value});
    return self;
}
inline Tensor &Tensor::addcmul_(const Tensor &tensor1, const Tensor &tensor2, const Scalar &value) const { return at::addcmul_(const_cast<Tensor &>(*this), tensor1, tensor2, value); }
inline Tensor addcdiv(const Tensor &self, const Tensor &tensor1, const Tensor &tensor2, const Scalar &value = 1)
{
    static const detail::Row row("addcdiv");
    return row.one({self, tensor1, tensor2, value});
}
inline Tensor Tensor::addcdiv(const Tensor &tensor1, const Tensor &tensor2, const Scalar &value) const { return at::addcdiv(*this, tensor1, tensor2, value); }
inline Tensor &addcdiv_(Tensor &self, const Tensor &tensor1, const Tensor &tensor2, const Scalar &value = 1)
{
    static const detail::Row row("addcdiv_");
    row.list({self, tensor1, tensor2, value});
    return self;
}
inline Tensor &Tensor::addcdiv_(const Tensor &tensor1, const Tensor &tensor2, const Scalar &value) const { return at::addcdiv_(const_cast<Tensor &>(*this), tensor1, tensor2, value); }
inline Tensor lerp(const Tensor &self, const Tensor &end, const Tensor &weight)
{
    static const detail::Row row("lerp.Tensor");
    return row.one({self, end, weight});
}
inline Tensor Tensor::lerp(const Tensor &end, const Tensor &weight) const { return at::lerp(*this, end, weight); }
inline Tensor &lerp_(Tensor &self, const Tensor &end, const Tensor &weight)
{
    static const detail::Row row("lerp_.Tensor");
    row.list({self, end, weight});
    return self;
}
inline Tensor &Tensor::lerp_(const Tensor &end, const Tensor &weight) const { return at::lerp_(const_cast<Tensor &>(*this), end, weight); }
inline Tensor lerp(const Tensor &self, const Tensor &end, const Scalar &weight)
{
    static const detail::Row row("lerp.Tensor");
    return row.one({self, end, weight});
}
inline Tensor Tensor::lerp(const Tensor &end, const Scalar &weight) const { return at::lerp(*this, end, weight); }
inline Tensor &lerp_(Tensor &self, const Tensor &end, const Scalar &weight)
{
    static const detail::Row row("lerp_.Tensor");
    row.list({self, end, weight});
    return self;
}
inline Tensor &Tensor::lerp_(const Tensor &end, const Scalar &weight) const { return at::lerp_(const_cast<Tensor &>(*this), end, weight); }
inline Tensor clamp(const Tensor &self, const std::optional<Tensor> &min = nullopt, const std::optional<Tensor> &max = nullopt)
{
    static const detail::Row row("clamp");
    return row.one({self, min, max});
}
inline Tensor Tensor::clamp(const std::optional<Tensor> &min, const std::optional<Tensor> &max) const { return at::clamp(*this, min, max); }
inline Tensor &clamp_(Tensor &self, const std::optional<Tensor> &min = nullopt, const std::optional<Tensor> &max = nullopt)
{
    static const detail::Row row("clamp_");
    row.list({self, min, max});
    return self;
}
inline Tensor &Tensor::clamp_(const std::optional<Tensor> &min, const std::optional<Tensor> &max) const { return at::clamp_(const_cast<Tensor &>(*this), min, max); }
inline Tensor clamp(const Tensor &self, const std::optional<Scalar> &min = nullopt, const std::optional<Scalar> &max = nullopt)
{
    static const detail::Row row("clamp");
    return row.one({self, min, max});
}
inline Tensor Tensor::clamp(const std::optional<Scalar> &min, const std::optional<Scalar> &max) const { return at::clamp(*this, min, max); }
inline Tensor &clamp_(Tensor &self, const std::optional<Scalar> &min = nullopt, const std::optional<Scalar> &max = nullopt)
{
    static const detail::Row row("clamp_");
    row.list({self, min, max});
    return self;
}
inline Tensor &Tensor::clamp_(const std::optional<Scalar> &min, const std::optional<Scalar> &max) const { return at::clamp_(const_cast<Tensor &>(*this), min, max); }
inline Tensor clamp_min(const Tensor &self, const Tensor &min)
{
    static const detail::Row row("clamp_min");
    return row.one({self, min});
}
inline Tensor Tensor::clamp_min(const Tensor &min) const { return at::clamp_min(*this, min); }
inline Tensor &clamp_min_(Tensor &self, const Tensor &min)
{
    static const detail::Row row("clamp_min_");
    row.list({self, min});
    return self;
}
inline Tensor &Tensor::clamp_min_(const Tensor &min) const { return at::clamp_min_(const_cast<Tensor &>(*this), min); }
inline Tensor clamp_min(const Tensor &self, const Scalar &min)
{
    static const detail::Row row("clamp_min");
    return row.one({self, min});
}
inline Tensor Tensor::clamp_min(const Scalar &min) const { return at::clamp_min(*this, min); }
inline Tensor &clamp_min_(Tensor &self, const Scalar &min)
{
    static const detail::Row row("clamp_min_");
    row.list({self, min});
    return self;
}
inline Tensor &Tensor::clamp_min_(const Scalar &min) const { return at::clamp_min_(const_cast<Tensor &>(*this), min); }
inline Tensor clamp_max(const Tensor &self, const Tensor &max)
{
    static const detail::Row row("clamp_max");
    return row.one({self, max});
}
inline Tensor Tensor::clamp_max(const Tensor &max) const { return at::clamp_max(*this, max); }
inline Tensor &clamp_max_(Tensor &self, const Tensor &max)
{
    static const detail::Row row("clamp_max_");
    row.list({self, max});
    return self;
}
inline Tensor &Tensor::clamp_max_(const Tensor &max) const { return at::clamp_max_(const_cast<Tensor &>(*this), max); }
inline Tensor clamp_max(const Tensor &self, const Scalar &max)
{
    static const detail::Row row("clamp_max");
    return row.one({self, max});
}
inline Tensor Tensor::clamp_max(const Scalar &max) const { return at::clamp_max(*this, max); }
inline Tensor &clamp_max_(Tensor &self, const Scalar &max)
{
    static const detail::Row row("clamp_max_");
    row.list({self, max});
    return self;
}
inline Tensor &Tensor::clamp_max_(const Scalar &max) const { return at::clamp_max_(const_cast<Tensor &>(*this), max); }
inline std::vector<Tensor> where(const Tensor &condition)
{
    static const detail::Row row("where");
    return row.list({condition});
}
inline Tensor where(const Tensor &condition, const Tensor &self, const Tensor &other)
{
    static const detail::Row row("where.self");
    return row.one({condition, self, other});
}
inline Tensor where(const Tensor &condition, const Scalar &self, const Tensor &other)
{
    static const detail::Row row("where.self");
    return row.one({condition, self, other});
}
inline Tensor where(const Tensor &condition, const Tensor &self, const Scalar &other)
{
    static const detail::Row row("where.self");
    return row.one({condition, self, other});
}
inline Tensor where(const Tensor &condition, const Scalar &self, const Scalar &other)
{
    static const detail::Row row("where.self");
    return row.one({condition, self, other});
}
inline Tensor masked_fill(const Tensor &self, const Tensor &mask, const Scalar &value)
{
    static const detail::Row row("masked_fill.Scalar");
    return row.one({self, mask, value});
}
inline Tensor Tensor::masked_fill(const Tensor &mask, const Scalar &value) const { return at::masked_fill(*this, mask, value); }
inline Tensor &masked_fill_(Tensor &self, const Tensor &mask, const Scalar &value)
{
    static const detail::Row row("masked_fill_.Scalar");
    row.list({self, mask, value});
    return self;
}
inline Tensor &Tensor::masked_fill_(const Tensor &mask, const Scalar &value) const { return at::masked_fill_(const_cast<Tensor &>(*this), mask, value); }
inline Tensor masked_fill(const Tensor &self, const Tensor &mask, const Tensor &value)
{
    static const detail::Row row("masked_fill.Tensor");
    return row.one({self, mask, value});
}
inline Tensor Tensor::masked_fill(const Tensor &mask, const Tensor &value) const { return at::masked_fill(*this, mask, value); }
inline Tensor &masked_fill_(Tensor &self, const Tensor &mask, const Tensor &value)
{
    static const detail::Row row("masked_fill_.Tensor");
    row.list({self, mask, value});
    return self;
}
inline Tensor &Tensor::masked_fill_(const Tensor &mask, const Tensor &value) const { return at::masked_fill_(const_cast<Tensor &>(*this), mask, value); }
inline Tensor &fill_(Tensor &self, const Scalar &value)
{
    static const detail::Row row("fill_.Scalar");
    row.list({self, value});
    return self;
}
inline Tensor &Tensor::fill_(const Scalar &value) const { return at::fill_(const_cast<Tensor &>(*this), value); }
inline Tensor &fill_(Tensor &self, const Tensor &value)
{
    static const detail::Row row("fill_.Tensor");
    row.list({self, value});
    return self;
}
inline Tensor &Tensor::fill_(const Tensor &value) const { return at::fill_(const_cast<Tensor &>(*this), value); }
inline Tensor &zero_(Tensor &self)
{
    static const detail::Row row("zero_");
    row.list({self});
    return self;
}
inline Tensor &Tensor::zero_() const { return at::zero_(const_cast<Tensor &>(*this)); }
inline Tensor &copy_(Tensor &self, const Tensor &src, bool non_blocking = false)
{
    static const detail::Row row("copy_");
    row.list({self, src, non_blocking});
    return self;
}
inline Tensor &Tensor::copy_(const Tensor &src, bool non_blocking) const { return at::copy_(const_cast<Tensor &>(*this), src, non_blocking); }
inline Tensor sum(const Tensor &self, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("sum");
    return row.one({self, dtype});
}
inline Tensor Tensor::sum(std::optional<ScalarType> dtype) const { return at::sum(*this, dtype); }
inline Tensor sum(const Tensor &self, OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("sum.dim_IntList");
    return row.one({self, dim, keepdim, dtype});
}
inline Tensor Tensor::sum(OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const { return at::sum(*this, dim, keepdim, dtype); }
inline Tensor mean(const Tensor &self, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("mean");
    return row.one({self, dtype});
}
inline Tensor Tensor::mean(std::optional<ScalarType> dtype) const { return at::mean(*this, dtype); }
inline Tensor mean(const Tensor &self, OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("mean.dim");
    return row.one({self, dim, keepdim, dtype});
}
inline Tensor Tensor::mean(OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const { return at::mean(*this, dim, keepdim, dtype); }
inline Tensor prod(const Tensor &self, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("prod");
    return row.one({self, dtype});
}
inline Tensor Tensor::prod(std::optional<ScalarType> dtype) const { return at::prod(*this, dtype); }
inline Tensor prod(const Tensor &self, int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("prod.dim_int");
    return row.one({self, dim, keepdim, dtype});
}
inline Tensor Tensor::prod(int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const { return at::prod(*this, dim, keepdim, dtype); }
inline Tensor max(const Tensor &self)
{
    static const detail::Row row("max");
    return row.one({self});
}
inline Tensor Tensor::max() const { return at::max(*this); }
inline Tensor max(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("max.other");
    return row.one({self, other});
}
inline Tensor Tensor::max(const Tensor &other) const { return at::max(*this, other); }
inline std::tuple<Tensor, Tensor> max(const Tensor &self, int64_t dim, bool keepdim = false)
{
    static const detail::Row row("max.dim");
    return row.tuple<2>({self, dim, keepdim});
}
inline std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const { return at::max(*this, dim, keepdim); }
inline Tensor min(const Tensor &self)
{
    static const detail::Row row("min");
    return row.one({self});
}
inline Tensor Tensor::min() const { return at::min(*this); }
inline Tensor min(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("min.other");
    return row.one({self, other});
}
inline Tensor Tensor::min(const Tensor &other) const { return at::min(*this, other); }
inline std::tuple<Tensor, Tensor> min(const Tensor &self, int64_t dim, bool keepdim = false)
{
    static const detail::Row row("min.dim");
    return row.tuple<2>({self, dim, keepdim});
}
inline std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const { return at::min(*this, dim, keepdim); }
inline Tensor amax(const Tensor &self, IntArrayRef dim = {}, bool keepdim = false)
{
    static const detail::Row row("amax");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::amax(IntArrayRef dim, bool keepdim) const { return at::amax(*this, dim, keepdim); }
inline Tensor amin(const Tensor &self, IntArrayRef dim = {}, bool keepdim = false)
{
    static const detail::Row row("amin");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::amin(IntArrayRef dim, bool keepdim) const { return at::amin(*this, dim, keepdim); }
inline Tensor argmax(const Tensor &self, std::optional<int64_t> dim = nullopt, bool keepdim = false)
{
    static const detail::Row row("argmax");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim) const { return at::argmax(*this, dim, keepdim); }
inline Tensor argmin(const Tensor &self, std::optional<int64_t> dim = nullopt, bool keepdim = false)
{
    static const detail::Row row("argmin");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim) const { return at::argmin(*this, dim, keepdim); }
inline Tensor any(const Tensor &self)
{
    static const detail::Row row("any");
    return row.one({self});
}
inline Tensor Tensor::any() const { return at::any(*this); }
inline Tensor any(const Tensor &self, int64_t dim, bool keepdim = false)
{
    static const detail::Row row("any.dim");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::any(int64_t dim, bool keepdim) const { return at::any(*this, dim, keepdim); }
inline Tensor any(const Tensor &self, OptionalIntArrayRef dim = nullopt, bool keepdim = false)
{
    static const detail::Row row("any.dims");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::any(OptionalIntArrayRef dim, bool keepdim) const { return at::any(*this, dim, keepdim); }
inline Tensor all(const Tensor &self)
{
    static const detail::Row row("all");
    return row.one({self});
}
inline Tensor Tensor::all() const { return at::all(*this); }
inline Tensor all(const Tensor &self, int64_t dim, bool keepdim = false)
{
    static const detail::Row row("all.dim");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::all(int64_t dim, bool keepdim) const { return at::all(*this, dim, keepdim); }
inline Tensor all(const Tensor &self, OptionalIntArrayRef dim = nullopt, bool keepdim = false)
{
    static const detail::Row row("all.dims");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::all(OptionalIntArrayRef dim, bool keepdim) const { return at::all(*this, dim, keepdim); }
inline Tensor std(const Tensor &self, bool unbiased = true)
{
    static const detail::Row row("std");
    return row.one({self, unbiased});
}
inline Tensor Tensor::std(bool unbiased) const { return at::std(*this, unbiased); }
inline Tensor std(const Tensor &self, OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false)
{
    static const detail::Row row("std.dim");
    return row.one({self, dim, unbiased, keepdim});
}
inline Tensor Tensor::std(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const { return at::std(*this, dim, unbiased, keepdim); }
inline Tensor std(const Tensor &self, OptionalIntArrayRef dim = nullopt, const std::optional<Scalar> &correction = nullopt, bool keepdim = false)
{
    static const detail::Row row("std.correction");
    return row.one({self, dim, correction, keepdim});
}
inline Tensor Tensor::std(OptionalIntArrayRef dim, const std::optional<Scalar> &correction, bool keepdim) const { return at::std(*this, dim, correction, keepdim); }
inline Tensor var(const Tensor &self, bool unbiased = true)
{
    static const detail::Row row("var");
    return row.one({self, unbiased});
}
inline Tensor Tensor::var(bool unbiased) const { return at::var(*this, unbiased); }
inline Tensor var(const Tensor &self, OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false)
{
    static const detail::Row row("var.dim");
    return row.one({self, dim, unbiased, keepdim});
}
inline Tensor Tensor::var(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const { return at::var(*this, dim, unbiased, keepdim); }
inline Tensor var(const Tensor &self, OptionalIntArrayRef dim = nullopt, const std::optional<Scalar> &correction = nullopt, bool keepdim = false)
{
    static const detail::Row row("var.correction");
    return row.one({self, dim, correction, keepdim});
}
inline Tensor Tensor::var(OptionalIntArrayRef dim, const std::optional<Scalar> &correction, bool keepdim) const { return at::var(*this, dim, correction, keepdim); }
inline Tensor norm(const Tensor &self, const std::optional<Scalar> &p = nullopt, OptionalIntArrayRef dim = nullopt, bool keepdim = false, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("norm");
    return row.one({self, p, dim, keepdim, dtype});
}
inline Tensor Tensor::norm(const std::optional<Scalar> &p, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const { return at::norm(*this, p, dim, keepdim, dtype); }
inline Tensor norm(const Tensor &self, string_view p, OptionalIntArrayRef dim = nullopt, bool keepdim = false, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("norm.str");
    return row.one({self, p, dim, keepdim, dtype});
}
inline Tensor Tensor::norm(string_view p, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const { return at::norm(*this, p, dim, keepdim, dtype); }
inline Tensor logsumexp(const Tensor &self, IntArrayRef dim, bool keepdim = false)
{
    static const detail::Row row("logsumexp");
    return row.one({self, dim, keepdim});
}
inline Tensor Tensor::logsumexp(IntArrayRef dim, bool keepdim) const { return at::logsumexp(*this, dim, keepdim); }
inline Tensor median(const Tensor &self)
{
    static const detail::Row row("median");
    return row.one({self});
}
inline Tensor Tensor::median() const { return at::median(*this); }
inline std::tuple<Tensor, Tensor> median(const Tensor &self, int64_t dim, bool keepdim = false)
{
    static const detail::Row row("median.dim");
    return row.tuple<2>({self, dim, keepdim});
}
inline std::tuple<Tensor, Tensor> Tensor::median(int64_t dim, bool keepdim) const { return at::median(*this, dim, keepdim); }
inline std::tuple<Tensor, Tensor> aminmax(const Tensor &self, std::optional<int64_t> dim = nullopt, bool keepdim = false)
{
    static const detail::Row row("aminmax");
    return row.tuple<2>({self, dim, keepdim});
}
inline std::tuple<Tensor, Tensor> Tensor::aminmax(std::optional<int64_t> dim, bool keepdim) const { return at::aminmax(*this, dim, keepdim); }
inline Tensor count_nonzero(const Tensor &self, std::optional<int64_t> dim = nullopt)
{
    static const detail::Row row("count_nonzero");
    return row.one({self, dim});
}
inline Tensor Tensor::count_nonzero(std::optional<int64_t> dim) const { return at::count_nonzero(*this, dim); }
inline Tensor count_nonzero(const Tensor &self, IntArrayRef dim)
{
    static const detail::Row row("count_nonzero.dim_IntList");
    return row.one({self, dim});
}
inline Tensor Tensor::count_nonzero(IntArrayRef dim) const { return at::count_nonzero(*this, dim); }
inline Tensor cumsum(const Tensor &self, int64_t dim, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("cumsum");
    return row.one({self, dim, dtype});
}
inline Tensor Tensor::cumsum(int64_t dim, std::optional<ScalarType> dtype) const { return at::cumsum(*this, dim, dtype); }
inline Tensor &cumsum_(Tensor &self, int64_t dim, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("cumsum_");
    row.list({self, dim, dtype});
    return self;
}
inline Tensor &Tensor::cumsum_(int64_t dim, std::optional<ScalarType> dtype) const { return at::cumsum_(const_cast<Tensor &>(*this), dim, dtype); }
inline Tensor cumprod(const Tensor &self, int64_t dim, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("cumprod");
    return row.one({self, dim, dtype});
}
inline Tensor Tensor::cumprod(int64_t dim, std::optional<ScalarType> dtype) const { return at::cumprod(*this, dim, dtype); }
inline Tensor &cumprod_(Tensor &self, int64_t dim, std::optional<ScalarType> dtype = nullopt)
{
    static const detail::Row row("cumprod_");
    row.list({self, dim, dtype});
    return self;
}
inline Tensor &Tensor::cumprod_(int64_t dim, std::optional<ScalarType> dtype) const { return at::cumprod_(const_cast<Tensor &>(*this), dim, dtype); }
inline std::tuple<Tensor, Tensor> cummax(const Tensor &self, int64_t dim)
{
    static const detail::Row row("cummax");
    return row.tuple<2>({self, dim});
}
inline std::tuple<Tensor, Tensor> Tensor::cummax(int64_t dim) const { return at::cummax(*this, dim); }
inline std::tuple<Tensor, Tensor> cummin(const Tensor &self, int64_t dim)
{
    static const detail::Row row("cummin");
    return row.tuple<2>({self, dim});
}
inline std::tuple<Tensor, Tensor> Tensor::cummin(int64_t dim) const { return at::cummin(*this, dim); }
inline Tensor diff(const Tensor &self, int64_t n = 1, int64_t dim = -1, const std::optional<Tensor> &prepend = nullopt, const std::optional<Tensor> &append = nullopt)
{
    static const detail::Row row("diff");
    return row.one({self, n, dim, prepend, append});
}
inline Tensor Tensor::diff(int64_t n, int64_t dim, const std::optional<Tensor> &prepend, const std::optional<Tensor> &append) const { return at::diff(*this, n, dim, prepend, append); }
inline Tensor trace(const Tensor &self)
{
    static const detail::Row row("trace");
    return row.one({self});
}
inline Tensor Tensor::trace() const { return at::trace(*this); }
inline Tensor matmul(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("matmul");
    return row.one({self, other});
}
inline Tensor Tensor::matmul(const Tensor &other) const { return at::matmul(*this, other); }
inline Tensor mm(const Tensor &self, const Tensor &mat2)
{
    static const detail::Row row("mm");
    return row.one({self, mat2});
}
inline Tensor Tensor::mm(const Tensor &mat2) const { return at::mm(*this, mat2); }
inline Tensor bmm(const Tensor &self, const Tensor &mat2)
{
    static const detail::Row row("bmm");
    return row.one({self, mat2});
}
inline Tensor Tensor::bmm(const Tensor &mat2) const { return at::bmm(*this, mat2); }
inline Tensor mv(const Tensor &self, const Tensor &vec)
{
    static const detail::Row row("mv");
    return row.one({self, vec});
}
inline Tensor Tensor::mv(const Tensor &vec) const { return at::mv(*this, vec); }
inline Tensor dot(const Tensor &self, const Tensor &tensor)
{
    static const detail::Row row("dot");
    return row.one({self, tensor});
}
inline Tensor Tensor::dot(const Tensor &tensor) const { return at::dot(*this, tensor); }
inline Tensor outer(const Tensor &self, const Tensor &vec2)
{
    static const detail::Row row("outer");
    return row.one({self, vec2});
}
inline Tensor Tensor::outer(const Tensor &vec2) const { return at::outer(*this, vec2); }
inline Tensor addmm(const Tensor &self, const Tensor &mat1, const Tensor &mat2, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("addmm");
    return row.one({self, mat1, mat2, beta, alpha});
}
inline Tensor Tensor::addmm(const Tensor &mat1, const Tensor &mat2, const Scalar &beta, const Scalar &alpha) const { return at::addmm(*this, mat1, mat2, beta, alpha); }
inline Tensor &addmm_(Tensor &self, const Tensor &mat1, const Tensor &mat2, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("addmm_");
    row.list({self, mat1, mat2, beta, alpha});
    return self;
}
inline Tensor &Tensor::addmm_(const Tensor &mat1, const Tensor &mat2, const Scalar &beta, const Scalar &alpha) const { return at::addmm_(const_cast<Tensor &>(*this), mat1, mat2, beta, alpha); }
inline Tensor addmv(const Tensor &self, const Tensor &mat, const Tensor &vec, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("addmv");
    return row.one({self, mat, vec, beta, alpha});
}
inline Tensor Tensor::addmv(const Tensor &mat, const Tensor &vec, const Scalar &beta, const Scalar &alpha) const { return at::addmv(*this, mat, vec, beta, alpha); }
inline Tensor &addmv_(Tensor &self, const Tensor &mat, const Tensor &vec, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("addmv_");
    row.list({self, mat, vec, beta, alpha});
    return self;
}
inline Tensor &Tensor::addmv_(const Tensor &mat, const Tensor &vec, const Scalar &beta, const Scalar &alpha) const { return at::addmv_(const_cast<Tensor &>(*this), mat, vec, beta, alpha); }
inline Tensor baddbmm(const Tensor &self, const Tensor &batch1, const Tensor &batch2, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("baddbmm");
    return row.one({self, batch1, batch2, beta, alpha});
}
inline Tensor Tensor::baddbmm(const Tensor &batch1, const Tensor &batch2, const Scalar &beta, const Scalar &alpha) const { return at::baddbmm(*this, batch1, batch2, beta, alpha); }
inline Tensor &baddbmm_(Tensor &self, const Tensor &batch1, const Tensor &batch2, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("baddbmm_");
    row.list({self, batch1, batch2, beta, alpha});
    return self;
}
inline Tensor &Tensor::baddbmm_(const Tensor &batch1, const Tensor &batch2, const Scalar &beta, const Scalar &alpha) const { return at::baddbmm_(const_cast<Tensor &>(*this), batch1, batch2, beta, alpha); }
inline Tensor addbmm(const Tensor &self, const Tensor &batch1, const Tensor &batch2, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("addbmm");
    return row.one({self, batch1, batch2, beta, alpha});
}
inline Tensor Tensor::addbmm(const Tensor &batch1, const Tensor &batch2, const Scalar &beta, const Scalar &alpha) const { return at::addbmm(*this, batch1, batch2, beta, alpha); }
inline Tensor &addbmm_(Tensor &self, const Tensor &batch1, const Tensor &batch2, const Scalar &beta = 1, const Scalar &alpha = 1)
{
    static const detail::Row row("addbmm_");
    row.list({self, batch1, batch2, beta, alpha});
    return self;
}
inline Tensor &Tensor::addbmm_(const Tensor &batch1, const Tensor &batch2, const Scalar &beta, const Scalar &alpha) const { return at::addbmm_(const_cast<Tensor &>(*this), batch1, batch2, beta, alpha); }
inline Tensor einsum(string_view equation, TensorList tensors)
{
    static const detail::Row row("einsum");
    return row.one({equation, tensors});
}
inline Tensor linear(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt)
{
    static const detail::Row row("linear");
    return row.one({input, weight, bias});
}
inline Tensor bilinear(const Tensor &input1, const Tensor &input2, const Tensor &weight, const std::optional<Tensor> &bias = nullopt)
{
    static const detail::Row row("bilinear");
    return row.one({input1, input2, weight, bias});
}
inline Tensor inverse(const Tensor &self)
{
    static const detail::Row row("inverse");
    return row.one({self});
}
inline Tensor Tensor::inverse() const { return at::inverse(*this); }
inline Tensor det(const Tensor &self)
{
    static const detail::Row row("det.legacy");
    return row.one({self});
}
inline Tensor Tensor::det() const { return at::det(*this); }
inline Tensor cross(const Tensor &self, const Tensor &other, std::optional<int64_t> dim = nullopt)
{
    static const detail::Row row("cross");
    return row.one({self, other, dim});
}
inline Tensor Tensor::cross(const Tensor &other, std::optional<int64_t> dim) const { return at::cross(*this, other, dim); }
inline Tensor kron(const Tensor &self, const Tensor &other)
{
    static const detail::Row row("kron");
    return row.one({self, other});
}
inline Tensor Tensor::kron(const Tensor &other) const { return at::kron(*this, other); }
inline Tensor conv1d(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt, IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1)
{
    static const detail::Row row("conv1d");
    return row.one({input, weight, bias, stride, padding, dilation, groups});
}
inline Tensor conv1d(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt, IntArrayRef stride = 1, string_view padding = "valid", IntArrayRef dilation = 1, int64_t groups = 1)
{
    static const detail::Row row("conv1d.padding");
    return row.one({input, weight, bias, stride, padding, dilation, groups});
}
inline Tensor conv2d(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt, IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1)
{
    static const detail::Row row("conv2d");
    return row.one({input, weight, bias, stride, padding, dilation, groups});
}
inline Tensor conv2d(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt, IntArrayRef stride = 1, string_view padding = "valid", IntArrayRef dilation = 1, int64_t groups = 1)
{
    static const detail::Row row("conv2d.padding");
    return row.one({input, weight, bias, stride, padding, dilation, groups});
}
inline Tensor conv3d(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt, IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1)
{
    static const detail::Row row("conv3d");
    return row.one({input, weight, bias, stride, padding, dilation, groups});
}
inline Tensor conv3d(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias = nullopt, IntArrayRef stride = 1, string_view padding = "valid", IntArrayRef dilation = 1, int64_t groups = 1)
{
    static const detail::Row row("conv3d.padding");
    return row.one({input, weight, bias, stride, padding, dilation, groups});
}
inline Tensor max_pool2d(const Tensor &self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false)
{
    static const detail::Row row("max_pool2d");
    return row.one({self, kernel_size, stride, padding, dilation, ceil_mode});
}
inline Tensor Tensor::max_pool2d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return at::max_pool2d(*this, kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor avg_pool2d(const Tensor &self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = nullopt)
{
    static const detail::Row row("avg_pool2d");
    return row.one({self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override});
}
inline Tensor Tensor::avg_pool2d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) const { return at::avg_pool2d(*this, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
inline Tensor adaptive_avg_pool2d(const Tensor &self, IntArrayRef output_size)
{
    static const detail::Row row("adaptive_avg_pool2d");
    return row.one({self, output_size});
}
inline Tensor Tensor::adaptive_avg_pool2d(IntArrayRef output_size) const { return at::adaptive_avg_pool2d(*this, output_size); }
inline Tensor batch_norm(const Tensor &input, const std::optional<Tensor> &weight, const std::optional<Tensor> &bias, const std::optional<Tensor> &running_mean, const std::optional<Tensor> &running_var, bool training, double momentum, double eps, bool cudnn_enabled)
{
    static const detail::Row row("batch_norm");
    return row.one({input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled});
}
inline Tensor layer_norm(const Tensor &input, IntArrayRef normalized_shape, const std::optional<Tensor> &weight = nullopt, const std::optional<Tensor> &bias = nullopt, double eps = 1e-05, bool cudnn_enable = true)
{
    static const detail::Row row("layer_norm");
    return row.one({input, normalized_shape, weight, bias, eps, cudnn_enable});
}
inline Tensor group_norm(const Tensor &input, int64_t num_groups, const std::optional<Tensor> &weight = nullopt, const std::optional<Tensor> &bias = nullopt, double eps = 1e-05, bool cudnn_enabled = true)
{
    static const detail::Row row("group_norm");
    return row.one({input, num_groups, weight, bias, eps, cudnn_enabled});
}
inline Tensor embedding(const Tensor &weight, const Tensor &indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false, bool sparse = false)
{
    static const detail::Row row("embedding");
    return row.one({weight, indices, padding_idx, scale_grad_by_freq, sparse});
}
inline Tensor dropout(const Tensor &input, double p, bool train)
{
    static const detail::Row row("dropout");
    return row.one({input, p, train});
}
inline Tensor &dropout_(Tensor &self, const Tensor &input, double p, bool train)
{
    static const detail::Row row("dropout_");
    row.list({input, p, train});
    return self;
}
inline Tensor reshape(const Tensor &self, IntArrayRef shape)
{
    static const detail::Row row("reshape");
    return row.one({self, shape});
}
inline Tensor Tensor::reshape(IntArrayRef shape) const { return at::reshape(*this, shape); }
inline Tensor view(const Tensor &self, IntArrayRef size)
{
    static const detail::Row row("view");
    return row.one({self, size});
}
inline Tensor Tensor::view(IntArrayRef size) const { return at::view(*this, size); }
inline Tensor view(const Tensor &self, ScalarType dtype)
{
    static const detail::Row row("view.dtype");
    return row.one({self, dtype});
}
inline Tensor Tensor::view(ScalarType dtype) const { return at::view(*this, dtype); }
inline Tensor expand(const Tensor &self, IntArrayRef size, bool implicit = false)
{
    static const detail::Row row("expand");
    return row.one({self, size, implicit});
}
inline Tensor Tensor::expand(IntArrayRef size, bool implicit) const { return at::expand(*this, size, implicit); }
inline Tensor permute(const Tensor &self, IntArrayRef dims)
{
    static const detail::Row row("permute");
    return row.one({self, dims});
}
inline Tensor Tensor::permute(IntArrayRef dims) const { return at::permute(*this, dims); }
inline Tensor transpose(const Tensor &self, int64_t dim0, int64_t dim1)
{
    static const detail::Row row("transpose.int");
    return row.one({self, dim0, dim1});
}
inline Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const { return at::transpose(*this, dim0, dim1); }
inline Tensor t(const Tensor &self)
{
    static const detail::Row row("t");
    return row.one({self});
}
inline Tensor Tensor::t() const { return at::t(*this); }
inline Tensor squeeze(const Tensor &self)
{
    static const detail::Row row("squeeze");
    return row.one({self});
}
inline Tensor Tensor::squeeze() const { return at::squeeze(*this); }
inline Tensor squeeze(const Tensor &self, int64_t dim)
{
    static const detail::Row row("squeeze.dim");
    return row.one({self, dim});
}
inline Tensor Tensor::squeeze(int64_t dim) const { return at::squeeze(*this, dim); }
inline Tensor squeeze(const Tensor &self, IntArrayRef dim)
{
    static const detail::Row row("squeeze.dims");
    return row.one({self, dim});
}
inline Tensor Tensor::squeeze(IntArrayRef dim) const { return at::squeeze(*this, dim); }
inline Tensor unsqueeze(const Tensor &self, int64_t dim)
{
    static const detail::Row row("unsqueeze");
    return row.one({self, dim});
}
inline Tensor Tensor::unsqueeze(int64_t dim) const { return at::unsqueeze(*this, dim); }
inline Tensor select(const Tensor &self, int64_t dim, int64_t index)
{
    static const detail::Row row("select.int");
    return row.one({self, dim, index});
}
inline Tensor Tensor::select(int64_t dim, int64_t index) const { return at::select(*this, dim, index); }
inline Tensor narrow(const Tensor &self, int64_t dim, int64_t start, int64_t length)
{
    static const detail::Row row("narrow");
    return row.one({self, dim, start, length});
}
inline Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const { return at::narrow(*this, dim, start, length); }
inline Tensor narrow(const Tensor &self, int64_t dim, const Tensor &start, int64_t length)
{
    static const detail::Row row("narrow.Tensor");
    return row.one({self, dim, start, length});
}
inline Tensor Tensor::narrow(int64_t dim, const Tensor &start, int64_t length) const { return at::narrow(*this, dim, start, length); }
inline Tensor slice(const Tensor &self, int64_t dim = 0, std::optional<int64_t> start = nullopt, std::optional<int64_t> end = nullopt, int64_t step = 1)
{
    static const detail::Row row("slice.Tensor");
    return row.one({self, dim, start, end, step});
}
inline Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const { return at::slice(*this, dim, start, end, step); }
inline Tensor flatten(const Tensor &self, int64_t start_dim = 0, int64_t end_dim = -1)
{
    static const detail::Row row("flatten.using_ints");
    return row.one({self, start_dim, end_dim});
}
inline Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const { return at::flatten(*this, start_dim, end_dim); }
inline Tensor unflatten(const Tensor &self, int64_t dim, IntArrayRef sizes)
{
    static const detail::Row row("unflatten.int");
    return row.one({self, dim, sizes});
}
inline Tensor Tensor::unflatten(int64_t dim, IntArrayRef sizes) const { return at::unflatten(*this, dim, sizes); }
inline Tensor flip(const Tensor &self, IntArrayRef dims)
{
    static const detail::Row row("flip");
    return row.one({self, dims});
}
inline Tensor Tensor::flip(IntArrayRef dims) const { return at::flip(*this, dims); }
inline Tensor roll(const Tensor &self, IntArrayRef shifts, IntArrayRef dims = {})
{
    static const detail::Row row("roll");
    return row.one({self, shifts, dims});
}
inline Tensor Tensor::roll(IntArrayRef shifts, IntArrayRef dims) const { return at::roll(*this, shifts, dims); }
inline Tensor repeat(const Tensor &self, IntArrayRef repeats)
{
    static const detail::Row row("repeat");
    return row.one({self, repeats});
}
inline Tensor Tensor::repeat(IntArrayRef repeats) const { return at::repeat(*this, repeats); }
inline Tensor movedim(const Tensor &self, int64_t source, int64_t destination)
{
    static const detail::Row row("movedim.int");
    return row.one({self, source, destination});
}
inline Tensor Tensor::movedim(int64_t source, int64_t destination) const { return at::movedim(*this, source, destination); }
inline Tensor movedim(const Tensor &self, IntArrayRef source, IntArrayRef destination)
{
    static const detail::Row row("movedim.intlist");
    return row.one({self, source, destination});
}
inline Tensor Tensor::movedim(IntArrayRef source, IntArrayRef destination) const { return at::movedim(*this, source, destination); }
inline Tensor swapaxes(const Tensor &self, int64_t axis0, int64_t axis1)
{
    static const detail::Row row("swapaxes");
    return row.one({self, axis0, axis1});
}
inline Tensor Tensor::swapaxes(int64_t axis0, int64_t axis1) const { return at::swapaxes(*this, axis0, axis1); }
inline Tensor diagonal(const Tensor &self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1)
{
    static const detail::Row row("diagonal");
    return row.one({self, offset, dim1, dim2});
}
inline Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const { return at::diagonal(*this, offset, dim1, dim2); }
inline Tensor diag(const Tensor &self, int64_t diagonal = 0)
{
    static const detail::Row row("diag");
    return row.one({self, diagonal});
}
inline Tensor Tensor::diag(int64_t diagonal) const { return at::diag(*this, diagonal); }
inline Tensor tril(const Tensor &self, int64_t diagonal = 0)
{
    static const detail::Row row("tril");
    return row.one({self, diagonal});
}
inline Tensor Tensor::tril(int64_t diagonal) const { return at::tril(*this, diagonal); }
inline Tensor &tril_(Tensor &self, int64_t diagonal = 0)
{
    static const detail::Row row("tril_");
    row.list({self, diagonal});
    return self;
}
inline Tensor &Tensor::tril_(int64_t diagonal) const { return at::tril_(const_cast<Tensor &>(*this), diagonal); }
inline Tensor triu(const Tensor &self, int64_t diagonal = 0)
{
    static const detail::Row row("triu");
    return row.one({self, diagonal});
}
inline Tensor Tensor::triu(int64_t diagonal) const { return at::triu(*this, diagonal); }
inline Tensor &triu_(Tensor &self, int64_t diagonal = 0)
{
    static const detail::Row row("triu_");
    row.list({self, diagonal});
    return self;
}
inline Tensor &Tensor::triu_(int64_t diagonal) const { return at::triu_(const_cast<Tensor &>(*this), diagonal); }
inline Tensor diag_embed(const Tensor &self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1)
{
    static const detail::Row row("diag_embed");
    return row.one({self, offset, dim1, dim2});
}
inline Tensor Tensor::diag_embed(int64_t offset, int64_t dim1, int64_t dim2) const { return at::diag_embed(*this, offset, dim1, dim2); }
inline Tensor unfold(const Tensor &self, int64_t dimension, int64_t size, int64_t step)
{
    static const detail::Row row("unfold");
    return row.one({self, dimension, size, step});
}
inline Tensor Tensor::unfold(int64_t dimension, int64_t size, int64_t step) const { return at::unfold(*this, dimension, size, step); }
inline Tensor as_strided(const Tensor &self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = nullopt)
{
    static const detail::Row row("as_strided");
    return row.one({self, size, stride, storage_offset});
}
inline Tensor Tensor::as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return at::as_strided(*this, size, stride, storage_offset); }
inline Tensor detach(const Tensor &self)
{
    static const detail::Row row("detach");
    return row.one({self});
}
inline Tensor Tensor::detach() const { return at::detach(*this); }
inline Tensor alias(const Tensor &self)
{
    static const detail::Row row("alias");
    return row.one({self});
}
inline Tensor Tensor::alias() const { return at::alias(*this); }
inline Tensor clone(const Tensor &self, std::optional<MemoryFormat> memory_format = nullopt)
{
    static const detail::Row row("clone");
    return row.one({self, memory_format});
}
inline Tensor Tensor::clone(std::optional<MemoryFormat> memory_format) const { return at::clone(*this, memory_format); }
inline std::vector<Tensor> chunk(const Tensor &self, int64_t chunks, int64_t dim = 0)
{
    static const detail::Row row("chunk");
    return row.list({self, chunks, dim});
}
inline std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const { return at::chunk(*this, chunks, dim); }
inline std::vector<Tensor> split(const Tensor &self, int64_t split_size, int64_t dim = 0)
{
    static const detail::Row row("split.Tensor");
    return row.list({self, split_size, dim});
}
inline std::vector<Tensor> Tensor::split(int64_t split_size, int64_t dim) const { return at::split(*this, split_size, dim); }
inline std::vector<Tensor> split(const Tensor &self, IntArrayRef split_size, int64_t dim = 0)
{
    static const detail::Row row("split.sizes");
    return row.list({self, split_size, dim});
}
inline std::vector<Tensor> Tensor::split(IntArrayRef split_size, int64_t dim) const { return at::split(*this, split_size, dim); }
inline std::vector<Tensor> split_with_sizes(const Tensor &self, IntArrayRef split_sizes, int64_t dim = 0)
{
    static const detail::Row row("split_with_sizes");
    return row.list({self, split_sizes, dim});
}
inline std::vector<Tensor> Tensor::split_with_sizes(IntArrayRef split_sizes, int64_t dim) const { return at::split_with_sizes(*this, split_sizes, dim); }
inline std::vector<Tensor> unbind(const Tensor &self, int64_t dim = 0)
{
    static const detail::Row row("unbind.int");
    return row.list({self, dim});
}
inline std::vector<Tensor> Tensor::unbind(int64_t dim) const { return at::unbind(*this, dim); }
inline std::vector<Tensor> tensor_split(const Tensor &self, const Tensor &tensor_indices_or_sections, int64_t dim = 0)
{
    static const detail::Row row("tensor_split.tensor_indices_or_sections");
    return row.list({self, tensor_indices_or_sections, dim});
}
inline std::vector<Tensor> Tensor::tensor_split(const Tensor &tensor_indices_or_sections, int64_t dim) const { return at::tensor_split(*this, tensor_indices_or_sections, dim); }
inline std::vector<Tensor> tensor_split(const Tensor &self, int64_t sections, int64_t dim = 0)
{
    static const detail::Row row("tensor_split.sections");
    return row.list({self, sections, dim});
}
inline std::vector<Tensor> Tensor::tensor_split(int64_t sections, int64_t dim) const { return at::tensor_split(*this, sections, dim); }
inline std::vector<Tensor> tensor_split(const Tensor &self, IntArrayRef indices, int64_t dim = 0)
{
    static const detail::Row row("tensor_split.indices");
    return row.list({self, indices, dim});
}
inline std::vector<Tensor> Tensor::tensor_split(IntArrayRef indices, int64_t dim) const { return at::tensor_split(*this, indices, dim); }
inline Tensor cat(TensorList tensors, int64_t dim = 0)
{
    static const detail::Row row("cat");
    return row.one({tensors, dim});
}
inline Tensor stack(TensorList tensors, int64_t dim = 0)
{
    static const detail::Row row("stack");
    return row.one({tensors, dim});
}
inline Tensor hstack(TensorList tensors)
{
    static const detail::Row row("hstack");
    return row.one({tensors});
}
inline Tensor vstack(TensorList tensors)
{
    static const detail::Row row("vstack");
    return row.one({tensors});
}
inline std::vector<Tensor> broadcast_tensors(TensorList tensors)
{
    static const detail::Row row("broadcast_tensors");
    return row.list({tensors});
}
inline std::vector<Tensor> meshgrid(TensorList tensors, string_view indexing)
{
    static const detail::Row row("meshgrid.indexing");
    return row.list({tensors, indexing});
}
inline Tensor index_select(const Tensor &self, int64_t dim, const Tensor &index)
{
    static const detail::Row row("index_select");
    return row.one({self, dim, index});
}
inline Tensor Tensor::index_select(int64_t dim, const Tensor &index) const { return at::index_select(*this, dim, index); }
inline Tensor gather(const Tensor &self, int64_t dim, const Tensor &index, bool sparse_grad = false)
{
    static const detail::Row row("gather");
    return row.one({self, dim, index, sparse_grad});
}
inline Tensor Tensor::gather(int64_t dim, const Tensor &index, bool sparse_grad) const { return at::gather(*this, dim, index, sparse_grad); }
inline Tensor scatter(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &src)
{
    static const detail::Row row("scatter.src");
    return row.one({self, dim, index, src});
}
inline Tensor Tensor::scatter(int64_t dim, const Tensor &index, const Tensor &src) const { return at::scatter(*this, dim, index, src); }
inline Tensor &scatter_(Tensor &self, int64_t dim, const Tensor &index, const Tensor &src)
{
    static const detail::Row row("scatter_.src");
    row.list({self, dim, index, src});
    return self;
}
inline Tensor &Tensor::scatter_(int64_t dim, const Tensor &index, const Tensor &src) const { return at::scatter_(const_cast<Tensor &>(*this), dim, index, src); }
inline Tensor scatter(const Tensor &self, int64_t dim, const Tensor &index, const Scalar &value)
{
    static const detail::Row row("scatter.value");
    return row.one({self, dim, index, value});
}
inline Tensor Tensor::scatter(int64_t dim, const Tensor &index, const Scalar &value) const { return at::scatter(*this, dim, index, value); }
inline Tensor &scatter_(Tensor &self, int64_t dim, const Tensor &index, const Scalar &value)
{
    static const detail::Row row("scatter_.value");
    row.list({self, dim, index, value});
    return self;
}
inline Tensor &Tensor::scatter_(int64_t dim, const Tensor &index, const Scalar &value) const { return at::scatter_(const_cast<Tensor &>(*this), dim, index, value); }
inline Tensor scatter(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &src, string_view reduce)
{
    static const detail::Row row("scatter.reduce");
    return row.one({self, dim, index, src, reduce});
}
inline Tensor Tensor::scatter(int64_t dim, const Tensor &index, const Tensor &src, string_view reduce) const { return at::scatter(*this, dim, index, src, reduce); }
inline Tensor &scatter_(Tensor &self, int64_t dim, const Tensor &index, const Tensor &src, string_view reduce)
{
    static const detail::Row row("scatter_.reduce");
    row.list({self, dim, index, src, reduce});
    return self;
}
inline Tensor &Tensor::scatter_(int64_t dim, const Tensor &index, const Tensor &src, string_view reduce) const { return at::scatter_(const_cast<Tensor &>(*this), dim, index, src, reduce); }
inline Tensor scatter(const Tensor &self, int64_t dim, const Tensor &index, const Scalar &value, string_view reduce)
{
    static const detail::Row row("scatter.value_reduce");
    return row.one({self, dim, index, value, reduce});
}
inline Tensor Tensor::scatter(int64_t dim, const Tensor &index, const Scalar &value, string_view reduce) const { return at::scatter(*this, dim, index, value, reduce); }
inline Tensor &scatter_(Tensor &self, int64_t dim, const Tensor &index, const Scalar &value, string_view reduce)
{
    static const detail::Row row("scatter_.value_reduce");
    row.list({self, dim, index, value, reduce});
    return self;
}
inline Tensor &Tensor::scatter_(int64_t dim, const Tensor &index, const Scalar &value, string_view reduce) const { return at::scatter_(const_cast<Tensor &>(*this), dim, index, value, reduce); }
inline Tensor scatter_add(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &src)
{
    static const detail::Row row("scatter_add");
    return row.one({self, dim, index, src});
}
inline Tensor Tensor::scatter_add(int64_t dim, const Tensor &index, const Tensor &src) const { return at::scatter_add(*this, dim, index, src); }
inline Tensor &scatter_add_(Tensor &self, int64_t dim, const Tensor &index, const Tensor &src)
{
    static const detail::Row row("scatter_add_");
    row.list({self, dim, index, src});
    return self;
}
inline Tensor &Tensor::scatter_add_(int64_t dim, const Tensor &index, const Tensor &src) const { return at::scatter_add_(const_cast<Tensor &>(*this), dim, index, src); }
inline Tensor index_add(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source, const Scalar &alpha = 1)
{
    static const detail::Row row("index_add");
    return row.one({self, dim, index, source, alpha});
}
inline Tensor Tensor::index_add(int64_t dim, const Tensor &index, const Tensor &source, const Scalar &alpha) const { return at::index_add(*this, dim, index, source, alpha); }
inline Tensor &index_add_(Tensor &self, int64_t dim, const Tensor &index, const Tensor &source, const Scalar &alpha = 1)
{
    static const detail::Row row("index_add_");
    row.list({self, dim, index, source, alpha});
    return self;
}
inline Tensor &Tensor::index_add_(int64_t dim, const Tensor &index, const Tensor &source, const Scalar &alpha) const { return at::index_add_(const_cast<Tensor &>(*this), dim, index, source, alpha); }
inline Tensor index_copy(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source)
{
    static const detail::Row row("index_copy");
    return row.one({self, dim, index, source});
}
inline Tensor Tensor::index_copy(int64_t dim, const Tensor &index, const Tensor &source) const { return at::index_copy(*this, dim, index, source); }
inline Tensor &index_copy_(Tensor &self, int64_t dim, const Tensor &index, const Tensor &source)
{
    static const detail::Row row("index_copy_");
    row.list({self, dim, index, source});
    return self;
}
inline Tensor &Tensor::index_copy_(int64_t dim, const Tensor &index, const Tensor &source) const { return at::index_copy_(const_cast<Tensor &>(*this), dim, index, source); }
inline Tensor index_fill(const Tensor &self, int64_t dim, const Tensor &index, const Scalar &value)
{
    static const detail::Row row("index_fill.int_Scalar");
    return row.one({self, dim, index, value});
}
inline Tensor Tensor::index_fill(int64_t dim, const Tensor &index, const Scalar &value) const { return at::index_fill(*this, dim, index, value); }
inline Tensor &index_fill_(Tensor &self, int64_t dim, const Tensor &index, const Scalar &value)
{
    static const detail::Row row("index_fill_.int_Scalar");
    row.list({self, dim, index, value});
    return self;
}
inline Tensor &Tensor::index_fill_(int64_t dim, const Tensor &index, const Scalar &value) const { return at::index_fill_(const_cast<Tensor &>(*this), dim, index, value); }
inline Tensor index_fill(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &value)
{
    static const detail::Row row("index_fill.int_Tensor");
    return row.one({self, dim, index, value});
}
inline Tensor Tensor::index_fill(int64_t dim, const Tensor &index, const Tensor &value) const { return at::index_fill(*this, dim, index, value); }
inline Tensor &index_fill_(Tensor &self, int64_t dim, const Tensor &index, const Tensor &value)
{
    static const detail::Row row("index_fill_.int_Tensor");
    row.list({self, dim, index, value});
    return self;
}
inline Tensor &Tensor::index_fill_(int64_t dim, const Tensor &index, const Tensor &value) const { return at::index_fill_(const_cast<Tensor &>(*this), dim, index, value); }
inline Tensor masked_select(const Tensor &self, const Tensor &mask)
{
    static const detail::Row row("masked_select");
    return row.one({self, mask});
}
inline Tensor Tensor::masked_select(const Tensor &mask) const { return at::masked_select(*this, mask); }
inline Tensor masked_scatter(const Tensor &self, const Tensor &mask, const Tensor &source)
{
    static const detail::Row row("masked_scatter");
    return row.one({self, mask, source});
}
inline Tensor Tensor::masked_scatter(const Tensor &mask, const Tensor &source) const { return at::masked_scatter(*this, mask, source); }
inline Tensor &masked_scatter_(Tensor &self, const Tensor &mask, const Tensor &source)
{
    static const detail::Row row("masked_scatter_");
    row.list({self, mask, source});
    return self;
}
inline Tensor &Tensor::masked_scatter_(const Tensor &mask, const Tensor &source) const { return at::masked_scatter_(const_cast<Tensor &>(*this), mask, source); }
inline Tensor nonzero(const Tensor &self)
{
    static const detail::Row row("nonzero");
    return row.one({self});
}
inline Tensor Tensor::nonzero() const { return at::nonzero(*this); }
inline Tensor nonzero(const Tensor &self, bool as_tuple)
{
    static const detail::Row row("nonzero.tuple");
    return row.one({self, as_tuple});
}
inline Tensor Tensor::nonzero(bool as_tuple) const { return at::nonzero(*this, as_tuple); }
inline Tensor take(const Tensor &self, const Tensor &index)
{
    static const detail::Row row("take");
    return row.one({self, index});
}
inline Tensor Tensor::take(const Tensor &index) const { return at::take(*this, index); }
inline Tensor take_along_dim(const Tensor &self, const Tensor &indices, std::optional<int64_t> dim = nullopt)
{
    static const detail::Row row("take_along_dim");
    return row.one({self, indices, dim});
}
inline Tensor Tensor::take_along_dim(const Tensor &indices, std::optional<int64_t> dim) const { return at::take_along_dim(*this, indices, dim); }
inline std::tuple<Tensor, Tensor> sort(const Tensor &self, int64_t dim = -1, bool descending = false)
{
    static const detail::Row row("sort");
    return row.tuple<2>({self, dim, descending});
}
inline std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const { return at::sort(*this, dim, descending); }
inline std::tuple<Tensor, Tensor> sort(const Tensor &self, std::optional<bool> stable, int64_t dim = -1, bool descending = false)
{
    static const detail::Row row("sort.stable");
    return row.tuple<2>({self, stable, dim, descending});
}
inline std::tuple<Tensor, Tensor> Tensor::sort(std::optional<bool> stable, int64_t dim, bool descending) const { return at::sort(*this, stable, dim, descending); }
inline Tensor argsort(const Tensor &self, int64_t dim = -1, bool descending = false)
{
    static const detail::Row row("argsort");
    return row.one({self, dim, descending});
}
inline Tensor Tensor::argsort(int64_t dim, bool descending) const { return at::argsort(*this, dim, descending); }
inline Tensor argsort(const Tensor &self, bool stable, int64_t dim = -1, bool descending = false)
{
    static const detail::Row row("argsort.stable");
    return row.one({self, stable, dim, descending});
}
inline Tensor Tensor::argsort(bool stable, int64_t dim, bool descending) const { return at::argsort(*this, stable, dim, descending); }
inline std::tuple<Tensor, Tensor> topk(const Tensor &self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true)
{
    static const detail::Row row("topk");
    return row.tuple<2>({self, k, dim, largest, sorted});
}
inline std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const { return at::topk(*this, k, dim, largest, sorted); }
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor &self, int64_t k, int64_t dim = -1, bool keepdim = false)
{
    static const detail::Row row("kthvalue");
    return row.tuple<2>({self, k, dim, keepdim});
}
inline std::tuple<Tensor, Tensor> Tensor::kthvalue(int64_t k, int64_t dim, bool keepdim) const { return at::kthvalue(*this, k, dim, keepdim); }
inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor &self, bool sorted = true, bool return_inverse = false, bool return_counts = false)
{
    static const detail::Row row("_unique2");
    return row.tuple<3>({self, sorted, return_inverse, return_counts});
}
inline std::tuple<Tensor, Tensor, Tensor> Tensor::_unique2(bool sorted, bool return_inverse, bool return_counts) const { return at::_unique2(*this, sorted, return_inverse, return_counts); }
inline Tensor searchsorted(const Tensor &sorted_sequence, const Tensor &self, bool out_int32 = false, bool right = false, std::optional<string_view> side = nullopt, const std::optional<Tensor> &sorter = nullopt)
{
    static const detail::Row row("searchsorted.Tensor");
    return row.one({sorted_sequence, self, out_int32, right, side, sorter});
}
inline Tensor searchsorted(const Tensor &sorted_sequence, const Scalar &self, bool out_int32 = false, bool right = false, std::optional<string_view> side = nullopt, const std::optional<Tensor> &sorter = nullopt)
{
    static const detail::Row row("searchsorted.Scalar");
    return row.one({sorted_sequence, self, out_int32, right, side, sorter});
}
inline Tensor bucketize(const Tensor &self, const Tensor &boundaries, bool out_int32 = false, bool right = false)
{
    static const detail::Row row("bucketize.Tensor");
    return row.one({self, boundaries, out_int32, right});
}
inline Tensor Tensor::bucketize(const Tensor &boundaries, bool out_int32, bool right) const { return at::bucketize(*this, boundaries, out_int32, right); }
inline Tensor bucketize(const Scalar &self, const Tensor &boundaries, bool out_int32 = false, bool right = false)
{
    static const detail::Row row("bucketize.Scalar");
    return row.one({self, boundaries, out_int32, right});
}
inline Tensor bincount(const Tensor &self, const std::optional<Tensor> &weights = nullopt, int64_t minlength = 0)
{
    static const detail::Row row("bincount");
    return row.one({self, weights, minlength});
}
inline Tensor Tensor::bincount(const std::optional<Tensor> &weights, int64_t minlength) const { return at::bincount(*this, weights, minlength); }
inline Tensor histc(const Tensor &self, int64_t bins = 100, const Scalar &min = 0, const Scalar &max = 0)
{
    static const detail::Row row("histc");
    return row.one({self, bins, min, max});
}
inline Tensor Tensor::histc(int64_t bins, const Scalar &min, const Scalar &max) const { return at::histc(*this, bins, min, max); }
inline Tensor repeat_interleave(const Tensor &repeats, std::optional<int64_t> output_size = nullopt)
{
    static const detail::Row row("repeat_interleave.Tensor");
    return row.one({repeats, output_size});
}
inline Tensor repeat_interleave(const Tensor &self, const Tensor &repeats, std::optional<int64_t> dim = nullopt, std::optional<int64_t> output_size = nullopt)
{
    static const detail::Row row("repeat_interleave.self_Tensor");
    return row.one({self, repeats, dim, output_size});
}
inline Tensor Tensor::repeat_interleave(const Tensor &repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return at::repeat_interleave(*this, repeats, dim, output_size); }
inline Tensor repeat_interleave(const Tensor &self, int64_t repeats, std::optional<int64_t> dim = nullopt, std::optional<int64_t> output_size = nullopt)
{
    static const detail::Row row("repeat_interleave.self_int");
    return row.one({self, repeats, dim, output_size});
}
inline Tensor Tensor::repeat_interleave(int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return at::repeat_interleave(*this, repeats, dim, output_size); }
inline Tensor &uniform_(Tensor &self, double from_ = 0, double to = 1, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("uniform_");
    row.list({self, from_, to, generator});
    return self;
}
inline Tensor &Tensor::uniform_(double from_, double to, std::optional<Generator> generator) const { return at::uniform_(const_cast<Tensor &>(*this), from_, to, generator); }
inline Tensor &normal_(Tensor &self, double mean = 0, double std = 1, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("normal_");
    row.list({self, mean, std, generator});
    return self;
}
inline Tensor &Tensor::normal_(double mean, double std, std::optional<Generator> generator) const { return at::normal_(const_cast<Tensor &>(*this), mean, std, generator); }
inline Tensor &bernoulli_(Tensor &self, const Tensor &p, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("bernoulli_.Tensor");
    row.list({self, p, generator});
    return self;
}
inline Tensor &Tensor::bernoulli_(const Tensor &p, std::optional<Generator> generator) const { return at::bernoulli_(const_cast<Tensor &>(*this), p, generator); }
inline Tensor &bernoulli_(Tensor &self, double p = 0.5, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("bernoulli_.float");
    row.list({self, p, generator});
    return self;
}
inline Tensor &Tensor::bernoulli_(double p, std::optional<Generator> generator) const { return at::bernoulli_(const_cast<Tensor &>(*this), p, generator); }
inline Tensor bernoulli(const Tensor &self, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("bernoulli");
    return row.one({self, generator});
}
inline Tensor Tensor::bernoulli(std::optional<Generator> generator) const { return at::bernoulli(*this, generator); }
inline Tensor bernoulli(const Tensor &self, double p, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("bernoulli.p");
    return row.one({self, p, generator});
}
inline Tensor Tensor::bernoulli(double p, std::optional<Generator> generator) const { return at::bernoulli(*this, p, generator); }
inline Tensor multinomial(const Tensor &self, int64_t num_samples, bool replacement = false, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("multinomial");
    return row.one({self, num_samples, replacement, generator});
}
inline Tensor Tensor::multinomial(int64_t num_samples, bool replacement, std::optional<Generator> generator) const { return at::multinomial(*this, num_samples, replacement, generator); }
inline Tensor &random_(Tensor &self, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("random_");
    row.list({self, generator});
    return self;
}
inline Tensor &Tensor::random_(std::optional<Generator> generator) const { return at::random_(const_cast<Tensor &>(*this), generator); }
inline Tensor &random_(Tensor &self, int64_t to, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("random_.to");
    row.list({self, to, generator});
    return self;
}
inline Tensor &Tensor::random_(int64_t to, std::optional<Generator> generator) const { return at::random_(const_cast<Tensor &>(*this), to, generator); }
inline Tensor &random_(Tensor &self, int64_t from_, std::optional<int64_t> to, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("random_.from");
    row.list({self, from_, to, generator});
    return self;
}
inline Tensor &Tensor::random_(int64_t from_, std::optional<int64_t> to, std::optional<Generator> generator) const { return at::random_(const_cast<Tensor &>(*this), from_, to, generator); }
inline Tensor &exponential_(Tensor &self, double lambd = 1, std::optional<Generator> generator = nullopt)
{
    static const detail::Row row("exponential_");
    row.list({self, lambd, generator});
    return self;
}
inline Tensor &Tensor::exponential_(double lambd, std::optional<Generator> generator) const { return at::exponential_(const_cast<Tensor &>(*this), lambd, generator); }
inline Tensor isclose(const Tensor &self, const Tensor &other, double rtol = 1e-05, double atol = 1e-08, bool equal_nan = false)
{
    static const detail::Row row("isclose");
    return row.one({self, other, rtol, atol, equal_nan});
}
inline Tensor Tensor::isclose(const Tensor &other, double rtol, double atol, bool equal_nan) const { return at::isclose(*this, other, rtol, atol, equal_nan); }
inline Tensor nan_to_num(const Tensor &self, std::optional<double> nan = nullopt, std::optional<double> posinf = nullopt, std::optional<double> neginf = nullopt)
{
    static const detail::Row row("nan_to_num");
    return row.one({self, nan, posinf, neginf});
}
inline Tensor Tensor::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return at::nan_to_num(*this, nan, posinf, neginf); }
inline Tensor &nan_to_num_(Tensor &self, std::optional<double> nan = nullopt, std::optional<double> posinf = nullopt, std::optional<double> neginf = nullopt)
{
    static const detail::Row row("nan_to_num_");
    row.list({self, nan, posinf, neginf});
    return self;
}
inline Tensor &Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return at::nan_to_num_(const_cast<Tensor &>(*this), nan, posinf, neginf); }
inline Tensor cdist(const Tensor &x1, const Tensor &x2, double p = 2, std::optional<string_view> compute_mode = nullopt)
{
    static const detail::Row row("cdist");
    return row.one({x1, x2, p, compute_mode});
}
inline Tensor pad(const Tensor &self, IntArrayRef pad, string_view mode = "constant", std::optional<double> value = nullopt)
{
    static const detail::Row row("pad");
    return row.one({self, pad, mode, value});
}
inline Tensor Tensor::pad(IntArrayRef pad, string_view mode, std::optional<double> value) const { return at::pad(*this, pad, mode, value); }
inline Tensor constant_pad_nd(const Tensor &self, IntArrayRef pad, const Scalar &value = 0)
{
    static const detail::Row row("constant_pad_nd");
    return row.one({self, pad, value});
}
inline Tensor Tensor::constant_pad_nd(IntArrayRef pad, const Scalar &value) const { return at::constant_pad_nd(*this, pad, value); }
inline Tensor one_hot(const Tensor &self, int64_t num_classes = -1)
{
    static const detail::Row row("one_hot");
    return row.one({self, num_classes});
}
inline Tensor Tensor::one_hot(int64_t num_classes) const { return at::one_hot(*this, num_classes); }
inline Tensor pixel_shuffle(const Tensor &self, int64_t upscale_factor)
{
    static const detail::Row row("pixel_shuffle");
    return row.one({self, upscale_factor});
}
inline Tensor Tensor::pixel_shuffle(int64_t upscale_factor) const { return at::pixel_shuffle(*this, upscale_factor); }
inline Tensor real(const Tensor &self)
{
    static const detail::Row row("real");
    return row.one({self});
}
inline Tensor Tensor::real() const { return at::real(*this); }
inline Tensor imag(const Tensor &self)
{
    static const detail::Row row("imag");
    return row.one({self});
}
inline Tensor Tensor::imag() const { return at::imag(*this); }
inline Tensor view_as_real(const Tensor &self)
{
    static const detail::Row row("view_as_real");
    return row.one({self});
}
inline Tensor Tensor::view_as_real() const { return at::view_as_real(*this); }
inline Tensor view_as_complex(const Tensor &self)
{
    static const detail::Row row("view_as_complex");
    return row.one({self});
}
inline Tensor Tensor::view_as_complex() const { return at::view_as_complex(*this); }
inline Tensor conj(const Tensor &self)
{
    static const detail::Row row("conj");
    return row.one({self});
}
inline Tensor Tensor::conj() const { return at::conj(*this); }

}
#endif
