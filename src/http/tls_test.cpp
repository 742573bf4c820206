// A server with an untrusted certificate: the request must stay here, with proof.

#include "src/http/testing/raw_server.hpp"
#include "src/http/transfer.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::http {
namespace {

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* t) const {
        Free(t);
    }
};
using Context = std::unique_ptr<SSL_CTX, Freed<&SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Freed<&SSL_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;

const unsigned char* bytes_of(std::string_view text) {
    const void* plain = text.data();
    return static_cast<const unsigned char*>(plain);
}

Context self_signed() {
    const Key key{EVP_EC_gen("P-256")};
    const Certificate certificate{X509_new()};
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    auto* name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, bytes_of("127.0.0.1"), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    Context context{SSL_CTX_new(TLS_server_method())};
    SSL_CTX_use_certificate(context.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), key.get());
    return context;
}

// A server's bytes in reply to the ClientHello on the socket, up to its certificate.
std::string first_flight(SSL_CTX* context, testing::RawSocket& socket) {
    const Connection connection{SSL_new(context)};
    SSL_set_bio(connection.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    auto* said = SSL_get_wbio(connection.get());
    while (BIO_ctrl_pending(said) == 0) {
        const auto byte = socket.read_exactly(1);
        if (byte.empty()) return {};
        BIO_write(SSL_get_rbio(connection.get()), byte.data(), 1);
        SSL_accept(connection.get());
    }
    std::string flight(BIO_ctrl_pending(said), '\0');
    BIO_read(said, flight.data(), static_cast<int>(flight.size()));
    return flight;
}

// Only every ninth byte, as each try loads the system's certificates.
TEST(Transfers, a_handshake_that_the_server_cuts_off_stops_the_request) {
    const auto context = self_signed();
    std::size_t longest = 0;
    for (const bool resets : {false, true})
        for (std::size_t n = 0; n <= longest; n += 9) {
            std::size_t size = 0;
            testing::RawServer server{[&](testing::RawServer& self, testing::RawSocket& socket) {
                const auto flight = first_flight(context.get(), socket);
                size = flight.size();
                socket.send(flight.substr(0, n));
                if (resets) return socket.reset();
                socket.half_close();
                self.saw(socket.read_all());  // An alert, or no bytes.
            }};

            {
                Transfers transfers;
                const auto sent = transfers.perform(
                    {.method = "POST",
                     .url = "https://127.0.0.1:" + std::to_string(server.port()) + "/charges",
                     .body = "amount=1"}
                );
                ASSERT_TRUE(std::holds_alternative<NotSent>(sent)) << n << " bytes said";
            }

            server.wait_for_scripts();
            longest = std::max(longest, size);
            for (const auto& seen : server.seen()) ASSERT_LT(seen.size(), 100U) << n;
        }
    EXPECT_GT(longest, 300U);
}

TEST(Transfers, a_certificate_that_is_not_trusted_stops_the_request) {
    const auto context = self_signed();
    testing::RawServer server{[&](testing::RawServer& self, testing::RawSocket& socket) {
        const Connection connection{SSL_new(context.get())};
        SSL_set_fd(connection.get(), socket.descriptor());
        const bool accepted = SSL_accept(connection.get()) == 1;
        std::string request(100, '\0');
        const int got = accepted ? SSL_read(connection.get(), request.data(), 100) : 0;
        self.saw(got > 0 ? request : "nothing");
    }};
    {
        Transfers transfers;
        const auto sent = transfers.perform(
            {.method = "POST",
             .url = "https://127.0.0.1:" + std::to_string(server.port()) + "/charges",
             .body = "amount=1"}
        );

        ASSERT_TRUE(std::holds_alternative<NotSent>(sent));
        EXPECT_NE(std::get<NotSent>(sent).why.find("certificate"), std::string::npos)
            << std::get<NotSent>(sent).why;
    }
    server.wait_for_scripts();
    EXPECT_EQ(server.seen(), std::vector<std::string>{"nothing"});
}

}  // namespace
}  // namespace pawl::http
