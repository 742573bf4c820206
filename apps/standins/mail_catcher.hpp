#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace rides {

// A small SMTP server that stores each mail as one JSON line {"to", "message_id", "text"}, on the
// disk before its 250. It keeps repeats: the tests check for them. Faults by the address:
// *@refused.example gets 550, *@later.example 451 for the first try of each mail, *@cut.example is
// disconnected after the mail is stored and before the 250.
class MailCatcher {
public:
    MailCatcher(
        const std::string& listen, const std::string& file
    );  // Throws std::system_error, std::runtime_error.
    ~MailCatcher();
    void start();
    std::uint16_t port() const;
    void stop();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rides
