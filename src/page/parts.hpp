#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// The parts that several views are made of.
namespace pawl::page {

std::string text_of(const boost::json::value& value);  // "-" for null.
std::string_view text_at(const boost::json::object& row, std::string_view name);
std::string label_of(std::string_view field);  // "recovery_point" -> "recovery point"

struct Column {
    std::string_view field;  // Several, with spaces between, are a column each.
    // How a cell looks; empty: its text.
    std::function<Html(const boost::json::object& row)> show{};
};
// `name` is for those who do not see it; `none` is shown instead of a table without rows.
Html table(
    std::string_view name,
    const boost::json::value& rows,
    const std::vector<Column>& columns,
    std::string_view none
);
// All fields of an object but those without a value.
Html facts(const boost::json::object& row);
Html section(std::string_view title, const Html& content);
Html key_link(const boost::json::object& row, std::string_view field = "id");

struct Field {
    std::string_view name;
    std::string_view label;
    std::string value{};
    std::string_view type{"text"};            // "select": of the options.
    std::vector<std::string_view> options{};  // Their texts, an empty one as `none`.
    std::string_view none{"any"};
    bool required{false};
};
// A form that searches: GET of its own path.
Html search_form(std::string path, const std::vector<Field>& fields);
// A form that acts: POST with the session's token and the hidden fields.
struct ActForm {
    std::string path;
    std::string_view button;
    std::vector<Field> fields{};
    std::vector<json::Pair> hidden{};
    bool danger{false};
};
Html act_form(const Asked& asked, const ActForm& form);
Html reveal_form(const Asked& asked, const std::string& path);
// What an act's row in the audit says.
Field reason_field();
// The fields of a form that only showed a plan, with which the next form carries it out.
std::vector<json::Pair> confirmed_fields(const Asked& asked);
// The link to the rest of a list that is full.
Html next_page(
    const Asked& asked, const boost::json::value& rows, std::string_view path, std::string_view by
);

}  // namespace pawl::page
