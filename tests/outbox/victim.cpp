// outbox_victim DATABASE SERVER KEY: puts a request, commits, and sends what is due; PAWL_FAULT_AT
// kills it in between. Without a key it only sends.
#include "tests/outbox/ends.hpp"

#include <array>

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const auto database = pawl::Database::open(argv[1]);
    constexpr std::array<const pawl::Sql*, 1> tables{&pawl::testing::ends_table};
    database->migrate("test", tables);
    pawl::Client client{pawl::testing::quick_client()};
    pawl::Outbox outbox{*database, client, &pawl::testing::write_end};
    if (argc > 3)
        database->write([&](pawl::Tx& tx) {
            pawl::Outbox::put(
                tx,
                {.method = "POST", .target = argv[2], .body = "{}"},
                pawl::ClientKey::saved(argv[3])
            );
        });
    return outbox.send_due() == 1 ? 0 : 3;
}
