#include "apps/rides/mail.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace rides {

namespace {

struct Free {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::string crlf_lines(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 64);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        if (text[i] == '\n' || text[i] == '\r')
            out += "\r\n";
        else
            out += text[i];
    }
    if (!out.ends_with("\r\n")) out += "\r\n";
    return out;
}

// A line end or a '>' in an address would let the user who chose it inject an SMTP command.
bool is_mailbox(std::string_view text) {
    const auto allowed = [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '<' && c != '>' && c != 127;
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

struct Upload {
    const pawl::Call& call;
    std::string text;
    std::size_t at{0};
    bool begun{false};
};

std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) {
    auto& upload = *static_cast<Upload*>(self);
    upload.begun = true;
    const auto length = upload.text.copy(to, size * count, upload.at);
    upload.at += length;
    return length;
}

// libcurl asks about once a second, and more often while bytes move.
int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Upload*>(self)->call.stop().stop_requested() ? 1 : 0;
}

}  // namespace

// Each handle of libcurl keeps its connection.
struct MailSender::Connections {
    using Handle = std::unique_ptr<CURL, Free>;

    Handle borrow() {
        const std::lock_guard lock{mutex};
        if (idle.empty()) return Handle{curl_easy_init()};
        auto handle = std::move(idle.back());
        idle.pop_back();
        return handle;
    }
    void give_back(Handle handle) {
        curl_easy_reset(handle.get());
        const std::lock_guard lock{mutex};
        idle.push_back(std::move(handle));
    }

    std::mutex mutex;
    std::vector<Handle> idle;
};

MailSender::MailSender() : connections_{std::make_unique<Connections>()} {}
MailSender::~MailSender() = default;
MailSender::MailSender(MailSender&&) noexcept = default;
MailSender& MailSender::operator=(MailSender&&) noexcept = default;

MailEnd MailSender::send(const pawl::Call& call, const Mail& mail) {
    call.assert_open();
    if (!is_mailbox(mail.from) || !is_mailbox(mail.to))
        return MailNotSent{"the mail address is empty or has a character that is not allowed"};
    auto handle = connections_->borrow();
    auto* easy = handle.get();
    if (easy == nullptr) return MailNotSent{"libcurl can't be used"};
    Upload upload{call, crlf_lines(mail.message)};
    const std::unique_ptr<curl_slist, Free> to{
        curl_slist_append(nullptr, ("<" + mail.to + ">").c_str())};
    const auto tls = mail.tls_required ? CURLUSESSL_ALL : CURLUSESSL_TRY;
    curl_easy_setopt(easy, CURLOPT_URL, mail.smtp_url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5'000L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(mail.timeout.count()));
    curl_easy_setopt(easy, CURLOPT_USE_SSL, static_cast<long>(tls));
    curl_easy_setopt(easy, CURLOPT_MAIL_FROM, ("<" + mail.from + ">").c_str());
    curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, to.get());
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, &upload);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &upload);
    const auto code = curl_easy_perform(easy);
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    connections_->give_back(std::move(handle));
    // A refusal before or after the text: the server said that it has not taken the mail.
    if (code == CURLE_OK || status >= 400) return MailAnswer{static_cast<int>(status)};
    std::string why{curl_easy_strerror(code)};
    if (upload.begun) return MailLost{std::move(why)};
    return MailNotSent{std::move(why)};
}

}  // namespace rides
