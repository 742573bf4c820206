#include "src/http/transfer.hpp"

#include "src/base/public_address.hpp"
#include "src/base/thread_name.hpp"
#include "src/core/ascii.hpp"
#include "src/core/assert.hpp"
#include "src/http/field_syntax.hpp"

#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>

namespace pawl::http {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t headers_max =
    256UL * 1024;  // The limit for a response's head; libcurl 7.88 has no limit of its own.

// One exchange in flight. Made by the caller, then the transfer thread's until `done` has run.
struct Exchange {
    OutgoingRequest request;
    std::function<void(Sent)> done;

    CURL* easy{};
    curl_slist* list{};
    IncomingResponse answer;
    std::uint64_t id{0};
    int sendings{0};  // How often libcurl came to the point of sending the request.
    std::size_t header_bytes{0};
    bool too_large{false};
    bool refused_address{false};
    bool too_late{false};
    bool head_whole{false};  // The empty line after the headers has come.
    Clock::time_point over_at{};

    ~Exchange() { curl_slist_free_all(list); }
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
};

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    const std::size_t length = size * count;
    if (exchange.answer.body.size() + length > exchange.request.answer_max) {
        exchange.too_large = true;
        return 0;
    }
    exchange.answer.body.append(bytes, length);
    return length;
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    std::string_view line{bytes, size * count};
    exchange.header_bytes += line.size();
    if (exchange.header_bytes > headers_max) {
        exchange.too_large = true;
        return 0;
    }
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (line.empty()) exchange.head_whole = true;
    if (line.substr(0, 5) == "HTTP/") {  // After 100 Continue the final headers come.
        exchange.answer.headers.clear();
        exchange.head_whole = false;
    }
    const auto colon = line.find(':');
    if (colon == line.npos) return size * count;
    auto value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    exchange.answer.headers.push_back({std::string{line.substr(0, colon)}, std::string{value}});
    return size * count;
}

// Called each time a request is about to leave: the connection stands, TLS included (man
// CURLOPT_PREREQFUNCTION).
int on_sending(void* self, char*, char*, int, int) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (exchange.request.may_send && !exchange.request.may_send()) {
        exchange.too_late = true;
        return CURL_PREREQFUNC_ABORT;
    }
    // A second sending would look like one try, whose answer says nothing of the first.
    return ++exchange.sendings > 1 ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::span<const std::uint8_t> bytes_of(const curl_sockaddr& address) {
    const void* plain = &address.addr;
    if (address.family == AF_INET) {
        const auto& v4 = static_cast<const sockaddr_in*>(plain)->sin_addr;
        return {reinterpret_cast<const std::uint8_t*>(&v4), sizeof v4};
    }
    if (address.family != AF_INET6) return {};
    const auto& v6 = static_cast<const sockaddr_in6*>(plain)->sin6_addr;
    return {reinterpret_cast<const std::uint8_t*>(&v6), sizeof v6};
}

// Called for each address of the name, before a connection to it is opened.
curl_socket_t open_public(void* self, curlsocktype, curl_sockaddr* address) {
    if (!base::is_public_address(bytes_of(*address))) {
        static_cast<Exchange*>(self)->refused_address = true;
        return CURL_SOCKET_BAD;
    }
    const auto type = address->socktype | SOCK_CLOEXEC;
    const auto family = address->family;
    return ::socket(family, type, address->protocol);  // tidy: allow socket: libcurl's, checked
}

void set_common(CURL* easy, Exchange& exchange) {
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &exchange);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // Does not wait beyond the time-out for a name server that does not answer: all others would
    // wait, too.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(
        easy, CURLOPT_PROXY, ""
    );  // No proxy from the environment: only the configuration decides where a charge goes.
    curl_easy_setopt(easy, CURLOPT_URL, exchange.request.url.c_str());
    curl_easy_setopt(
        easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(exchange.request.connect_timeout.count())
    );
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(exchange.request.timeout.count()));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, &exchange);
    if (exchange.request.public_only) {
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &open_public);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &exchange);
    }
    if (exchange.request.fresh_connection) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
}

void set_http(CURL* easy, Exchange& exchange) {
    auto& request = exchange.request;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl/0.1");
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
    const bool has_body = !request.body.empty();
    if (has_body || request.method == "POST" || request.method == "PUT" ||
        request.method == "PATCH") {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
        curl_easy_setopt(
            easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size())
        );
    } else if (request.method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    // libcurl uses POST if there is a body, so every other method is named.
    if (request.method != "POST" &&
        (has_body || (request.method != "GET" && request.method != "HEAD")))
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    for (const auto& header : request.headers) {
        // "Name:" would remove the header; "Name;" sends it empty (man CURLOPT_HTTPHEADER).
        const auto line = header.name + (header.value.empty() ? ";" : ": " + header.value);
        exchange.list = curl_slist_append(exchange.list, line.c_str());
    }
    exchange.list = curl_slist_append(exchange.list, "Expect:");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange.list);
}

// No answer came: was anything sent? Asked of what happened and not of libcurl's code: after its
// own resend a refused connection says "could not connect" of a request that has left once.
Sent without_answer(const Exchange& exchange, std::string why, bool hopeless = false) {
    if (exchange.sendings > 0) return Lost{std::move(why)};
    return NotSent{std::move(why), hopeless};
}

// RFC 9112, 6.3: an answer whose length is malformed is none. libcurl 7.88 reads "2, 3" as 2, and a
// number that it can't hold as no length at all.
bool has_bad_length(const IncomingResponse& answer) {
    std::optional<std::string_view> length;
    for (const auto& header : answer.headers) {
        if (!core::same_without_case(header.name, "Content-Length")) continue;
        std::string_view value{header.value};
        while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
            value.remove_suffix(1);
        if (!is_content_length(value) || (length && *length != value)) return true;
        length = value;
    }
    return false;
}

Sent verdict(Exchange& exchange, CURL* easy, CURLcode code) {
    if (code == CURLE_OK) {
        // libcurl 7.88 accepts a head that was cut off after its first line.
        if (!exchange.head_whole) return Lost{"the answer ended in its headers"};
        if (has_bad_length(exchange.answer))
            return Lost{"the answer's Content-Length is malformed"};
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        exchange.answer.status = static_cast<int>(status);
        return std::move(exchange.answer);
    }
    if (exchange.too_large) return Lost{"the answer is larger than is allowed"};
    if (exchange.refused_address && exchange.sendings == 0)
        return NotSent{"the address is not public", true};
    if (exchange.too_late)
        return without_answer(
            exchange, "the process was paused: others may have the request", true
        );
    const bool hopeless = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
    return without_answer(exchange, curl_easy_strerror(code), hopeless);
}

}  // namespace

std::optional<std::string> problem_of(const OutgoingRequest& request) {
    if (has_control(request.method)) return "the method has a control character";
    for (const auto& header : request.headers)
        if (has_control(header.name) || has_control(header.value) || header.name.empty())
            return "the header " + header.name + " has a control character or no name";
    return std::nullopt;
}

std::optional<std::string_view> first_header(
    const std::vector<Header>& headers, std::string_view name
) {
    for (const auto& header : headers)
        if (core::same_without_case(header.name, name)) return header.value;
    return std::nullopt;
}

std::optional<std::string_view> IncomingResponse::header(std::string_view name) const {
    return first_header(headers, name);
}

struct Transfers::Impl {
    explicit Impl(long connections_max) {
        static const bool initialised = curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK;
        PAWL_ASSERT(initialised);
        multi = curl_multi_init();
        PAWL_ASSERT(multi != nullptr);
        curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_max);
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections_max);
        thread = std::thread{[this] { loop(); }};
    }

    ~Impl() {
        {
            const std::lock_guard lock{mutex};
            stopping = true;
        }
        curl_multi_wakeup(multi);
        thread.join();
        for (CURL* easy : idle) curl_easy_cleanup(easy);
        curl_multi_cleanup(multi);
    }

    std::uint64_t start(OutgoingRequest request, std::function<void(Sent)> done) {
        auto exchange = std::make_unique<Exchange>();
        exchange->request = std::move(request);
        exchange->done = std::move(done);
        bool wake = false;
        std::uint64_t id = 0;
        {
            const std::lock_guard lock{mutex};
            id = exchange->id = ++last_id;
            wake = inbox.empty();
            inbox.push_back(std::move(exchange));
        }
        if (wake) curl_multi_wakeup(multi);
        return id;
    }

    void cancel(std::uint64_t id) {
        {
            const std::lock_guard lock{mutex};
            cancelled.push_back(id);
        }
        curl_multi_wakeup(multi);
    }

    void loop() {
        base::name_this_thread("pawl-transfer");
        std::vector<std::unique_ptr<Exchange>> arrived;
        std::vector<std::uint64_t> unwanted;
        bool end = false;
        while (!end) {
            {
                const std::lock_guard lock{mutex};
                arrived.swap(inbox);
                unwanted.swap(cancelled);
                end = stopping;
            }
            for (auto& exchange : arrived) {
                if (end)
                    exchange->done(NotSent{"the process is stopping"});
                else
                    begin(std::move(exchange));
            }
            arrived.clear();
            for (const auto id : unwanted) give_up(id);
            unwanted.clear();
            int running = 0;
            curl_multi_perform(multi, &running);
            take_ended();
            if (!end) curl_multi_poll(multi, nullptr, 0, end_overdue(), nullptr);
        }
        while (!in_flight.empty()) {
            auto* exchange = in_flight.begin()->second;
            finish(exchange, without_answer(*exchange, "the process is stopping"));
        }
    }

    // The response may be here already, from the round before: then there is nothing to stop.
    void give_up(std::uint64_t id) {
        for (const auto& [over_at, exchange] : in_flight)
            if (exchange->id == id)
                return finish(exchange, without_answer(*exchange, "it was stopped"));
    }

    // libcurl 7.88 applies no time-out while a request waits for one of its limited connections.
    // Returns the time until the next one is overdue, in ms.
    int end_overdue() {
        const auto now = Clock::now();
        while (!in_flight.empty() && in_flight.begin()->first <= now) {
            auto* exchange = in_flight.begin()->second;
            finish(exchange, without_answer(*exchange, "Timeout was reached"));
        }
        constexpr milliseconds longest{1'000};
        if (in_flight.empty()) return longest.count();
        const auto next = std::chrono::ceil<milliseconds>(in_flight.begin()->first - now);
        return static_cast<int>(std::min(next, longest).count());
    }

    void begin(std::unique_ptr<Exchange> exchange) {
        if (const auto problem = problem_of(exchange->request))
            return exchange->done(NotSent{*problem, true});
        CURL* easy = nullptr;
        if (idle.empty()) {
            easy = curl_easy_init();
        } else {
            easy = idle.back();
            idle.pop_back();
        }
        exchange->easy = easy;
        set_common(easy, *exchange);
        set_http(easy, *exchange);
        // Later than libcurl's own, which says more.
        exchange->over_at = Clock::now() + exchange->request.timeout + milliseconds{50};
        in_flight.emplace(exchange->over_at, exchange.get());
        curl_multi_add_handle(multi, easy);
        (void)exchange.release();  // in_flight owns it until finish().
    }

    void take_ended() {
        int left = 0;
        while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL* easy = message->easy_handle;
            const CURLcode code = message->data.result;
            char* self = nullptr;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
            auto* exchange = static_cast<Exchange*>(static_cast<void*>(self));
            finish(exchange, verdict(*exchange, easy, code));
        }
    }

    void finish(Exchange* exchange, Sent sent) {
        const std::unique_ptr<Exchange> owned{exchange};
        in_flight.erase({exchange->over_at, exchange});
        curl_multi_remove_handle(multi, exchange->easy);
        curl_easy_reset(exchange->easy);
        idle.push_back(exchange->easy);
        exchange->done(std::move(sent));
    }

    CURLM* multi{};
    std::mutex mutex;
    std::vector<std::unique_ptr<Exchange>> inbox;
    std::vector<std::uint64_t> cancelled;
    std::uint64_t last_id{0};
    bool stopping{false};
    std::set<std::pair<Clock::time_point, Exchange*>> in_flight;  // By the time of the limit.
    std::vector<CURL*> idle;
    std::thread thread;
};

Transfers::Transfers(int connections_max) : impl_{std::make_unique<Impl>(connections_max)} {}
Transfers::~Transfers() = default;

Sent Transfers::perform(OutgoingRequest request, std::stop_token stop) {
    if (stop.stop_requested()) return NotSent{"stopped before it began"};
    // Shared: the waiter may be gone while the transfer thread still notifies it.
    const auto ended = std::make_shared<std::promise<Sent>>();
    const auto id =
        impl_->start(std::move(request), [ended](Sent sent) { ended->set_value(std::move(sent)); });
    const std::stop_callback on_stop{stop, [this, id] { impl_->cancel(id); }};
    return ended->get_future().get();
}

void Transfers::start(OutgoingRequest request, std::function<void(Sent)> done) {
    impl_->start(std::move(request), std::move(done));
}

}  // namespace pawl::http
