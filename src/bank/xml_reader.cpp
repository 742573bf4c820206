#include "src/bank/xml_reader.hpp"

#include "src/bank/xml_check.hpp"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace pawl::bank {

namespace {

constexpr std::size_t xml_bytes_max = std::size_t{64} * 1024 * 1024;
constexpr std::size_t xml_depth_max = 32;  // camt.054 has about 15 levels.
constexpr std::size_t xml_name_max = 64;   // Its longest name is BkToCstmrDbtCdtNtfctn.
// A payment has about 50 elements. 10,000 take about 2 MB.
constexpr std::size_t xml_elements_max = 10'000;

struct FreeContext {
    void operator()(xmlParserCtxt* context) const { xmlFreeParserCtxt(context); }
};

std::string_view view(const xmlChar* text) {
    return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

// Gets libxml2's events. An exception must not pass through its C code: it is kept, and thrown when
// libxml2 has returned.
class Reader {
public:
    Reader(std::string_view bytes, const OnXmlElement& on_element)
        : on_element_{on_element},
          context_{xmlCreateMemoryParserCtxt(bytes.data(), static_cast<int>(bytes.size()))} {
        if (!context_) throw std::bad_alloc{};
        xmlCtxtUseOptions(context_.get(), XML_PARSE_NONET);
        *context_->sax = handler();
        context_->userData = this;
    }

    std::variant<XmlDocument, XmlProblem> read() {
        xmlParseDocument(context_.get());
        if (thrown_) std::rethrow_exception(thrown_);
        if (problem_) return XmlProblem{std::move(*problem_)};
        if (!done_ && (context_->wellFormed == 0 || document_.root.name.empty()))
            return XmlProblem{why()};
        return std::move(document_);
    }

private:
    static xmlSAXHandler handler() {
        xmlSAXHandler events{};
        events.initialized = XML_SAX2_MAGIC;
        // Called before the internal subset is read: its entities are never expanded.
        events.internalSubset = [](void* self, auto...) { of(self).stop("it has a DOCTYPE"); };
        events.reference = [](void* self, auto...) { of(self).stop("it refers to an entity"); };
        events.startElementNs = [](void* self,
                                   const xmlChar* name,
                                   const xmlChar*,
                                   const xmlChar* name_space,
                                   int,
                                   const xmlChar**,
                                   int attributes,
                                   int,
                                   const xmlChar** attribute) {
            of(self).guarded([&](Reader& reader) {
                reader.begin(view(name), view(name_space), {attribute, attributes});
            });
        };
        events.endElementNs = [](void* self, auto...) {
            of(self).guarded([](Reader& reader) { reader.end(); });
        };
        events.characters = events.cdataBlock = [](void* self, const xmlChar* text, int size) {
            of(self).guarded([&](Reader& reader) {
                reader.open_.back()->text.append(
                    reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)
                );
            });
        };
        // Without it libxml2 would print errors.
        events.serror = [](void*, xmlErrorPtr) {};
        return events;
    }

    static Reader& of(void* self) { return *static_cast<Reader*>(self); }

    // After an error libxml2 goes on, and passes some events without those before them.
    template <class F>
    void guarded(F f) {
        if (problem_ || thrown_ || done_ || context_->wellFormed == 0) return;
        try {
            f(*this);
        } catch (...) {
            thrown_ = std::current_exception();
            xmlStopParser(context_.get());
        }
    }

    void stop(std::string found) {
        problem_ = std::move(found);
        xmlStopParser(context_.get());
    }

    struct Attributes {
        const xmlChar** first;  // Of each: name, prefix, namespace, begin of the value, its end.
        int count;
    };

    void begin(std::string_view name, std::string_view name_space, Attributes attributes) {
        if (open_.size() >= xml_depth_max) return stop("it is nested too deeply");
        if (name.size() > xml_name_max) return stop("a name has more than 64 bytes");
        if (++elements_ > xml_elements_max) return stop("one part has more than 10,000 elements");
        auto* element = &document_.root;
        const bool same_space = !open_.empty() && name_spaces_.back() == name_space;
        if (!open_.empty()) {
            open_.back()->text.clear();
            element = &open_.back()->children.emplace_back();
            path_ += '/';
        }
        if (!same_space) element->name_space = name_space;
        if (!same_space && !open_.empty()) element->name = "*";
        element->name += name;
        name_spaces_.push_back(name_space);
        path_sizes_.push_back(path_.size());
        path_ += element->name;
        element->currency = currency_of(attributes);
        // The pointer stays valid: a parent gets its next child only when this one has ended.
        open_.push_back(element);
    }

    static std::string currency_of(Attributes attributes) {
        for (int i = 0; i < attributes.count; ++i) {
            const auto* const* attribute = attributes.first + std::ptrdiff_t{5} * i;
            if (view(attribute[0]) == "Ccy" && attribute[2] == nullptr)
                return {
                    reinterpret_cast<const char*>(attribute[3]),
                    reinterpret_cast<const char*>(attribute[4])};
        }
        return {};
    }

    void end() {
        auto& element = *open_.back();
        open_.pop_back();
        name_spaces_.pop_back();
        if (!element.children.empty()) element.text.clear();
        if (open_.empty()) return;
        const auto then = on_element_ ? on_element_(path_, element) : XmlThen::keep;
        path_.resize(path_sizes_.back() - 1);
        path_sizes_.pop_back();
        if (then == XmlThen::keep) return;
        elements_ -= size_of(element);
        open_.back()->children.pop_back();
        if (then == XmlThen::drop) return;
        done_ = true;
        xmlStopParser(context_.get());
    }

    static std::size_t size_of(const XmlElement& element) {
        std::size_t size = 1;
        for (const auto& child : element.children) size += size_of(child);
        return size;
    }

    std::string why() {
        const auto* error = xmlCtxtGetLastError(context_.get());
        if (error == nullptr || error->message == nullptr) return "it is not XML";
        std::string text{error->message};
        text.erase(text.find_last_not_of('\n') + 1);
        return "line " + std::to_string(error->line) + ": " + text;
    }

    const OnXmlElement& on_element_;
    std::unique_ptr<xmlParserCtxt, FreeContext> context_;
    XmlDocument document_;
    std::vector<XmlElement*> open_;
    std::vector<std::string_view> name_spaces_;  // Of the open elements; libxml2 owns them.
    std::vector<std::size_t> path_sizes_;        // Where each one's name begins in the path.
    std::string path_;                           // Of the innermost open element.
    std::size_t elements_{0};                    // That are kept, and open.
    std::optional<std::string> problem_;
    std::exception_ptr thrown_;
    bool done_{false};
};

}  // namespace

std::string_view trimmed_text(std::string_view text) {
    constexpr std::string_view white = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
    return text.substr(0, text.find_last_not_of(white) + 1);
}

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
    return found == nullptr ? std::string_view{} : trimmed_text(found->text);
}

std::vector<const XmlElement*> XmlElement::all(std::string_view child) const {
    std::vector<const XmlElement*> found;
    for (const auto& one : children)
        if (one.name == child) found.push_back(&one);
    return found;
}

std::variant<XmlDocument, XmlProblem> read_xml(
    std::string_view bytes, const OnXmlElement& on_element
) {
    if (bytes.empty()) return XmlProblem{"it is empty"};
    if (bytes.size() > xml_bytes_max) return XmlProblem{"it has more than 64 MiB"};
    if (auto wrong = check_xml_bytes(bytes)) return XmlProblem{std::move(*wrong)};
    return Reader{bytes, on_element}.read();
}

}  // namespace pawl::bank
