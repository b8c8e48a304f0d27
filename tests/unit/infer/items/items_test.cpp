// The driver of models over a kind of items that the program does not have: arrays of files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"
#include "tests/unit/infer/items/toy_average.hpp"

using namespace biogpu;

namespace {

using Arrays = std::map<std::string, std::vector<float>>;

std::string to_safetensors(const Arrays& arrays) {
  std::string header, data;
  for (const auto& [name, numbers] : arrays) {
    const std::size_t n_bytes = numbers.size() * sizeof(float);
    header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})",
                          header.empty() ? "{" : ",", name, numbers.size(), data.size(),
                          data.size() + n_bytes);
    data.append(reinterpret_cast<const char*>(numbers.data()), n_bytes);
  }
  header += "}";
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return length + header + data;
}

// Array i has i % 7 + 1 numbers with the mean i: some batches hold many, some one.
Arrays some_arrays(int n) {
  Arrays arrays;
  for (int i = 0; i < n; ++i)
    arrays[fmt::format("a{:03}", i)] =
        std::vector<float>(static_cast<std::size_t>(i % 7 + 1), static_cast<float>(i));
  return arrays;
}

constexpr int kArrays = 50;

struct Toy {
  Toy() {
    model = folder.path("model");
    std::filesystem::create_directory(model);
    folder.write("model/config.json", R"({"model_type": "toy_average"})");
    folder.write("model/model.safetensors", to_safetensors({{"weight", {2}}}));
    folder.write("in.safetensors", to_safetensors(some_arrays(kArrays)));
    test::toy_counts().n_arrays = test::toy_counts().n_batches = 0;
    test::toy_counts().fails_at = -1;
  }
  // Runs `infer average ARGS INPUT -o OUT`; the message of its error, or nothing.
  std::string run(const std::string& out, const std::vector<std::string>& args,
                  const std::string& input = "in.safetensors") const {
    CLI::App command("", "average");
    const app::Run average = test::add_infer_average(command);
    std::vector<std::string> words = args;
    for (const std::string& word :
         {std::string("--model"), model, std::string("--device"), std::string("cpu"),
          std::string("-q"), std::string("-o"), folder.path(out), folder.path(input)})
      words.push_back(word);
    command.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    try {
      average("infer average");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  test::Folder folder;
  std::string model;
};

std::string expected(int begin, int end, int times = 2) {
  std::string text;
  for (int i = begin; i < end; ++i) text += fmt::format("a{:03}\t{}\n", i, times * i);
  return text;
}

constexpr char kHeader[] = "name\tmean\n";

}  // namespace

TEST_CASE("infer.items: batches, by the cost of items, do not change results", "[infer]") {
  const Toy toy;
  for (const char* batch : {"1", "8", "1000"}) {
    CAPTURE(batch);
    test::toy_counts().n_batches = 0;
    CHECK(toy.run("out.tsv", {"--batch", batch}).empty());
    CHECK(toy.folder.read("out.tsv") == kHeader + expected(0, kArrays));
    if (std::string(batch) == "1") CHECK(test::toy_counts().n_batches == kArrays);
    if (std::string(batch) == "1000") CHECK(test::toy_counts().n_batches == 1);
  }
}

TEST_CASE("infer.items: shards joined are the whole", "[infer]") {
  const Toy toy;
  std::string joined = kHeader;
  for (int i = 1; i <= 3; ++i) {
    CHECK(toy.run("part.tsv", {"--batch", "8", "--shard", fmt::format("{}/3", i)}).empty());
    joined += toy.folder.read("part.tsv").substr(std::string(kHeader).size());
  }
  CHECK(joined == kHeader + expected(0, kArrays));
  CHECK(test::toy_counts().n_arrays == kArrays);
}

TEST_CASE("infer.items: --resume computes what is not there yet", "[infer]") {
  const Toy toy;
  test::toy_counts().fails_at = 5;
  CHECK(toy.run("out.tsv", {"--batch", "8", "--resume"}) == "the toy broke");
  CHECK_FALSE(toy.folder.has("out.tsv"));
  REQUIRE(toy.folder.has("out.tsv.partial"));
  test::toy_counts().fails_at = -1;
  test::toy_counts().n_arrays = 0;
  SECTION("of the same run") {
    CHECK(toy.run("out.tsv", {"--batch", "20", "--resume"}).empty());
    CHECK(toy.folder.read("out.tsv") == kHeader + expected(0, kArrays));
    CHECK(test::toy_counts().n_arrays < kArrays);
    CHECK_FALSE(toy.folder.has("out.tsv.partial"));
  }
  SECTION("not with another value of the model's own option") {
    CHECK_FALSE(toy.run("out.tsv", {"--resume", "--sign", "minus"}).empty());
    CHECK(test::toy_counts().n_arrays == 0);
  }
}

TEST_CASE("infer.items: items that are bad are refused, or left out and counted", "[infer]") {
  const Toy toy;
  Arrays arrays = some_arrays(10);
  arrays["a004"][0] = std::numeric_limits<float>::quiet_NaN();
  toy.folder.write("bad.safetensors", to_safetensors(arrays));
  const std::string path = toy.folder.path("bad.safetensors");
  CHECK(toy.run("out.tsv", {}, "bad.safetensors") == path + ": array a004: a number is not finite");
  CHECK_FALSE(toy.folder.has("out.tsv"));
  const std::string json = toy.folder.path("summary.json");
  CHECK(toy.run("out.tsv", {"--skip-bad", "--json", json}, "bad.safetensors") ==
        path + ": skipped: 1 array that is bad; the output has the others");
  CHECK(toy.folder.read("out.tsv") == kHeader + expected(0, 4) + expected(5, 10));
  const std::string summary = toy.folder.read("summary.json");
  CHECK(summary.find("\"arrays\": 9") != std::string::npos);
  CHECK(summary.find("\"arrays\": 1") != std::string::npos);
}

TEST_CASE("infer.items: the option that a model declares reaches it", "[infer]") {
  const Toy toy;
  CHECK(toy.run("out.tsv", {"--sign", "minus"}).empty());
  const std::string text = toy.folder.read("out.tsv");
  CHECK(text.substr(text.find('\n', text.find('\n') + 1) + 1) == expected(1, kArrays, -2));
  CHECK(toy.run("out.tsv", {"--sign", "plus"}).empty());
  CHECK(toy.folder.read("out.tsv") == kHeader + expected(0, kArrays));
}

TEST_CASE("infer.items: batches are halved until they fit --max-memory", "[infer]") {
  const Toy toy;
  CHECK(toy.run("out.tsv", {"--batch", "100000", "--max-memory", "1K"}).empty());
  CHECK(test::toy_counts().n_batches > 1);
  CHECK(toy.folder.read("out.tsv") == kHeader + expected(0, kArrays));
}
