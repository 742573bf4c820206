#pragma once

#include <pawl/visible_text.hpp>

#include <streambuf>
#include <string>
#include <string_view>

namespace pawl::base {

using pawl::visible_text;

// Writes to another buffer as visible_text(), in whole characters. Not thread-safe.
class VisibleOutput final : public std::streambuf {
public:
    explicit VisibleOutput(std::streambuf& to) : to_{to} {}  // It outlives this one.
    ~VisibleOutput() override;
    std::streambuf& to() const { return to_; }

private:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;
    bool write(std::string_view text);

    std::streambuf& to_;
    std::string left_;  // The beginning of a character, or a CR.
};

}  // namespace pawl::base
