#include "src/page/parts.hpp"

#include "src/base/time_text.hpp"
#include "src/core/ascii.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace pawl::page {

using boost::json::object;
using boost::json::value;

std::string text_of(const value& from) {
    if (from.is_null()) return "-";
    if (from.is_string()) return std::string{std::string_view{from.get_string()}};
    if (from.is_bool()) return from.get_bool() ? "yes" : "no";
    return boost::json::serialize(from);
}

std::string_view text_at(const object& row, std::string_view name) {
    const auto* found = row.if_contains(name);
    if (found == nullptr || !found->is_string()) return {};
    return found->get_string();
}

std::string label_of(std::string_view field) {
    std::string label{field};
    std::ranges::replace(label, '_', ' ');
    return label;
}

namespace {

Html cell(const object& row, const Column& column) {
    if (column.show) return column.show(row);
    const auto* found = row.if_contains(column.field);
    const auto text = text_of(found == nullptr ? value{} : *found);
    // The style sheet keeps a time on one line.
    return base::time_from_text(text) ? element("time", text) : Html{text};
}

bool is_blank(const value& one) {
    return one.is_null() || (one.is_string() && one.get_string().empty()) ||
           (one.is_array() && one.get_array().empty());
}

Html input(const Field& field, const std::string& id) {
    Attributes attributes{{"id", id}, {"name", std::string{field.name}}};
    if (field.required) attributes.push_back({"required", ""});
    if (field.type != "select") {
        attributes.push_back({"type", std::string{field.type}});
        attributes.push_back({"value", field.value});
        return empty_element("input", std::move(attributes));
    }
    Html options;
    for (const auto option : field.options) {
        Attributes chosen{{"value", std::string{option}}};
        if (option == field.value) chosen.push_back({"selected", ""});
        options += element("option", std::move(chosen), option.empty() ? field.none : option);
    }
    return element("select", std::move(attributes), options);
}

// `of` keeps the ids of two forms of a page apart.
Html inputs(const std::vector<Field>& fields, std::string_view of) {
    Html made;
    for (const auto& field : fields) {
        const auto id = std::string{of} + "." + std::string{field.name};
        made += element(
            "div",
            {{"class", "field"}},
            {element("label", {{"for", id}}, field.label), input(field, id)}
        );
    }
    return made;
}

Html hidden(std::string_view name, std::string text) {
    return empty_element(
        "input", {{"type", "hidden"}, {"name", std::string{name}}, {"value", std::move(text)}}
    );
}

}  // namespace

Html table(
    std::string_view name,
    const value& rows,
    const std::vector<Column>& given,
    std::string_view none
) {
    if (rows.get_array().empty()) return element("p", {{"class", "none"}}, none);
    std::vector<Column> columns;
    for (const auto& column : given)
        for (const auto field : core::words_of(column.field))
            columns.push_back({field, column.show});
    Html head;
    for (const auto& column : columns)
        head += element("th", {{"scope", "col"}}, label_of(column.field));
    Html body;
    for (const auto& one : rows.get_array()) {
        Html cells;
        for (const auto& column : columns) cells += element("td", cell(one.get_object(), column));
        body += element("tr", cells);
    }
    // A wide table scrolls by itself, with the keyboard too.
    return element(
        "div",
        {{"class", "table"},
         {"tabindex", "0"},
         {"role", "region"},
         {"aria-label", std::string{name}}},
        element("table", {element("thead", element("tr", head)), element("tbody", body)})
    );
}

Html facts(const object& row) {
    Html made;
    for (const auto& member : row) {
        if (is_blank(member.value())) continue;
        made += element(
            "div", {element("dt", label_of(member.key())), element("dd", text_of(member.value()))}
        );
    }
    return element("dl", made);
}

Html section(std::string_view title, const Html& content) {
    return element("section", {element("h2", title), content});
}

Html key_link(const object& row, std::string_view field) {
    const auto* id = row.if_contains(field);
    if (id == nullptr || id->is_null()) return "-";
    return link("/keys/" + text_of(*id), text_of(*id));
}

Html search_form(std::string path, const std::vector<Field>& fields) {
    const auto of = path;
    return element(
        "form",
        {{"class", "search"}, {"method", "get"}, {"action", std::move(path)}, {"role", "search"}},
        {inputs(fields, of), element("button", {{"type", "submit"}}, "Search")}
    );
}

Html act_form(const Asked& asked, const ActForm& form) {
    Html content{hidden("form_token", asked.form_token)};
    for (const auto& [name, text] : form.hidden) content += hidden(name, text);
    content += inputs(form.fields, form.path + std::string{form.button});
    Attributes button{{"type", "submit"}};
    if (form.danger) button.push_back({"class", "danger"});
    content += element("button", std::move(button), form.button);
    return element("form", {{"class", "act"}, {"method", "post"}, {"action", form.path}}, content);
}

Html reveal_form(const Asked& asked, const std::string& path) {
    return act_form(asked, {.path = path + "/reveal", .button = "Reveal what is redacted"});
}

Field reason_field() {
    return {.name = "reason", .label = "Reason, for the audit", .required = true};
}

std::vector<json::Pair> confirmed_fields(const Asked& asked) {
    auto fields = asked.fields.pairs();
    std::erase_if(fields, [](const json::Pair& pair) {
        return pair.name == "form_token" || pair.name == "confirmed";
    });
    fields.push_back({"confirmed", "yes"});
    return fields;
}

Html next_page(const Asked& asked, const value& rows, std::string_view path, std::string_view by) {
    const auto& list = rows.get_array();
    if (std::cmp_less(list.size(), asked.fields.limit())) return {};
    auto pairs = asked.fields.pairs();
    std::erase_if(pairs, [by](const json::Pair& pair) { return pair.name == by; });
    pairs.push_back({std::string{by}, text_of(list.back().at("id"))});
    return element(
        "p", link(std::string{path} + "?" + json::canonical(std::move(pairs)), "Next page")
    );
}

}  // namespace pawl::page
