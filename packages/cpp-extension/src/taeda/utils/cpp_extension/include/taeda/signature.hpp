/* taeda/signature.hpp - what the compiler knows of a bound function, compared with what its schema
 * says of it. */
#ifndef TAEDA_SIGNATURE_HPP
#define TAEDA_SIGNATURE_HPP
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/argument.hpp"
#include "taeda/result.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
/* The types in schemas whose values an argument of C++ can hold, with a space behind each. */
template <class T> inline const char *const holds = Argument<T>::schema;
template <> inline const char *const holds<double> = "float int bool Scalar ";
template <> inline const char *const holds<float> = "float int bool Scalar ";
template <> inline const char *const holds<int64_t> = "int bool Scalar ";
template <> inline const char *const holds<uint64_t> = "int bool Scalar ";
template <> inline const char *const holds<int> = "int bool Scalar ";
template <> inline const char *const holds<bool> = "bool Scalar ";
template <> inline const char *const holds<std::vector<Tensor>> = "Tensor[] Tensor?[] ";
template <> inline const char *const holds<std::vector<double>> = "float[] Scalar[] ";
template <> inline const char *const holds<Generator> = "Generator ";
template <class T> inline const char *const holds<std::optional<T>> = holds<T>;
template <class T> inline constexpr bool holds_none = std::is_same_v<T, Generator>;
template <class T> inline constexpr bool holds_none<std::optional<T>> = true;

struct Held {
    const char *types;
    bool none; /* and None */
};

struct Signature {
    const Held *arguments;
    int count, results;
};

template <class R, class... A> const Signature &signature_of()
{
    static const Held arguments[] = {{holds<std::decay_t<A>>, holds_none<std::decay_t<A>>}...,
                                     {nullptr, false}};
    static const Signature made = {arguments, int(sizeof...(A)), count_of<R>};
    return made;
}

/* ---- a schema that the core has parsed already ---- */
/* Pieces between commas that stand outside of brackets and quotes, from `at` to the bracket that
 * closes. */
TAEDA_RARE inline std::vector<std::string> pieces(const std::string &text, size_t &at)
{
    std::vector<std::string> made;
    std::string piece;
    char quote = 0;
    for (int depth = 0; at < text.size(); at++) {
        char c = text[at];
        if (quote) quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'') quote = c;
        else if (c == '(' || c == '[') depth++;
        else if ((c == ')' || c == ']') && depth-- == 0) break;
        if (c == ',' && !depth && !quote) made.push_back(std::exchange(piece, ""));
        else if (c != ' ' || !piece.empty()) piece += c;
    }
    while (!piece.empty() && piece.back() == ' ') piece.pop_back();
    if (!piece.empty()) made.push_back(piece);
    return made;
}

/* "Tensor(a!)? x=None" is "Tensor?": without alias sets, lengths, name and default */
TAEDA_RARE inline std::string type_in(const std::string &piece)
{
    std::string head = piece.substr(0, piece.find('=')), made;
    while (!head.empty() && head.back() == ' ') head.pop_back();
    int depth = 0;
    for (char c : head.substr(0, head.rfind(' '))) {
        if (c == ')') depth--;
        else if (c == '(') depth++;
        else if (!depth && c != '!' && c != ' ' && !(c >= '0' && c <= '9' && made.back() == '['))
            made += c;
    }
    return made.compare(0, 6, "SymInt") ? made : "int" + made.substr(6);
}

TAEDA_RARE inline void check_argument(const std::string &start, size_t k, const std::string &wanted,
                                      const Held &held)
{
    bool none = wanted.back() == '?';
    std::string type = none ? wanted.substr(0, wanted.size() - 1) : wanted,
                known = std::string(" ") + held.types + " ";
    if (known.find(" " + type + " ") == std::string::npos)
        throw TypeError(concat(start, " cannot take argument ", k, ", which is ", wanted,
                               " in the schema: it holds ", held.types));
    if (none && !held.none)
        throw TypeError(concat(start, " cannot take argument ", k, ", which is ", wanted,
                               " in the schema, when it is None: make it a std::optional"));
}

/* `which`: "the C++ function", "its meta function", ... */
TAEDA_RARE inline void compare(const char *which, const std::string &schema, const Signature &s)
{
    std::string start = concat("\"", schema, "\": ", which);
    size_t at = schema.find('(') + 1, k = 0;
    std::vector<std::string> wanted;
    for (const std::string &piece : pieces(schema, at))
        if (piece != "*") wanted.push_back(type_in(piece));
    if (wanted.size() != size_t(s.count))
        throw TypeError(
            concat(start, " takes ", s.count, " arguments, and the schema has ", wanted.size()));
    for (const std::string &type : wanted) {
        check_argument(start, k, type, s.arguments[k]);
        k++;
    }
    std::string given = schema.substr(schema.find("->", at) + 2);
    bool written = given.find('!') != std::string::npos;
    size_t from = given.find_first_not_of(' ');
    if (from != std::string::npos && given[from] == '(') from++;
    std::vector<std::string> made;
    if (from != std::string::npos) made = pieces(given, from);
    int results = int(made.size());
    if (s.results == any_count && results > 0) return; /* the call will tell */
    if (results == 1 && type_in(made[0]).find('[') != std::string::npos)
        throw TypeError(concat(start, " gives no list, and the schema ", type_in(made[0]),
                               ": make its result a std::vector<Tensor>"));
    /* what the schema says is an argument that was written need not be returned */
    if (s.results == results || (s.results == 0 && written)) return;
    throw TypeError(concat(start, " gives ", s.results, " results, and the schema has ", results));
}
}

}
#endif
