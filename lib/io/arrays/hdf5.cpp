// HDF5 without its library, which would bring thirty others along: contiguous fp32 datasets in
// old-style groups, readable by every release since 1.0. Numbers are written as they come, what
// describes them at the end. (HDF5 File Format Specification, version 3.0: superblock version 0
// II.A, version 1 B-trees III.A.1, symbol table nodes III.B, local heaps III.D, object headers
// IV.A.1)
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/arrays/formats.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::io {
namespace {

constexpr std::uint64_t kNone = UINT64_MAX;
constexpr std::size_t kSuperblockBytes = 96;
constexpr std::size_t kLeafK = 4;       // a symbol table node holds up to 2 K names
constexpr std::size_t kInternalK = 16;  // a B-tree node up to 2 K children

class Bytes {
 public:
  Bytes& put(std::uint64_t value, int n_bytes) {
    for (int i = 0; i < n_bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  Bytes& put(std::string_view bytes) {
    text += bytes;
    return *this;
  }
  Bytes& pad_to(std::size_t size) {
    text.resize(std::max(size, text.size()), '\0');
    return *this;
  }
  std::string text;
};

// A group or, where it has data, a dataset.
struct Node {
  std::map<std::string, std::unique_ptr<Node>> children;
  bool is_dataset = false;
  std::uint64_t data = 0;
  std::uint64_t bytes = 0;
  std::vector<std::int64_t> shape;
};

struct GroupPlace {
  std::uint64_t header = 0;
  std::uint64_t tree = 0;
  std::uint64_t heap = 0;
};

class Hdf5Writer final : public ArrayWriter {
 public:
  explicit Hdf5Writer(const std::string& path) : file_(path), path_(path) {
    if (!file_.can_seek())
      throw Error(ErrorCode::usage, path + ": .h5 needs a file that can be rewound");
    append(std::string(kSuperblockBytes, '\0'));
  }

  void add(const NamedArray& array) override {
    const std::string key = keys_.unique(array);
    if (key.find('\0') != std::string::npos)
      refuse_name(path_, array, key, "has a NUL byte, which ends a name here; use .npy or .tsv");
    Node* node = &root_;
    for (std::size_t begin = 0; begin <= key.size();) {
      const std::size_t end = std::min(key.find('/', begin), key.size());
      const std::string name = key.substr(begin, end - begin);
      if (node->is_dataset || name.empty() || name == ".") refuse(array, key);
      std::unique_ptr<Node>& child = node->children[name];
      if (!child) child = std::make_unique<Node>();
      node = child.get();
      begin = end + 1;
    }
    if (node->is_dataset || !node->children.empty()) refuse(array, key);
    node->is_dataset = true;
    node->shape = array.shape;
    node->data = at_;
    node->bytes = array.values.size() * sizeof(float);
    append(bytes_of(array.values));
  }

  void commit() override {
    const GroupPlace root = write_group(root_);
    Bytes block;
    block.put("\x89HDF\r\n\x1a\n").put(0, 5).put(8, 1).put(8, 1).put(0, 1);
    block.put(kLeafK, 2).put(kInternalK, 2).put(0, 4);
    block.put(0, 8).put(kNone, 8).put(at_, 8).put(kNone, 8);
    block.put(symbol(0, root.header, &root));
    if (::pwrite(file_.descriptor(), block.text.data(), block.text.size(), 0) !=
        static_cast<ssize_t>(block.text.size()))
      file_.fail("cannot be written", errno);
    file_.commit();
  }
  std::uint64_t bytes() const override { return at_; }

 private:
  [[noreturn]] void refuse(const NamedArray& array, const std::string& key) const {
    refuse_name(
        path_, array, key,
        "cannot be a name in HDF5, where '/' separates groups and '.' is the group itself; use "
        ".npz or .safetensors");
  }

  // Everything begins at a multiple of 8.
  std::uint64_t append(std::string_view bytes) {
    const std::uint64_t begin = at_;
    file_.write(bytes);
    at_ += bytes.size();
    const std::size_t rest = (8 - at_ % 8) % 8;
    file_.write(std::string(rest, '\0'));
    at_ += rest;
    return begin;
  }

  // An entry of a symbol table; a group's tells the addresses of its tree and heap too.
  static std::string symbol(std::uint64_t name, std::uint64_t header, const GroupPlace* group) {
    Bytes entry;
    entry.put(name, 8).put(header, 8).put(group != nullptr ? 1 : 0, 4).put(0, 4);
    if (group != nullptr) entry.put(group->tree, 8).put(group->heap, 8);
    return entry.pad_to(40).text;
  }

  std::uint64_t write_header(const std::vector<std::pair<int, Bytes>>& messages) {
    Bytes body;
    for (const auto& [type, message] : messages) {
      const std::size_t size = (message.text.size() + 7) / 8 * 8;
      body.put(static_cast<std::uint64_t>(type), 2).put(size, 2).put(0, 4).put(message.text);
      body.pad_to((body.text.size() + 7) / 8 * 8);
    }
    Bytes header;
    header.put(1, 2).put(messages.size(), 2).put(1, 4).put(body.text.size(), 4).put(0, 4);
    return append(header.put(body.text).text);
  }

  std::uint64_t write_dataset(const Node& node) {
    Bytes space, type, fill, layout;
    space.put(1, 1).put(node.shape.size(), 1).put(0, 6);
    for (const std::int64_t n : node.shape) space.put(static_cast<std::uint64_t>(n), 8);
    // IEEE fp32, little-endian: sign at bit 31, exponent of 8 bits at 23 with bias 127.
    type.put(0x11, 1).put(0x1f20, 3).put(4, 4).put(0, 2).put(32, 2);
    type.put(23, 1).put(8, 1).put(0, 1).put(23, 1).put(127, 4);
    fill.put(2, 1).put(2, 1).put(2, 1).put(0, 1);
    layout.put(3, 1).put(1, 1).put(node.bytes == 0 ? kNone : node.data, 8).put(node.bytes, 8);
    return write_header({{1, space}, {3, type}, {5, fill}, {8, layout}});
  }

  GroupPlace write_group(const Node& group) {
    Bytes names;  // offset 0 is the empty name
    names.put(0, 8);
    struct Child {
      std::uint64_t name;
      std::string entry;
    };
    std::vector<Child> children;
    for (const auto& [name, node] : group.children) {  // in the order of their bytes
      const std::uint64_t at = names.text.size();
      names.put(name).put(0, 1);
      names.pad_to((names.text.size() + 7) / 8 * 8);
      if (node->is_dataset) {
        children.push_back({at, symbol(at, write_dataset(*node), nullptr)});
      } else {
        const GroupPlace place = write_group(*node);
        children.push_back({at, symbol(at, place.header, &place)});
      }
    }
    GroupPlace place;
    const std::uint64_t data = append(names.text);
    Bytes heap;
    heap.put("HEAP").put(0, 4).put(names.text.size(), 8).put(1, 8).put(data, 8);
    place.heap = append(heap.text);

    std::vector<std::pair<std::uint64_t, std::uint64_t>> level;  // last name, address
    for (std::size_t begin = 0; begin < children.size(); begin += 2 * kLeafK) {
      const std::size_t end = std::min(children.size(), begin + 2 * kLeafK);
      Bytes table;
      table.put("SNOD").put(1, 2).put(end - begin, 2);
      for (std::size_t i = begin; i < end; ++i) table.put(children[i].entry);
      table.pad_to(8 + 2 * kLeafK * 40);
      level.emplace_back(children[end - 1].name, append(table.text));
    }
    place.tree = write_tree(std::move(level));
    Bytes table;
    table.put(place.tree, 8).put(place.heap, 8);
    place.header = write_header({{17, table}});
    return place;
  }

  // A B-tree over nodes and the last name in each; returns the address of its root.
  std::uint64_t write_tree(std::vector<std::pair<std::uint64_t, std::uint64_t>> level) {
    constexpr std::size_t kChildren = 2 * kInternalK;
    constexpr std::size_t kNodeBytes = 24 + (2 * kChildren + 1) * 8;
    for (std::uint64_t height = 0;; ++height) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> above;
      const std::size_t n_nodes =
          std::max<std::size_t>(1, (level.size() + kChildren - 1) / kChildren);
      const std::uint64_t first = at_;
      std::uint64_t last_name = 0;
      for (std::size_t i = 0; i < n_nodes; ++i) {
        const std::size_t begin = i * kChildren, end = std::min(level.size(), begin + kChildren);
        Bytes node;
        node.put("TREE").put(0, 1).put(height, 1).put(end - begin, 2);
        node.put(i == 0 ? kNone : first + (i - 1) * kNodeBytes, 8);
        node.put(i + 1 == n_nodes ? kNone : first + (i + 1) * kNodeBytes, 8);
        node.put(last_name, 8);
        for (std::size_t child = begin; child < end; ++child) {
          node.put(level[child].second, 8).put(level[child].first, 8);
          last_name = level[child].first;
        }
        above.emplace_back(last_name, append(node.pad_to(kNodeBytes).text));
      }
      if (above.size() == 1) return above.front().second;
      level = std::move(above);
    }
  }

  io::output::AtomicFile file_;
  std::string path_;
  KeySet keys_;
  Node root_;
  std::uint64_t at_ = 0;
};

}  // namespace

std::unique_ptr<ArrayWriter> make_hdf5_writer(const std::string& path) {
  return std::make_unique<Hdf5Writer>(path);
}

}  // namespace biogpu::io
