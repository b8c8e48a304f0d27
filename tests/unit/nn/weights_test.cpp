#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/nn/float16.hpp"
#include "lib/nn/weights/safetensors.hpp"
#include "lib/nn/weights/weight_table.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "biogpu-nn-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string safetensors(const std::string& header, std::size_t n_data, std::uint64_t length = 0) {
  if (length == 0) length = header.size();
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  bytes += header;
  for (std::size_t i = 0; i < n_data; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string error_of(const std::string& path) {
  try {
    nn::Checkpoint::open(path);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

std::string finish_error(nn::WeightTable& table) {
  try {
    table.finish();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

const std::string kGood =
    R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
    R"("y":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}})";

}  // namespace

TEST_CASE("nn.safetensors: tensors lie where the header says", "[nn]") {
  const Folder folder;
  const auto checkpoint =
      nn::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  REQUIRE(checkpoint.tensors().size() == 2);
  const nn::StoredTensor& y = checkpoint.tensors().at("y");
  CHECK(y.shape == std::vector<std::int64_t>{3});
  float values[3];
  REQUIRE(y.to_floats(values));
  CHECK(values[0] == nn::from_bf16(0x0908));
}

TEST_CASE("nn.safetensors: a file that contradicts itself is refused", "[nn]") {
  const Folder folder;
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    const std::string what = error_of(folder.write("a.safetensors", bytes));
    INFO(what);
    CHECK(what.find(why) != std::string::npos);
  };
  const auto one = [](const std::string& entry) { return "{\"x\":" + entry + "}"; };
  refused("abc", "no safetensors file");
  refused(safetensors(kGood, 14, 1u << 30), "does not fit");
  refused(safetensors("{\"x\":", 8), "JSON is malformed");
  refused(safetensors("[1]", 8), "no JSON object");
  refused(safetensors(kGood, 13), "do not lie in");
  refused(safetensors(kGood, 15), "after the last tensor");
  refused(safetensors(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), 4),
          "bytes for a");
  refused(safetensors(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), 8), "overlap");
  refused(safetensors(one(R"({"dtype":"Q4","shape":[1],"data_offsets":[0,4]})"), 4),
          "'Q4' is unknown");
  refused(safetensors(one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), 4),
          "whole number");
  refused(safetensors(
              one(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]})"), 4),
          "too large");
  refused(safetensors(one(R"({"dtype":"F32","shape":[1]})"), 4), "needs dtype");
  refused(safetensors(one(R"({"dtype":"F32","shape":[1],"data_offsets":[8,4]})"), 8),
          "do not lie in");
}

TEST_CASE("nn.safetensors: shards are found through their index", "[nn]") {
  const Folder folder;
  const auto tensor = [](const std::string& name) {
    return safetensors("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
  };
  folder.write("model-1.safetensors", tensor("a"));
  folder.write("model-2.safetensors", tensor("b"));
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  CHECK(nn::Checkpoint::open(folder.path()).tensors().size() == 2);
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"model-1.safetensors","c":"model-2.safetensors"}})");
  CHECK(error_of(folder.path()).find("tensor c is not in") != std::string::npos);
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"../model-1.safetensors"}})");
  CHECK(error_of(folder.path()).find("names no file") != std::string::npos);
}

TEST_CASE("nn.weight_table: all that is wrong is told at once", "[nn]") {
  const Folder folder;
  const auto checkpoint =
      nn::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  nn::WeightTable table(checkpoint);
  table.alias_prefix("x", "renamed.x");
  CHECK(table.has("renamed.x"));
  table.take("renamed.x", {2, 1});
  table.take("z", {4});
  const std::string what = finish_error(table);
  INFO(what);
  CHECK(what.find("1 tensors are missing: z") != std::string::npos);
  CHECK(what.find("renamed.x [1, 2] instead of [2, 1]") != std::string::npos);
  CHECK(what.find("1 are unknown: y") != std::string::npos);
}

TEST_CASE("nn.weight_table: weights that are no numbers are refused by name", "[nn]") {
  const std::string header = R"({"good":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("bad":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                             R"("half":{"dtype":"F16","shape":[2],"data_offsets":[16,20]}})";
  std::string bytes = safetensors(header, 0);
  for (const std::uint32_t word : {0x3f800000u, 0x7f7fffffu, 0x3f800000u, 0xffc00000u, 0x7c003c00u})
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> (8 * i) & 0xff);
  const Folder folder;
  const auto checkpoint = nn::Checkpoint::open(folder.write("a.safetensors", bytes));
  nn::WeightTable table(checkpoint);
  for (const char* name : {"good", "bad", "half"}) table.take(name, {2});
  const std::string what = finish_error(table);
  INFO(what);
  CHECK(what.find("2 hold NaN or an infinity: bad, half") != std::string::npos);
  CHECK(what.find("good") == std::string::npos);
}
