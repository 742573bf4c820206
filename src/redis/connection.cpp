#include "src/redis/connection.hpp"

#include <pawl/error.hpp>

#include "src/redis/failure.hpp"

#include <hiredis/hiredis.h>
#include <poll.h>

#include <cerrno>
#include <csignal>
#include <map>

namespace pawl::redis {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

timeval timeval_of(std::chrono::milliseconds time) {
    return {time.count() / 1'000, time.count() % 1'000 * 1'000};
}

// hiredis uses write(2), which raises SIGPIPE if the peer has closed. The default would end the
// process. As libpq does: block the signal here, and consume our own.
class NoBrokenPipe {
public:
    NoBrokenPipe() {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~NoBrokenPipe() {
        const int kept = errno;
        const timespec at_once{};
        if (!was_pending_)
            while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
            }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = kept;
    }
    NoBrokenPipe(const NoBrokenPipe&) = delete;
    NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

private:
    sigset_t pipe_{};
    sigset_t before_{};
    bool was_pending_{};
};

struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

Reply reply_of(const redisReply& raw) {
    Reply reply;
    switch (raw.type) {
        case REDIS_REPLY_INTEGER:
            reply.kind = Reply::Kind::integer;
            reply.integer = raw.integer;
            break;
        case REDIS_REPLY_STRING:
        case REDIS_REPLY_STATUS:
            reply.kind = Reply::Kind::text;
            reply.text.assign(raw.str, raw.len);
            break;
        case REDIS_REPLY_ERROR:
            reply.kind = Reply::Kind::error;
            reply.text.assign(raw.str, raw.len);
            break;
        case REDIS_REPLY_ARRAY:
            reply.kind = Reply::Kind::list;
            for (std::size_t i = 0; i < raw.elements; ++i)
                reply.items.push_back(reply_of(*raw.element[i]));
            break;
        default:
            break;
    }
    return reply;
}

void append(redisContext* context, const Command& command) {
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const auto& word : command) {
        words.push_back(word.data());
        sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context, static_cast<int>(words.size()), words.data(), sizes.data());
}

std::vector<Command> greeting(const Options& options) {
    std::vector<Command> commands;
    if (!options.user.empty())
        commands.push_back({"AUTH", options.user, options.password});
    else if (!options.password.empty())
        commands.push_back({"AUTH", options.password});
    if (options.database != 0) commands.push_back({"SELECT", std::to_string(options.database)});
    return commands;
}

}  // namespace

struct Connection::Impl {
    Options options;
    std::unique_ptr<redisContext, Free> context;
    std::map<std::string, std::string, std::less<>> scripts;

    std::string why() const {
        if (!context) return "no memory";
        if (context->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EINPROGRESS))
            return "no answer in time";
        return static_cast<const char*>(context->errstr);
    }
    [[noreturn]] void fail(std::string_view what, Effect effect) const {
        throw StoreError{
            Kind::unavailable,
            effect,
            what,
            "the Redis at " + options.place() + " does not answer: " + why()};
    }
};

Connection::Connection(const Options& options) : impl_{std::make_unique<Impl>()} {
    constexpr std::string_view what = "redis connect";
    const NoBrokenPipe quiet;
    impl_->options = options;
    impl_->context.reset(redisConnectWithTimeout(
        options.host.c_str(), options.port, timeval_of(options.connect_timeout)
    ));
    if (!impl_->context || impl_->context->err != 0) impl_->fail(what, Effect::none);
    redisEnableKeepAlive(impl_->context.get());
    if (redisSetTimeout(impl_->context.get(), timeval_of(options.command_timeout)) != REDIS_OK)
        impl_->fail(what, Effect::none);
    const auto commands = greeting(options);
    for (const auto& reply : ask(what, commands, Access::read))
        if (reply.is_error()) throw_answer(what, reply.text, options);
}

Connection::~Connection() = default;

std::vector<Reply> Connection::ask(
    std::string_view what, std::span<const Command> commands, Access access
) {
    const NoBrokenPipe quiet;
    auto* context = impl_->context.get();
    for (const auto& command : commands) append(context, command);
    std::vector<Reply> replies;
    while (replies.size() < commands.size()) {
        void* raw = nullptr;
        errno = 0;
        if (redisGetReply(context, &raw) != REDIS_OK || raw == nullptr)
            impl_->fail(what, access == Access::write ? Effect::in_doubt : Effect::none);
        const std::unique_ptr<redisReply, Free> reply{static_cast<redisReply*>(raw)};
        replies.push_back(reply_of(*reply));
    }
    return replies;
}

bool Connection::ended() const {
    pollfd waiting{impl_->context->fd, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
}

std::string& Connection::name_of_script(std::string_view text) {
    const auto found = impl_->scripts.find(text);
    if (found != impl_->scripts.end()) return found->second;
    return impl_->scripts[std::string{text}];
}

void throw_answer(std::string_view what, const std::string& error, const Options& options) {
    const auto failure = failure_of(error);
    throw StoreError{
        failure.kind,
        failure.effect,
        what,
        "the Redis at " + options.place() + " says of " + std::string{what} + ": " + error +
            std::string{failure.hint}};
}

}  // namespace pawl::redis
