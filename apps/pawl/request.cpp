#include "apps/pawl/request.hpp"

#include <pawl/client.hpp>
#include <pawl/command_line.hpp>
#include <pawl/service.hpp>

#include "apps/pawl/key_file.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>

namespace {

constexpr std::size_t data_max = 64UL * 1024 * 1024;
constexpr std::size_t headers_max = 100;

enum Exit { good = 0, refused = 1, wrong_words = 2, not_done = 3, in_doubt = 4 };

struct RequestOptions {
    pawl::ClientRequest request;
    pawl::ClientOptions client;
    std::string data;
    std::vector<std::string> headers;
    std::optional<std::string> key;  // An empty one is an error, not an absent one.
    std::optional<std::string> key_file;
    std::vector<std::string> entity;
    bool quiet{false};
};

// The content of the file after @, of standard input for @-, or else the text itself.
std::string data_of(const std::string& given) {
    if (given.empty() || given.front() != '@') return given;
    const auto name = given.substr(1);
    std::ifstream file;
    if (name != "-") {
        file.open(name, std::ios::binary);
        if (!file) throw std::invalid_argument{"--data: can't read the file " + name};
    }
    std::istream& in = name == "-" ? std::cin : file;
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (text.size() > data_max)
        throw std::invalid_argument{"--data: " + name + " has more than 64 MiB"};
    return text;
}

pawl::Header header_of(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == text.npos || colon == 0)
        throw std::invalid_argument{"--header is \"" + text + "\", not \"Name: value\""};
    const auto from = text.find_first_not_of(' ', colon + 1);
    return {text.substr(0, colon), from == text.npos ? "" : text.substr(from)};
}

// "Name: value", or "@FILE" with one of these in each line: every user of the machine sees a
// command line, but not a file.
void add_headers(const std::string& given, std::vector<pawl::Header>& headers) {
    if (given.empty() || given.front() != '@') return headers.push_back(header_of(given));
    const auto name = given.substr(1);
    std::ifstream file{name};
    if (!file) throw std::invalid_argument{"--header: can't read the file " + name};
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.empty()) continue;
        // The text is not shown: it may be a token.
        const auto refuse = [&](const char* why) {
            throw std::invalid_argument{
                "--header: line " + std::to_string(number) + " of " + name + " " + why};
        };
        if (line.back() == '\r') refuse("ends with CR and LF: save it with LF only");
        const auto colon = line.find(':');
        if (colon == line.npos || colon == 0) refuse("is not \"Name: value\"");
        headers.push_back(header_of(line));
        if (headers.size() > headers_max) refuse("is one header too many: at most 100");
    }
}

struct RequestKey {
    pawl::ClientKey key;
    bool made;  // Created in this run: no earlier run can have sent it.
};

std::optional<RequestKey> key_of(const RequestOptions& options, std::ostream& err) {
    if (options.key) return RequestKey{pawl::ClientKey::saved(*options.key), false};
    if (!options.entity.empty())
        return RequestKey{
            pawl::entity_key(options.entity.at(0), options.entity.at(1), options.entity.at(2)),
            false};
    if (!options.key_file) return std::nullopt;
    const auto key = pawl::key_in_file(*options.key_file);
    if (!options.quiet)
        err << (key.made ? "made the key " : "the key ") << key.key.text() << ", in "
            << *options.key_file << "\n";
    return RequestKey{key.key, key.made};
}

void add_ms(
    CLI::App& app, const std::string& name, std::chrono::milliseconds& to, const char* text
) {
    app.add_option_function<std::int64_t>(
           name,
           [&to](std::int64_t ms) { to = std::chrono::milliseconds{ms}; },
           std::string{text} + " (default " + std::to_string(to.count()) + ")"
    )
        ->check(pawl::check_decimal);
}

void add_request_options(CLI::App& app, RequestOptions& options) {
    auto& client = options.client;
    app.add_option("method", options.request.method, "GET, POST, PUT, PATCH, DELETE, ...")
        ->required();
    app.add_option("url", options.request.target, "http:// or https://")->required();
    app.add_option(
        "--data", options.data, "The body; @FILE reads it from a file, @- from standard input"
    );
    app.add_option("--content-type", options.request.content_type, "Type of the body")
        ->capture_default_str();
    app.add_option(
           "--header",
           options.headers,
           "\"Name: value\", or @FILE with one in each line, for secrets; may be "
           "repeated"
    )
        ->allow_extra_args(false);
    auto* keys = app.add_option_group("key", "Without a key, a POST or PATCH is sent once");
    // CLI11 treats an empty word for an optional as absent.
    const auto set = [](std::optional<std::string>& to) {
        return [&to](const std::string& word) { to = word; };
    };
    keys->add_option_function<std::string>(
        "--key", set(options.key), "The Idempotency-Key; keep a copy of it"
    );
    keys->add_option_function<std::string>(
        "--key-file",
        set(options.key_file),
        "Read the key from this file; without it, create and sync one before the first try. The "
        "same command then continues after a crash"
    );
    keys->add_option(
            "--entity", options.entity, "Derive the key from what is done once: payment 1234 refund"
    )
        ->expected(3);
    keys->require_option(0, 1);
    app.add_option(
           "--tries", client.tries_max, "Tries in total; those that were not sent do not count"
    )
        ->check(pawl::check_decimal)
        ->capture_default_str();
    add_ms(app, "--timeout-ms", client.timeout, "Time limit of one try");
    add_ms(app, "--connect-timeout-ms", client.connect_timeout, "Time limit for connecting");
    add_ms(app, "--deadline-ms", client.deadline, "Time limit of all tries and waits together");
    add_ms(app, "--wait-ms", client.wait_first, "Wait before the first repeat");
    add_ms(app, "--wait-max-ms", client.wait_max, "Longest wait before a repeat");
    static const std::map<std::string, pawl::Backoff> backoffs{
        {"decorrelated", pawl::Backoff::decorrelated},
        {"full", pawl::Backoff::full},
        {"stripe", pawl::Backoff::stripe}};
    app.add_option("--backoff", client.backoff, "How waits grow: decorrelated, full or stripe")
        ->transform(CLI::CheckedTransformer(backoffs));
    app.add_flag(
        "--quiet", options.quiet, "Print only the body of the answer, or why there is none"
    );
    app.footer(
        "The body of the answer is on standard output, each try on standard error.\n"
        "Exit codes: 0 answered below 400, 1 answered from 400 on, 2 wrong arguments,\n"
        "3 no answer, certainly not done; 4 no answer, possibly done, by this run or "
        "by "
        "an\nearlier one with the same key: run it again with the same key; without a key find out "
        "first."
    );
}

void print_try(std::ostream& err, const pawl::ClientTry& one) {
    err << "try " << one.number << ": " << one.what << " after " << one.took.count() << " ms";
    if (one.again_in) err << "; again in " << one.again_in->count() << " ms";
    err << std::endl;
}

int told(
    const pawl::ClientResult& end,
    const std::optional<RequestKey>& key,
    const RequestOptions& options,
    std::ostream& out,
    std::ostream& err
) {
    const auto* what_to_do = key ? "It may have been done: run it again with the same key.\n"
                                 : "It may have been done, and it had no key: find out before "
                                   "you send it again.\n";
    if (const auto* gave_up = std::get_if<pawl::GaveUp>(&end)) {
        // Even if this run sent no request, an earlier run with the same key may have.
        const bool earlier_run = key && !key->made;
        const auto* nothing_sent = earlier_run
                                       ? "This run sent no request, but an earlier one with the "
                                         "same key may have: run it again with the same key.\n"
                                       : "It was not done.\n";
        err << "pawl: no answer: " << gave_up->why << "\n"
            << (gave_up->in_doubt ? what_to_do : nothing_sent);
        return gave_up->in_doubt || earlier_run ? Exit::in_doubt : Exit::not_done;
    }
    const auto& answered = std::get<pawl::Answered>(end);
    if (!options.quiet)
        err << "answered " << answered.status << (answered.replayed ? ", replayed" : "") << "\n"
            << (answered.in_doubt ? what_to_do : "");
    out << answered.body;
    if (!answered.body.empty() && answered.body.back() != '\n') out << "\n";
    if (answered.in_doubt) return Exit::in_doubt;
    return answered.status < 400 ? Exit::good : Exit::refused;
}

}  // namespace

pawl::CommandInfo request_info() {
    RequestOptions options;
    CLI::App app{"Send one request, and repeat it while that is safe", "request"};
    add_request_options(app, options);
    return pawl::command_info(app);
}

int request_command(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
    RequestOptions options;
    CLI::App app{
        "Sends one request, repeats it while that is safe, and reports each try", "pawl request"};
    add_request_options(app, options);
    try {
        app.parse(std::vector<std::string>{words.rbegin(), words.rend()});
    } catch (const CLI::ParseError& wrong) {
        return app.exit(wrong, out, err) == 0 ? Exit::good : Exit::wrong_words;
    }
    try {
        for (const auto& header : options.headers) add_headers(header, options.request.headers);
        options.request.body = data_of(options.data);
        if (!options.quiet)
            options.client.on_try = [&err](const pawl::ClientTry& one) { print_try(err, one); };
        pawl::Client client{options.client};
        const auto key = key_of(options, err);
        return told(
            key ? client.perform(options.request, key->key) : client.send_once(options.request),
            key,
            options,
            out,
            err
        );
    } catch (const std::exception& failed) {
        const std::string_view why{failed.what()};
        err << (why.starts_with("pawl") ? "" : "pawl: ") << why << "\n";
        return Exit::wrong_words;
    }
}
