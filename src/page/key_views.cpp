#include "src/page/key_views.hpp"

#include "src/cli/attention.hpp"
#include "src/cli/key_list.hpp"
#include "src/cli/keys.hpp"
#include "src/cli/timeline.hpp"
#include "src/engine/engine.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "src/page/redact.hpp"

#include <boost/json/object.hpp>

namespace pawl::page {

using boost::json::object;
using boost::json::value;

namespace {

cli::KeyFilter filter_of(const Asked& asked) {
    cli::KeyFilter filter;
    filter.wanted.text = asked.fields.text("text");
    filter.wanted.account = asked.fields.text("account");
    filter.wanted.operation = asked.fields.text("operation");
    filter.wanted.state = asked.fields.text("state");
    filter.wanted.point = asked.fields.text("point");
    filter.wanted.error = asked.fields.text("error");
    filter.wanted.limit = asked.fields.limit();
    filter.reference = asked.fields.text_or("reference", "");
    filter.request_id = asked.fields.text_or("request_id", "");
    filter.since = asked.fields.text_or("since", "");
    filter.until = asked.fields.text_or("until", "");
    filter.below = asked.fields.number("below");
    return filter;
}

std::vector<std::string_view> operations_of(const Asked& asked) {
    std::vector<std::string_view> names{""};
    for (const auto* operation : asked.service.engine().operations())
        names.push_back(operation->name);
    return names;
}

value timeline_of(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::show_timeline(asked.service, key_of(asked), true, out);
    });
}

Html state_of(const object& row, std::string_view field) {
    const auto state = text_at(row, field);
    return element("span", {{"class", "state " + std::string{state}}}, state);
}

// A step without a row before it for over a second: nobody worked on the key.
Html after(const object& row) {
    if (row.at("after_ms").is_null()) return "damaged (PAWL0022)";
    const auto ms = row.at("after_ms").to_number<std::int64_t>();
    const auto text = "+" + std::to_string(ms) + " ms";
    return ms > 1'000 ? element("strong", {{"class", "gap"}}, text) : Html{text};
}

Html open_key_acts(const Asked& asked, const object& key) {
    const auto path = "/keys/" + asked.id;
    if (!text_at(key, "held_at").empty())
        return act_form(asked, {.path = path + "/release", .button = "Release it"});
    return {
        act_form(asked, {.path = path + "/retry", .button = "Retry now"}),
        act_form(asked, {.path = path + "/hold", .button = "Hold it", .fields = {reason_field()}})};
}

Html key_acts(const Asked& asked, const object& key) {
    if (!asked.may(Role::operating)) return {};
    const auto path = "/keys/" + asked.id;
    Html made = reveal_form(asked, path);
    const auto status = text_at(key, "status");
    if (status == "open") made += open_key_acts(asked, key);
    if (status == "attention") made += element("p", link("/attention/" + asked.id, "Decide it"));
    return made;
}

Html settle_form(const Asked& asked, const object& entry) {
    ActForm form{
        .path = "/attention/" + asked.id + "/settle",
        .button = "Show what that will do",
        .fields = {
            {.name = "as",
             .label = "Decision",
             .type = "select",
             .options = {"", "happened", "did-not-happen", "give-up"},
             .none = "choose",
             .required = true},
            {.name = "result",
             .label = "happened: its result, such as Charge",
             .value = std::string{text_at(entry, "result_name")}},
            {.name = "value", .label = "happened: its fields as JSON"},
            {.name = "note", .label = "How you know, for the audit", .required = true}}};
    if (asked.may(Role::admin))
        form.fields.push_back(
            {.name = "force",
             .label = "Before the provider's time is over",
             .type = "select",
             .options = {"", "yes"},
             .none = "no"}
        );
    return act_form(asked, form);
}

Html entry_acts(const Asked& asked, const object& entry) {
    if (!asked.may(Role::operating)) return {};
    const auto path = "/attention/" + asked.id;
    const bool decided = !entry.at("settlement").is_null();
    auto made = decided && entry.at("settling_error").is_null()
                    ? section(
                          "Take it back",
                          act_form(
                              asked,
                              {.path = path + "/undo",
                               .button = "Undo the decision",
                               .fields = {{.name = "note", .label = "Why, for the audit"}}}
                          )
                      )
                    : section("Decide", settle_form(asked, entry));
    made += reveal_form(asked, path);
    return made;
}

}  // namespace

cli::KeySelector key_of(const Asked& asked) {
    cli::KeySelector which;
    which.id = asked.number();
    return which;
}

value read_keys(const Asked& asked) {
    return redact(printed([&](std::ostream& out) {
        cli::list_keys(asked.service, filter_of(asked), true, out);
    }));
}

Html search_keys(const Asked& asked) {
    const auto given = [&](std::string_view name) { return asked.fields.text_or(name, ""); };
    return search_form(
        "/keys",
        {{.name = "text",
          .label = "Key, request id, or id of a ride or charge",
          .value = given("text")},
         {.name = "account", .label = "Account", .value = given("account")},
         {.name = "operation",
          .label = "Operation",
          .value = given("operation"),
          .type = "select",
          .options = operations_of(asked)},
         {.name = "state",
          .label = "State",
          .value = given("state"),
          .type = "select",
          .options = {"", "open", "attention", "finished", "expired"}},
         {.name = "point", .label = "Recovery point", .value = given("point")},
         {.name = "error", .label = "Error has", .value = given("error")},
         {.name = "since", .label = "Since (2h, or a time)", .value = given("since")},
         {.name = "until", .label = "Until", .value = given("until")}}
    );
}

Html show_keys(const Asked& asked, const value& data) {
    return {
        search_keys(asked),
        table(
            "Keys",
            data,
            {{"id", [](const object& row) { return key_link(row); }},
             {"created_at operation"},
             {"status", [](const object& row) { return state_of(row, "status"); }},
             {"recovery_point attempt response_status account key error"}},
            "No key matches."
        ),
        next_page(asked, data, "/keys", "below")};
}

value read_revealed_key(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::show_key(asked.service, key_of(asked), true, out);
    });
}

value read_key(const Asked& asked) {
    const auto key = redact(read_revealed_key(asked));
    const bool expired = text_at(key.get_object(), "status") == "expired";
    return object{
        {"key", key}, {"timeline", expired ? value(boost::json::array{}) : timeline_of(asked)}};
}

Html show_key(const Asked& asked, const value& data) {
    const auto& key = data.at("key").get_object();
    auto timeline = table(
        "Time line",
        data.at("timeline"),
        {{"at"},
         {"after_ms", &after},
         {"attempt what by point to result status request_id took_ms detail"}},
        "It has no events: it has expired, or is older than its time line."
    );
    return {section("Time line", timeline), section("Key", facts(key)), key_acts(asked, key)};
}

value read_attention(const Asked& asked) {
    return redact(printed([&](std::ostream& out) {
        cli::list_attention(asked.service, asked.fields.limit(), true, out);
    }));
}

Html show_attention(const Asked&, const value& data) {
    return table(
        "Attention",
        data,
        {{"key_id",
          [](const object& row) {
              const auto id = text_of(row.at("key_id"));
              return link("/attention/" + id, id);
          }},
         {"since operation recovery_point reason call_target called_at inquiry settlement "
          "settling_error detail"}},
        "Nothing waits for a person."
    );
}

value read_revealed_entry(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::show_attention(asked.service, key_of(asked), true, out);
    });
}

value read_entry(const Asked& asked) {
    return object{{"entry", redact(read_revealed_entry(asked))}, {"timeline", timeline_of(asked)}};
}

Html show_entry(const Asked& asked, const value& data) {
    const auto& entry = data.at("entry").get_object();
    return {
        facts(entry),
        element("p", link("/keys/" + asked.id, "Its time line and its key")),
        entry_acts(asked, entry)};
}

}  // namespace pawl::page
