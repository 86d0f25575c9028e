#include "phaze/report/explorer/page.h"

#include <span>

#include "phaze/base/embedded_file.h"

namespace phaze {
std::span<const EmbeddedFile> explorer_pages();  // one page, or none
}  // namespace phaze

namespace phaze::report {

std::string paste(std::string_view page, std::string_view document) {
  const std::size_t at = page.find(kPageMarker);
  check(at != std::string_view::npos, "the page has a place for the document");
  std::string text;
  text.reserve(page.size() + document.size() + document.size() / 64);
  text += page.substr(0, at);
  // "</script" or "<!--" in a string would end or change the element; in JSON, '<' stands in strings only.
  for (const char letter : document) letter == '<' ? text += "\\u003c" : text += letter;
  text += page.substr(at + kPageMarker.size());
  return text;
}

Result<std::string> explorer_page(std::string_view document) {
  const auto pages = explorer_pages();
  if (pages.empty())
    return Error{"this phaze was built without the report's page", "report",
                 "install nodejs and npm, and build again with -DPHAZE_REPORT=ON"};
  return paste(pages.front().text, document);
}

}  // namespace phaze::report
