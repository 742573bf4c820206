#include "src/engine/response_rule.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace pawl::engine {
namespace {

std::string refusal_of(Response response) {
    try {
        checked_response(std::move(response));
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "it was taken";
}

TEST(Storable, only_four_headers_are_stored_in_their_canonical_spelling) {
    const auto kept = checked_response(
        {.status = 201,
         .headers =
             {{"LOCATION", "/rides/1"},
              {"Set-Cookie", "session=1\r\n"},
              {"etag", "\"1\""},
              {"Locations", "x"},
              {"link", "</a>"},
              {"content-language", "gsw\xC3\xA9"}}}
    );

    ASSERT_EQ(kept.headers.size(), 4U);
    EXPECT_EQ(kept.headers[0].name, "Location");
    EXPECT_EQ(kept.headers[1].name, "ETag");
    EXPECT_EQ(kept.headers[2].name, "Link");
    EXPECT_EQ(kept.headers[3].name, "Content-Language");
    EXPECT_EQ(kept.headers[3].value, "gsw\xC3\xA9");
}

TEST(Storable, a_response_with_an_invalid_status_or_a_control_character_is_refused) {
    EXPECT_EQ(refusal_of({.status = 199}), "a response has a status from 200 to 599, not 199");
    EXPECT_EQ(refusal_of({.status = 600}), "a response has a status from 200 to 599, not 600");
    EXPECT_EQ(refusal_of({.status = 200}), "it was taken");
    EXPECT_EQ(refusal_of({.status = 599}), "it was taken");
    EXPECT_EQ(
        refusal_of({.content_type = "text/plain\r\nX: y"}), "a content type has a control character"
    );
    for (const auto& value :
         {std::string{"/a\r\nX: y"}, std::string{"/a\x7f"}, std::string{"/a\0", 3}})
        EXPECT_EQ(
            refusal_of({.headers = {{"Location", value}}}),
            "the header Location has a control character"
        );
}

// Found by reading: PostgreSQL refused the row after the charge, at every repeat.
TEST(Storable, bytes_that_are_not_text_are_refused) {
    EXPECT_THROW(checked_response({201, "caf\xe9"}), std::invalid_argument);
    EXPECT_THROW(checked_response({201, std::string(1, '\0')}), std::invalid_argument);
    EXPECT_THROW(checked_response({201, "{}", "text/\xff"}), std::invalid_argument);
    EXPECT_THROW(
        checked_response({.status = 201, .headers = {{"Location", "/\xff"}}}), std::invalid_argument
    );
    EXPECT_NO_THROW(checked_response({201, "café"}));
    EXPECT_NO_THROW(checked_response({201, "caf\xe9"}, Bytes::any))
        << "of an operation without a key";
}

TEST(Storable, a_body_has_at_most_a_mebibyte) {
    EXPECT_EQ(refusal_of({.body = std::string(response_body_max, 'x')}), "it was taken");
    EXPECT_EQ(
        refusal_of({.body = std::string(response_body_max + 1, 'x')}),
        "a response has at most 1 MiB of body to be stored, not 1048577 bytes"
    );
}

}  // namespace
}  // namespace pawl::engine
