// The load of the benchmarks: so many clients, each with its own kept connection, sending its next request when the
// last is answered. One thread on epoll, so that it costs the machine little; it checks every answer.
//
//   bench_load --port P --clients N --seconds S --kind rides|replays|empty --prefix TEXT
//
// Prints one JSON object: rate_per_s, p50_ms, p99_ms, answers, errors, cpu_s.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    int port{};
    int clients{1};
    double seconds{3};
    std::string kind{"rides"};
    std::string prefix{"k"};
};

struct Client {
    int socket{-1};
    std::string sent;
    std::string received;
    Clock::time_point since{};
};

std::string request(const Options& options, std::uint64_t number) {
    if (options.kind == "empty") return "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    // A replay is of one of a thousand rides that were booked before.
    const auto n = options.kind == "replays" ? number % 1000 : number;
    constexpr std::string_view body =
        R"({"origin_lat":47.61,"origin_lon":-122.33,"target_lat":47.66,"target_lon":-122.35})";
    return "POST /rides HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\nIdempotency-Key: " + options.prefix +
           std::to_string(n) + "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string{body};
}

int connect_to(int port) {
    const int made = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (made < 0 || ::connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error{std::string{"can't connect: "} + std::strerror(errno)};
    const int on = 1;
    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

// The length of the answer at the front, or 0 while it is not whole.
std::size_t whole(std::string_view received) {
    const auto end = received.find("\r\n\r\n");
    if (end == received.npos) return 0;
    const auto at = received.find("Content-Length: ");
    const auto length = at < end ? std::strtoul(received.data() + at + 16, nullptr, 10) : 0;
    return received.size() >= end + 4 + length ? end + 4 + length : 0;
}

class Load {
public:
    explicit Load(const Options& options) : options_{options}, epoll_{::epoll_create1(0)} {
        clients_.resize(static_cast<std::size_t>(options.clients));
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            clients_[i].socket = connect_to(options.port);
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.u64 = i;
            ::epoll_ctl(epoll_, EPOLL_CTL_ADD, clients_[i].socket, &event);
        }
    }

    void run() {
        began_ = Clock::now();
        const auto end = began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{options_.seconds});
        for (auto& client : clients_) send(client);
        std::vector<epoll_event> events(256);
        while (Clock::now() < end || at_work_ > 0) {
            const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 10'000);
            if (count == 0) throw std::runtime_error{"no answer for 10 s"};
            for (int i = 0; i < count; ++i) read(clients_[events[static_cast<std::size_t>(i)].data.u64], end);
        }
    }

    void print() {
        std::sort(took_.begin(), took_.end());
        const auto at = [&](double part) {
            return took_.empty() ? 0.0 : took_[static_cast<std::size_t>(part * static_cast<double>(took_.size() - 1))];
        };
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
        const std::chrono::duration<double> elapsed = last_ - began_;
        std::string statuses;
        for (const auto& [status, count] : statuses_)
            statuses += (statuses.empty() ? "" : ", ") + ("\"" + std::to_string(status) + "\": " + std::to_string(count));
        std::printf(
            "{\"rate_per_s\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"answers\": %zu, \"errors\": %llu, "
            "\"cpu_s\": %.2f, \"statuses\": {%s}}\n",
            static_cast<double>(took_.size()) / elapsed.count(), at(0.5), at(0.99), took_.size(),
            static_cast<unsigned long long>(errors_), seconds(used.ru_utime) + seconds(used.ru_stime), statuses.c_str()
        );
    }
    bool good() const { return errors_ == 0 && !took_.empty(); }

private:
    void send(Client& client) {
        client.sent = request(options_, next_++);
        client.since = Clock::now();
        ++at_work_;
        if (::send(client.socket, client.sent.data(), client.sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(client.sent.size()))
            throw std::runtime_error{"a request was not taken whole"};
    }

    void read(Client& client, Clock::time_point end) {
        char bytes[4096];
        const auto got = ::recv(client.socket, bytes, sizeof bytes, 0);
        if (got <= 0) throw std::runtime_error{"the server closed a connection"};
        client.received.append(bytes, static_cast<std::size_t>(got));
        const auto length = whole(client.received);
        if (length == 0) return;
        const int status = std::atoi(client.received.c_str() + 9);
        ++statuses_[status];
        if (status != 200 && status != 201) ++errors_;
        client.received.erase(0, length);
        last_ = Clock::now();
        took_.push_back(std::chrono::duration<double, std::milli>(last_ - client.since).count());
        --at_work_;
        if (last_ < end) send(client);
    }

    Options options_;
    int epoll_;
    std::vector<Client> clients_;
    std::vector<double> took_;
    std::map<int, std::size_t> statuses_;
    Clock::time_point began_{};
    Clock::time_point last_{};
    std::uint64_t next_{0};
    std::uint64_t errors_{0};
    int at_work_{0};
};

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        const std::string value = argv[i + 1];
        if (name == "--port") options.port = std::stoi(value);
        else if (name == "--clients") options.clients = std::stoi(value);
        else if (name == "--seconds") options.seconds = std::stod(value);
        else if (name == "--kind") options.kind = value;
        else if (name == "--prefix") options.prefix = value;
        else throw std::runtime_error{"unknown option " + name};
    }
    if (options.port == 0 || options.clients < 1) throw std::runtime_error{"--port and --clients are needed"};
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Load load{options_of(argc, argv)};
        load.run();
        load.print();
        return load.good() ? 0 : 1;
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "bench_load: %s\n", failed.what());
        return 1;
    }
}
