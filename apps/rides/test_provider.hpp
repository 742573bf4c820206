#pragma once

#include <pawl/client.hpp>

#include "apps/rides/stripe.hpp"
#include "apps/standins/provider.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace rides {

// For tests: the stand-in for Stripe on free ports of this process, with its ledger in a folder of
// its own.
class TestProvider {
public:
    TestProvider() { provider.start(); }
    ~TestProvider() {
        provider.stop();
        std::filesystem::remove_all(folder_);
    }
    TestProvider(const TestProvider&) = delete;
    TestProvider& operator=(const TestProvider&) = delete;

    // JSON, see provider.hpp: R"({"decline": true})".
    void set_faults(std::string faults) {
        (void
        )tester_.send_once({.method = "POST", .target = "/_test/faults", .body = std::move(faults)}
        );
    }

    // One JSON object per line.
    std::string ledger() const {
        std::ifstream file{folder_ + "/ledger"};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    static std::string made_folder() {
        auto path = (std::filesystem::temp_directory_path() / "rides_test.XXXXXX").string();
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error{"no folder for the ledger"};
        return path;
    }
    std::string folder_{made_folder()};

public:
    Provider provider{
        {.listen = "127.0.0.1:0",
         .smtp = "127.0.0.1:0",
         .ledger = folder_ + "/ledger",
         .mails = folder_ + "/mails",
         .ledger_sync = false}};
    Stripe stripe{{"http://127.0.0.1:" + std::to_string(provider.http_port()), "sk_test"}, 16};

private:
    pawl::Client tester_{{.url = "http://127.0.0.1:" + std::to_string(provider.http_port())}};
};

}  // namespace rides
