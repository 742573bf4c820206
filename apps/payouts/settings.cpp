#include "apps/payouts/settings.hpp"

#include <pawl/json.hpp>
#include <pawl/log.hpp>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace payouts {

std::optional<std::string> Settings::problem() const {
    if (iso20022.has_value() == nacha.has_value()) return "give one of iso20022 and nacha";
    if (payouts_max.value_or(1) < 1) return "payouts_max is below 1";
    if (execution_in_days < 0 || execution_in_days > 10)
        return "execution_in_days is not from 0 to 10";
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
