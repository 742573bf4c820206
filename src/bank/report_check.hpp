#pragma once

#include <pawl/bank_file.hpp>

#include <string>

namespace pawl::bank {

// Why an entry or a payment is set aside.
struct SetAsideReason {
    std::string rule{};
    std::string why{};
};

// Makes texts for people ones that every database and terminal takes, and sets lines aside that
// have a text which a database may refuse. A problem: one of the report's own texts is so.
ReadReport checked(ReadReport read);

}  // namespace pawl::bank
