#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl::fences {

// One small edit of a condition of a statement.
struct Edit {
    std::string what;  // "drop `attempt = $2`"
    std::string text;  // The whole statement with the edit.
};

// The edits of each condition in a WHERE, ON, WHEN or HAVING: the condition dropped, its operator
// moved by one (= to <= and >=, < to <=), one side of an OR dropped, and the parentheses around an
// OR dropped. A comparison with a literal text keeps its operator.
std::vector<Edit> condition_edits(std::string_view statement);

}  // namespace pawl::fences
