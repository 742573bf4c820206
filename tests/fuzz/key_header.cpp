// The Idempotency-Key. Every text is a key or a problem; a key is 1 to 255 visible ASCII characters
// without `" , ; \`, all such keys are accepted, and quoted and bare keys are the same.

#include "src/http/key_header.hpp"

#include "tests/fuzz/fuzz.hpp"

#include <optional>

namespace {

using namespace pawl;

bool is_key(std::string_view text) {
    return !text.empty() && text.size() <= 255 && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c <= '~' && std::string_view{"\",;\\"}.find(c) == std::string_view::npos;
    });
}

// The rule in its shortest form.
std::optional<std::string> expected_of(std::string_view text) {
    if (is_key(text)) return std::string{text};
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
    const auto inner = text.substr(1, text.size() - 2);
    return is_key(inner) ? std::optional{std::string{inner}} : std::nullopt;
}

void check_text(std::string_view text) {
    const auto found = http::key_of(text);
    const auto* key = std::get_if<std::string>(&found);
    const auto expected = expected_of(text);
    PAWL_ASSERT((key != nullptr) == expected.has_value());
    if (key == nullptr) {
        PAWL_ASSERT(!std::get<http::KeyProblem>(found).why.empty());
        return;
    }
    PAWL_ASSERT(*key == *expected);
    PAWL_ASSERT(std::get<std::string>(http::key_of(*key)) == *key);
    const auto quoted = http::key_of('"' + *key + '"');
    PAWL_ASSERT(std::get<std::string>(quoted) == *key);
    PAWL_ASSERT(std::holds_alternative<http::KeyProblem>(http::key_of("\"\"" + *key + "\"\"")));
}

// Each line is one header of the request; its name may have any case.
void check_head(std::string_view bytes) {
    RequestHead head;
    for (const auto line : fuzz::lines_of(bytes)) {
        const auto [name, value] = fuzz::cut_at(line, ":");
        head.headers.push_back({std::string{name}, std::string{value}});
    }
    const auto found = http::key_header(head);
    const auto count = head.count("idempotency-key");
    PAWL_ASSERT(std::holds_alternative<http::NoKey>(found) == (count == 0));
    if (count > 1) PAWL_ASSERT(std::holds_alternative<http::KeyProblem>(found));
    if (count != 1) return;
    const auto value = *head.header("IDEMPOTENCY-KEY");
    const auto alone = http::key_of(value);
    const auto* key = std::get_if<std::string>(&found);
    if (key == nullptr)
        PAWL_ASSERT(std::holds_alternative<http::KeyProblem>(alone));
    else if (!value.starts_with('"' + *key + "\";"))  // With parameters.
        PAWL_ASSERT(*key == std::get<std::string>(alone));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = fuzz::text_of(data, size);
    check_text(bytes);
    check_head(bytes);
    return 0;
}
