// A server whose queue has limits, for limits_cases.py, which runs several and kills some.
//
//   limits_server DATABASE PORT RUNNING_MAX PARTITION_MAX PER_SECOND BURST
//   limits_server DATABASE stage TENANT COUNT
//
// Each job sends its tenant to this port on loopback, and ends when the other side closes.
#include <pawl/http.hpp>
#include <pawl/service.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

struct Bill {
    static constexpr std::string_view kind = "bill";
    static constexpr pawl::JobSettings settings{.queue = "bills"};
    std::string partition() const { return tenant; }
    std::string tenant{};
};

class BillWorker {
public:
    explicit BillWorker(std::uint16_t port) : port_{port} {}
    void work(pawl::Call&, const pawl::Job<Bill>& job) {
        const Socket to;
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port_);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto line = job.args.tenant + "\n";
        char end = 0;
        if (::connect(to.fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
            ::send(to.fd, line.data(), line.size(), MSG_NOSIGNAL) < 0 ||
            ::recv(to.fd, &end, 1, 0) != 0)
            throw std::runtime_error{"the recorder does not answer"};
    }

private:
    struct Socket {
        int fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        Socket() = default;
        Socket(const Socket&) = delete;
        Socket& operator=(const Socket&) = delete;
        ~Socket() { ::close(fd); }
    };
    std::uint16_t port_;
};

struct BillsToStage {
    std::string tenant;
    int count{};
};

void stage(pawl::Database& database, const BillsToStage& bills) {
    database.write([&](pawl::Tx& tx) {
        for (int i = 0; i < bills.count; ++i) tx.stage(Bill{bills.tenant});
    });
}

int serve(pawl::Database& database, std::span<char*> given) {
    pawl::ServiceOptions options;
    options.job_lease = 3s;
    options.job_timeout = 2s;
    options.queues = {
        {.name = "bills",
         .workers = 8,
         .retry_layers = {100ms, 100ms, 100ms, 100ms, 100ms},
         .running_max = std::stoi(given[1]),
         .partition_max = std::stoi(given[2]),
         .rate = {.per_second = std::stod(given[3]), .burst = std::stoi(given[4])}}};
    pawl::Service service{database, options};
    service.add(BillWorker{static_cast<std::uint16_t>(std::stoi(given[0]))});
    service.start();
    std::puts("started");
    std::fflush(stdout);
    return pawl::wait_for_end_signal() > 0 ? 0 : 1;
}

int run(std::span<char*> given) {
    pawl::block_end_signals();
    if (given.size() < 4) throw std::runtime_error{"see the head of the source"};
    const auto database = pawl::Database::open(given[0]);
    if (std::string_view{given[1]} == "stage") {
        stage(*database, {given[2], std::stoi(given[3])});
        return 0;
    }
    if (given.size() != 6) throw std::runtime_error{"see the head of the source"};
    return serve(*database, given.subspan(1));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(std::span{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "limits_server: %s\n", error.what());
        return 1;
    }
}
