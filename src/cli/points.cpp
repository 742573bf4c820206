#include "src/cli/points.hpp"

#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace pawl::cli {

using boost::json::array;
using boost::json::object;
using boost::json::value;

namespace {

// Of the operation's request, as it is stored: one object with its fields.
object request_of(const detail::ErasedOperation& operation) {
    object properties;
    array required;
    for (const auto& field : operation.schema()) {
        properties[field.name] = boost::json::parse(field.schema);
        if (field.required) required.emplace_back(field.name);
    }
    return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

object steps_of(const detail::ErasedOperation& operation) {
    object points;
    for (const auto& step : operation.steps) {
        object results;
        for (const auto& result : step.results)
            results[result.name] = boost::json::parse(result.schema());
        object made{{"results", results}};
        if (step.schema != nullptr) made["fields"] = boost::json::parse(step.schema());
        points[step.from] = made;
    }
    return points;
}

object jobs_of(const ops::Worker& worker) {
    object jobs;
    for (const auto& [kind, by] : worker.kinds())
        if (const auto* operation = std::get_if<const detail::ErasedOperation*>(&by))
            jobs[kind] = object{{"operation", (*operation)->name}};  // Its request has the fields.
        else
            jobs[kind] = boost::json::parse(std::get<std::string>(by));
    return jobs;
}

// Where something is broken: "book_ride, ride_created: amount".
struct Place {
    std::string text;
    std::vector<std::string>& broken;

    Place in(std::string_view more) const { return {text + std::string{more}, broken}; }
    void say(std::string_view why) const { broken.push_back(text + ": " + std::string{why}); }
};

const value* member(const value& of, std::string_view name) {
    return of.as_object().if_contains(name);
}

bool has(const value& list, const value& one) {
    return std::ranges::find(list.as_array(), one) != list.as_array().end();
}

void compare(const Place& at, const value& old, const value& now);

void compare_properties(const Place& at, const value& old, const value& now) {
    for (const auto& [name, field] : old.at("properties").as_object()) {
        const auto here = at.in(" " + std::string{name});
        if (const auto* same = member(now.at("properties"), name))
            compare(here, field, *same);
        else
            here.say("the field is gone");
    }
    for (const auto& name : now.at("required").as_array())
        if (!has(old.at("required"), name))
            at.in(" " + std::string{std::string_view{name.as_string()}}
            ).say("must be there, and old rows may not have it: make it a std::optional");
}

// The alternatives of a variant, by their tags.
std::string_view tag_of(const value& alternative) {
    return alternative.at("properties").at("type").at("const").as_string();
}

void compare_alternatives(const Place& at, const value& old, const value& now) {
    for (const auto& one : old.as_array()) {
        const auto tag = tag_of(one);
        const auto found = std::ranges::find(now.as_array(), tag, &tag_of);
        if (found == now.as_array().end())
            at.say("the alternative " + std::string{tag} + " is gone");
        else
            compare(at.in(" " + std::string{tag}), one, *found);
    }
}

void compare_enum(const Place& at, const value& old, const value& now) {
    for (const auto& word : old.as_array())
        if (!has(now, word)) at.say("the word " + boost::json::serialize(word) + " is gone");
}

// Whole numbers have their range.
bool is_narrower(const value& old, const value& now) {
    const auto* from = member(old, "minimum");
    const auto* to = member(now, "minimum");
    if (from == nullptr || to == nullptr) return false;
    return to->to_number<double>() > from->to_number<double>() ||
           now.at("maximum").to_number<double>() < old.at("maximum").to_number<double>();
}

bool differ(const value& old, const value& now, std::string_view name) {
    const auto* before = member(old, name);
    const auto* after = member(now, name);
    if (before == nullptr || after == nullptr) return before != after;
    return *before != *after;
}

void compare(const Place& at, const value& old, const value& now) {
    for (const auto* name : {"type", "format", "pattern", "const"})
        if (differ(old, now, name)) return at.say(std::string{"has another "} + name);
    if (is_narrower(old, now)) at.say("has a smaller range");
    const auto both = [&](std::string_view name, auto compare_them) {
        const auto* before = member(old, name);
        const auto* after = member(now, name);
        if (before != nullptr && after != nullptr) return compare_them(at, *before, *after);
        if (before != nullptr || after != nullptr) at.say("has another " + std::string{name});
    };
    both("oneOf", &compare_alternatives);
    both("enum", &compare_enum);
    both("items", &compare);
    if (member(old, "properties") != nullptr && member(now, "properties") != nullptr)
        compare_properties(at, old, now);
    const auto* values = member(old, "additionalProperties");  // Of a map; false of a record.
    const auto* values_now = member(now, "additionalProperties");
    if (values != nullptr && values->is_object() && values_now != nullptr &&
        values_now->is_object())
        compare(at.in(" values"), *values, *values_now);
}

void compare_point(
    const Place& at, std::string_view name, const value& old, const value& operation
) {
    if (has(operation.at("removed"), value(boost::json::string{name}))) return;
    const auto* renamed = member(operation.at("renamed"), name);
    const std::string_view now = renamed == nullptr ? name : renamed->as_string();
    const auto* point = member(operation.at("points"), now);
    if (point == nullptr)
        return at.say("the point is gone: declare it in RenamedPoints, as Renamed or Removed");
    const auto* fields = member(old, "fields");
    const auto* fields_now = member(*point, "fields");
    if (fields != nullptr && fields_now != nullptr) compare(at, *fields, *fields_now);
    for (const auto& [result, schema] : old.at("results").as_object()) {
        const auto here = at.in(", result " + std::string{result});
        if (const auto* same = member(point->at("results"), result))
            compare(here, schema, *same);
        else
            here.say("the result is gone, and a kept one may wait for a person");
    }
}

}  // namespace

value points_of(Service& service) {
    object operations;
    for (const auto* operation : service.engine().operations()) {
        object renamed;
        for (const auto& [old, step] : operation->renamed)
            renamed[old] = boost::json::string{operation->steps[step].from};
        array removed;
        for (const auto name : operation->dropped) removed.emplace_back(boost::json::string{name});
        operations[operation->name] = object{
            {"request", request_of(*operation)},
            {"points", steps_of(*operation)},
            {"renamed", renamed},
            {"removed", removed}};
    }
    return object{{"operations", operations}, {"jobs", jobs_of(service.impl().first_tries())}};
}

std::vector<std::string> broken_points(const value& released, const value& now) {
    std::vector<std::string> broken;
    for (const auto& [name, operation] : released.at("operations").as_object()) {
        const Place at{std::string{name}, broken};
        const auto* same = member(now.at("operations"), name);
        if (same == nullptr) {
            at.say("the operation is gone, and its open requests would be stranded");
            continue;
        }
        compare(at.in(", request"), operation.at("request"), same->at("request"));
        for (const auto& [point, fields] : operation.at("points").as_object())
            compare_point(at.in(", " + std::string{point}), point, fields, *same);
    }
    for (const auto& [kind, arguments] : released.at("jobs").as_object()) {
        const Place at{"job " + std::string{kind}, broken};
        if (const auto* same = member(now.at("jobs"), kind))
            compare(at.in(","), arguments, *same);
        else
            at.say("no handler works it, and its jobs would become dead letters");
    }
    return broken;
}

void print_points(Service& service, const std::string& released_file, std::ostream& out) {
    const auto now = points_of(service);
    if (released_file.empty()) return print_json(out, now);
    std::ifstream file{released_file};
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw UsageError{released_file + " can't be read"};
    std::vector<std::string> broken;
    try {
        broken = broken_points(boost::json::parse(text.str()), now);
    } catch (const boost::system::system_error&) {
        throw UsageError{released_file + " is not what `points` prints"};
    }
    for (const auto& why : broken) out << why << '\n';
    if (!broken.empty())
        throw CommandFailed{
            std::to_string(broken.size()) +
            " changes break rows that the last release may have left: docs/howto/deploys.md"};
    out << "Every request, point, result and job of the release can be read.\n";
}

}  // namespace pawl::cli
