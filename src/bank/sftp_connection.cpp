#include "src/bank/sftp_connection.hpp"

#include "src/bank/fingerprint_text.hpp"
#include "src/bank/tcp_socket.hpp"
#include "src/base/clock.hpp"
#include "src/core/fault.hpp"

#include <libssh2.h>
#include <libssh2_sftp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>
#include <utility>

namespace pawl::bank {

namespace {

using Kind = SftpError::Kind;

constexpr const char* host_key_order =
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,ssh-rsa";
constexpr std::size_t part_max = std::size_t{32} * 1024;
constexpr int file_mode = 0640;  // The bank may read with another user of the same group.

struct EndSession {
    // The socket is shut down by then, so this sends and waits for nothing.
    void operator()(LIBSSH2_SESSION* session) const { libssh2_session_free(session); }
};

std::string_view status_text(unsigned long status) {
    switch (status) {
        case LIBSSH2_FX_NO_SUCH_FILE:
        case LIBSSH2_FX_NO_SUCH_PATH:
            return "there is no such file or folder";
        case LIBSSH2_FX_PERMISSION_DENIED:
        case LIBSSH2_FX_WRITE_PROTECT:
            return "permission denied";
        case LIBSSH2_FX_NO_SPACE_ON_FILESYSTEM:
        case LIBSSH2_FX_QUOTA_EXCEEDED:
            return "no space is left";
        case LIBSSH2_FX_FAILURE:  // OpenSSH says this for a full disk, too.
            return "it failed: perhaps its disk is full";
        default:
            return "it failed";
    }
}

std::string first_line(const std::string& file) {
    std::ifstream in{file};
    std::string line;
    if (!std::getline(in, line)) throw SftpError{Kind::authentication, file + " can't be read"};
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

void use_libssh2() {
    static const int failed = libssh2_init(0);  // Once, as it is not thread-safe.
    if (failed != 0) throw std::bad_alloc{};
}

}  // namespace

struct SftpConnection::Impl {
    const SftpOptions& options;
    std::stop_token stop;
    TcpSocket socket;
    std::unique_ptr<LIBSSH2_SESSION, EndSession> session{};
    LIBSSH2_SFTP* sftp{};

    // Repeats an action until libssh2 has its answer; a negative result is left to the caller.
    template <class F>
    auto wait_for(F action) {
        const auto deadline = base::system_clock().steady() + options.timeout;
        while (true) {
            const auto result = action();
            if (!is_pending(result)) return result;
            const int directions = libssh2_session_block_directions(session.get());
            const int events = ((directions & LIBSSH2_SESSION_BLOCK_INBOUND) != 0 ? POLLIN : 0) |
                               ((directions & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0 ? POLLOUT : 0);
            switch (TcpSocket::wait(socket.descriptor(), static_cast<short>(events), deadline, stop)
            ) {
                case TcpSocket::Ready::too_late:
                    throw SftpError{Kind::lost, options.host + " does not answer in time"};
                case TcpSocket::Ready::stopped:
                    throw SftpError{Kind::stopped, "the service stops"};
                case TcpSocket::Ready::yes:
                    break;
            }
        }
    }
    template <class T>
    bool is_pending(T* made) const {
        return made == nullptr && libssh2_session_last_errno(session.get()) == LIBSSH2_ERROR_EAGAIN;
    }
    static bool is_pending(ssize_t result) { return result == LIBSSH2_ERROR_EAGAIN; }

    [[noreturn]] void fail(Kind kind, const std::string& what) const {
        char* why = nullptr;
        libssh2_session_last_error(session.get(), &why, nullptr, 0);
        throw SftpError{kind, options.host + ", " + what + ": " + (why == nullptr ? "" : why)};
    }
    // The server's own refusal, or the end of the connection.
    [[noreturn]] void fail_action(const std::string& what) const {
        if (libssh2_session_last_errno(session.get()) != LIBSSH2_ERROR_SFTP_PROTOCOL)
            fail(Kind::lost, what);
        const auto status = libssh2_sftp_last_error(sftp);
        throw SftpError{
            Kind::refused,
            options.host + ", " + what + ": " + std::string{status_text(status)} + " (status " +
                std::to_string(status) + ")"};
    }
    // True: done. False: the server refuses it.
    bool asked(int result, const std::string& what) const {
        if (result == 0) return true;
        if (libssh2_session_last_errno(session.get()) != LIBSSH2_ERROR_SFTP_PROTOCOL)
            fail(Kind::lost, what);
        return false;
    }

    void greet();
    void check_host_key() const;
    void log_in();

    // A handle is closed without waiting, unless close() was called.
    class Handle {
    public:
        Handle(Impl& impl, const std::string& path, unsigned long flags, int type)
            : impl_{impl}, path_{path} {
            handle_ = impl.wait_for([&] {
                return libssh2_sftp_open_ex(
                    impl.sftp,
                    path.data(),
                    static_cast<unsigned>(path.size()),
                    flags,
                    file_mode,
                    type
                );
            });
            if (handle_ == nullptr) impl.fail_action("opening " + path);
        }
        ~Handle() {
            if (handle_ != nullptr) (void)libssh2_sftp_close_handle(handle_);
        }
        Handle(const Handle&) = delete;
        Handle& operator=(const Handle&) = delete;
        LIBSSH2_SFTP_HANDLE* get() const { return handle_; }
        // The server may report here what it could not write.
        void close() {
            auto* const handle = std::exchange(handle_, nullptr);
            const int result = static_cast<int>(impl_.wait_for([&] {
                return ssize_t{libssh2_sftp_close_handle(handle)};
            }));
            if (result != 0) impl_.fail_action("closing " + path_);
        }

    private:
        Impl& impl_;
        const std::string& path_;
        LIBSSH2_SFTP_HANDLE* handle_{};
    };
};

void SftpConnection::Impl::greet() {
    session.reset(libssh2_session_init_ex(nullptr, nullptr, nullptr, nullptr));
    if (!session) throw std::bad_alloc{};
    libssh2_session_set_blocking(session.get(), 0);
    libssh2_session_method_pref(session.get(), LIBSSH2_METHOD_HOSTKEY, host_key_order);
    const auto result = wait_for([&] {
        return ssize_t{libssh2_session_handshake(session.get(), socket.descriptor())};
    });
    if (result != 0) fail(Kind::unreachable, "SSH handshake");
}

void SftpConnection::Impl::check_host_key() const {
    constexpr std::size_t size = 32;
    const char* hash = libssh2_hostkey_hash(session.get(), LIBSSH2_HOSTKEY_HASH_SHA256);
    if (hash == nullptr) fail(Kind::host_key, "host key");
    const auto found = fingerprint_text({hash, size});
    const auto& known = options.host_keys;
    if (std::find(known.begin(), known.end(), found) != known.end()) return;
    throw SftpError{
        Kind::host_key,
        options.host + " has the host key " + found + ", which is not the known one (" +
            known.front() + "): a new server, or an attack; nothing was sent"};
}

void SftpConnection::Impl::log_in() {
    const auto& user = options.user;
    const auto user_size = static_cast<unsigned>(user.size());
    const auto secret_file =
        options.key_file.empty() ? options.password_file : options.passphrase_file;
    const auto secret = secret_file.empty() ? std::string{} : first_line(secret_file);
    const auto result = wait_for([&]() -> ssize_t {
        if (options.key_file.empty())
            return libssh2_userauth_password_ex(
                session.get(),
                user.data(),
                user_size,
                secret.data(),
                static_cast<unsigned>(secret.size()),
                nullptr
            );
        return libssh2_userauth_publickey_fromfile_ex(
            session.get(),
            user.data(),
            user_size,
            nullptr,
            options.key_file.c_str(),
            secret.empty() ? nullptr : secret.c_str()
        );
    });
    if (result == 0) return;
    const bool lost = result == LIBSSH2_ERROR_SOCKET_SEND || result == LIBSSH2_ERROR_SOCKET_RECV ||
                      result == LIBSSH2_ERROR_SOCKET_DISCONNECT;
    fail(lost ? Kind::lost : Kind::authentication, "logging in as " + user);
}

SftpConnection::SftpConnection(const SftpOptions& options, std::stop_token stop) {
    use_libssh2();
    impl_.reset(new Impl{
        .options = options,
        .stop = stop,
        .socket = {{options.host, options.port}, options.connect_timeout, stop}});
    impl_->greet();
    impl_->check_host_key();
    impl_->log_in();
    impl_->sftp = impl_->wait_for([&] { return libssh2_sftp_init(impl_->session.get()); });
    if (impl_->sftp == nullptr) impl_->fail(Kind::lost, "opening SFTP");
    PAWL_FAULT("sftp.connect.after");
}

SftpConnection::~SftpConnection() {
    ::shutdown(impl_->socket.descriptor(), SHUT_RDWR);
    // Frees requests that got no answer, which the session does not know.
    if (impl_->sftp != nullptr) (void)libssh2_sftp_shutdown(impl_->sftp);
}

std::optional<std::uint64_t> SftpConnection::size_of(const std::string& path) {
    LIBSSH2_SFTP_ATTRIBUTES attributes{};
    const auto result = impl_->wait_for([&] {
        return ssize_t{libssh2_sftp_stat_ex(
            impl_->sftp,
            path.data(),
            static_cast<unsigned>(path.size()),
            LIBSSH2_SFTP_STAT,
            &attributes
        )};
    });
    if (result == 0) return attributes.filesize;
    const auto status = libssh2_sftp_last_error(impl_->sftp);
    const bool missing = status == LIBSSH2_FX_NO_SUCH_FILE || status == LIBSSH2_FX_NO_SUCH_PATH;
    if (result != LIBSSH2_ERROR_SFTP_PROTOCOL || !missing) impl_->fail_action("querying " + path);
    return std::nullopt;
}

std::string SftpConnection::read(const std::string& path, std::size_t bytes_max) {
    Impl::Handle file{*impl_, path, LIBSSH2_FXF_READ, LIBSSH2_SFTP_OPENFILE};
    std::string bytes;
    std::array<char, part_max> part{};
    while (true) {
        const auto got = impl_->wait_for([&] {
            return libssh2_sftp_read(file.get(), part.data(), part.size());
        });
        if (got < 0) impl_->fail_action("reading " + path);
        if (got == 0) break;
        bytes.append(part.data(), static_cast<std::size_t>(got));
        if (bytes.size() > bytes_max)
            throw SftpError{
                Kind::too_large, path + " has over " + std::to_string(bytes_max) + " bytes"};
    }
    file.close();
    return bytes;
}

void SftpConnection::write_new(const std::string& path, std::string_view bytes) {
    constexpr unsigned long flags = LIBSSH2_FXF_WRITE | LIBSSH2_FXF_CREAT | LIBSSH2_FXF_EXCL;
    Impl::Handle file{*impl_, path, flags, LIBSSH2_SFTP_OPENFILE};
    PAWL_FAULT("sftp.create.after");
    while (!bytes.empty()) {
        const auto written = impl_->wait_for([&] {
            return libssh2_sftp_write(file.get(), bytes.data(), std::min(bytes.size(), part_max));
        });
        if (written < 0) impl_->fail_action("writing " + path);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    // An extension of OpenSSH; other servers refuse it, and keep the file as they can.
    const auto synced = impl_->wait_for([&] { return ssize_t{libssh2_sftp_fsync(file.get())}; });
    (void)impl_->asked(static_cast<int>(synced), "syncing " + path);
    file.close();
}

// Without flags: libssh2 does not send them to a server of SFTP 3, whose rename never overwrites
// (draft-ietf-secsh-filexfer-02, 6.5).
bool SftpConnection::rename(const std::string& from, const std::string& to) {
    const auto result = impl_->wait_for([&] {
        return ssize_t{libssh2_sftp_rename_ex(
            impl_->sftp,
            from.data(),
            static_cast<unsigned>(from.size()),
            to.data(),
            static_cast<unsigned>(to.size()),
            0
        )};
    });
    return impl_->asked(static_cast<int>(result), "renaming " + from);
}

bool SftpConnection::remove(const std::string& path) {
    const auto result = impl_->wait_for([&] {
        return ssize_t{
            libssh2_sftp_unlink_ex(impl_->sftp, path.data(), static_cast<unsigned>(path.size()))};
    });
    return impl_->asked(static_cast<int>(result), "removing " + path);
}

std::vector<SftpEntry> SftpConnection::list(const std::string& folder) {
    Impl::Handle open{*impl_, folder, 0, LIBSSH2_SFTP_OPENDIR};
    std::vector<SftpEntry> found;
    std::array<char, 4096> name{};
    LIBSSH2_SFTP_ATTRIBUTES attributes{};
    // A listing may have no end, also one of folders and of names that are left out.
    const auto max = impl_->options.entries_max;
    for (std::size_t read = 0; found.size() < max && read / 2 < max; ++read) {
        const auto size = impl_->wait_for([&] {
            return ssize_t{libssh2_sftp_readdir_ex(
                open.get(), name.data(), name.size(), nullptr, 0, &attributes
            )};
        });
        if (size == LIBSSH2_ERROR_BUFFER_TOO_SMALL) continue;
        if (size < 0) impl_->fail_action("listing " + folder);
        if (size == 0) break;
        if (LIBSSH2_SFTP_S_ISREG(attributes.permissions))
            found.push_back(
                {.name = {name.data(), static_cast<std::size_t>(size)},
                 .size = attributes.filesize,
                 .modified_s = static_cast<std::int64_t>(attributes.mtime)}
            );
    }
    open.close();
    std::sort(found.begin(), found.end(), [](const SftpEntry& a, const SftpEntry& b) {
        return a.name < b.name;
    });
    return found;
}

}  // namespace pawl::bank
