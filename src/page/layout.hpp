#pragma once

#include "src/http/listener.hpp"
#include "src/page/html.hpp"
#include "src/page/operators.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::page {

// A whole page of a person who is signed in, or not yet.
struct Whole {
    int status{200};
    std::string title{};
    std::string path{};  // Marks the tab.
    Html content{};
    std::string message{};
    std::optional<Operator> who{};
    std::string form_token{};  // For signing out.
    bool live{false};          // The script may replace it by a newer one.
};
http::Reply page_reply(const Whole& page);
http::Reply json_reply(int status, const boost::json::value& value);
http::Reply see_other(std::string path);
// A file that is part of the program; nullopt: none has this path.
std::optional<http::Reply> file_at(std::string_view path);

// No other origin's content, no inline script, no frame, forms to us alone; nothing is stored.
void add_safety(http::Reply& reply);

}  // namespace pawl::page
