#include "src/http/problem_page.hpp"

#include "src/base/text.hpp"
#include "src/http/negotiation.hpp"
#include "src/http/problem.hpp"

#include <algorithm>
#include <string>

namespace pawl::http {

namespace {

// The last cell of the type's row: | `key-reused` | 422, 409, 400 | no | The key was ... |
std::string_view row_text(std::string_view type) {
    const auto begin = problem_texts.find("\n| `" + std::string{type} + "` |");
    if (begin == problem_texts.npos) return {};
    auto row = problem_texts.substr(begin + 1);
    row = row.substr(0, row.find('\n'));
    for (int cell = 0; cell < 4; ++cell) row.remove_prefix(row.find('|') + 1);
    return row.substr(1, row.rfind(" |") - 1);
}

}  // namespace

std::optional<Reply> problem_page(const RequestHead& head) {
    constexpr std::string_view folder = "/errors/";
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (!reads || !head.path.starts_with(folder)) return std::nullopt;
    const auto type = std::string_view{head.path}.substr(folder.size());
    const auto kind = std::ranges::find(problem_kinds(), type, &ProblemKind::type);
    if (kind == problem_kinds().end()) return std::nullopt;
    const auto text = row_text(type);
    if (asks_for_page(head))
        return Reply{
            .status = 200,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
            .body = std::string{kind->title} + ".\n\n" + std::string{text} + '\n'};
    Reply reply{.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = "{"};
    const auto member = [&reply](std::string_view name, std::string_view value) {
        base::append_string(reply.body, name);
        reply.body += ':';
        base::append_string(reply.body, value);
        reply.body += ',';
    };
    member("type", head.path);
    member("title", kind->title);
    member("description", text);
    reply.body += "\"status\":" + std::to_string(kind->status) +
                  ",\"retry\":" + (kind->retry ? "true}" : "false}") + '\n';
    return reply;
}

}  // namespace pawl::http
