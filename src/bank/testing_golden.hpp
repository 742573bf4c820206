#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace pawl::bank {

inline std::string golden_file(const std::string& name) {
    std::ifstream in{PAWL_SOURCE_DIR "/src/bank/golden/" + name, std::ios::binary};
    EXPECT_TRUE(in) << name;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

inline std::string replaced(std::string text, std::string_view what, std::string_view with) {
    const auto at = text.find(what);
    EXPECT_NE(at, text.npos) << what;
    return at == text.npos ? text : text.replace(at, what.size(), with);
}

}  // namespace pawl::bank
