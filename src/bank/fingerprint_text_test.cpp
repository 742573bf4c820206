#include "src/bank/fingerprint_text.hpp"

#include <gtest/gtest.h>

namespace pawl::bank {

namespace {

TEST(Fingerprints, they_are_as_ssh_keygen_prints_them) {
    // `printf '' | sha256sum` in base64.
    const std::string hash{
        "\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24"
        "\x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55"};
    EXPECT_EQ(fingerprint_text(hash), "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU");
    EXPECT_TRUE(is_fingerprint(fingerprint_text(hash)));
    EXPECT_FALSE(is_fingerprint("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"));
    EXPECT_FALSE(is_fingerprint("SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    EXPECT_FALSE(is_fingerprint("MD5:aa:bb"));
}

}  // namespace

}  // namespace pawl::bank
