#include "src/json/hash.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pawl::json {

// FIPS 180-4 examples.
TEST(Sha256, gives_the_published_values) {
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(
        hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    EXPECT_EQ(
        hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    );
}

// RFC 4231, test cases 1, 2 and 6.
TEST(HmacSha256, gives_the_values_of_rfc_4231) {
    EXPECT_EQ(
        hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    );
    EXPECT_EQ(
        hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    EXPECT_EQ(
        hex(hmac_sha256(
            std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"
        )),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
}

TEST(HmacSha256, an_empty_secret_is_a_secret_of_its_own) {
    auto empty = hmac_sha256("", "text");

    hmac_sha256("other", "text");

    EXPECT_EQ(hmac_sha256("", "text"), empty);
    EXPECT_EQ(
        hex(hmac_sha256("", "")), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
    );
}

// RFC 4648, section 10.
TEST(Base64, reads_the_published_texts_and_no_other_spelling) {
    EXPECT_EQ(from_base64(""), "");
    EXPECT_EQ(from_base64("Zg=="), "f");
    EXPECT_EQ(from_base64("Zm8="), "fo");
    EXPECT_EQ(from_base64("Zm9v"), "foo");
    EXPECT_EQ(from_base64("Zm9vYg=="), "foob");
    for (const auto* wrong :
         {"Zg", "Zg=", "Zh==", "Zg==\n", " Zg==", "Zm9v====", "====", "Z===", "Zm_v", "Zg==Zg=="})
        EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
}

TEST(Base64, a_digest_is_44_characters_that_read_back) {
    const auto digest = sha256("abc");

    const auto text = base64(digest);

    EXPECT_EQ(text, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    EXPECT_EQ(hex(from_base64(text).value()), hex(digest));
}

TEST(SameBytes, needs_the_same_size_and_content) {
    EXPECT_TRUE(same_bytes("", ""));
    EXPECT_TRUE(same_bytes("abc", "abc"));
    EXPECT_FALSE(same_bytes("abc", "abd"));
    EXPECT_FALSE(same_bytes("abc", "ab"));
}

TEST(Hash, threads_do_not_disturb_each_other) {
    auto digest = sha256("a");
    auto code = hmac_sha256("secret", "a");
    std::vector<int> wrong(4);

    {
        std::vector<std::jthread> threads;
        for (int& count : wrong)
            threads.emplace_back([&, digest, code] {
                for (int i = 0; i < 2'000; ++i)
                    count += sha256("a") == digest && hmac_sha256("secret", "a") == code ? 0 : 1;
            });
    }

    EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Hex, writes_two_lower_case_digits_a_byte) {
    EXPECT_EQ(hex(""), "");
    EXPECT_EQ(hex(std::string_view{"\x00\x0f\xff\x7e", 4}), "000fff7e");
}

TEST(Parts, no_two_lists_of_parts_have_the_same_bytes) {
    auto bytes = [](auto... parts) {
        Parts all;
        (all.add(parts), ...);
        return all.bytes();
    };
    using View = std::string_view;

    EXPECT_EQ(
        bytes(View{"ab"}, std::uint64_t{258}),
        (std::string{"\0\0\0\0\0\0\0\2ab\0\0\0\0\0\0\1\2", 18})
    );
    EXPECT_NE(bytes(View{"a"}, View{"bc"}), bytes(View{"ab"}, View{"c"}));
    EXPECT_NE(bytes(View{"a"}, View{""}), bytes(View{""}, View{"a"}));
    EXPECT_NE(bytes(View{"a"}), bytes(View{"a"}, View{""}));
}

}  // namespace pawl::json
