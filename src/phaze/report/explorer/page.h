// The explorer: a page that shows whatever document is pasted into it (web/, docs/report.md).
#pragma once

#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::report {

// The page with the document inside. An error where this program was built without the page.
Result<std::string> explorer_page(std::string_view document);

// `document` into the place that `page` leaves for it, so that no text in it can end the element it stands in.
std::string paste(std::string_view page, std::string_view document);

inline constexpr std::string_view kPageMarker = "{{PHAZE_REPORT_DATA}}";

}  // namespace phaze::report
