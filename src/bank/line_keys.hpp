#pragma once

#include <pawl/bank_file.hpp>

#include <map>
#include <string>
#include <string_view>

namespace pawl::bank {

// Keys of one report's lines.
class LineKeys {
public:
    // `reference`: the bank's own for this line; empty: it has none. Then `content` is all that the
    // file says of the line: equal lines are counted, and so the same line of a repeated file gets
    // the same key.
    std::string key(std::string_view reference, std::string_view content);

private:
    std::map<std::string, int> equal_;
};

}  // namespace pawl::bank
