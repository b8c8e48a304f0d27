#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/arrays/npy_parts.hpp"
#include "lib/pipeline/resume_log.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using io::ArrayFormat;
using io::NamedArray;

namespace {

const std::vector<NamedArray> kArrays = {
    {"a", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b", {1, 3}, {7, 8, 9}, 1}, {"a", {0, 3}, {}}};
const std::vector<pipeline::RecordOutputs::Position> kPositions = {
    {0, -5}, {1, 7}, {25, 123456789012}};

void write(const std::string& path, const std::vector<NamedArray>& arrays) {
  const auto writer = io::make_array_writer(path, io::array_format(path));
  for (const NamedArray& array : arrays) writer->add(array);
  writer->commit();
}

}  // namespace

TEST_CASE("infer.values: pieces share the memory of the whole and outlive it", "[infer]") {
  io::SharedArray whole{1, 2, 3, 4};
  const io::SharedArray& view = whole;
  const io::SharedArray piece = view.piece(1, 2), nothing = view.piece(4, 0);
  CHECK(piece.data() == view.data() + 1);
  whole = {};
  CHECK(piece == io::SharedArray{2, 3});
  CHECK(nothing.empty());
  CHECK(nothing == io::SharedArray());
  CHECK(io::SharedArray::unset(0) == io::SharedArray(std::vector<float>()));
  CHECK_FALSE(piece == io::SharedArray{2});
}

TEST_CASE("infer.output: npy holds the rows one after the other", "[infer]") {
  const test::Folder folder;
  write(folder.path("x.npy"), kArrays);
  const std::string bytes = folder.read("x.npy");
  CHECK(bytes.substr(0, 6) == "\x93NUMPY");
  CHECK(bytes.find("'shape': (3, 3)") != std::string::npos);
  CHECK(bytes.size() == 128 + 9 * sizeof(float));
  CHECK(folder.read("x.npy.index.tsv") == "key\tfirst_row\trows\na\t0\t2\nb\t2\t1\na#2\t3\t0\n");
  CHECK_THROWS_AS(write(folder.path("y.npy"), {{"a", {2}, {1, 2}}, {"b", {3}, {1, 2, 3}}}), Error);
  CHECK_FALSE(folder.has("y.npy"));
}

TEST_CASE("infer.output: safetensors are read back", "[infer]") {
  const test::Folder folder;
  write(folder.path("x.safetensors"), kArrays);
  const auto back = tensor::Checkpoint::open(folder.path("x.safetensors"));
  REQUIRE(back.tensors().size() == 3);
  CHECK(back.tensors().at("b").shape == std::vector<std::int64_t>{1, 3});
  float values[3];
  REQUIRE(back.tensors().at("b").to_floats(values));
  CHECK(values[2] == 9);
}

TEST_CASE("infer.output: many numbers have room for the header in front", "[infer]") {
  const test::Folder folder;
  const std::int64_t n = (std::int64_t{64} << 20) / 4;
  std::vector<float> numbers(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000);
  write(folder.path("x.safetensors"), {{"a", {n}, numbers}, {"b", {2}, {5, 6}}});
  const auto back = tensor::Checkpoint::open(folder.path("x.safetensors"));
  REQUIRE(back.tensors().size() == 2);
  std::vector<float> values(numbers.size());
  REQUIRE(back.tensors().at("a").to_floats(values.data()));
  const bool is_same = values == numbers;
  CHECK(is_same);
  float few[2];
  REQUIRE(back.tensors().at("b").to_floats(few));
  CHECK(few[1] == 6);
  CHECK(std::filesystem::file_size(folder.path("x.safetensors")) ==
        (std::uint64_t{65} << 20) + 2 * sizeof(float));
  // A header that does not fit there.
  std::vector<NamedArray> many{{"numbers", {n}, numbers}};
  for (int i = 0; i < 20000; ++i) many.push_back({fmt::format("record {}", i), {1}, {1}});
  write(folder.path("y.safetensors"), many);
  const auto wide = tensor::Checkpoint::open(folder.path("y.safetensors"));
  CHECK(wide.tensors().size() == 20001);
  REQUIRE(wide.tensors().at("numbers").to_floats(values.data()));
  const bool is_same_again = values == numbers;
  CHECK(is_same_again);
}

TEST_CASE("infer.output: text, and the archive's parts", "[infer]") {
  const test::Folder folder;
  write(folder.path("x.tsv"), {{"m", {2}, {0.5f, -1}}, {"r", {2, 1}, {3, 4}}});
  CHECK(folder.read("x.tsv") == "m\t0.5\t-1\nr\t1\t3\nr\t2\t4\n");
  // As many digits as give the same number back, and no more.
  write(folder.path("y.tsv"), {{"d", {3}, {1.0f / 3, 16777216, 1e-8f}}});
  CHECK(folder.read("y.tsv") == "d\t0.33333334\t16777216\t1e-08\n");
  write(folder.path("x.npz"), kArrays);
  const std::string zip = folder.read("x.npz");
  CHECK(zip.substr(0, 4) == "PK\x03\x04");
  CHECK(zip.find("a#2.npy") != std::string::npos);
  CHECK(zip.substr(zip.size() - 22, 4) == "PK\x05\x06");
}

TEST_CASE("infer.output: HDF5 has an entry for every key", "[infer]") {
  const test::Folder folder;
  std::vector<NamedArray> arrays;
  for (int i = 0; i < 700; ++i)  // a tree of several levels
    arrays.push_back({fmt::format("p{}/mean/3", i), {2}, {static_cast<float>(i), 1}});
  write(folder.path("x.h5"), arrays);
  const std::string bytes = folder.read("x.h5");
  CHECK(bytes.substr(0, 8) == "\x89HDF\r\n\x1a\n");
  CHECK(bytes.size() % 8 == 0);
  std::uint64_t end = 0;
  for (int i = 0; i < 8; ++i)
    end |= std::uint64_t{static_cast<unsigned char>(bytes[40 + static_cast<std::size_t>(i)])}
           << (8 * i);
  CHECK(end == bytes.size());
  CHECK_THROWS_AS(write(folder.path("y.h5"), {{"a", {1}, {1}}, {"a/b", {1}, {1}}}), Error);
  CHECK_FALSE(folder.has("y.h5"));
}

TEST_CASE("infer.output: parts are joined to the keys of the whole", "[infer]") {
  const test::Folder folder;
  const auto named = [](const std::string& name) {
    return NamedArray{name + "/mean/3", {1}, {1}, 7};
  };
  const std::vector<NamedArray> first{named("a"), named("a")}, second{named("a"), named("b#2")};
  write(folder.path("1.npy"), first);
  write(folder.path("2.npy"), second);
  io::join_npy({folder.path("1.npy"), folder.path("2.npy")}, folder.path("joined.npy"));
  write(folder.path("whole.npy"), {first[0], first[1], second[0], second[1]});
  CHECK(folder.read("joined.npy.index.tsv") == folder.read("whole.npy.index.tsv"));
  CHECK(folder.read("joined.npy.index.tsv") ==
        "key\tfirst_row\trows\na/mean/3\t0\t1\na#2/mean/3\t1\t1\na#3/mean/3\t2\t1\n"
        "b#2/mean/3\t3\t1\n");
}

TEST_CASE("infer.output: names that a format cannot hold are refused", "[infer]") {
  const test::Folder folder;
  CHECK_THROWS_AS(write(folder.path("x.safetensors"), {{"__metadata__", {1}, {1}}}), Error);
  for (const char* file : {"x.safetensors", "x.npz"}) {
    CHECK_THROWS_AS(write(folder.path(file), {{"caf\xe9", {1}, {1}}}), Error);
    write(folder.path(file), {{"caf\xc3\xa9 \"q\"\\", {1}, {1}}});
  }
  CHECK(tensor::Checkpoint::open(folder.path("x.safetensors"))
            .tensors()
            .count("caf\xc3\xa9 \"q\"\\") == 1);
  for (const char* name : {"a/./b", ".", "a//b", "a/"})
    CHECK_THROWS_AS(write(folder.path("x.h5"), {{name, {1}, {1}}}), Error);
}

TEST_CASE("infer.output: the suffix decides", "[infer]") {
  CHECK(io::array_format("-") == ArrayFormat::tsv);
  CHECK(io::array_format("a.hdf5") == ArrayFormat::hdf5);
  CHECK(io::array_format("a.NPZ") == ArrayFormat::npz);
  CHECK(io::array_format("a.npz.tsv") == ArrayFormat::tsv);
}

TEST_CASE("infer.resume_log: whole batches come back, a torn one does not", "[infer]") {
  const test::Folder folder;
  const std::string path = folder.path("x.partial");
  const auto batches = [&] {
    std::vector<pipeline::RecordOutputs> found;
    pipeline::ResumeLog log(path, "run 1");
    log.replay([&](const pipeline::RecordOutputs& result) { found.push_back(result); });
    return found;
  };
  {
    pipeline::ResumeLog log(path, "run 1");
    log.replay([](const pipeline::RecordOutputs&) { FAIL("a new log is empty"); });
    log.append({3, 30, 1, kArrays, "text\n", {"a warning", ""}, kPositions});
    log.append({1, 5, 0, {}, "more\n", {}});
  }
  const auto found = batches();
  REQUIRE(found.size() == 2);
  CHECK(found[0].n_records == 3);
  CHECK(found[0].arrays[0].values == kArrays[0].values);
  CHECK(found[0].arrays[2].shape == kArrays[2].shape);
  CHECK(found[0].arrays[1].kind_bytes == kArrays[1].kind_bytes);
  CHECK(found[0].warnings == std::vector<std::string>{"a warning", ""});
  REQUIRE(found[0].positions.size() == kPositions.size());
  for (std::size_t i = 0; i < kPositions.size(); ++i) {
    CHECK(found[0].positions[i].contig == kPositions[i].contig);
    CHECK(found[0].positions[i].begin == kPositions[i].begin);
  }
  CHECK(found[1].positions.empty());
  CHECK(found[1].text == "more\n");
  CHECK(found[1].warnings.empty());
  std::string bytes = folder.read("x.partial");
  folder.write("x.partial", bytes.substr(0, bytes.size() - 3));
  CHECK(batches().size() == 1);
  CHECK(batches().size() == 1);  // what was torn has been cut off
  bytes[40] = static_cast<char>(bytes[40] ^ 1);
  folder.write("x.partial", bytes);
  CHECK(batches().empty());
  CHECK_THROWS_AS(pipeline::ResumeLog(path, "run 2"), Error);
  // Also one without results, and one that is shorter than another run's fingerprint.
  folder.write("y.partial", "");
  { pipeline::ResumeLog log(folder.path("y.partial"), "run 1"); }
  CHECK_THROWS_AS(pipeline::ResumeLog(folder.path("y.partial"), "run 2, with more to tell"), Error);
  pipeline::ResumeLog again(folder.path("y.partial"), "run 1");
}

namespace {

std::string number(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A log with the head of "run 1" and one batch of these bytes, whose checksum is right.
std::string log_of(const std::string& payload) {
  const std::uint32_t crc = libdeflate_crc32(0, payload.data(), payload.size());
  return std::string("BGIJ\4\0\0\0", 8) + number(5) + "run 1" + number(payload.size()) + payload +
         std::string(reinterpret_cast<const char*>(&crc), sizeof crc);
}

std::string resume_error(const std::string& path) {
  try {
    pipeline::ResumeLog log(path, "run 1");
    log.replay([](const pipeline::RecordOutputs&) {});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("infer.resume_log: a right checksum vouches for no count", "[infer]") {
  const test::Folder folder;
  const auto error_of = [&](const std::string& payload) {
    return resume_error(folder.write("x.partial", log_of(payload)));
  };
  const std::string counts = number(1) + number(30) + number(0), text = number(2) + "a\n";
  const auto array = [](const std::string& shape, std::uint64_t n, const std::string& values) {
    return number(1) + "k" + number(0) + shape + number(n) + values;
  };
  const std::string four(16, '\1');
  const std::string good = array(number(1) + number(4), 4, four);
  // Warnings, then positions.
  const std::string no_warnings = number(0) + number(0);
  const std::string warning = number(1) + number(1) + "w" + number(0);
  const std::string position = number(0) + number(1) + number(5) + number(~std::uint64_t{6});
  REQUIRE(error_of(counts + text + number(1) + good + position) == "no error");
  REQUIRE(error_of(counts + text + number(0) + no_warnings) == "no error");
  REQUIRE(error_of(counts + text + number(0) + warning) == "no error");
  REQUIRE(error_of(counts + text + number(1) + good + no_warnings) == "no error");
  const std::uint64_t kHuge = std::uint64_t{1} << 61;
  const std::vector<std::string> bad{
      "",
      counts,
      number(1) + number(30) + number(31) + text + number(0),
      counts + number(3) + "a\n",
      counts + number(~std::uint64_t{0}) + "a\n",
      counts + text,
      counts + text + number(0) + "more",
      counts + text + number(1),
      counts + text + number(kHuge),
      counts + text + number(1) + number(100) + "k",
      counts + text + number(1) + array(number(0), 1, four.substr(4)),
      counts + text + number(1) + array(number(kHuge), 4, four),
      counts + text + number(1) + array(number(1) + number(3), 4, four),
      counts + text + number(1) + array(number(1) + number(kHuge), kHuge, four),
      counts + text + number(1) + array(number(2) + number(kHuge) + number(8), 0, ""),
      counts + text + number(1) +
          array(number(4) + number(1) + number(1) + number(1) + number(4), 4, four),
      counts + text + number(1) + number(1) + "k" + number(2) + number(1) + number(4) + number(4) +
          four,
      number(2) + number(30) + number(0) + text + number(1) + good};
  std::vector<std::string> payloads;
  for (const std::string& arrays : bad) payloads.push_back(arrays + no_warnings);
  for (const std::string& warnings :
       {std::string(), number(1), number(kHuge), number(1) + number(100) + "w", warning + "more",
        number(0), number(0) + number(kHuge), position})
    payloads.push_back(counts + text + number(0) + warnings);
  for (const std::string& payload : payloads) {
    INFO(payload.size());
    const std::string error = error_of(payload);
    CHECK(error.find(folder.path("x.partial") + ": batch 1: ") == 0);
    CHECK(error.find("; remove the file to start again") != std::string::npos);
  }
}

TEST_CASE("infer.resume_log: a link is not followed and a log has one writer", "[infer]") {
  const test::Folder folder;
  const std::string path = folder.path("x.partial");
  folder.write("notes.txt", "");
  std::filesystem::create_symlink(folder.path("notes.txt"), path);
  CHECK(resume_error(path) ==
        path + ": is a symbolic link, which is not followed; expected a file or none");
  CHECK(folder.read("notes.txt").empty());
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.path("nothing"), path);
  CHECK(resume_error(path).find("is a symbolic link") != std::string::npos);
  CHECK_FALSE(folder.has("nothing"));
  std::filesystem::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(resume_error(path) == path + ": is no plain file");
  std::filesystem::remove(path);
  {
    pipeline::ResumeLog first(path, "run 1");
    CHECK(resume_error(path) == path + ": another run is writing it; wait for its end");
    first.append({1, 5, 0, {}, "line\n", {}});
    first.remove();
    CHECK(resume_error(path) == "no error");  // a file of its own
  }
  CHECK(resume_error(path) == "no error");
}
