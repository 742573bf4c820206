#pragma once

#include <string>
#include <string_view>

namespace pawl::bank {

// As `ssh-keygen -l` prints the SHA-256 of a host key: "SHA256:" and base64 without padding.
std::string fingerprint_text(std::string_view hash);
bool is_fingerprint(std::string_view text);

}  // namespace pawl::bank
