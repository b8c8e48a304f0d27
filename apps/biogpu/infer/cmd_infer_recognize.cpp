// `biogpu infer recognize`: drawings of molecules to SMILES and molfiles.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/images/image_input.hpp"
#include "apps/biogpu/infer/images/named_texts.hpp"
#include "apps/biogpu/infer/run/item_run.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/models/molscribe/chemistry/rdkit.hpp"
#include "lib/models/molscribe/molscribe.hpp"
#include "lib/tasks/image/recognition_svg.hpp"
#include "lib/tasks/image/recognize.hpp"

namespace biogpu::app {
namespace {

constexpr std::uint64_t kCpuImages = 16, kGpuImages = 256;

struct RecognizeFlags {
  InferFlags infer;
  std::string list, json_lines, mol_dir, svg_dir, chemistry = "auto";
};

// Files of a folder, one for each picture, which get their names together at the end.
class FolderOutput {
 public:
  explicit FolderOutput(std::string folder) : folder_(std::move(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
      throw Error(ErrorCode::failed,
                  fmt::format("{}: cannot be made: {}", folder_, error.message()));
  }
  // Throws Error{bad_input} where another picture has the name: a.2.png and page 2 of a.tif.
  void add(std::string_view name, std::string_view text) {
    const std::string path = fmt::format("{}/{}", folder_, name);
    if (!names_.emplace(name).second)
      throw Error(ErrorCode::bad_input,
                  path + ": two pictures would have this file; give them other names");
    io::OutputFile file(path);
    file.write(text);
    file.finish();
    files_.push_back(std::move(file));
  }
  void commit() {
    for (io::OutputFile& file : files_) file.commit();
  }

 private:
  const std::string folder_;
  std::vector<io::OutputFile> files_;
  std::set<std::string, std::less<>> names_;
};

// A weight is multiplied about 500 times an image: once a row of the last stages.
ItemKind image_items(const std::vector<std::string>& paths) {
  constexpr double kRowsOfImage = 500;
  ItemKind kind;
  kind.words = {"images", "images", false};
  kind.n_products = kRowsOfImage * static_cast<double>(paths.size());
  kind.cpu_batch = kCpuImages;
  kind.gpu_batch = kGpuImages;
  return kind;
}

InferFlags with_images(const RecognizeFlags& flags) {
  InferFlags infer = flags.infer;
  infer.inputs = find_images(infer.inputs, flags.list);
  if (!flags.list.empty()) infer.also_read.push_back({"--list", flags.list});
  if (!flags.json_lines.empty()) infer.also_written.push_back({"--json-lines", flags.json_lines});
  for (const std::string& folder : {flags.mol_dir, flags.svg_dir})
    if (!folder.empty()) require_own_stems(infer.inputs, folder);
  return infer;
}

// The version of RDKit, or empty for drawings as they are.
std::string find_chemistry(const std::string& wanted) {
  if (wanted == "plain") return {};
  std::string why;
  std::string version = models::molscribe::rdkit_version(&why);
  if (version.empty() && wanted == "rdkit")
    throw Error(ErrorCode::usage, "--chemistry rdkit: " + why + "; expected plain here");
  return version;
}

void run_recognize(const RecognizeFlags& flags, const std::string& command_line) {
  const std::string rdkit = find_chemistry(flags.chemistry);
  const InferFlags infer = with_images(flags);
  ImageSource* source = nullptr;
  ItemRun<models::MolScribe, ImageItem> run(
      infer, "infer recognize", command_line, image_items(infer.inputs),
      [&](const InferFlags& resolved) {
        auto made =
            std::make_unique<ImageSource>(resolved.inputs, resolved.shard, resolved.bad_records());
        source = made.get();
        return made;
      });
  source->prepare_for(run.model().config().input_size, !flags.svg_dir.empty());
  run.limit_memory([&](std::uint64_t n_images) {
    return run.model().measure(static_cast<std::int64_t>(n_images));
  });
  run.add_state(rdkit.empty() ? "chemistry plain" : fmt::format("chemistry rdkit {}", rdkit));
  io::OutputFile out(infer.output, infer.shared.threads);
  out.write(tasks::recognition_header());
  std::optional<io::OutputFile> lines;
  if (!flags.json_lines.empty()) lines.emplace(flags.json_lines, infer.shared.threads);
  std::optional<FolderOutput> molfiles;
  if (!flags.mol_dir.empty()) molfiles.emplace(flags.mol_dir);
  std::optional<FolderOutput> drawings;
  if (!flags.svg_dir.empty()) drawings.emplace(flags.svg_dir);
  run.run(
      [&](const std::vector<ImageItem>& items, pipeline::RecordOutputs& result) {
        std::vector<models::molscribe::PreparedImage> images;
        for (const ImageItem& item : items) images.push_back(item.image);
        std::vector<models::molscribe::MoleculeGraph> graphs;
        run.use_model([&](models::MolScribe& model) { graphs = model.recognize(images); });
        for (std::size_t i = 0; i < items.size(); ++i)
          run.devices().require_finite(std::array{graphs[i].confidence}, items[i].key);
        NamedTexts texts;
        OriginalReader originals;
        for (std::size_t i = 0; i < items.size(); ++i) {
          const tasks::Recognized recognized = tasks::make_recognized(
              items[i].key, items[i].image, std::move(graphs[i]), !rdkit.empty());
          std::string line, json;
          tasks::append_recognition_line(line, recognized);
          if (lines) tasks::append_recognition_json(json, recognized);
          texts.add("tsv", line);
          if (lines) texts.add("json", json);
          if (molfiles) texts.add("mol:" + items[i].stem + ".mol", recognized.molfile);
          if (drawings)
            texts.add("svg:" + items[i].stem + ".svg",
                      tasks::recognition_svg(recognized, items[i].image, originals.read(items[i])));
        }
        result.text = texts.joined();
      },
      [&](const pipeline::RecordOutputs& result) {
        for (const auto& [name, text] : NamedTexts::split(result.text)) {
          if (name == "tsv")
            out.write(text);
          else if (name == "json")
            lines->write(text);
          else if (name.starts_with("svg:"))
            drawings->add(name.substr(4), text);
          else if (!text.empty())
            molfiles->add(name.substr(4), text);
        }
      },
      2);
  out.finish();
  if (lines) lines->finish();
  nlohmann::ordered_json result = {
      {"model", {{"architecture", "MolScribe"}, {"precision", run.devices().precision_name()}}}};
  run.add_counts(result);
  run.finish(out.bytes(), std::move(result), [&] {
    out.commit();
    if (lines) lines->commit();
    if (molfiles) molfiles->commit();
    if (drawings) drawings->commit();
  });
}

}  // namespace

Run add_infer_recognize(CLI::App& command) {
  const auto flags = std::make_shared<RecognizeFlags>();
  const OptionGroup options(command);
  options.option(
      "IMAGE", flags->infer.inputs,
      "PNG, JPEG, TIFF (all pages) or BMP files, or folders of these; - is one on standard input",
      " ");
  add_model_flag(command, flags->infer);
  options.option("--list", flags->list,
                 "read more names of pictures from this text file, one a line", "FILE");
  add_table_output(command, flags->infer);
  options
      .option("--json-lines", flags->json_lines,
              "write atoms, bonds, places, confidences and the molfile of each picture to this "
              "file, a JSON object a line",
              "FILE")
      ->check(output_name({"jsonl", "json", "txt"}));
  options.option("--mol-dir", flags->mol_dir,
                 "write a molfile (V2000) of each picture to this folder, named after it", "DIR");
  options.option("--svg", flags->svg_dir,
                 "draw the graph of each picture over it into this folder, to check it at a glance",
                 "DIR");
  options
      .option("--chemistry", flags->chemistry,
              "write canonical SMILES with stereo and expanded abbreviations (rdkit), or as drawn "
              "(plain) [rdkit where it is installed]",
              "HOW")
      ->transform(one_of({"auto", "rdkit", "plain"}));
  add_model_options(command, models::Reads::images);
  add_precision_flag(command, flags->infer.precision);
  command.get_option("--precision")
      ->description(
          "compute in fp32, tf32, fp16 or bf16; 16 bits exchange neighbouring places [fp32]");
  add_resume_flag(command, flags->infer);
  add_shared_flags(command, flags->infer.shared);
  command.get_option("--batch")->description(
      "read at most N pictures in one batch [chosen for the device]");
  add_skip_bad_flag(command, flags->infer, "pictures that cannot be read");
  add_infer_shard_flag(command, flags->infer,
                       "read part I of N of the pictures; 'biogpu gather' joins the tables");
  command.footer(
      std::string(
          "Each picture shows one molecule. Columns: image (of TIFF pages file#page), smiles,\n"
          "confidence, n_atoms, n_bonds, status. Status is ok, or of these: cut-short (more "
          "tokens\n"
          "than the model writes), no-atoms, invalid (RDKit refuses the molecule), no-molfile "
          "(more\n"
          "than 999 atoms or bonds), unexpanded (plain: an abbreviation is * in the SMILES).\n\n"
          "Examples:\n"
          "  biogpu infer recognize --model molscribe drawing.png\n"
          "  biogpu infer recognize --model molscribe crops/ -o molecules.tsv \\\n"
          "      --json-lines molecules.jsonl --mol-dir molfiles --svg drawings\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_recognize(*flags, command_line); };
}

}  // namespace biogpu::app
