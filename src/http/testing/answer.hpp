#pragma once

#include <string>
#include <string_view>

namespace pawl::http::testing {

// One response, as received.
struct Answer {
    std::string text;
    int status() const { return text.size() > 12 ? std::stoi(text.substr(9, 3)) : 0; }
    std::string body() const { return text.substr(text.find("\r\n\r\n") + 4); }
    std::string header(const std::string& name) const {
        const auto head = text.substr(0, text.find("\r\n\r\n") + 2);
        const auto at = head.find("\r\n" + name + ": ");
        if (at == head.npos) return "";
        const auto from = at + name.size() + 4;
        return head.substr(from, head.find("\r\n", from) - from);
    }
    std::string type() const {
        constexpr std::string_view start = "{\"type\":\"/errors/";
        const auto text_body = body();
        if (!text_body.starts_with(start)) return "not a problem";
        return text_body.substr(start.size(), text_body.find('"', start.size()) - start.size());
    }
};

}  // namespace pawl::http::testing
