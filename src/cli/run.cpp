#include "src/cli/run.hpp"

#include "src/cli/numbers.hpp"

namespace pawl::cli {

const CLI::Validator& decimal() {
    static const CLI::Validator validator{check_decimal, ""};
    return validator;
}

void add_key_selector(CLI::App& to, Run& run) {
    auto* id = to.add_option("id", run.which.id, "Number of the key, as `keys list` shows it");
    auto* key =
        to.add_option("--key", run.which.key, "Instead of id: the client's Idempotency-Key");
    id->check(decimal())->excludes(key);
    key->excludes(id);
    to.add_option("--account", run.which.account, "Account that sent the key")->needs(key);
    to.add_option("--tenant", run.which.tenant, "Tenant of the account")->needs(key);
}

void add_limit(CLI::App& to, int& limit, const std::string& text) {
    to.add_option("--limit", limit, text)
        ->check(decimal())
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
}

CLI::App* command(
    CLI::App& in, Run& run, const std::string& name, const std::string& text, void (*act)(Run&)
) {
    auto* made = in.add_subcommand(name, text);
    made->add_flag("--json", run.json, "One JSON document instead of text for people");
    made->callback([&run, act] { run.act = act; });
    return made;
}

}  // namespace pawl::cli
