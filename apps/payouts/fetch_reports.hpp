#pragma once

#include <pawl/database.hpp>
#include <pawl/job.hpp>
#include <pawl/sftp.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace payouts {

// Staged at each time of Settings::fetch.
struct FetchReports {
    static constexpr std::string_view kind = "fetch_reports";
    static constexpr pawl::JobSettings settings{.queue = "bank"};
    std::int64_t tick_ms{};
};

// The name as it is; or, if no database takes it, its ASCII with %XX for each other byte.
std::string stored_name(const std::string& name);
// The size that a server reports, as far as a database takes it.
std::int64_t stored_size(std::uint64_t size);

// Stores each new file of the bank's folder as it is, and stages its import. Also stages the
// imports that were stopped for a cause that may be gone. Removes nothing at the bank. A file that
// can't be read or stored is set aside or left for the next round; the others do not wait for it.
class FetchReportsWorker {
public:
    // Both outlive it.
    FetchReportsWorker(pawl::Database& database, const pawl::Sftp& sftp, std::string outbox);
    pawl::JobResult work(pawl::Call& call, const pawl::Job<FetchReports>& job);

private:
    void store(const pawl::SftpEntry& entry, const std::string& bytes);
    void set_aside(const pawl::SftpEntry& entry, const std::string& why);
    void fetch(pawl::Call& call, const pawl::SftpEntry& entry);
    // Why the connection was lost; nullopt: the file is dealt with.
    std::optional<pawl::SftpError> fetch_or_note(pawl::Call& call, const pawl::SftpEntry& entry);

    pawl::Database& database_;
    const pawl::Sftp& sftp_;
    std::string outbox_;
};

}  // namespace payouts
