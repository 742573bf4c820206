#include <pawl/sftp.hpp>

#include "src/bank/fingerprint_text.hpp"
#include "src/bank/sftp_connection.hpp"
#include "src/base/random.hpp"
#include "src/core/fault.hpp"

#include <algorithm>
#include <utility>

namespace pawl {

namespace {

using bank::SftpConnection;

std::string joined(const std::string& folder, const std::string& name) {
    return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

// What is under the file's name, in its folder or, if the receiver has moved it, in the archive. In
// this order a file that is moved meanwhile is not missed. nullopt: nothing.
std::optional<Uploaded> find_file(
    SftpConnection& connection, const SftpUpload& file, std::size_t file_max
) {
    for (const auto& folder : {file.folder, file.archive}) {
        if (folder.empty()) continue;
        const auto path = joined(folder, file.name);
        const auto size = connection.size_of(path);
        if (!size) continue;
        if (*size != file.bytes.size()) return Uploaded::name_taken;
        try {
            return connection.read(path, file_max) == file.bytes ? Uploaded::earlier
                                                                 : Uploaded::name_taken;
        } catch (const SftpError& error) {  // Moved since it was seen.
            if (error.kind() != SftpError::Kind::refused) throw;
        }
    }
    return std::nullopt;
}

// Throws unless all bytes are there, read back from the server.
void write_checked(SftpConnection& connection, const std::string& path, std::string_view bytes) {
    connection.write_new(path, bytes);
    PAWL_FAULT("sftp.write.after");
    if (connection.read(path, bytes.size()) != bytes)
        throw SftpError{SftpError::Kind::lost, path + " has other bytes than were sent"};
    PAWL_FAULT("sftp.check.after");
}

bool is_left_over(const std::string& entry, const std::string& name) {
    return entry.starts_with(name + ".") && entry.ends_with(".tmp");
}

// What earlier tries left. A try that still goes on fails at its rename, and is repeated; a rename
// that an earlier try has sent, and that the server carries out late, finds nothing.
void remove_left_over(
    SftpConnection& connection,
    const std::string& folder,
    const std::string& name,
    const std::string& own_temporary = {}
) {
    for (const auto& entry : connection.list(folder)) {
        const auto path = joined(folder, entry.name);
        if (is_left_over(entry.name, name) && path != own_temporary) (void)connection.remove(path);
    }
}

// In this order: a rename before the removal is found, one after it fails.
bool is_withdrawn_there(SftpConnection& connection, const SftpUpload& file, std::size_t file_max) {
    for (const auto& one : file.withdrawn) remove_left_over(connection, file.folder, one.name);
    return std::ranges::any_of(file.withdrawn, [&](const SftpWithdrawn& one) {
        const SftpUpload known{file.folder, one.name, one.bytes, file.archive, {}};
        return find_file(connection, known, file_max) == Uploaded::earlier;
    });
}

Uploaded put(
    const Call& call, SftpConnection& connection, const SftpUpload& file, std::size_t file_max
) {
    if (const auto found = find_file(connection, file, file_max)) return *found;
    if (is_withdrawn_there(connection, file, file_max)) return Uploaded::withdrawn_is_there;
    PAWL_FAULT("sftp.lookup.after");
    const auto temporary =
        joined(file.folder, file.name + "." + base::random_hex(base::system_random(), 16) + ".tmp");
    try {
        write_checked(connection, temporary, file.bytes);
        remove_left_over(connection, file.folder, file.name, temporary);
    } catch (const SftpError& error) {
        if (error.kind() == SftpError::Kind::refused) (void)connection.remove(temporary);
        throw;
    }
    if (!call.may_send()()) {
        (void)connection.remove(temporary);
        throw SftpError{
            SftpError::Kind::stopped,
            "this process was paused for so long that another one may send the file"};
    }
    const bool renamed = connection.rename(temporary, joined(file.folder, file.name));
    PAWL_FAULT("sftp.rename.after");
    if (renamed) return Uploaded::now;
    (void)connection.remove(temporary);
    const auto found = find_file(connection, file, file_max);
    if (!found)
        throw SftpError{
            SftpError::Kind::refused,
            "the server refuses to rename a file to " + joined(file.folder, file.name)};
    return *found;
}

}  // namespace

std::optional<std::string> SftpOptions::problem() const {
    if (host.empty()) return "host is empty";
    if (user.empty()) return "user is empty";
    if (host_keys.empty()) return "host_keys is empty: ssh-keygen -l shows the server's";
    for (const auto& one : host_keys)
        if (!bank::is_fingerprint(one))
            return "host_keys has " + one + ": SHA256: and 43 characters, as ssh-keygen -l shows";
    if (key_file.empty() == password_file.empty())
        return "one of key_file and password_file is needed";
    if (entries_max < 1) return "entries_max is 0: at least 1";
    if (connect_timeout.count() < 1 || timeout.count() < 1)
        return "connect_timeout and timeout are at least 1 ms";
    return std::nullopt;
}

Sftp::Sftp(SftpOptions options) : options_{std::make_unique<SftpOptions>(std::move(options))} {
    if (auto why = options_->problem()) throw std::invalid_argument{"SFTP: " + *why};
}
Sftp::~Sftp() = default;
Sftp::Sftp(Sftp&&) noexcept = default;
Sftp& Sftp::operator=(Sftp&&) noexcept = default;

Uploaded Sftp::upload(const Call& call, const SftpUpload& file) const {
    call.assert_open();
    SftpConnection connection{*options_, call.stop()};
    return put(call, connection, file, options_->file_max);
}

std::vector<SftpEntry> Sftp::list(const Call& call, const std::string& folder) const {
    call.assert_open();
    SftpConnection connection{*options_, call.stop()};
    return connection.list(folder);
}

std::string Sftp::read(const Call& call, const std::string& path) const {
    call.assert_open();
    SftpConnection connection{*options_, call.stop()};
    return connection.read(path, options_->file_max);
}

const SftpOptions& Sftp::options() const {
    return *options_;
}

std::string Sftp::target() const {
    return "sftp://" + options_->user + "@" + options_->host + ":" + std::to_string(options_->port);
}

}  // namespace pawl
