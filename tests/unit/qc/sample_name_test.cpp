#include "lib/qc/options/sample_name.hpp"

#include "tests/support/catch.hpp"

using biogpu::qc::sample_name;

TEST_CASE("qc.sample_name: one file without folder and suffixes", "[qc]") {
  CHECK(sample_name("reads.fq", "") == "reads");
  CHECK(sample_name("runs/reads.fastq.gz", "") == "reads");
  CHECK(sample_name("reads.FASTQ.GZ", "") == "reads");
  CHECK(sample_name("a.b.fq.bgz", "") == "a.b");
  CHECK(sample_name("reads", "") == "reads");
  CHECK(sample_name(".fq", "") == ".fq");
  CHECK(sample_name("S1_R1_001.fastq.gz", "") == "S1_R1_001");
}

TEST_CASE("qc.sample_name: what mates have in common", "[qc]") {
  CHECK(sample_name("in/S1_L001_R1_001.fastq.gz", "in/S1_L001_R2_001.fastq.gz") == "S1_L001");
  CHECK(sample_name("SRR1_1.fq.gz", "SRR1_2.fq.gz") == "SRR1");
  CHECK(sample_name("reads1.fq", "reads2.fq") == "reads");
  CHECK(sample_name("a/x.R1.fq", "b/x.R2.fq") == "x");
  CHECK(sample_name("forward/x.fq", "reverse/x.fq") == "x");
  CHECK(sample_name("sample.fq", "sample2.fq") == "sample");
  CHECK(sample_name("HR1.fq", "HR2.fq") == "HR");
}

TEST_CASE("qc.sample_name: names that have too little in common, and streams", "[qc]") {
  CHECK(sample_name("r1.fq", "r2.fq") == "r1, r2");
  CHECK(sample_name("left.fq", "right.fq") == "left, right");
  CHECK(sample_name("", "") == "standard input");
  CHECK(sample_name("-", "") == "standard input");
  CHECK(sample_name("/dev/stdin", "") == "standard input");
}
