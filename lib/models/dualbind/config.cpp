#include "lib/models/dualbind/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "lib/models/dualbind/pocket.hpp"

namespace biogpu::models::dualbind {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 14;
constexpr std::int64_t kMaxSteps = 64;
constexpr std::int64_t kMaxPocket = 100000;
constexpr std::int64_t kMaxDeviceHead = 192;

constexpr std::array<const char*, 14> kKnownKeys{
    "model_type", "name",    "hidden_size", "mpn_depth",        "num_heads",
    "ff_size",    "cutoff",  "threshold",   "pocket_size",      "patch_size",
    "vocab_size", "aa_size", "dropout",     "max_residue_atoms"};

// What the tables of atoms and residues fix.
void require_count(const ModelConfig& file, const char* key, std::int64_t value) {
  if (file.count_or(key, value) != value)
    file.fail(fmt::format("{} is {}; expected {}", key, file.count_or(key, value), value));
}

// The reference's name of a key is taken, too.
const char* either_key(const ModelConfig& file, const char* key, const char* reference) {
  if (file.has(key) && file.has(reference))
    file.fail(fmt::format("{} and {} are both there; they are one", key, reference));
  return file.has(reference) ? reference : key;
}

}  // namespace

Config read_config(const ModelConfig& file, const tensor::Context& context) {
  for (const std::string& key : file.keys())
    if (std::none_of(kKnownKeys.begin(), kKnownKeys.end(),
                     [&](const char* known) { return key == known; }))
      file.fail(fmt::format("{} is no key of DualBind", key));
  Config config;
  config.width = file.count_or("hidden_size", config.width, kMaxWidth);
  config.n_message_steps = file.count_or("mpn_depth", config.n_message_steps, kMaxSteps);
  config.n_heads = file.count_or("num_heads", config.n_heads, kMaxWidth);
  config.d_ffn = file.count_or("ff_size", config.d_ffn, kMaxWidth);
  config.pocket_size =
      file.count_or(either_key(file, "pocket_size", "patch_size"), config.pocket_size, kMaxPocket);
  const char* const cutoff_key = either_key(file, "cutoff", "threshold");
  const double cutoff = file.number_or(cutoff_key, static_cast<double>(config.cutoff));
  if (!(cutoff > 0 && cutoff <= 1e6))
    file.fail(
        fmt::format("{} is {}; expected a number above 0, up to 1000000", cutoff_key, cutoff));
  config.cutoff = static_cast<float>(cutoff);
  require_count(file, "vocab_size", kAtomTypes);
  require_count(file, "aa_size", kLetters);
  require_count(file, "max_residue_atoms", kSlots);
  if (config.width % config.n_heads != 0) file.fail("hidden_size is no multiple of num_heads");
  if (context.kind() == tensor::Context::Kind::gpu &&
      config.width / config.n_heads > kMaxDeviceHead)
    file.fail(fmt::format("heads of {} numbers; GPUs take up to {}; use --device cpu",
                          config.width / config.n_heads, kMaxDeviceHead));
  return config;
}

}  // namespace biogpu::models::dualbind
