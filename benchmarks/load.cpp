// Loads one server from many clients on one thread and prints the results as a line of JSON.
//
//   connect all -> (replay: book a ride for each client) -> warm up -> measure -> end
//
// The loop is closed: a client sends its next request when it has the whole answer to the last one,
// so latency is what such a client sees, and the rate is the sum over all clients. Only answers
// that arrive while measuring are counted. A wrong answer counts as an error, and its text is
// printed. With --flood a 429 is expected as well: such a client retries at once, whatever
// Retry-After says, and refusals are counted separately.

#include "benchmarks/answer_reader.hpp"
#include "benchmarks/histogram.hpp"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace pawl::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

enum class Kind { ride, replay, get };

struct Options {
    unsigned port{};
    int clients{64};
    Kind kind{Kind::ride};
    std::string path{"/rides"};
    std::string token{"test_jane"};
    std::string keys{"bench"};  // Prefix of the keys: new in each run on one database.
    int pause_ms{0};            // Per client, between an answer and its next request.
    bool flood{false};
    double warm_up{0.5};  // Seconds.
    double seconds{3};
};

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::system_category(), what};
}

// One connection, kept alive.
struct Client {
    int socket{-1};
    std::size_t sent{};
    Time began{};
    std::uint64_t requests{};
    bool booked{};  // replay: its ride exists.
    std::string request{};
    std::string in{};
};

class Load {
public:
    explicit Load(Options options);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    void run();
    void print() const;

private:
    void connect(std::size_t n);
    void ask(std::size_t n, Time now);
    void push(std::size_t n);
    void pull(std::size_t n);
    void on_answer(std::size_t n, const AnswerSeen& seen);
    void ask_later(std::size_t n, Time now);
    int ask_those_due(Time now);
    void error(const std::string& text);
    std::string request_of(std::size_t n) const;
    void start_clock(Time now);

    const Options options_;
    std::vector<Client> clients_;
    int epoll_{-1};
    std::size_t unbooked_{0};
    bool running_{true};
    Time measure_from_{Time::max()};
    Time measure_to_{Time::max()};
    Histogram latencies_;       // Nanoseconds.
    std::uint64_t answers_{0};  // All, including those outside the measured time.
    std::uint64_t refused_{0};  // 429, while measuring.
    std::uint64_t errors_{0};
    struct Pause {
        Time until;
        std::size_t client{};
    };
    std::deque<Pause> pauses_;  // Ordered by end, as all have one length.
    std::string first_error_;
};

Load::Load(Options options)
    : options_{std::move(options)},
      clients_(static_cast<std::size_t>(options_.clients)),
      epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    if (epoll_ < 0) fail("epoll_create1");
    for (std::size_t n = 0; n < clients_.size(); ++n) connect(n);
    unbooked_ = options_.kind == Kind::replay ? clients_.size() : 0;
}

Load::~Load() {
    for (const auto& client : clients_) ::close(client.socket);
    ::close(epoll_);
}

void Load::connect(std::size_t n) {
    auto& client = clients_[n];
    client.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client.socket < 0) fail("socket");
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr any{};
    std::memcpy(&any, &to, sizeof any);
    if (::connect(client.socket, &any, sizeof any) != 0) fail("connect");
    const int yes = 1;
    ::setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = n;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket, &event) != 0) fail("epoll_ctl");
}

std::string Load::request_of(std::size_t n) const {
    const auto& client = clients_[n];
    const std::string host =
        " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + options_.token + "\r\n";
    if (options_.kind == Kind::get) return "GET " + options_.path + host + "\r\n";
    const std::string body =
        R"({"origin_lat": 47.61, "origin_lon": -122.33, "target_lat": 47.66, "target_lon": -122.35})";
    const auto number = options_.kind == Kind::replay ? 0 : client.requests;
    return "POST " + options_.path + host + "Idempotency-Key: " + options_.keys + "-" +
           std::to_string(n) + "-" + std::to_string(number) +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

void Load::ask(std::size_t n, Time now) {
    auto& client = clients_[n];
    client.request = request_of(n);
    ++client.requests;
    client.sent = 0;
    client.began = now;
    push(n);
}

// A request is smaller than a socket's buffer, which is empty here: it is never split in practice,
// and a split is an error.
void Load::push(std::size_t n) {
    auto& client = clients_[n];
    const auto put =
        ::send(client.socket, client.request.data(), client.request.size(), MSG_NOSIGNAL);
    if (put != static_cast<ssize_t>(client.request.size())) fail("send");
}

void Load::pull(std::size_t n) {
    auto& client = clients_[n];
    std::array<char, 16UL * 1024> bytes{};
    const auto got = ::recv(client.socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) throw std::runtime_error{"the server closed a connection"};
    client.in.append(bytes.data(), static_cast<std::size_t>(got));
    while (const auto seen = read_answer(client.in)) {
        if (seen->status < 0)
            throw std::runtime_error{"not an HTTP answer: " + client.in.substr(0, 200)};
        on_answer(n, *seen);
        client.in.erase(0, seen->size);
        if (!running_) return;
    }
}

void Load::on_answer(std::size_t n, const AnswerSeen& seen) {
    auto& client = clients_[n];
    const auto now = Clock::now();
    ++answers_;
    const bool due_replay = options_.kind == Kind::replay && client.booked;
    const int due = options_.kind == Kind::get ? 200 : 201;
    const bool measured = now >= measure_from_ && now < measure_to_;
    const bool refused = options_.flood && seen.status == 429;
    if (refused) {
        refused_ += measured ? 1 : 0;
        if (client.in.find("\r\nRetry-After: ") >= seen.size) error("429 without Retry-After");
    } else if (seen.status != due || seen.replayed != due_replay)
        error(
            std::to_string(seen.status) + (seen.replayed ? " (replayed) " : " ") +
            std::string{seen.body}
        );
    if (measured && !refused)
        latencies_.add(
            static_cast<std::uint64_t>(std::chrono::nanoseconds{now - client.began}.count())
        );
    if (now >= measure_to_) {
        running_ = false;
        return;
    }
    if (options_.kind == Kind::replay && !client.booked && seen.status == due) {
        client.booked = true;
        if (--unbooked_ == 0) start_clock(now);
    }
    ask_later(n, now);
}

void Load::ask_later(std::size_t n, Time now) {
    if (options_.pause_ms == 0) return ask(n, now);
    pauses_.push_back({now + std::chrono::milliseconds{options_.pause_ms}, n});
}

// Milliseconds until the next one is due.
int Load::ask_those_due(Time now) {
    while (!pauses_.empty() && pauses_.front().until <= now) {
        const auto n = pauses_.front().client;
        pauses_.pop_front();
        ask(n, now);
    }
    if (pauses_.empty()) return 10'000;
    const auto left = pauses_.front().until - now;
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

void Load::error(const std::string& text) {
    ++errors_;
    if (first_error_.empty()) first_error_ = text;
    if (errors_ > 10'000) throw std::runtime_error{"10000 errors, the first: " + first_error_};
}

void Load::start_clock(Time now) {
    using Seconds = std::chrono::duration<double>;
    measure_from_ = now + std::chrono::duration_cast<Clock::duration>(Seconds{options_.warm_up});
    measure_to_ =
        measure_from_ + std::chrono::duration_cast<Clock::duration>(Seconds{options_.seconds});
}

void Load::run() {
    const auto now = Clock::now();
    if (unbooked_ == 0) start_clock(now);
    for (std::size_t n = 0; n < clients_.size(); ++n) ask(n, now);
    std::vector<epoll_event> events(clients_.size());
    while (running_) {
        const int patience = ask_those_due(Clock::now());
        const int ready =
            epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), patience);
        if (ready < 0 && errno != EINTR) fail("epoll_wait");
        if (ready == 0 && pauses_.empty()) throw std::runtime_error{"no answer came for 10 s"};
        for (int i = 0; i < ready && running_; ++i)
            pull(static_cast<std::size_t>(events[static_cast<std::size_t>(i)].data.u64));
    }
}

void Load::print() const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
    std::printf(
        R"({"answers": %llu, "count": %llu, "rate_per_s": %.1f, "p50_ms": %.3f, "p99_ms": %.3f, "largest_ms": %.3f, "refused": %llu, "errors": %llu, "cpu_s": %.2f})"
        "\n",
        static_cast<unsigned long long>(answers_),
        static_cast<unsigned long long>(latencies_.count()),
        static_cast<double>(latencies_.count()) / options_.seconds,
        ms(latencies_.at(0.5)),
        ms(latencies_.at(0.99)),
        ms(latencies_.largest()),
        static_cast<unsigned long long>(refused_),
        static_cast<unsigned long long>(errors_),
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    );
    if (errors_ > 0)
        std::fprintf(
            stderr,
            "bench_load: the first of %llu errors: %s\n",
            static_cast<unsigned long long>(errors_),
            first_error_.c_str()
        );
}

}  // namespace

}  // namespace pawl::bench

int main(int argc, char** argv) {
    using namespace pawl::bench;
    CLI::App app{"Loads a server of Rocket Rides on this machine"};
    Options options;
    app.add_option("--port", options.port, "On 127.0.0.1")->required();
    app.add_option("--clients", options.clients, "Connections")->check(CLI::Range(1, 10'000));
    app.add_option("--kind", options.kind, "ride, replay or get")
        ->transform(CLI::Transformer(std::vector<std::pair<std::string, Kind>>{
            {"ride", Kind::ride}, {"replay", Kind::replay}, {"get", Kind::get}}));
    app.add_option("--path", options.path, "Path of the requests");
    app.add_option("--token", options.token, "Token of a rider");
    app.add_option("--keys", options.keys, "Prefix of the keys");
    app.add_option("--pause-ms", options.pause_ms, "Pause of a client before its next request");
    app.add_flag(
        "--flood", options.flood, "Accept 429 with Retry-After as an answer, and do not wait"
    );
    app.add_option("--warm-up", options.warm_up, "Seconds of warm-up");
    app.add_option("--seconds", options.seconds, "Seconds of measuring")
        ->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        Load load{options};
        load.run();
        load.print();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_load: %s\n", error.what());
        return 1;
    }
}
