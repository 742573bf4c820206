#pragma once

#include <pawl/sftp.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::bank {

// One SSH connection with an SFTP channel, on one thread. Every function throws SftpError.
class SftpConnection {
public:
    SftpConnection(const SftpOptions& options, std::stop_token stop);
    ~SftpConnection();
    SftpConnection(const SftpConnection&) = delete;
    SftpConnection& operator=(const SftpConnection&) = delete;

    std::optional<std::uint64_t> size_of(const std::string& path);  // nullopt: there is no file.
    std::string read(const std::string& path, std::size_t bytes_max);
    // Makes a file that must not exist.
    void write_new(const std::string& path, std::string_view bytes);
    // False: the server refuses it, for example because `to` exists.
    bool rename(const std::string& from, const std::string& to);
    bool remove(const std::string& path);  // False: the server refuses it.
    // At most options.entries_max.
    std::vector<SftpEntry> list(const std::string& folder);

    struct Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::bank
