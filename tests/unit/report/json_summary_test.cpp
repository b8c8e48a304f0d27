// The object that --json writes, against docs/formats/json.md.
#include "lib/report/json_summary.hpp"

#include "lib/core/version.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

using Keys = std::vector<std::string>;

report::RunSummary example() {
  report::RunSummary run;
  run.git = "0123456789ab";
  run.backend = "cuda";
  run.cpu_isa = "AVX3";
  run.command = "biogpu align --mode sw q.fa t.fa";
  run.inputs = {{"q.fa", 120, 2}, {"standard input", 0, 3}};
  run.outputs = {{"out.tsv", 64}};
  run.device_requested = "auto";
  run.device_used = "gpu:0,1";
  run.device_name = "card";
  run.device_reason = "found and worth its start";
  run.wall_s = 1.5;
  run.gpu_s = 0.25;
  run.stages = {{"read", 1, 1.0, 0.5, 0.25, "free slots", 1000}, {"write", 2, 0, 0, 0, "", 0}};
  run.peak_device_bytes = std::uint64_t{5} << 30;
  run.result = {{"mode", "sw"}, {"cells", 12}};
  run.warnings = {"one", "two"};
  return run;
}

}  // namespace

TEST_CASE("report.json_summary: the keys stand in the documented order", "[report]") {
  const Json out = Json::parse(report::json_summary(example()));
  CHECK(keys_of(out) == Keys{"schema_version", "biogpu", "command", "inputs", "outputs", "device",
                             "time", "stages", "memory", "result", "warnings"});
  CHECK(keys_of(out["biogpu"]) == Keys{"version", "git", "backend", "cpu_isa"});
  CHECK(keys_of(out["inputs"][0]) == Keys{"path", "bytes", "records"});
  CHECK(keys_of(out["outputs"][0]) == Keys{"path", "bytes"});
  CHECK(keys_of(out["device"]) == Keys{"requested", "used", "name", "reason"});
  CHECK(keys_of(out["time"]) == Keys{"wall_s", "cpu_s", "gpu_s", "read_s", "compute_s", "write_s"});
  CHECK(keys_of(out["stages"][0]) ==
        Keys{"name", "threads", "wall_s", "busy_s", "wait_s", "waits_for", "bytes"});
  CHECK(keys_of(out["memory"]) == Keys{"peak_rss_bytes", "peak_device_bytes"});
}

TEST_CASE("report.json_summary: the values are the run's", "[report]") {
  const Json out = Json::parse(report::json_summary(example()));
  CHECK(out["schema_version"] == 1);
  CHECK(out["biogpu"]["version"] == kVersion);
  CHECK(out["biogpu"]["git"] == "0123456789ab");
  CHECK(out["command"] == "biogpu align --mode sw q.fa t.fa");
  CHECK(out["inputs"].size() == 2);
  CHECK(out["inputs"][1]["path"] == "standard input");
  CHECK(out["inputs"][1]["records"] == 3);
  CHECK(out["device"]["used"] == "gpu:0,1");
  CHECK(out["time"]["wall_s"] == 1.5);
  CHECK(out["time"]["cpu_s"] >= 0.0);
  CHECK(out["stages"].size() == 2);
  CHECK(out["stages"][0] == Json{{"name", "read"},
                                 {"threads", 1},
                                 {"wall_s", 1.0},
                                 {"busy_s", 0.5},
                                 {"wait_s", 0.25},
                                 {"waits_for", "free slots"},
                                 {"bytes", 1000}});
  CHECK(out["memory"]["peak_rss_bytes"] > 1 << 20);
  CHECK(out["memory"]["peak_device_bytes"] == std::uint64_t{5} << 30);
  CHECK(keys_of(out["result"]) == Keys{"mode", "cells"});
  CHECK(out["warnings"] == Json{"one", "two"});
}

TEST_CASE("report.json_summary: an empty run is a whole object", "[report]") {
  const std::string text = report::json_summary({});
  const Json out = Json::parse(text);
  CHECK(out["biogpu"]["git"].is_null());
  CHECK(out["inputs"] == Json::array());
  CHECK(out["result"] == Json::object());
  CHECK(out["warnings"] == Json::array());
  CHECK(text.back() == '\n');
}

TEST_CASE("report.json_summary: paths of any bytes give valid JSON", "[report]") {
  report::RunSummary run;
  run.inputs = {{"a\"b\\c\n.fa", 1, 1}, {"\xff\xfe.fa", 1, 1}, {"\xc3\xa4.fa", 1, 1}};
  const Json out = Json::parse(report::json_summary(run));
  CHECK(out["inputs"][0]["path"] == "a\"b\\c\n.fa");
  CHECK(out["inputs"][1]["path"] == "\xef\xbf\xbd\xef\xbf\xbd.fa");  // replacement characters
  CHECK(out["inputs"][2]["path"] == "\xc3\xa4.fa");
}
