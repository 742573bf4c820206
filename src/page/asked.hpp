#pragma once

#include <pawl/service.hpp>

#include "src/json/form.hpp"
#include "src/page/operators.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::page {

// The request can't be served as it is; the text says what to do.
struct Refused {
    int status{};
    std::string why;
};

// The fields of a query string or a form.
class Fields {
public:
    explicit Fields(std::vector<json::Pair> pairs) : pairs_{std::move(pairs)} {}

    // An empty field is none: a form sends all of its fields.
    std::optional<std::string> text(std::string_view name) const;
    std::string text_or(std::string_view name, std::string_view otherwise) const;
    std::optional<std::int64_t> number(std::string_view name) const;  // Throws Refused.
    // Of a list; its length has a limit. Throws Refused.
    int limit() const;
    bool has(std::string_view name) const { return text(name).has_value(); }
    const std::vector<json::Pair>& pairs() const { return pairs_; }

private:
    std::vector<json::Pair> pairs_;
};

// A request to a view or an act, by a person who may make it.
struct Asked {
    Service& service;
    Operator who;
    std::string id{};  // In the place of {id} in the path.
    Fields fields;
    std::string form_token{};  // Of the session; empty: of the API.

    std::int64_t number() const;  // The id as a number. Throws Refused.
    bool may(Role role) const { return who.role >= role; }
};

}  // namespace pawl::page
