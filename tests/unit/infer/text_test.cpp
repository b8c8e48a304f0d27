#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/models/base/tokenizer.hpp"
#include "lib/tasks/variants.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using tasks::Tokens;

namespace {

template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("infer.vocabulary: residues, masks and blanks", "[infer]") {
  const models::Vocabulary esm = models::esm_vocabulary();
  CHECK(esm.size() == 33);
  CHECK(models::tokenize(esm, "LaG<mask>V*", {}, "x") == Tokens{0, 4, 5, 6, 32, 7, 2});
  CHECK(models::tokenize(esm, "", {}, "x") == Tokens{0, 2});
  CHECK(models::tokenize(esm, "L[MASK].", {}, "x") == Tokens{0, 4, 32, 29, 2});
  const models::Vocabulary bert = models::protbert_vocabulary(false);
  CHECK(bert.size() == 30);
  CHECK(models::tokenize(bert, "M K V", {}, "x") == models::tokenize(bert, "MKV", {}, "x"));
  CHECK(models::tokenize(bert, "UZOB", {}, "x") == models::tokenize(bert, "XXXX", {}, "x"));
  CHECK(models::tokenize(models::protbert_vocabulary(true), "UZOB", {}, "x") ==
        Tokens{2, 26, 28, 29, 27, 3});
}

TEST_CASE("infer.vocabulary: what the model cannot read is named", "[infer]") {
  const models::Vocabulary esm = models::esm_vocabulary();
  const auto with = [&](const std::string& text, const models::TokenizeOptions& options) {
    return error_of([&] { models::tokenize(esm, text, options, "f.fa: record 1 (p)"); });
  };
  CHECK(with("LAJG", {}).find("f.fa: record 1 (p): residue 3 is 'J'") == 0);
  CHECK(with("LA\x01", {}).find("byte 0x01") != std::string::npos);
  CHECK(with("LAG", {false, 2, 0}).find("3 residues; the model takes at most 2") !=
        std::string::npos);
  CHECK(models::tokenize(esm, "LAG", {false, 2, 2}, "x") == Tokens{0, 4, 5, 2});
  std::uint64_t n_unknown = 0;
  CHECK(models::tokenize(esm, "JLJ", {true, 0, 0}, "x", &n_unknown) == Tokens{0, 3, 4, 3, 2});
  CHECK(n_unknown == 2);
}

TEST_CASE("infer.vocabulary: a folder with other words is refused", "[infer]") {
  const test::Folder folder;
  folder.write("vocab.txt", "<cls>\n<eos>\n");
  CHECK(error_of([&] {
          models::check_vocabulary_file(folder.path(), models::esm_vocabulary());
        }).find("word 1 is '<eos>'; expected '<pad>'") != std::string::npos);
}

TEST_CASE("infer.variants: tables with and without a header", "[infer]") {
  const test::Folder folder;
  const auto read = [&](const std::string& text) {
    return tasks::read_variants(folder.write("v.tsv", text));
  };
  const auto plain = read("A1C\nA1C:D5E\n");
  REQUIRE(plain.at("").size() == 2);
  CHECK(plain.at("")[1].text == "A1C:D5E");
  CHECK(plain.at("")[1].line == 2);
  const auto csv = read("mutant,DMS_score\nA1C,0.5\n");
  CHECK(csv.at("").front().text == "A1C");
  const auto named = read("name\tscore\tmutant\np\t1\tA1C\nq\t2\tM1C\n");
  CHECK(named.at("q").front().text == "M1C");
  const auto quoted = read("\"mutant\",\"name\"\n\"A1C\",\"wild \"\"type\"\", long\"\n");
  CHECK(quoted.at("wild \"type\", long").front().text == "A1C");
  CHECK(error_of([&] { read("name\tmutant\nA1C\n"); }).find("line 2: 1 columns") !=
        std::string::npos);
}

TEST_CASE("infer.variants: tables as R writes them", "[infer]") {
  const test::Folder folder;
  const auto read = [&](const std::string& text) {
    return tasks::read_variants(folder.write("r.txt", text));
  };
  const auto two = [&](const std::string& text, const std::string& name) {
    INFO(text);
    const auto table = read(text);
    REQUIRE(table.at(name).size() == 2);
    CHECK(table.at(name)[0].text == "K3E");
    CHECK(table.at(name)[1].text == "W9Y;L2P");
  };
  two("\"mutation\"\n\"K3E\"\n\"W9Y;L2P\"\n", "");                               // write.csv
  two("\"\",\"variant\",\"x\"\n\"1\",\"K3E\",0.1\n\"2\",\"W9Y;L2P\",NA\n", "");  // row names
  two("\"id\"\t\"mutant\"\n\"p q\"\t\"K3E\"\n\"p q\"\t\"W9Y;L2P\"\n", "p q");    // sep="\t"
  two("\"id\"\t\"mutant\"\n\"1\"\t\"p\"\t\"K3E\"\n\"2\"\t\"p\"\t\"W9Y;L2P\"\n", "p");
  two("\"mutant\" \"score\"\n\"1\" \"K3E\" 1\n\"2\" \"W9Y;L2P\" 2\n", "");  // write.table
  two("\"name\";\"mutant\"\n\"p\";\"K3E\"\n\"p\";\"W9Y;L2P\"\n", "p");      // write.csv2
  two("Mutant , score\nK3E , 1\n W9Y;L2P,2\n", "");
  two("uniprot_id\tprotein_variant\tam_class\nQ1\tK3E\tb\nQ1\tW9Y;L2P\tb\n", "Q1");
  two("K3E\nW9Y;L2P\n", "");
}

TEST_CASE("infer.variants: an empty field is no wild type, and a header is asked for", "[infer]") {
  const test::Folder folder;
  const auto error = [&](const std::string& text) {
    return error_of([&] { tasks::read_variants(folder.write("e.csv", text)); });
  };
  const auto has = [&](const std::string& text, const std::string& part) {
    INFO(text << " gives " << error(text));
    CHECK(error(text).find(part) != std::string::npos);
  };
  has("variant,score\nA1C,2\n,3\n", "e.csv: line 3: column 1 (the variant");
  has("variant,score\n \t,3\n", "line 2: column 1 (the variant");
  has("variant,score\n\"\",3\n", "line 2: column 1 (the variant");
  has("name,mutant\n,A1C\n", "line 2: column 1 (the name of the sequence) is empty");
  has("p,A1C\np,\n", "line 2: column 2 (the variant");
  has("protein\tchange\nP1\tA1C\n", "line 1: no column is called mutant, mutation or variant, and");
  has("mutants;score\nA1C;2\n", "line 1: no column is called mutant");
  has("variant,score\n\"A1C\"x,3\n", "line 2: text follows a closed quote");
  CHECK(tasks::read_variants(folder.write("w.csv", "wt\nWT\n_wt\nA1C\n")).at("").size() == 4);
}

TEST_CASE("infer.variants: marks, ends of lines and compression of a table", "[infer]") {
  const test::Folder folder;
  const std::string mark = "\xef\xbb\xbf";
  const auto read = [&](const std::string& name, const std::string& text) {
    return tasks::read_variants(folder.write(name, text));
  };
  for (const std::string& text : {mark + "mutant\nA1C\n", mark + "A1C\n",
                                  mark + "mutant\r\nA1C\r\n", mark + "\n# none\nmutant\nA1C"}) {
    INFO(text);
    CHECK(read("v.tsv", text).at("").front().text == "A1C");
  }
  const auto variant = [](std::size_t i) {
    std::string name = "A";
    return name.append(std::to_string(i)).append("C");
  };
  // Longer than the pieces that a text is read in.
  std::string text = "name\tmutant\n";
  for (std::size_t i = 0; i < 50000; ++i)
    text.append("wild_type\t").append(variant(i)).append("\n");
  const auto check_long = [&](const tasks::VariantTable& table) {
    const auto& variants = table.at("wild_type");
    REQUIRE(variants.size() == 50000);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      REQUIRE(variants[i].text == variant(i));
      REQUIRE(variants[i].line == i + 2);
    }
  };
  check_long(read("v.tsv", text));
  const std::string path = folder.write("v.tsv.gz", "");
  {
    io::OutputFile out(path, 1);
    out.write(text);
    out.commit();
  }
  check_long(tasks::read_variants(path));
}

TEST_CASE("infer.variants: a table without a variant is an error", "[infer]") {
  const test::Folder folder;
  for (const char* text : {"", "\n\n", "mutant\n", "name,mutant\r\n", "# A1C\n", "\xef\xbb\xbf"}) {
    const std::string path = folder.write("v.tsv", text);
    CHECK(error_of([&] { tasks::read_variants(path); }) == path + ": has no variant");
  }
  CHECK(error_of([&] { tasks::read_variants(folder.write("v.tsv", "BZh9")); }).find("bzip2") !=
        std::string::npos);
  CHECK(error_of([&] { tasks::read_variants(folder.path() + "/none.tsv"); }).find("none.tsv") !=
        std::string::npos);
}

TEST_CASE("infer.variants: a variant has to fit its sequence", "[infer]") {
  const models::Vocabulary esm = models::esm_vocabulary();
  const Tokens sequence = models::tokenize(esm, "MKTAY", {}, "x");
  const auto resolve = [&](const std::string& text) {
    tasks::Variant variant;
    variant.text = text;
    return error_of([&] { tasks::resolve_variant(variant, esm, sequence, 1, "v.tsv: line 3"); });
  };
  CHECK(resolve("M1A:Y5C") == "no error");
  CHECK(resolve("K1A").find("v.tsv: line 3: variant 'K1A': the sequence has M at 1") == 0);
  CHECK(resolve("Y6A").find("residue 6 of a sequence with 1 to 5") != std::string::npos);
  for (const char* bad : {"M", "M1", "1A", "MA", "M1AA", "M1A:", "M-1A", "M99999999999999999999A"})
    CHECK(resolve(bad) != "no error");
}
