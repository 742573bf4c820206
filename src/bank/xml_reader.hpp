#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::bank {

// An element of a bank's XML file, as far as ISO 20022 uses XML: no mixed content.
struct XmlElement {
    std::string name{};  // Without prefix.
    std::string name_space{};
    std::string currency{};  // The attribute Ccy.
    std::string text{};
    std::vector<XmlElement> children{};

    // The first element under this path, "Refs/EndToEndId"; nullptr: there is none.
    const XmlElement* find(std::string_view path) const;
    // Its text; empty: there is none.
    std::string_view text_at(std::string_view path) const;
    std::vector<const XmlElement*> all(std::string_view child) const;
};

// Refuses a DOCTYPE, so there is no entity, and depths and
// sizes that no bank's file has.
struct XmlProblem {
    std::string found{};
};
std::variant<XmlElement, XmlProblem> read_xml(std::string_view bytes);

}  // namespace pawl::bank
