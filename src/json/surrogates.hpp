#pragma once

#include <string>
#include <string_view>

namespace pawl::json {

// RFC 8259, 8.2: a text of another side may have half of a surrogate pair, such as "\ud83d", as
// Ruby and JavaScript write it where they cut a text. It becomes U+FFFD, written with as many
// bytes. Returns `text` if it has none, and else a view of `replaced`.
std::string_view replace_lone_surrogates(std::string_view text, std::string& replaced);

}  // namespace pawl::json
