#pragma once

#include <pawl/call.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

struct SftpOptions {
    std::string host{};
    std::uint16_t port{22};
    std::string user{};
    // The server's keys, as `ssh-keygen -l` prints them: "SHA256:...". Two while the server changes
    // its key. Another key is refused before any credential is sent. libssh2 asks for an Ed25519
    // key first, then ECDSA, then RSA.
    std::vector<std::string> host_keys{};
    // One of the two. The key is an Ed25519 or ECDSA key of OpenSSH: libssh2 1.10 signs with RSA
    // only in a form that OpenSSH no longer accepts. Of the other files the first line counts.
    std::string key_file{};
    std::string passphrase_file{};  // Of the key; may be empty.
    std::string password_file{};

    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds timeout{30'000};            // For each answer of the server.
    std::size_t file_max{std::size_t{64} * 1024 * 1024};  // Bytes of a file that is read.
    // Files of a folder that are listed, and half of the names that are read for it.
    std::size_t entries_max{50'000};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Thrown by every function of Sftp. what() is for operators.
class SftpError : public std::runtime_error {
public:
    enum class Kind {
        unreachable,     // No connection, or no SSH on it.
        host_key,        // The server has another key: a new server, or an attack.
        authentication,  // The server refuses the user's key or password.
        refused,         // The server refuses an action: no such folder, no permission, no space.
        lost,            // The connection ended, or no answer came in time.
        too_large,
        stopped  // The service stops, or the call's lease is over.
    };
    SftpError(Kind kind, const std::string& text) : std::runtime_error{text}, kind_{kind} {}
    Kind kind() const noexcept { return kind_; }

private:
    Kind kind_;
};

struct SftpEntry {
    std::string name{};
    std::uint64_t size{};
    std::int64_t modified_s{};  // Seconds since 1970.
};

// A file that was given up, and that must not be in the folder or the archive with these bytes.
struct SftpWithdrawn {
    std::string name{};
    std::string bytes{};
};

// A file that must be in a folder once, whole, under its name.
struct SftpUpload {
    std::string folder{};
    std::string name{};
    std::string_view bytes{};
    // Where the receiver moves files that it has read; empty: nowhere that we can see.
    std::string archive{};
    std::vector<SftpWithdrawn> withdrawn{};  // In whose place this one goes.
};
enum class Uploaded {
    now,                // By this call.
    earlier,            // It was there, with these bytes.
    name_taken,         // By another file; nothing was changed.
    withdrawn_is_there  // One of `withdrawn`; this one was not sent.
};

// SFTP by libssh2. Each function makes a connection of its own, blocks, ends early when the call
// is stopped, and may be called from several threads at once.
class Sftp {
public:
    // Throws std::invalid_argument if the options have a problem().
    explicit Sftp(SftpOptions options);
    ~Sftp();
    Sftp(Sftp&&) noexcept;
    Sftp& operator=(Sftp&&) noexcept;

    // May be repeated after any failure, so its call is Repeat::safe. It queries first: a file of
    // this name in the folder or the archive is compared, byte for byte. Else it writes to a
    // temporary name, NAME.HEX.tmp, that no other try has; reads that back; removes what earlier
    // tries left under such names; and renames, which never overwrites. If the server refuses the
    // rename it queries again. After the first query and before it writes, it removes the temporary
    // names of withdrawn files, so that a server that was paused in their upload can't rename them.
    // If Call::may_send() is false before the rename, it throws SftpError (stopped).
    Uploaded upload(const Call& call, const SftpUpload& file) const;
    // The regular files of a folder, by name: at most options().entries_max, those that the server
    // lists first. A name may be any bytes. One over 4,095 bytes is left out.
    std::vector<SftpEntry> list(const Call& call, const std::string& folder) const;
    // Throws SftpError (refused) if there is none.
    std::string read(const Call& call, const std::string& path) const;

    const SftpOptions& options() const;
    // The server and the user, for Op::call_target(): "sftp://user@host:22".
    std::string target() const;

private:
    std::unique_ptr<SftpOptions> options_;
};

}  // namespace pawl
