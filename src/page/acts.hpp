#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

#include <span>
#include <string>
#include <string_view>

// What the page's forms and the API change, each by the command of the same name, with its audit.
namespace pawl::page {

struct Done {
    boost::json::value data;  // As the command prints it with --json.
    std::string message;      // For a person.
    std::string next;         // The path of the page to go on with.
    Html shown{};             // Instead of a redirect: a plan to confirm, what was revealed.
    std::string title{"Check it"};
};

struct Act {
    std::string_view path;  // "/keys/{id}/retry"
    Role role;              // That it needs.
    // Throws as View::read.
    Done (*run)(const Asked&);
};

std::span<const Act> acts();

}  // namespace pawl::page
