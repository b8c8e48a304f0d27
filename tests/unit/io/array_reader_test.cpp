#include "lib/io/arrays/array_reader.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;

namespace {

std::string little_endian(std::uint64_t value, int n_bytes) {
  std::string bytes;
  for (int i = 0; i < n_bytes; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string npy(const std::string& header, const std::string& numbers, int version = 1) {
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         little_endian(header.size(), version == 1 ? 2 : 4) + header + numbers;
}

std::string header(const std::string& type, const std::string& shape,
                   const std::string& fortran = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}   \n", type, fortran,
                     shape);
}

// The same number in both orders of bytes.
template <class T>
std::string numbers(const std::vector<T>& values, bool big_endian = false) {
  std::string bytes;
  for (const T value : values) {
    std::string one(sizeof value, '\0');
    std::memcpy(one.data(), &value, sizeof value);
    if (big_endian) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

io::LoadedArray read(const std::string& bytes) {
  const test::Folder folder;
  folder.write("x.npy", bytes);
  const io::ArrayFile file(folder.path("x.npy"));
  REQUIRE(file.keys() == std::vector<std::string>{""});
  return file.read("");
}

std::string error_of(const std::string& bytes) {
  const test::Folder folder;
  folder.write("x.npz", bytes);
  const std::string path = folder.path("x.npz");
  try {
    const io::ArrayFile file(path);
    for (const std::string& key : file.keys()) file.read(key);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    const std::string what = error.what();
    CHECK(what.find(path + ": ") == 0);
    return what.substr(path.size() + 2);
  }
  return "";
}

struct Member {
  std::string name, content;
  bool deflated = false;
};

std::string deflate(const std::string& text) {
  const auto tool = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_deflate_compress_bound(tool, text.size()), '\0');
  out.resize(libdeflate_deflate_compress(tool, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(tool);
  return out;
}

// With the sizes and places of the members in 64-bit records.
std::string zip(const std::vector<Member>& members, bool large = false,
                const std::string& comment = "") {
  std::string file, directory;
  for (const Member& member : members) {
    const std::string packed = member.deflated ? deflate(member.content) : member.content;
    const std::string common =
        little_endian(45, 2) + little_endian(0, 2) + little_endian(member.deflated ? 8 : 0, 2) +
        little_endian(0, 4) +
        little_endian(libdeflate_crc32(0, member.content.data(), member.content.size()), 4) +
        (large ? little_endian(0xffffffffffffffff, 8)
               : little_endian(packed.size(), 4) + little_endian(member.content.size(), 4)) +
        little_endian(member.name.size(), 2);
    const std::string extra =
        large
            ? little_endian(1, 2) + little_endian(24, 2) + little_endian(member.content.size(), 8) +
                  little_endian(packed.size(), 8) + little_endian(file.size(), 8)
            : "";
    directory += "PK\x01\x02" + little_endian(45, 2) + common + little_endian(extra.size(), 2) +
                 little_endian(0, 10) + little_endian(large ? 0xffffffff : file.size(), 4) +
                 member.name + extra;
    file += "PK\x03\x04" + common + little_endian(0, 2) + member.name + packed;
  }
  const std::uint64_t begin = file.size(), n = members.size();
  file += directory;
  if (large)
    file += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 4) + little_endian(0, 8) +
            little_endian(n, 8) + little_endian(n, 8) + little_endian(directory.size(), 8) +
            little_endian(begin, 8) + "PK\x06\x07" + little_endian(0, 4) +
            little_endian(begin + directory.size(), 8) + little_endian(1, 4);
  return file + "PK\x05\x06" + little_endian(0, 4) + little_endian(large ? 0xffff : n, 2) +
         little_endian(large ? 0xffff : n, 2) +
         little_endian(large ? 0xffffffff : directory.size(), 4) +
         little_endian(large ? 0xffffffff : begin, 4) + little_endian(comment.size(), 2) + comment;
}

}  // namespace

TEST_CASE("io.array_reader: numbers of every type and order of bytes", "[io]") {
  const io::SharedArray right{1, -2, 3};
  for (const bool big : {false, true}) {
    const std::string order = big ? ">" : "<";
    const auto check = [&](const std::string& type, const std::string& bytes) {
      CAPTURE(order, type);
      const io::LoadedArray array = read(npy(header(order + type, "3,"), bytes));
      CHECK(array.shape == std::vector<std::int64_t>{3});
      CHECK(array.values == right);
    };
    check("f4", numbers<float>({1, -2, 3}, big));
    check("f8", numbers<double>({1, -2, 3}, big));
    check("f2", numbers<std::uint16_t>({0x3c00, 0xc000, 0x4200}, big));
    check("i2", numbers<std::int16_t>({1, -2, 3}, big));
    check("i4", numbers<std::int32_t>({1, -2, 3}, big));
    check("i8", numbers<std::int64_t>({1, -2, 3}, big));
    CHECK(read(npy(header(order + "u4", "2,"), numbers<std::uint32_t>({1, 1 << 24}, big))).values ==
          io::SharedArray{1, 1 << 24});
  }
  CHECK(read(npy(header("|i1", "3,"), numbers<std::int8_t>({1, -2, 3}))).values == right);
  CHECK(read(npy(header("|b1", "3,"), numbers<std::uint8_t>({1, 0, 1}))).values ==
        io::SharedArray{1, 0, 1});
  CHECK(read(npy(header("=f4", "1,"), numbers<float>({5}))).values == io::SharedArray{5});
}

TEST_CASE("io.array_reader: halves that are small, infinite or no numbers", "[io]") {
  const io::SharedArray values =
      read(npy(header("<f2", "5,"),
               numbers<std::uint16_t>({0x0001, 0x83ff, 0x7c00, 0xfc00, 0x7e00})))
          .values;
  CHECK(values[0] == std::ldexp(1.0f, -24));
  CHECK(values[1] == -std::ldexp(1023.0f, -24));
  CHECK(values[2] == std::numeric_limits<float>::infinity());
  CHECK(values[3] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(values[4]));
}

TEST_CASE("io.array_reader: shapes, both orders of axes, all versions", "[io]") {
  const std::string six = numbers<float>({1, 2, 3, 4, 5, 6});
  for (const int version : {1, 2, 3})
    CHECK(read(npy(header("<f4", "2, 3"), six, version)).values ==
          io::SharedArray{1, 2, 3, 4, 5, 6});
  CHECK(read(npy(header("<f4", "2, 3", "True"), six)).values == io::SharedArray{1, 3, 5, 2, 4, 6});
  const io::LoadedArray three = read(npy(header("<f4", "1, 3, 2", "True"), six));
  CHECK(three.shape == std::vector<std::int64_t>{1, 3, 2});
  CHECK(three.values == io::SharedArray{1, 4, 2, 5, 3, 6});
  CHECK(read(npy(header("<f4", ""), numbers<float>({7}))).values == io::SharedArray{7});
  CHECK(read(npy(header("<f4", "4, 0, 1000000000000"), "")).values.empty());
  // Keys in another order, other quotes, no comma at the end, Python 2.
  CHECK(read(npy("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<f4\"}",
                 numbers<float>({1, 2})))
            .values == io::SharedArray{1, 2});
}

TEST_CASE("io.array_reader: members of an archive, stored and deflated", "[io]") {
  const test::Folder folder;
  const std::string a = npy(header("<f4", "2,"), numbers<float>({1, 2}));
  const std::string b = npy(header("|u1", "3, 1"), std::string("\x03\x02\x01"));
  for (const bool large : {false, true}) {
    folder.write("x.NPZ",
                 zip({{"a.npy", a}, {"deep/b.npy", b, true}}, large, "a comment PK\x05\x06"));
    const io::ArrayFile file(folder.path("x.NPZ"));
    CHECK(file.keys() == std::vector<std::string>{"a", "deep/b"});
    CHECK(file.has("a"));
    CHECK_FALSE(file.has("b"));
    CHECK(file.read("a").values == io::SharedArray{1, 2});
    CHECK(file.read("deep/b").shape == std::vector<std::int64_t>{3, 1});
    CHECK(file.read("deep/b").values == io::SharedArray{3, 2, 1});
  }
  folder.write("none.npz", zip({}));
  CHECK(io::ArrayFile(folder.path("none.npz")).keys().empty());
}

TEST_CASE("io.array_reader: what the writers write is read back", "[io]") {
  const test::Folder folder;
  const std::vector<io::NamedArray> arrays = {
      {"z", {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, {"none", {0, 3}, {}}};
  for (const std::string name : {"x.npz", "x.npy"}) {
    const auto writer = io::make_array_writer(folder.path(name), io::array_format(name));
    writer->add(arrays[0]);
    if (name == "x.npz") writer->add(arrays[1]);
    writer->commit();
  }
  const io::ArrayFile archive(folder.path("x.npz"));
  CHECK(archive.keys() == std::vector<std::string>{"z", "none"});
  for (const io::NamedArray& array : arrays) {
    CHECK(archive.read(array.key).shape == array.shape);
    CHECK(archive.read(array.key).values == array.values);
  }
  CHECK(io::ArrayFile(folder.path("x.npy")).read("").values == arrays[0].values);
}

TEST_CASE("io.array_reader: a file that is no archive of arrays", "[io]") {
  CHECK(error_of("") == "is empty");
  CHECK(error_of("\x1f\x8b") == "is compressed by gzip; unpack it first");
  CHECK(error_of("\x89HDF\r\n") == "is an HDF5 file; expected .npz or .npy");
  CHECK(error_of("hello") == "is neither .npz nor .npy");
  const std::string a = npy(header("<f4", "2,"), numbers<float>({1, 2}));
  CHECK(error_of(zip({{"readme.txt", "x"}})) == "the member 'readme.txt' is no .npy");
  CHECK(error_of(zip({{"a.npy", a}, {"a.npy", a}})) == "the member 'a.npy' comes twice");
  const std::string whole = zip({{"a.npy", a}, {"b.npy", a, true}});
  for (std::size_t n = 1; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK_FALSE(error_of(whole.substr(0, n)).empty());
  }
  std::string changed = whole;
  changed[45] ^= 1;  // of the first member
  CHECK(error_of(changed) ==
        "the member 'a.npy' does not have the checksum that the directory says");
}

TEST_CASE("io.array_reader: a header that is wrong is told by the array's name", "[io]") {
  const auto in_zip = [](const std::string& bytes) { return error_of(zip({{"a.npy", bytes}})); };
  CHECK(in_zip("text") == "array 'a': does not begin as an .npy does");
  CHECK(in_zip(npy(header("<c8", "2,"), "")).find("array 'a': it holds numbers of type '<c8'") ==
        0);
  CHECK(in_zip(npy(header("|f4", "2,"), "")).find("array 'a': it holds numbers of type '|f4'") ==
        0);
  CHECK(in_zip(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")) ==
        "array 'a': it holds records of several fields, not numbers");
  CHECK(in_zip(npy(header("<f4", "2,"), "1234")).find("has 4 bytes of numbers") !=
        std::string::npos);
  CHECK(in_zip(npy(header("<f4", "4294967296, 4294967296"), "")).find("has 0 bytes") !=
        std::string::npos);
  CHECK(in_zip(npy(header("<f4", "-1,"), "")).find("as an extent") != std::string::npos);
  CHECK(in_zip(npy(header("<f4", "99999999999999999999,"), "")).find("as an extent") !=
        std::string::npos);
  CHECK(in_zip(npy("{'descr': '<f4', 'fortran_order': False}", "")).find("lacks") !=
        std::string::npos);
  CHECK(in_zip(npy("{'descr': '<f4', 'descr': '<f4'}", "")).find("twice") != std::string::npos);
  CHECK(in_zip(npy("{'color': '<f4'}", "")).find("unknown entry 'color'") != std::string::npos);
  CHECK(in_zip(npy(header("<f4", "1,"), "1234", 9)).find("has version 9.0") != std::string::npos);
  CHECK(in_zip(npy(header("<f4", "1,"), "1234").substr(0, 12)) ==
        "array 'a': ends inside its header");
  CHECK(in_zip(npy(header("<f8", "1,"), numbers<double>({1e300}))).find("too large for fp32") !=
        std::string::npos);
  CHECK(in_zip(npy(header("<i4", "1,"), numbers<std::int32_t>({(1 << 24) + 1}))) ==
        "array 'a': has the integer 16777217, which fp32 does not hold exactly");
}
