#include "apps/biogpu/infer/arrays/trunk_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr const char* kArrays[] = {"s", "z", "a", "mask", "pair_mask", "m", "msa_mask"};
// In a shape: the number of tokens, which the first axis has; any number of rows.
constexpr std::int64_t kTokens = -1, kRows = -2;

std::string array_key(const TrunkRecord& record, const char* array) {
  return record.name.empty() ? array : record.name + "/" + array;
}

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  throw Error(ErrorCode::bad_input, place + ": " + what);
}

// "pairs" of runs/pairs.npz: what outputs of several files begin with.
std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

std::vector<TrunkRecord> TrunkSource::list(const std::vector<std::string>& paths) {
  std::vector<TrunkRecord> records;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const io::ArrayFile file(paths[i]);
    std::unordered_set<std::string> names;
    for (const std::string& key : file.keys()) {
      const std::size_t slash = key.rfind('/');
      const std::string name = slash == std::string::npos ? "" : key.substr(0, slash);
      const std::string array = slash == std::string::npos ? key : key.substr(slash + 1);
      if (key.empty()) refuse(file.path(), "is one .npy; expected an .npz with the arrays z and s");
      if (std::find(std::begin(kArrays), std::end(kArrays), array) == std::end(kArrays))
        refuse(file.place(key), fmt::format("is unknown; expected {}, or NAME/ and one of these",
                                            fmt::join(kArrays, ", ")));
      if (!names.insert(name).second) continue;
      TrunkRecord& record = records.emplace_back();
      record.file = i;
      record.name = name;
      record.place =
          name.empty() ? file.path() : fmt::format("{}: input {}", file.path(), quoted(name));
      record.key = paths.size() == 1 ? name
                   : name.empty()    ? stem_of(file.path())
                                     : fmt::format("{}/{}", stem_of(file.path()), name);
    }
  }
  return records;
}

TrunkSource::TrunkSource(const InferFlags& flags)
    : ListSource(list(flags.inputs), flags.shard),
      paths_(flags.inputs),
      bad_(flags.bad_records()) {}

std::vector<report::InputFile> TrunkSource::files() const {
  std::vector<std::uint64_t> n_records(paths_.size());
  for (const TrunkRecord& record : items()) ++n_records[record.file];
  std::vector<report::InputFile> files;
  for (std::size_t i = 0; i < paths_.size(); ++i)
    files.push_back(input_file(paths_[i], n_records[i]));
  return files;
}

bool TrunkSource::next(TrunkRecord& record) {
  while (ListSource::next(record)) {
    try {
      load(record);
      return true;
    } catch (const Error& error) {
      if (bad_ == io::BadRecords::refuse || error.code() != ErrorCode::bad_input) throw;
      leave_out(error.what());
    }
  }
  return false;
}

const io::ArrayFile& TrunkSource::file_of(const TrunkRecord& record) {
  if (file_ == nullptr || open_ != record.file) {
    file_.reset();
    file_ = std::make_unique<io::ArrayFile>(paths_[record.file]);
    open_ = record.file;
  }
  return *file_;
}

void TrunkSource::require(const TrunkRecord& record, const char* array, bool is_read,
                          const char* why) {
  const bool has = file_of(record).has(array_key(record, array));
  if (is_read && !has) refuse(record.place, fmt::format("has no array {}", array));
  if (!is_read && has) refuse(record.place, fmt::format("has an array {}; {}", array, why));
}

void TrunkSource::load(TrunkRecord& record) {
  models::TrunkInput& input = record.input;
  const bool has_single = shape_.c_single > 0, has_noisy = shape_.c_noisy > 0;
  require(record, "z", true, "");
  require(record, "s", has_single, "the model computes pairs alone");
  require(record, "a", has_noisy, "the model is no diffusion transformer");
  const io::LoadedArray pair = read(record, "z", {kTokens, kTokens, shape_.c_pair});
  input.n_tokens = pair.shape[0];
  input.pair = pair.values;
  if (input.n_tokens == 0) refuse(record.place, "has no tokens");
  const std::int64_t n = input.n_tokens;
  if (has_single) input.single = read(record, "s", {n, shape_.c_single}).values;
  if (has_noisy) input.noisy = read(record, "a", {n, shape_.c_noisy}).values;
  load_rows(record);
  input.mask = read_mask(record, "mask", {n});
  if (!shape_.has_pair_mask)
    require(record, "pair_mask", false, "the model has a mask of tokens alone");
  input.pair_mask = read_mask(record, "pair_mask", {n, n});
}

void TrunkSource::load_rows(TrunkRecord& record) {
  models::TrunkInput& input = record.input;
  const bool has_msa = shape_.c_msa > 0;
  require(record, "m", has_msa, "the model has no MSA module");
  if (!has_msa) return require(record, "msa_mask", false, "the model has no MSA module");
  const io::LoadedArray msa = read(record, "m", {kRows, input.n_tokens, shape_.c_msa});
  input.n_rows = msa.shape[0];
  input.msa = msa.values;
  if (input.n_rows == 0) refuse(record.place, "has an array m without rows");
  input.msa_mask = read_mask(record, "msa_mask", {input.n_rows, input.n_tokens});
}

io::LoadedArray TrunkSource::read(const TrunkRecord& record, const char* array,
                                  const std::vector<std::int64_t>& shape) {
  const io::ArrayFile& file = file_of(record);
  const std::string key = array_key(record, array);
  io::LoadedArray loaded = file.read(key);
  const std::int64_t n = loaded.shape.empty() ? 0 : loaded.shape[0];
  const bool fits = std::equal(loaded.shape.begin(), loaded.shape.end(), shape.begin(), shape.end(),
                               [&](std::int64_t got, std::int64_t want) {
                                 return want == kRows || got == (want == kTokens ? n : want);
                               });
  if (!fits) {
    std::vector<std::string> wanted;
    for (const std::int64_t extent : shape)
      wanted.push_back(extent == kTokens ? "N" : extent == kRows ? "S" : std::to_string(extent));
    refuse(file.place(key), fmt::format("has the shape [{}]; expected [{}]",
                                        fmt::join(loaded.shape, ", "), fmt::join(wanted, ", ")));
  }
  if (!std::all_of(loaded.values.begin(), loaded.values.end(),
                   [](float x) { return std::isfinite(x); }))
    refuse(file.place(key), "a number is not finite");
  return loaded;
}

// Empty where the file has none.
io::SharedArray TrunkSource::read_mask(const TrunkRecord& record, const char* array,
                                       const std::vector<std::int64_t>& shape) {
  const io::ArrayFile& file = file_of(record);
  const std::string key = array_key(record, array);
  if (!file.has(key)) return {};
  io::SharedArray values = read(record, array, shape).values;
  for (const float number : std::as_const(values))
    if (number != 0 && number != 1)
      refuse(file.place(key), fmt::format("has the number {}; a mask has 0 and 1", number));
  return values;
}

}  // namespace biogpu::app
