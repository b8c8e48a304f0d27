#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "apps/biogpu/infer/run/item_input.hpp"
#include "lib/io/arrays/array_reader.hpp"
#include "lib/models/structure/trunk_model.hpp"

namespace biogpu::app {

// One input of a trunk: the arrays of a file, or those of one NAME/ of it.
struct TrunkRecord {
  std::size_t file = 0;  // index of its path
  std::string name;      // of the arrays in the file: empty, or "NAME"
  std::string key;       // of its outputs: empty, or what is in front of the '/'
  std::string place;     // for messages
  models::TrunkInput input;
};

// The inputs of .npz files, those of a file in its order: arrays z and, where the model reads them,
// s, a and m; mask, pair_mask and msa_mask where they are there. Shapes and numbers are checked.
class TrunkSource : public ListSource<TrunkRecord> {
 public:
  explicit TrunkSource(const InferFlags& flags);

  // Before next(): the model's widths.
  void set_model(const models::TrunkShape& shape) { shape_ = shape; }
  bool next(TrunkRecord& record) override;
  std::vector<report::InputFile> files() const override;

 private:
  static std::vector<TrunkRecord> list(const std::vector<std::string>& paths);
  void load(TrunkRecord& record);
  void load_rows(TrunkRecord& record);
  // Whether the record has what the model reads, and only that; refuses it else.
  void require(const TrunkRecord& record, const char* array, bool is_read, const char* why);
  const io::ArrayFile& file_of(const TrunkRecord& record);
  io::LoadedArray read(const TrunkRecord& record, const char* array,
                       const std::vector<std::int64_t>& shape);
  io::SharedArray read_mask(const TrunkRecord& record, const char* array,
                            const std::vector<std::int64_t>& shape);

  const std::vector<std::string> paths_;
  // One file is open at a time, however many there are: that of the last record.
  std::unique_ptr<io::ArrayFile> file_;
  std::size_t open_ = 0;  // its index
  const io::BadRecords bad_;
  models::TrunkShape shape_;
};

}  // namespace biogpu::app
