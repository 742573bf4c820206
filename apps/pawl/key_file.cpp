#include "apps/pawl/key_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace pawl {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
    throw std::system_error{
        errno, std::generic_category(), "--key-file: can't " + what + " " + path};
}

std::string random_hex(std::size_t digits) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text(digits, '0');
    if (::getentropy(text.data(), text.size()) != 0) fail("have random numbers for", "it");
    for (auto& digit : text) digit = hex[static_cast<unsigned char>(digit) & 15U];
    return text;
}

void sync(const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags | O_CLOEXEC);
    if (file < 0) fail("open", path);
    const bool synced = ::fsync(file) == 0;
    ::close(file);
    if (!synced) fail("sync", path);
}

}  // namespace

KeyInFile key_in_file(const std::string& path) {
    if (path.empty()) throw std::invalid_argument{"--key-file: the file's name is empty"};
    bool made = false;
    if (!std::filesystem::exists(path)) {
        // The file gets its name when it is complete, and never replaces another process's.
        const auto draft = path + "." + random_hex(16);
        {
            std::ofstream file{draft};
            file << random_hex(32) << "\n";
            if (!file.flush()) fail("write", draft);
        }
        sync(draft, O_WRONLY);
        made = ::link(draft.c_str(), path.c_str()) == 0;
        const int why = errno;
        ::unlink(draft.c_str());
        if (!made && why != EEXIST) {
            errno = why;
            fail("make", path);
        }
    }
    // Also if the file existed: its creator may have died before its sync.
    sync(path, O_RDONLY);
    const auto folder = std::filesystem::path{path}.parent_path().string();
    sync(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
    std::ifstream file{path};
    std::string line;
    if (!std::getline(file, line))
        throw std::invalid_argument{
            "--key-file: " + path + " holds no key: its first line is empty"};
    return {ClientKey::saved(line), made};
}

}  // namespace pawl
