#include "src/redis/client.hpp"

#include <pawl/error.hpp>

#include "src/redis/durability.hpp"
#include "src/redis/failure.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace pawl::redis {

namespace {

constexpr std::string_view connecting = "redis connect";

Settings ask_settings(Connection& connection, const Options& options) {
    const std::array<Command, 3> commands{
        Command{"CONFIG", "GET", "maxmemory-policy"},
        Command{"CONFIG", "GET", "appendonly"},
        Command{"CONFIG", "GET", "appendfsync"}};
    const auto replies = connection.ask(connecting, commands, Access::read);
    if (!replies[0].is_error())
        return {
            .maxmemory_policy = setting_of(replies[0]),
            .appendonly = setting_of(replies[1]),
            .appendfsync = setting_of(replies[2])};
    if (!is_forbidden(replies[0].text)) throw_answer(connecting, replies[0].text, options);
    // Hosted Redis hides CONFIG. INFO shows all but appendfsync.
    const std::array<Command, 2> infos{Command{"INFO", "memory"}, Command{"INFO", "persistence"}};
    const auto info_replies = connection.ask(connecting, infos, Access::read);
    Settings settings;
    if (!info_replies[0].is_error())
        settings.maxmemory_policy = info_field(info_replies[0].text, "maxmemory_policy");
    if (const auto aof = info_field(info_replies[1].text, "aof_enabled"))
        settings.appendonly = *aof == "1" ? "yes" : "no";
    return settings;
}

void load_scripts(Connection& connection, std::span<const Script> scripts) {
    if (scripts.empty()) return;
    std::vector<Command> commands;
    for (const auto& script : scripts)
        commands.push_back({"SCRIPT", "LOAD", std::string{script.text}});
    const auto replies = connection.ask(connecting, commands, Access::read);
    // A script that Redis does not load is sent whole each time.
    for (std::size_t i = 0; i < replies.size(); ++i)
        if (!replies[i].is_error()) connection.name_of_script(scripts[i].text) = replies[i].text;
}

Command call_of(
    std::string verb, std::string script, const Command& keys, const Command& arguments
) {
    Command command{std::move(verb), std::move(script), std::to_string(keys.size())};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

std::int64_t number_of(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

struct Client::Impl {
    Options options;
    base::Clock* clock{};
    base::OnWarning on_warning;
    std::span<const Script> loaded;
    std::atomic<bool> warned{false};
    std::mutex mutex;
    std::vector<std::unique_ptr<Connection>> idle;

    std::unique_ptr<Connection> borrow() {
        for (;;) {
            std::unique_ptr<Connection> found;
            {
                const std::lock_guard lock{mutex};
                if (idle.empty()) break;
                found = std::move(idle.back());
                idle.pop_back();
            }
            if (!found->ended()) return found;
        }
        return open();
    }
    std::unique_ptr<Connection> open(StoreError::Kind refused = StoreError::Kind::unavailable) {
        auto made = std::make_unique<Connection>(options);
        const auto settings = ask_settings(*made, options);
        if (auto refusal = refusal_of(settings, options.place()))
            throw StoreError{refused, StoreError::Effect::none, connecting, std::move(*refusal)};
        const auto warning = warn_of(settings, options.place());
        if (warning && on_warning && !warned.exchange(true)) on_warning(*warning);
        load_scripts(*made, loaded);
        return made;
    }
    // After a failover the name may lead to another server, and these connections to a replica.
    void forget_idle() {
        std::vector<std::unique_ptr<Connection>> forgotten;
        const std::lock_guard lock{mutex};
        forgotten.swap(idle);
    }
    void give_back(std::unique_ptr<Connection> connection) {
        const std::lock_guard lock{mutex};
        if (idle.size() < static_cast<std::size_t>(options.idle_max))
            idle.push_back(std::move(connection));
    }
};

// A connection lent to one call; after an error it is not given back.
class Client::BorrowedConnection {
public:
    explicit BorrowedConnection(Impl& impl) : impl_{impl}, connection_{impl.borrow()} {}
    template <class F>
    auto use(F f) {
        auto result = f(*connection_);
        impl_.give_back(std::move(connection_));
        return result;
    }

private:
    Impl& impl_;
    std::unique_ptr<Connection> connection_;
};

Client::Client(
    Options options, base::Clock* clock, base::OnWarning on_warning, std::span<const Script> loaded
)
    : impl_{std::make_unique<Impl>()} {
    if (const auto problem = options.problem()) throw std::invalid_argument{*problem};
    impl_->options = std::move(options);
    impl_->clock = clock;
    impl_->on_warning = std::move(on_warning);
    impl_->loaded = loaded;
}

Client::~Client() = default;

void Client::check() {
    auto opened = impl_->open(StoreError::Kind::refused);
    const Command ping{"PING"};
    const auto reply = opened->ask("redis check", std::span{&ping, 1}, Access::read).at(0);
    expect("redis check", reply, Shape::any);
    impl_->give_back(std::move(opened));
}

Reply Client::ask(std::string_view what, const Command& command, Access access, Shape shape) {
    auto reply = std::move(ask_all(what, std::span{&command, 1}, access).at(0));
    expect(what, reply, shape);
    return reply;
}

std::vector<Reply> Client::ask_all(
    std::string_view what, std::span<const Command> commands, Access access
) {
    return BorrowedConnection{*impl_}.use([&](Connection& connection) {
        return connection.ask(what, commands, access);
    });
}

Reply Client::run(const Script& script, const Command& keys, const Command& arguments) {
    auto reply = BorrowedConnection{*impl_}.use([&](Connection& connection) {
        const auto call = [&](std::string verb, std::string text) {
            const auto command = call_of(std::move(verb), std::move(text), keys, arguments);
            return std::move(connection.ask(script.name, std::span{&command, 1}, Access::write)[0]);
        };
        const auto& name = connection.name_of_script(script.text);
        if (!name.empty()) {
            auto known = call("EVALSHA", name);
            if (!known.is_error() || !is_unknown_script(known.text)) return known;
        }
        return call("EVAL", std::string{script.text});
    });
    expect(script.name, reply, script.answers);
    return reply;
}

void Client::expect(std::string_view what, const Reply& reply, Shape shape) {
    if (reply.is_error()) fail(what, reply.text);
    if (!has_shape(reply, shape)) fail(what, "an answer of a shape that Redis does not give here");
}

void Client::fail(std::string_view what, const std::string& error) {
    if (failure_of(error).kind == StoreError::Kind::unavailable) impl_->forget_idle();
    throw_answer(what, error, impl_->options);
}

std::optional<std::string> Client::fence_problem() {
    const std::array<Command, 5> commands{
        Command{"CONFIG", "GET", "maxmemory-policy"},
        Command{"CONFIG", "GET", "appendonly"},
        Command{"CONFIG", "GET", "appendfsync"},
        Command{"CONFIG", "GET", "no-appendfsync-on-rewrite"},
        Command{"INFO", "replication"}};
    const auto replies = ask_all("redis fence", commands, Access::read);
    const auto& info = replies[4].is_error() ? std::string{} : replies[4].text;
    const Settings settings{
        setting_of(replies[0]),
        setting_of(replies[1]),
        setting_of(replies[2]),
        setting_of(replies[3]),
        info_field(info, "role"),
        info_field(info, "connected_slaves")};
    return fence_problem_of(settings, options().place());
}

TimePoint Client::now() {
    if (impl_->clock != nullptr) return impl_->clock->now();
    const auto time = ask("redis time", {"TIME"}, Access::read, Shape::two_texts);
    return TimePoint{
        std::chrono::seconds{number_of(time.items[0].text)} +
        std::chrono::milliseconds{number_of(time.items[1].text) / 1'000}};
}

std::string Client::given_now() const {
    if (impl_->clock == nullptr) return {};
    return std::to_string(impl_->clock->now().time_since_epoch().count());
}

const Options& Client::options() const {
    return impl_->options;
}

}  // namespace pawl::redis
