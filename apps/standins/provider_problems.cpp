#include "apps/standins/provider_problems.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace rides {

namespace json = boost::json;

BankAnswer stripe_error(const StripeProblem& problem) {
    json::object error{{"type", problem.type}, {"message", problem.message}};
    const auto add = [&error](const char* name, std::string_view text) {
        if (!text.empty()) error[name] = text;
    };
    add("code", problem.code);
    add("param", problem.param);
    add("charge", problem.charge);
    if (problem.code == "card_declined") add("decline_code", problem.decline_code);
    if (!problem.code.empty()) {
        std::string page{problem.code};
        std::replace(page.begin(), page.end(), '_', '-');
        error["doc_url"] = "https://stripe.com/docs/error-codes/" + page;
    }
    return {
        .status = problem.status,
        .body = json::serialize(json::object{{"error", error}}),
        .key = {}};
}

BankAnswer missing_parameter(std::string_view param) {
    const auto message = "Missing required param: " + std::string{param} + ".";
    return stripe_error(
        {.status = 400,
         .type = wrong_request,
         .code = "parameter_missing",
         .message = message,
         .param = param}
    );
}

BankAnswer no_whole_number(std::string_view param, const std::string& value) {
    const auto message = "Invalid integer: " + value;
    return stripe_error(
        {.status = 400,
         .type = wrong_request,
         .code = "parameter_invalid_integer",
         .message = message,
         .param = param}
    );
}

BankAnswer no_such(std::string_view kind, std::string_view id, std::string_view param) {
    const auto message = "No such " + std::string{kind} + ": '" + std::string{id} + "'";
    return stripe_error(
        {.status = 404,
         .type = wrong_request,
         .code = "resource_missing",
         .message = message,
         .param = param}
    );
}

BankAnswer no_such_url(std::string_view method, const std::string& path) {
    const auto message = "Unrecognized request URL (" + std::string{method} + ": " + path + ").";
    return stripe_error({.status = 404, .type = wrong_request, .message = message});
}

BankAnswer broken() {
    return stripe_error({.status = 500, .type = "api_error", .message = "Something went wrong."});
}

}  // namespace rides
