#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// For tests: raw bytes over loopback, to send and receive what no library would.
namespace pawl::http::testing {

// A blocking socket with a limit of 10 s on every wait: a test that waits in vain fails instead of
// hanging.
class RawSocket {
public:
    explicit RawSocket(int descriptor);  // Owns the descriptor.
    static RawSocket to(std::uint16_t port, const char* from = "127.0.0.1");
    RawSocket(RawSocket&& other) noexcept;
    RawSocket& operator=(RawSocket&&) = delete;
    ~RawSocket();

    bool send(std::string_view bytes);  // False once the other end is closed.
    // Reads up to the other end's close, its reset or the limit.
    std::string read_all();
    // Reads up to and including `mark`; less if the other end closes. Bytes after the mark are kept
    // for later.
    std::string read_until(std::string_view mark);
    std::string read_exactly(std::size_t count);
    // One HTTP message: its head and as much body as Content-Length says. Empty at the end of the
    // connection.
    std::string read_message();
    // True when the other end has closed or reset, with no more bytes to read; false if that does
    // not happen within the limit.
    bool at_end();

    int descriptor() const { return descriptor_; }  // Still owned by this object.
    void half_close();                              // No more bytes will be sent.
    void close();
    void reset();  // Closes with RST instead of FIN.
    void small_receive_buffer();

private:
    bool read_more();

    int descriptor_{-1};
    std::string buffer_;
};

}  // namespace pawl::http::testing
