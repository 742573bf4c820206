#include "src/bank/xml_tree.hpp"

#include <libxml/xmlreader.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

namespace pawl::bank {

namespace {

constexpr std::size_t xml_bytes_max = std::size_t{64} * 1024 * 1024;
constexpr int xml_depth_max = 32;  // camt.054 has about 15 levels.
// No network, and no entity is replaced; libxml2's own limits on sizes stay on.
constexpr int xml_options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;

struct FreeReader {
    void operator()(xmlTextReader* reader) const { xmlFreeTextReader(reader); }
};

std::string text_of(const xmlChar* text) {
    return text == nullptr ? std::string{} : reinterpret_cast<const char*>(text);
}

class TreeReader {
public:
    explicit TreeReader(std::string_view bytes)
        : reader_{xmlReaderForMemory(
              bytes.data(), static_cast<int>(bytes.size()), nullptr, nullptr, xml_options
          )} {
        if (!reader_) throw std::bad_alloc{};
    }

    std::variant<XmlElement, XmlProblem> read() {
        int more = 0;
        while ((more = xmlTextReaderRead(reader_.get())) == 1)
            if (auto wrong = node()) return XmlProblem{std::move(*wrong)};
        if (more != 0 || root_.children.empty()) return XmlProblem{why()};
        return std::move(root_.children.front());
    }

private:
    std::optional<std::string> node() {
        switch (xmlTextReaderNodeType(reader_.get())) {
            case XML_READER_TYPE_ELEMENT:
                return begin();
            case XML_READER_TYPE_END_ELEMENT:
                open_.pop_back();
                return std::nullopt;
            case XML_READER_TYPE_TEXT:
            case XML_READER_TYPE_CDATA:
                open_.back()->text += text_of(xmlTextReaderConstValue(reader_.get()));
                return std::nullopt;
            case XML_READER_TYPE_DOCUMENT_TYPE:
                return "it has a DOCTYPE";
            case XML_READER_TYPE_ENTITY_REFERENCE:
                return "it refers to an entity";
            default:  // Comments, white space, processing instructions.
                return std::nullopt;
        }
    }

    std::optional<std::string> begin() {
        if (open_.size() > xml_depth_max) return "it is nested too deeply";
        auto& children = open_.back()->children;
        children.push_back(
            {.name = text_of(xmlTextReaderConstLocalName(reader_.get())),
             .name_space = text_of(xmlTextReaderConstNamespaceUri(reader_.get()))}
        );
        const bool empty = xmlTextReaderIsEmptyElement(reader_.get()) == 1;
        const std::unique_ptr<xmlChar, decltype(xmlFree)> currency{
            xmlTextReaderGetAttribute(reader_.get(), reinterpret_cast<const xmlChar*>("Ccy")),
            xmlFree};
        children.back().currency = text_of(currency.get());
        // The pointer stays valid: a parent gets its next child only when this one has ended.
        if (!empty) open_.push_back(&children.back());
        return std::nullopt;
    }

    std::string why() {
        const auto* error = xmlGetLastError();
        if (error == nullptr || error->message == nullptr) return "it is not XML";
        std::string text{error->message};
        text.erase(text.find_last_not_of('\n') + 1);
        return "line " + std::to_string(error->line) + ": " + text;
    }

    std::unique_ptr<xmlTextReader, FreeReader> reader_;
    XmlElement root_;
    std::vector<XmlElement*> open_{&root_};
};

}  // namespace

const XmlElement* XmlElement::find(std::string_view path) const {
    const auto* at = this;
    while (!path.empty()) {
        const auto end = std::min(path.find('/'), path.size());
        const auto wanted = path.substr(0, end);
        const auto found =
            std::find_if(at->children.begin(), at->children.end(), [&](const XmlElement& child) {
                return child.name == wanted;
            });
        if (found == at->children.end()) return nullptr;
        at = &*found;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return at;
}

std::string_view XmlElement::text_at(std::string_view path) const {
    const auto* found = find(path);
    return found == nullptr ? std::string_view{} : std::string_view{found->text};
}

std::vector<const XmlElement*> XmlElement::all(std::string_view child) const {
    std::vector<const XmlElement*> found;
    for (const auto& one : children)
        if (one.name == child) found.push_back(&one);
    return found;
}

std::variant<XmlElement, XmlProblem> read_xml(std::string_view bytes) {
    if (bytes.empty()) return XmlProblem{"it is empty"};
    if (bytes.size() > xml_bytes_max) return XmlProblem{"it has more than 64 MiB"};
    return TreeReader{bytes}.read();
}

}  // namespace pawl::bank
