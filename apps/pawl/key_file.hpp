#pragma once

#include <pawl/client.hpp>

#include <string>

namespace pawl {

struct KeyInFile {
    ClientKey key;
    bool made{false};  // The file did not exist.
};

// The key in the first line of the file. If there is no file, one with a random key is created, and
// is on the disk, with its name, on return. Two callers at once get the same key. Throws
// std::system_error, and std::invalid_argument for a file without a key.
KeyInFile key_in_file(const std::string& path);

}  // namespace pawl
