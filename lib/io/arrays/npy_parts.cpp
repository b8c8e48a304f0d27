#include "lib/io/arrays/npy_parts.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <unordered_map>

#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/arrays/formats.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::io {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", path, what));
}

// Rows of fp32.
struct Rows {
  explicit Rows(const std::string& path) : file(path) {
    const std::string_view bytes = file.bytes();
    constexpr std::size_t kPreamble = 10;
    const char* const what = "is no .npy of 'biogpu infer'";
    if (bytes.size() < kPreamble) refuse(path, what);
    const std::size_t begin = kPreamble + static_cast<unsigned char>(bytes[8]) +
                              256u * static_cast<unsigned char>(bytes[9]);
    const std::size_t shape = bytes.substr(0, begin).find("'shape': (");
    if (bytes.size() < begin || shape == std::string_view::npos) refuse(path, what);
    std::istringstream numbers(std::string(bytes.substr(shape + 10, begin - shape - 10)));
    char comma = 0;
    if (!(numbers >> n_rows >> comma >> width) || n_rows < 0 || width < 0) refuse(path, what);
    if (bytes.substr(0, begin) != npy_header({n_rows, width}, begin)) refuse(path, what);
    // Divided, not multiplied: a header's numbers may be of any size.
    const auto row = static_cast<std::uint64_t>(width), n = static_cast<std::uint64_t>(n_rows);
    const std::uint64_t n_values = (bytes.size() - begin) / sizeof(float);
    // Rows without numbers would be as many as the header likes.
    const bool fits =
        row == 0 || n == 0 ? n_values == 0 && n == 0 : n_values % row == 0 && n_values / row == n;
    if (!fits || (bytes.size() - begin) % sizeof(float) != 0)
      refuse(path, "does not have as many numbers as its header says");
    values = bytes.substr(begin);
  }

  io::MappedFile file;
  std::int64_t n_rows = 0;
  std::int64_t width = 0;
  std::string_view values;
};

// What of a key's end is a kind of array_writer.hpp that an .npy may hold beside others.
std::size_t kind_bytes(const std::string& key) {
  const std::size_t layer = key.rfind('/');
  if (layer == std::string::npos || layer == 0 || layer + 1 == key.size() ||
      key.find_first_not_of("0123456789", layer + 1) != std::string::npos)
    return 0;
  const std::size_t kind = key.rfind('/', layer - 1);
  if (kind == std::string::npos) return 0;
  const std::string name = key.substr(kind + 1, layer - kind - 1);
  return name == "mean" || name == "cls" || name == "residues" ? key.size() - kind : 0;
}

// The keys of a part as its records gave them: its second "a" is "a#2" there, but may be the third
// of the whole.
class PartKeys {
 public:
  void restore(NamedArray& array) {
    array.kind_bytes = kind_bytes(array.key);
    const std::size_t n = array.key.size() - array.kind_bytes;
    const std::size_t mark = array.key.rfind('#', n);
    if (mark != std::string::npos && mark + 1 < n) {
      const std::string given = array.key.substr(0, mark) + array.key.substr(n);
      const auto seen = seen_.find(given);
      if (seen != seen_.end() &&
          array.key.substr(mark + 1, n - mark - 1) == std::to_string(seen->second + 1))
        array.key = given;
    }
    ++seen_[array.key];
  }

 private:
  std::unordered_map<std::string, std::uint64_t> seen_;
};

void add_part(const std::string& path, ArrayWriter& writer) {
  const Rows rows(path);
  const std::string index_path = npy_index(path);
  LineReader index(index_path, "the index of an .npy");
  std::string line;
  if (!index.next(line) || line != "key\tfirst_row\trows")
    refuse(index_path, "is no index of 'biogpu infer'");
  const auto row_bytes = static_cast<std::size_t>(rows.width) * sizeof(float);
  std::int64_t next = 0;
  PartKeys keys;
  while (index.next(line)) {
    NamedArray array;
    std::int64_t first = -1;
    std::int64_t n = -1;
    std::istringstream fields(line);
    std::getline(fields, array.key, '\t');
    if (!(fields >> first >> n) || first != next || n < 0 || n > rows.n_rows - next)
      refuse(index_path, "does not fit its .npy");
    next += n;
    keys.restore(array);
    array.shape = {n, rows.width};
    array.values = SharedArray::unset(static_cast<std::size_t>(n * rows.width));
    if (!array.values.empty())
      std::memcpy(array.values.data(),
                  rows.values.data() + static_cast<std::size_t>(first) * row_bytes,
                  static_cast<std::size_t>(n) * row_bytes);
    writer.add(array);
  }
  if (next != rows.n_rows) refuse(index_path, "does not fit its .npy");
}

}  // namespace

void join_npy(const std::vector<std::string>& parts, const std::string& out_path) {
  const auto writer = make_npy_writer(out_path);
  for (const std::string& path : parts) add_part(path, *writer);
  writer->commit();
}

}  // namespace biogpu::io
