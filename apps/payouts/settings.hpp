#pragma once

#include <pawl/sftp.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace payouts {

// The file that PAYOUTS_SETTINGS names, as JSON with these members. docs/howto/bank_files.md
struct Settings {
    // Exactly one of the two: the format of the files, and who pays.
    struct Iso20022 {  // pain.001.001.09 out, camt.054.001.08 in.
        std::string debtor_name;
        std::string debtor_account;
        std::optional<std::string> debtor_bic;
        std::string currency;
        // What the bank takes in texts: "epc217", the default, or "xml" (pawl::bank::CharacterSet).
        std::optional<std::string> characters;
        std::optional<bool> transliterate;  // Of payouts; false: another character is refused.
    };
    struct Nacha {
        std::string destination;
        std::string destination_name;
        std::string origin;
        std::string origin_name;
        std::string company_name;
        std::string company_id;
        std::string description;
        std::optional<bool> transliterate;
    };
    struct Server {
        std::string host;
        std::uint16_t port{};
        std::string user;
        std::vector<std::string> host_keys;
        std::optional<std::string> key_file;
        std::optional<std::string> passphrase_file;
        std::optional<std::string> password_file;
        std::string inbox;                   // Where our files go.
        std::optional<std::string> archive;  // Where the bank moves them.
        std::string outbox;                  // Where the bank's reports come from.
        std::optional<std::int64_t> timeout_ms;
        std::optional<std::size_t> entries_max;  // Names of the outbox that are read; 50,000.
    };
    struct ApiClient {
        std::string token;
        std::string account;
        std::optional<bool> is_operator;  // May POST /cut-offs and /report-fetches.
    };

    std::optional<Iso20022> iso20022;
    std::optional<Nacha> nacha;
    Server sftp;
    std::string cut_off;                       // As a crontab line: "0 15 * * 1-5".
    std::string fetch;                         // "*/5 * * * *"
    std::optional<std::string> time_zone;      // Of both; UTC.
    int execution_in_days{};                   // From the day of the file, in UTC.
    std::optional<std::int64_t> payouts_max;   // In one file, at most 25,000; 5,000.
    std::optional<std::int64_t> first_report;  // The bank's first number of each series; 1.
    std::vector<ApiClient> clients;
    // How long a server that may be dead holds a request or a job, and the waits of failed jobs.
    std::optional<std::int64_t> lease_ms;
    std::optional<std::vector<std::int64_t>> retry_ms;
    std::optional<std::int64_t> complete_after_ms;  // Until the completer tries a file again: 5 s.
    std::optional<std::int64_t> settle_after_ms;    // As of the attention list: 30 s.

    std::optional<std::string> problem() const;
    pawl::SftpOptions sftp_options() const;
};

// Throws std::invalid_argument, which names the file.
Settings read_settings(const std::string& file);

}  // namespace payouts
