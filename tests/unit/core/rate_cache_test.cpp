// The file of rates: what is taken from it, and what a damaged or missing one does.
#include "lib/core/rate_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using cost::Machine;
namespace works = biogpu::app::works;

namespace {

// A folder of this test as XDG_CACHE_HOME.
class CacheFolder {
 public:
  CacheFolder() {
    char name[] = "/tmp/biogpu-rates-XXXXXX";
    path_ = mkdtemp(name);
    setenv("XDG_CACHE_HOME", path_.c_str(), 1);
  }
  ~CacheFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

cost::Observed example() {
  cost::Observed seen;
  seen.work = {&works::kAlignScore, 1e9, 1e9, 0, 1};
  seen.workers_s = 1;
  return seen;
}

double cpu_rate(const Machine& machine) { return machine.of(works::kAlignScore).cpu; }

}  // namespace

TEST_CASE("core.rate_cache: what is written is read again", "[core]") {
  Machine machine;
  machine.start_s = 0.125;
  cost::Rates rates = machine.of(works::kKmerCount);
  rates.host = 12345678;
  machine.set(works::kKmerCount, rates);
  const auto back = cost::parse_rates(cost::format_rates("a key", machine), "a key");
  REQUIRE(back);
  CHECK(back->start_s == 0.125);
  CHECK(back->of(works::kKmerCount).host == Approx(12345678).epsilon(1e-5));
  CHECK(back->of(works::kInfer).device == works::kInfer.defaults.device);
  // Of a task of another program too.
  machine.set("other_task.cpu", 7);
  CHECK(cost::parse_rates(cost::format_rates("a key", machine), "a key")
            ->known()
            .at("other_task.cpu") == 7);
}

TEST_CASE("core.rate_cache: no rates are taken from another key or a damaged text", "[core]") {
  const std::string whole = cost::format_rates("key", Machine{});
  REQUIRE(cost::parse_rates(whole, "key"));
  CHECK_FALSE(cost::parse_rates(whole, "other"));
  CHECK_FALSE(cost::parse_rates(whole, "ke"));
  CHECK_FALSE(cost::parse_rates("", "key"));
  CHECK_FALSE(cost::parse_rates("biogpu rates 2" + whole.substr(14), "key"));
  CHECK(cost::parse_rates("biogpu rates 1\nkey key\n", "key"));  // all of them are the defaults
  for (const char* const line :
       {"start_s", "start_s ", "start_s x", "start_s 0", "start_s -1", "start_s nan", "start_s inf",
        "start_s 1e99", "start_s 1 2", "start_s 0x10", "align_score.cpu 0", "align_score.colour 1",
        "colour7.cpu 1", ".cpu 1", "align_score. 1", "align_score 1", " ", "\n\n"}) {
    INFO("'" << line << "'");
    CHECK_FALSE(cost::parse_rates(whole + line + "\n", "key"));
  }
  CHECK_FALSE(cost::parse_rates(whole + std::string(1u << 16, '\n'), "key"));
}

TEST_CASE("core.rate_cache: runs leave rates for later ones", "[core]") {
  const CacheFolder folder;
  CHECK(cpu_rate(cost::load_rates()) == cpu_rate(Machine{}));
  cost::keep_rates(example());
  const double once = cpu_rate(cost::load_rates());
  CHECK(once < cpu_rate(Machine{}));
  cost::keep_rates(example());
  CHECK(cpu_rate(cost::load_rates()) < once);
  const auto files = std::filesystem::directory_iterator(folder.path() / "biogpu");
  CHECK(std::distance(files, {}) == 1);  // no unfinished one
}

TEST_CASE("core.rate_cache: a damaged file is replaced, and a folder is none", "[core]") {
  const CacheFolder folder;
  const auto path = cost::rates_file(cost::machine_key());
  REQUIRE(path.parent_path() == folder.path() / "biogpu");
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "biogpu rates 1\nkey " << cost::machine_key() << "\nstart_s -4\n";
  CHECK(cost::load_rates().start_s == Machine{}.start_s);
  cost::keep_rates(example());
  CHECK(cpu_rate(cost::load_rates()) < cpu_rate(Machine{}));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(cpu_rate(cost::load_rates()) == cpu_rate(Machine{}));
  cost::keep_rates(example());
  const auto files = std::filesystem::directory_iterator(path.parent_path());
  CHECK(std::distance(files, {}) == 1);
}

TEST_CASE("core.rate_cache: where nothing can be kept the defaults stay", "[core]") {
  const CacheFolder folder;
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  cost::keep_rates(example());
  if (geteuid() != 0) CHECK(cpu_rate(cost::load_rates()) == cpu_rate(Machine{}));
  setenv("XDG_CACHE_HOME", "/dev/null/here", 1);
  cost::keep_rates(example());
  CHECK(cpu_rate(cost::load_rates()) == cpu_rate(Machine{}));
  // A relative path is none, as the specification of these variables has it.
  setenv("XDG_CACHE_HOME", "here", 1);
  setenv("HOME", "/nowhere", 1);
  CHECK(cost::rates_file("key").parent_path() == "/nowhere/.cache/biogpu");
  unsetenv("HOME");
  CHECK(cost::rates_file("key").empty());
  cost::keep_rates(example());
  CHECK(cpu_rate(cost::load_rates()) == cpu_rate(Machine{}));
}

TEST_CASE("core.rate_cache: the key is one line and names the machine", "[core]") {
  const std::string key = cost::machine_key();
  CHECK(key.find('\n') == std::string::npos);
  CHECK(key.find("CPUs") != std::string::npos);
  CHECK(key.find("PCI ") != std::string::npos);
  CHECK(key == cost::machine_key());
}
