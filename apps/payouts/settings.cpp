#include "apps/payouts/settings.hpp"

#include <pawl/json.hpp>
#include <pawl/log.hpp>

#include "apps/payouts/bank_format.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace payouts {

namespace {

// A file of more could be larger than Sftp reads back: a payment has less than 2,500 bytes.
constexpr std::int64_t payouts_max_max = 25'000;

// It is stored with each payout, and is a line of what its end-to-end id is made from.
bool is_account(const std::string& text) {
    return !text.empty() && text.size() <= 100 &&
           std::ranges::none_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
}

}  // namespace

std::optional<std::string> Settings::problem() const {
    if (iso20022.has_value() == nacha.has_value()) return "give one of iso20022 and nacha";
    if (payouts_max.value_or(1) < 1 || payouts_max.value_or(1) > payouts_max_max)
        return "payouts_max is " + std::to_string(*payouts_max) + ": 1 to " +
               std::to_string(payouts_max_max);
    if (execution_in_days < 0 || execution_in_days > 10)
        return "execution_in_days is not from 0 to 10";
    if (iso20022) {
        const auto set = iso20022->characters.value_or("epc217");
        if (set != "epc217" && set != "xml") return "characters is " + set + ": epc217 or xml";
    }
    if (auto why = BankFormat{*this}.settings_problem()) return why;
    for (const auto& client : clients)
        if (client.token.empty() || !is_account(client.account))
            return "clients has an empty token, or an account that is not 1 to 100 characters "
                   "without controls";
    if (clients.empty()) return "clients is empty: nobody could send a payout";
    if (auto why = sftp_options().problem()) return "sftp: " + *why;
    return std::nullopt;
}

pawl::SftpOptions Settings::sftp_options() const {
    pawl::SftpOptions options{
        .host = sftp.host,
        .port = sftp.port,
        .user = sftp.user,
        .host_keys = sftp.host_keys,
        .key_file = sftp.key_file.value_or(""),
        .passphrase_file = sftp.passphrase_file.value_or(""),
        .password_file = sftp.password_file.value_or("")};
    if (sftp.timeout_ms)
        options.connect_timeout = options.timeout = std::chrono::milliseconds{*sftp.timeout_ms};
    options.entries_max = sftp.entries_max.value_or(options.entries_max);
    return options;
}

Settings read_settings(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    if (!in) throw std::invalid_argument{"the settings file " + file + " can't be read"};
    pawl::log::warn_if_others_can_read("settings file", file);
    auto settings = pawl::from_json<Settings>(std::string{
        std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}});
    if (!settings)
        throw std::invalid_argument{
            file + " is not a JSON object with the members of apps/payouts/settings.hpp"};
    if (auto why = settings->problem()) throw std::invalid_argument{file + ": " + *why};
    return std::move(*settings);
}

}  // namespace payouts
