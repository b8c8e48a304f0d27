#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/reference_context.hpp"
#include "lib/tensor/float16.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "lib/tensor/weights/weight_table.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "biogpu-tensor-XXXXXX").string();
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
    tensor::Checkpoint::open(path);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

std::string finish_error(tensor::WeightTable& table) {
  try {
    table.finish();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

// Maps of n_out x n_in in F16, with a bias each; `damage` is a number that is infinite.
std::string linears(const std::vector<std::string>& names, std::int64_t n_out, std::int64_t n_in,
                    std::int64_t damage = -1) {
  std::string header, data;
  const auto add = [&](const std::string& name, const std::string& shape, std::int64_t n) {
    const std::size_t begin = data.size();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto bits = static_cast<std::uint16_t>(
          i == damage ? 0x7c00
                      : tensor::to_f16(static_cast<float>((i * 7919 + n) % 2003) / 128 - 8));
      data += static_cast<char>(bits & 0xff);
      data += static_cast<char>(bits >> 8);
    }
    header += fmt::format(R"({}"{}":{{"dtype":"F16","shape":[{}],"data_offsets":[{},{}]}})",
                          header.empty() ? "{" : ",", name, shape, begin, data.size());
  };
  for (const std::string& name : names) {
    add(name + ".weight", fmt::format("{},{}", n_out, n_in), n_out * n_in);
    add(name + ".bias", fmt::format("{}", n_out), n_out);
  }
  return safetensors(header + "}", 0) + data;
}

const std::string kGood =
    R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
    R"("y":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}})";

}  // namespace

TEST_CASE("tensor.safetensors: tensors lie where the header says", "[tensor]") {
  const Folder folder;
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  REQUIRE(checkpoint.tensors().size() == 2);
  const tensor::StoredTensor& y = checkpoint.tensors().at("y");
  CHECK(y.shape == std::vector<std::int64_t>{3});
  float values[3];
  REQUIRE(y.to_floats(values));
  CHECK(values[0] == tensor::from_bf16(0x0908));
}

TEST_CASE("tensor.safetensors: a file that contradicts itself is refused", "[tensor]") {
  const Folder folder;
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    const std::string what = error_of(folder.write("a.safetensors", bytes));
    INFO(what);
    CHECK(what.find(why) != std::string::npos);
  };
  const auto one = [](const std::string& entry) { return "{\"x\":" + entry + "}"; };
  refused("abc", "no safetensors file");
  refused(safetensors(kGood, 14, 1u << 30), "does not fit");
  refused(safetensors("{\"x\":", 8), "malformed at byte");
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
  // More numbers than 63 bits, which a size of 0 at the end would hide.
  refused(safetensors(
              one(R"({"dtype":"I8","shape":[4611686018427387904,2,0],"data_offsets":[0,0]})"), 0),
          "too large");
  refused(safetensors(std::string(70, '[') + std::string(70, ']'), 4), "nested more than 64 deep");
  refused(safetensors("{\"" + std::string(5000, 'n') + R"(":{"dtype":"Q4"}})", 4),
          "nnn... (5000 bytes): needs dtype");
  refused(safetensors(one(R"({"dtype":"F32","shape":[1],"data_offsets":[8,4]})"), 8),
          "do not lie in");
}

TEST_CASE("tensor.safetensors: files that are something else are named as what they are",
          "[tensor]") {
  const Folder folder;
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:5d2f\nsize 2604\n";
  const auto error = [&](const std::string& bytes) {
    return error_of(folder.write("a.safetensors", bytes));
  };
  CHECK(error(pointer).find("is a Git LFS pointer") != std::string::npos);
  CHECK(error("PK\x03\x04" + std::string(400, 'z')).find("is a file of PyTorch") !=
        std::string::npos);
  CHECK(
      error("\x80\x02\x8a\x0al\xfc\x9c\x46" + std::string(400, 'z')).find("is a file of PyTorch") !=
      std::string::npos);
  folder.write("model.safetensors.index.json", pointer);
  CHECK(error_of(folder.path()).find("index.json: is a Git LFS pointer") != std::string::npos);
}

TEST_CASE("tensor.safetensors: shards are found through their index", "[tensor]") {
  const Folder folder;
  const auto tensor = [](const std::string& name) {
    return safetensors("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
  };
  folder.write("model-1.safetensors", tensor("a"));
  folder.write("model-2.safetensors", tensor("b"));
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  CHECK(tensor::Checkpoint::open(folder.path()).tensors().size() == 2);
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"model-1.safetensors","c":"model-2.safetensors"}})");
  CHECK(error_of(folder.path()).find("tensor c is not in") != std::string::npos);
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"../model-1.safetensors"}})");
  CHECK(error_of(folder.path()).find("names no file") != std::string::npos);
}

TEST_CASE("tensor.weight_table: all that is wrong is told at once", "[tensor]") {
  const Folder folder;
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  tensor::WeightTable table(checkpoint);
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

TEST_CASE("tensor.weight_table: a shape past the file's numbers is told before it has room",
          "[tensor]") {
  const Folder folder;
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  CHECK(checkpoint.n_numbers() == 5);
  tensor::WeightTable table(checkpoint);
  CHECK_FALSE(table.take("x", {5}).found);
  for (const auto& name : {"x", "none"}) {
    try {
      table.take(name, {std::int64_t{1} << 20, std::int64_t{1} << 24});
      FAIL("has room");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      CHECK(std::string(error.what()).find("x [1, 2] instead of [1048576, 16777216]") !=
            std::string::npos);
    }
  }
}

TEST_CASE("tensor.weight_table: a tensor is used, ignored by its whole name, or refused",
          "[tensor]") {
  const Folder folder;
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  const auto error_after = [&](const std::string& ignored, const std::string& prefix) {
    tensor::WeightTable table(checkpoint);
    if (!prefix.empty()) table.alias_prefix(prefix, "y");
    table.take("y", {3});
    table.ignore(ignored);
    return finish_error(table);
  };
  CHECK(error_after("x", "") == "no error");
  CHECK(error_after("", "").find("1 are unknown: x") != std::string::npos);
  CHECK(error_after("x.", "").find("1 are unknown: x") != std::string::npos);
  CHECK(error_after("x", "x").find("1 are there under another name, too: y") != std::string::npos);
}

TEST_CASE("tensor.weight_table: prefixes of training programs are left out", "[tensor]") {
  const Folder folder;
  const auto finish = [&](const std::string& first, const std::string& second) {
    const std::string header = "{\"" + first +
                               R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},")" + second +
                               R"(":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})";
    const auto checkpoint =
        tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(header, 8)));
    tensor::WeightTable table(checkpoint);
    table.alias_prefix("net.", "");
    table.take("norm.bias", {1});
    table.take("out.bias", {1});
    return finish_error(table);
  };
  for (const char* prefix : {"", "module.", "model.", "_orig_mod.", "module._orig_mod.",
                             "_orig_mod.module.model.", "model.model.", "module.net."}) {
    CAPTURE(prefix);
    CHECK(finish(std::string(prefix) + "norm.bias", "out.bias") == "no error");
  }
  CHECK(finish("module.norm.bias", "norm.bias").find("under another name, too: norm.bias") !=
        std::string::npos);
  CHECK(finish("modules.norm.bias", "out.bias").find("1 are unknown: modules.norm.bias") !=
        std::string::npos);
}

TEST_CASE("tensor.weight_table: a message of many tensors is one short line", "[tensor]") {
  const Folder folder;
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(kGood, 14)));
  tensor::WeightTable table(checkpoint);
  for (int i = 0; i < 57; ++i)
    table.take(fmt::format("transformer.{}.attention.self.relative_position_bias.weight", i), {1});
  for (int i = 0; i < 57; ++i) table.take("x", {5});
  const std::string what = finish_error(table);
  INFO(what);
  CHECK(what.size() < 600);
  CHECK(what.find("57 tensors are missing: transformer.0.") != std::string::npos);
  CHECK(what.find("57 have another shape or type: x [1, 2] instead of [5]") != std::string::npos);
  CHECK(what.find("1 are unknown: y") != std::string::npos);
}

TEST_CASE("tensor.weight_table: copies under a second name must be equal", "[tensor]") {
  const Folder folder;
  const auto file = [](const std::string& name) {
    return R"({")" + name + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)" +
           R"("stem.x":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  };
  const auto finish = [&](const std::string& bytes, bool copies) {
    const auto checkpoint = tensor::Checkpoint::open(folder.write("a.safetensors", bytes));
    tensor::WeightTable table(checkpoint);
    if (copies)
      table.alias_copies("trunk.", "stem.");
    else
      table.alias_prefix("trunk.", "stem.");
    table.take("stem.x", {2});
    return finish_error(table);
  };
  const std::string two(8, '\1'), other(8, '\2');
  const std::string header = safetensors(file("trunk.x"), 0);
  CHECK(finish(header + two + two, true) == "no error");
  CHECK(finish(header + two + other, true).find("1 differ from their copy") != std::string::npos);
  CHECK(finish(header + two + two, false).find("under another name, too: trunk.x") !=
        std::string::npos);
  CHECK(finish(safetensors(file("stem.y"), 0) + two + two, true).find("1 are unknown: stem.y") !=
        std::string::npos);
}

TEST_CASE("tensor.weight_table: maps of one input may differ in outputs and lack a bias",
          "[tensor]") {
  const Folder folder;
  // [3, 2] and [2, 2].
  std::string data;
  for (int i = 0; i < 10; ++i) {
    const auto value = static_cast<float>(10 + i);
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const std::string header = R"({"q.weight":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
                             R"("v.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[24,40]}})";
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", safetensors(header, 0) + data));
  const auto context = ops::make_reference_context();
  tensor::WeightTable table(checkpoint);
  const tensor::LinearPart parts[] = {{"q", 3, 0.5f}, {"v", 2}};
  const tensor::Linear both = table.take_linear_parts(*context, parts, 2, false);
  REQUIRE((both.n_out == 5 && both.n_in == 2 && both.bias.empty()));
  for (int i = 0; i < 10; ++i)
    CHECK(both.weight.as<float>()[i] == static_cast<float>(10 + i) * (i < 6 ? 0.5f : 1.0f));
  CHECK(table.n_taken() == 10);
  CHECK(finish_error(table) == "no error");
}

TEST_CASE("tensor.weight_table: weights that are no numbers are refused by name", "[tensor]") {
  const std::string header = R"({"good":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("bad":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                             R"("half":{"dtype":"F16","shape":[2],"data_offsets":[16,20]}})";
  std::string bytes = safetensors(header, 0);
  for (const std::uint32_t word : {0x3f800000u, 0x7f7fffffu, 0x3f800000u, 0xffc00000u, 0x7c003c00u})
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> (8 * i) & 0xff);
  const Folder folder;
  const auto checkpoint = tensor::Checkpoint::open(folder.write("a.safetensors", bytes));
  tensor::WeightTable table(checkpoint);
  for (const char* name : {"good", "bad", "half"}) table.take(name, {2});
  const std::string what = finish_error(table);
  INFO(what);
  CHECK(what.find("2 hold NaN or an infinity: bad, half") != std::string::npos);
  CHECK(what.find("good") == std::string::npos);
}

TEST_CASE("tensor.weight_table: maps of one input become one, by any number of threads",
          "[tensor]") {
  const Folder folder;
  const std::vector<std::string> names{"q", "k", "v"};
  const std::int64_t n_out = 301, n_in = 517;  // several pieces and a rest
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", linears(names, n_out, n_in)));
  const auto given = [&](const std::string& name) {
    const tensor::StoredTensor& stored = checkpoint.tensors().at(name);
    std::vector<float> values(static_cast<std::size_t>(stored.size()));
    REQUIRE(stored.to_floats(values.data()));
    return values;
  };
  const int n_threads = GENERATE(1, 2);
  const auto backend = ops::make_reference_context();
  tensor::WeightTable table(checkpoint);
  tensor::Linear all, last;
  tbb::task_arena(n_threads).execute([&] {
    all = table.take_linears(*backend, names, n_out, n_in, 0.3f);
    last = table.take_linear(*backend, "v", n_out, n_in);  // in the room of those before
  });
  CHECK(finish_error(table) == "no error");
  REQUIRE(all.n_out == 3 * n_out);
  std::size_t n_wrong = 0;
  for (std::size_t part = 0; part < names.size(); ++part) {
    const auto weight = given(names[part] + ".weight"), bias = given(names[part] + ".bias");
    const float scale = part == 0 ? 0.3f : 1.0f;
    for (std::int64_t row = 0; row < n_out; ++row) {
      const std::int64_t at = static_cast<std::int64_t>(part) * n_out + row;
      const auto i = static_cast<std::size_t>(row);
      n_wrong += all.bias.as<float>()[at] != bias[i] * scale;
      if (part == 2) n_wrong += last.bias.as<float>()[row] != bias[i];
      for (std::int64_t k = 0; k < n_in; ++k) {
        const float value = weight[static_cast<std::size_t>(row * n_in + k)];
        n_wrong += all.weight.row<float>(at)[k] != value * scale;
        if (part == 2) n_wrong += last.weight.row<float>(row)[k] != value;
      }
    }
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("tensor.weight_table: an infinity is found in every piece of a weight", "[tensor]") {
  const Folder folder;
  const std::int64_t n_out = 301, n_in = 517;
  const std::int64_t damage =
      GENERATE_COPY(std::int64_t{0}, std::int64_t{1 << 16}, std::int64_t{100000}, n_out * n_in - 1);
  const auto checkpoint =
      tensor::Checkpoint::open(folder.write("a.safetensors", linears({"x"}, n_out, n_in, damage)));
  tensor::WeightTable table(checkpoint);
  table.take("x.weight", {n_out, n_in});
  table.take("x.bias", {n_out});
  const std::string what = finish_error(table);
  INFO(what);
  CHECK(what.find("hold NaN or an infinity: x.weight") != std::string::npos);
}
