#include "lib/report/markup_text.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

using biogpu::report::markup_escaped;

TEST_CASE("report.markup_text: any bytes are text of a page or a drawing", "[report]") {
  using namespace std::string_view_literals;
  CHECK(markup_escaped("") == "");
  CHECK(markup_escaped("C[C@H](N)C#N") == "C[C@H](N)C#N");
  CHECK(markup_escaped("<a b='c'>&\"") == "&lt;a b=&#39;c&#39;&gt;&amp;&quot;");
  CHECK(markup_escaped("tab\tand\nline") == "tab\tand\nline");
  CHECK(markup_escaped("\x01\0\x1b\x7f"sv) == "&#xfffd;&#xfffd;&#xfffd;&#xfffd;");
  CHECK(markup_escaped("p\xc3\xa9ro") == "p\xc3\xa9ro");        // UTF-8 stays
  CHECK(markup_escaped("p\xe9ro") == "p\xef\xbf\xbdro");        // Latin-1 does not
  CHECK(markup_escaped("cut \xe2\x82") == "cut \xef\xbf\xbd");  // nor a letter that is cut
}
