/* taeda_torch/scalar_type.hpp - element types by torch's names and numbers. */
#ifndef TAEDA_TORCH_SCALAR_TYPE_HPP
#define TAEDA_TORCH_SCALAR_TYPE_HPP
#include "taeda_torch/array.hpp"
#include "taeda_torch/half.hpp"

/* C++ type, name, torch's number, taeda's dtype */
#define TAEDA_TORCH_TYPES_(of)                                                          \
    of(uint8_t, Byte, 0, TAEDA_UINT8) of(int8_t, Char, 1, TAEDA_INT8)                   \
        of(int16_t, Short, 2, TAEDA_INT16) of(int32_t, Int, 3, TAEDA_INT32)             \
            of(int64_t, Long, 4, TAEDA_INT64) of(c10::Half, Half, 5, TAEDA_FLOAT16)     \
                of(float, Float, 6, TAEDA_FLOAT32) of(double, Double, 7, TAEDA_FLOAT64) \
                    of(std::complex<float>, ComplexFloat, 9, TAEDA_COMPLEX64)           \
                        of(std::complex<double>, ComplexDouble, 10, TAEDA_COMPLEX128)   \
                            of(bool, Bool, 11, TAEDA_BOOL)                              \
                                of(c10::BFloat16, BFloat16, 15, TAEDA_BFLOAT16)         \
                                    of(uint16_t, UInt16, 27, TAEDA_UINT16)              \
                                        of(uint32_t, UInt32, 28, TAEDA_UINT32)          \
                                            of(uint64_t, UInt64, 29, TAEDA_UINT64)

namespace c10 TAEDA_HIDDEN {

enum class ScalarType : int8_t {
#define TAEDA_TORCH_TYPE_(type, name, number, dtype) name = number,
    TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_
        ComplexHalf = 8,
    Undefined = 44
};
#define TAEDA_TORCH_TYPE_(type, name, number, dtype) \
    inline constexpr ScalarType k##name = ScalarType::name;
TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_
inline constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt,
                            kInt64 = kLong, kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble,
                            kComplexHalf = ScalarType::ComplexHalf,
                            kComplex32 = ScalarType::ComplexHalf, kComplex64 = kComplexFloat,
                            kComplex128 = kComplexDouble;

template <class T> struct CppTypeToScalarType;
namespace impl {
template <ScalarType> struct ScalarTypeToCPPType;
template <ScalarType t> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<t>::type;
}
#define TAEDA_TORCH_TYPE_(cpp, name, number, dtype)                  \
    template <> struct CppTypeToScalarType<cpp> {                    \
        static constexpr ScalarType value = ScalarType::name;        \
    };                                                               \
    template <> struct impl::ScalarTypeToCPPType<ScalarType::name> { \
        using type = cpp;                                            \
    };
TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_

namespace detail {
inline taeda::DType dtype_of(ScalarType t)
{
    switch (t) {
#define TAEDA_TORCH_TYPE_(type, name, number, dtype) \
    case ScalarType::name: return dtype;
        TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_
        case ScalarType::ComplexHalf: return TAEDA_COMPLEX32;
        default: throw TypeError("there are no elements of the type Undefined");
    }
}
inline ScalarType type_of(taeda::DType t)
{
    switch (t) {
#define TAEDA_TORCH_TYPE_(type, name, number, dtype) \
    case dtype: return ScalarType::name;
        TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_
        case TAEDA_COMPLEX32: return ScalarType::ComplexHalf;
        default: throw TypeError("elements of this dtype have no name in torch's C++");
    }
}
}

TAEDA_RARE inline const char *toString(ScalarType t)
{
    switch (t) {
#define TAEDA_TORCH_TYPE_(type, name, number, dtype) \
    case ScalarType::name: return #name;
        TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_
        case ScalarType::ComplexHalf: return "ComplexHalf";
        default: return "Undefined";
    }
}
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, ScalarType t)
{
    return out << toString(t);
}
inline size_t elementSize(ScalarType t)
{
    return size_t(taeda::facts_of(detail::dtype_of(t)).itemsize);
}
inline bool isComplexType(ScalarType t)
{
    return t == kComplexHalf || t == kComplexFloat || t == kComplexDouble;
}
inline bool isFloatingType(ScalarType t)
{
    return t == kHalf || t == kBFloat16 || t == kFloat || t == kDouble;
}
inline bool isIntegralType(ScalarType t, bool with_bool)
{
    return t == kBool ? with_bool
                      : !isFloatingType(t) && !isComplexType(t) && t != ScalarType::Undefined;
}
inline bool isReducedFloatingType(ScalarType t) { return t == kHalf || t == kBFloat16; }
inline ScalarType promoteTypes(ScalarType a, ScalarType b)
{
    return detail::type_of(taeda::promote(detail::dtype_of(a), detail::dtype_of(b)));
}

}

namespace caffe2 TAEDA_HIDDEN {
/* What x.dtype() gives; compares with, and becomes, a ScalarType. */
class TypeMeta {
public:
    constexpr TypeMeta(c10::ScalarType type = c10::ScalarType::Undefined) : type_(type) {}
    template <class T> static TypeMeta Make() { return c10::CppTypeToScalarType<T>::value; }
    template <class T> bool Match() const { return type_ == c10::CppTypeToScalarType<T>::value; }
    constexpr operator c10::ScalarType() const { return type_; }
    constexpr c10::ScalarType toScalarType() const { return type_; }
    size_t itemsize() const { return c10::elementSize(type_); }
    const char *name() const { return c10::toString(type_); }

private:
    c10::ScalarType type_;
};
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, TypeMeta t)
{
    return out << t.name();
}
}
namespace c10 TAEDA_HIDDEN {
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta t) { return t; }
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType t) { return t; }
}
#endif
