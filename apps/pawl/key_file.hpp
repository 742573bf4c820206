#pragma once

#include <pawl/client.hpp>

#include <string>

namespace pawl {

struct KeyInFile {
    ClientKey key;
    bool made{false};  // It was not there.
};

// The key that a file holds, in its first line. Without the file one is made at random, and is on
// the disk, with its name, when this returns. Two who ask at once get the same. Throws
// std::system_error, std::invalid_argument for a file that holds no key.
KeyInFile key_in_file(const std::string& path);

}  // namespace pawl
