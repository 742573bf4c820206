#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::bank {

// An element of a bank's XML file, as far as ISO 20022 uses XML: no mixed content.
struct XmlElement {
    // Without prefix; begins with * if its parent has another namespace.
    std::string name{};
    std::string name_space{};  // Of the root, and if the name begins with *.
    std::string currency{};    // The attribute Ccy.
    std::string text{};        // Of an element without children.
    std::vector<XmlElement> children{};

    // The first element under this path, "Refs/EndToEndId"; nullptr: there is none.
    const XmlElement* find(std::string_view path) const;
    // Its text, without white space around it; empty: there is none.
    std::string_view text_at(std::string_view path) const;
    std::vector<const XmlElement*> all(std::string_view child) const;
};

// The root, without the elements that were dropped.
struct XmlDocument {
    XmlElement root{};
};
struct XmlProblem {
    std::string found{};
};

// Without the white space of XML around it.
std::string_view trimmed_text(std::string_view text);

// Whether an element stays in its parent, or is not needed any more; or nothing more is needed.
enum class XmlThen { keep, drop, stop };

// Gets each element below the root when it has ended, with its path: "Document/Ntfctn/Ntry".
using OnXmlElement = std::function<XmlThen(std::string_view path, const XmlElement& element)>;

// Reads at most 64 MiB. Stops at a DOCTYPE before it is read, so there are no entities; and at
// depths, names and numbers of elements that no bank's file has: at most 10,000 are kept at once.
// So the memory of what is read is a few MB, if `on_element` drops what the file repeats.
// Exceptions of `on_element` go to the caller.
std::variant<XmlDocument, XmlProblem> read_xml(
    std::string_view bytes, const OnXmlElement& on_element = {}
);

}  // namespace pawl::bank
