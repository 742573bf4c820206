// pain.001.001.09, CustomerCreditTransferInitiation:
//
//   GrpHdr   MsgId, CreDtTm, NbOfTxs, CtrlSum, InitgPty/Nm
//   PmtInf   PmtInfId, PmtMtd TRF, NbOfTxs, CtrlSum, ReqdExctnDt, Dbtr, DbtrAcct, DbtrAgt
//            CdtTrfTxInf*  PmtId/EndToEndId, Amt/InstdAmt, Cdtr, CdtrAcct, RmtInf/Ustrd

#include <pawl/bank_file.hpp>

#include "src/bank/amount.hpp"
#include "src/bank/field_check.hpp"
#include "src/base/time_text.hpp"
#include "src/core/ascii.hpp"

#include <libxml/xmlwriter.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>

namespace pawl::bank {

namespace {

constexpr const char* pain001_name_space = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09";
constexpr std::int64_t sum_max = 999'999'999'999'999;  // Of CtrlSum, 18 digits with decimals.

// Writes elements into memory. libxml2 escapes the texts.
class XmlText {
public:
    XmlText() : buffer_{xmlBufferCreate()}, writer_{xmlNewTextWriterMemory(buffer_.get(), 0)} {
        if (!buffer_ || !writer_) throw std::bad_alloc{};
        done(xmlTextWriterStartDocument(writer_.get(), nullptr, "UTF-8", nullptr));
    }
    void open(const char* name) { done(xmlTextWriterStartElement(writer_.get(), text_of(name))); }
    void attribute(const char* name, const std::string& value) {
        done(xmlTextWriterWriteAttribute(writer_.get(), text_of(name), text_of(value.c_str())));
    }
    void close() { done(xmlTextWriterEndElement(writer_.get())); }
    void text(const std::string& value) {
        done(xmlTextWriterWriteString(writer_.get(), text_of(value.c_str())));
    }
    void element(const char* name, const std::string& value) {
        open(name);
        text(value);
        close();
    }
    // An element within elements: {"InitgPty", "Nm"}.
    void nested(std::initializer_list<const char*> path, const std::string& value) {
        for (const auto* name : path) open(name);
        text(value);
        for (std::size_t i = 0; i < path.size(); ++i) close();
    }
    std::string finish() {
        done(xmlTextWriterEndDocument(writer_.get()));
        done(xmlTextWriterFlush(writer_.get()));
        return {
            reinterpret_cast<const char*>(xmlBufferContent(buffer_.get())),
            static_cast<std::size_t>(xmlBufferLength(buffer_.get()))};
    }

private:
    struct Free {
        void operator()(xmlBuffer* buffer) const { xmlBufferFree(buffer); }
        void operator()(xmlTextWriter* writer) const { xmlFreeTextWriter(writer); }
    };
    static const xmlChar* text_of(const char* text) {
        return reinterpret_cast<const xmlChar*>(text);
    }
    static void done(int written) {
        if (written < 0) throw std::runtime_error{"libxml2 could not write the file"};
    }

    std::unique_ptr<xmlBuffer, Free> buffer_;
    std::unique_ptr<xmlTextWriter, Free> writer_;  // Ends before its buffer.
};

void check_iban(std::string_view field, std::string_view text) {
    if (!is_iban(text)) refuse_field(field, "must be an IBAN with the right check digits");
}

// ISO 9362, as the schema has it: four letters or digits, two letters of the country, two of the
// place, perhaps three of the branch.
void check_bic(std::string_view text) {
    const auto is_letter = [](char c) { return c >= 'A' && c <= 'Z'; };
    const bool plain = std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || core::is_digit(c);
    });
    if (!plain || (text.size() != 8 && text.size() != 11) || !is_letter(text[4]) ||
        !is_letter(text[5]))
        refuse_field("debtor_bic", "must be a BIC of 8 or 11 characters");
}

void check_pain001(const Pain001& file) {
    const auto set = file.characters;
    check_id("message_id", file.message_id, {.max = 35, .characters = set});
    check_date("execution_date", file.execution_date);
    check_text("debtor_name", file.debtor_name, {.max = 140, .characters = set});
    check_iban("debtor_account", file.debtor_account);
    if (!file.debtor_bic.empty()) check_bic(file.debtor_bic);
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (file.currency.size() != 3 ||
        !std::all_of(file.currency.begin(), file.currency.end(), is_capital))
        refuse_field("currency", "must be three capital letters, such as EUR");
}

void check_transfer(const CreditTransfer& transfer, CharacterSet set) {
    check_id("end_to_end_id", transfer.end_to_end_id, {.max = 35, .characters = set});
    if (transfer.amount <= 0) refuse_field("amount", "must be above 0");
    check_text("creditor_name", transfer.creditor_name, {.max = 140, .characters = set});
    check_iban("creditor_account", transfer.creditor_account);
    check_text("remittance", transfer.remittance, {.min = 0, .max = 140, .characters = set});
}

std::int64_t checked_sum(std::span<const CreditTransfer> transfers, CharacterSet set) {
    std::int64_t sum = 0;
    for (const auto& transfer : transfers) {
        check_transfer(transfer, set);
        if (transfer.amount > sum_max - sum) refuse_field("the sum", "has at most 15 digits");
        sum += transfer.amount;
    }
    return sum;
}

void write_transfer(XmlText& xml, const CreditTransfer& transfer, const std::string& currency) {
    xml.open("CdtTrfTxInf");
    xml.nested({"PmtId", "EndToEndId"}, transfer.end_to_end_id);
    xml.open("Amt");
    xml.open("InstdAmt");
    xml.attribute("Ccy", currency);
    xml.text(amount_text(transfer.amount, currency));
    xml.close();
    xml.close();
    xml.nested({"Cdtr", "Nm"}, transfer.creditor_name);
    xml.nested({"CdtrAcct", "Id", "IBAN"}, transfer.creditor_account);
    if (!transfer.remittance.empty()) xml.nested({"RmtInf", "Ustrd"}, transfer.remittance);
    xml.close();
}

}  // namespace

std::string write_pain001(const Pain001& file, std::span<const CreditTransfer> transfers) {
    check_pain001(file);
    if (transfers.empty()) refuse_field("the file", "has at least one transfer");
    const auto count = std::to_string(transfers.size());
    const auto sum = amount_text(checked_sum(transfers, file.characters), file.currency);
    XmlText xml;
    xml.open("Document");
    xml.attribute("xmlns", pain001_name_space);
    xml.open("CstmrCdtTrfInitn");
    xml.open("GrpHdr");
    xml.element("MsgId", file.message_id);
    xml.element("CreDtTm", base::time_text(file.created_at));
    xml.element("NbOfTxs", count);
    xml.element("CtrlSum", sum);
    xml.nested({"InitgPty", "Nm"}, file.debtor_name);
    xml.close();
    xml.open("PmtInf");
    xml.element("PmtInfId", file.message_id);
    xml.element("PmtMtd", "TRF");
    xml.element("NbOfTxs", count);
    xml.element("CtrlSum", sum);
    xml.nested({"ReqdExctnDt", "Dt"}, file.execution_date);
    xml.nested({"Dbtr", "Nm"}, file.debtor_name);
    xml.nested({"DbtrAcct", "Id", "IBAN"}, file.debtor_account);
    if (file.debtor_bic.empty())
        xml.nested({"DbtrAgt", "FinInstnId", "Othr", "Id"}, "NOTPROVIDED");
    else
        xml.nested({"DbtrAgt", "FinInstnId", "BICFI"}, file.debtor_bic);
    for (const auto& transfer : transfers) write_transfer(xml, transfer, file.currency);
    return xml.finish();
}

}  // namespace pawl::bank
