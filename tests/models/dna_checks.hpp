#pragma once

// Checks that hold for every DNA model.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/changed_support.hpp"
#include "tests/models/dna_parts.hpp"

namespace biogpu::test {

// A model with its context.
template <class Model>
struct LoadedDna {
  std::unique_ptr<tensor::Context> context;
  Model model;

  LoadedDna(std::unique_ptr<tensor::Context> on, const std::string& folder,
            typename Model::Options options = {})
      : context(std::move(on)),
        model(folder, models::ModelConfig(folder), *context, std::move(options)) {}

  models::Outputs run(const std::vector<Letters>& windows,
                      const models::DnaModel::Request& request = {}) {
    Letters letters;
    for (const Letters& window : windows)
      letters.insert(letters.end(), window.begin(), window.end());
    return model.run(letters, request);
  }
};

// Parts of both windows of a folder, in one batch, as a model in PyTorch computes them in double
// precision. parts: of the folder's numbers, the name that ours has.
template <class Loaded>
void check_parts(Loaded& loaded, const std::string& folder,
                 const std::vector<std::pair<std::string, std::string>>& parts, double bound) {
  const Vectors expected(folder + "/expected.safetensors");
  const models::Outputs outputs = loaded.run(read_windows(folder), {true, true, true});
  for (const auto& [key, name] : parts) {
    const auto n_columns = static_cast<std::size_t>(outputs.at(name).shape[1]);
    check_part(name, of_window(outputs, name, 0, 2), expected["one/" + key], n_columns, bound);
    if (name.starts_with("tracks."))
      check_part(name, of_window(outputs, name, 1, 2), expected["two/" + key], n_columns, bound);
  }
}

// A window gets the same bytes in any batch, and with the one thread of single.
template <class Loaded>
void check_any_batch(Loaded& loaded, Loaded& single, const std::vector<Letters>& windows,
                     const std::vector<std::string>& names) {
  const models::DnaModel::Request all{true, true, true};
  const models::Outputs together =
      loaded.run({windows[1], windows[0], windows[1], windows[0], windows[0]}, all);
  const models::Outputs alone = loaded.run({windows[0]}, all);
  const models::Outputs by_one = single.run({windows[0]}, all);
  for (const std::string& name : names) {
    INFO(name);
    const auto right = of_window(alone, name, 0, 1);
    CHECK(of_window(together, name, 1, 5) == right);
    CHECK(of_window(together, name, 3, 5) == right);
    CHECK(of_window(together, name, 4, 5) == right);
    CHECK(of_window(by_one, name, 0, 1) == right);
    CHECK(of_window(together, name, 0, 5) == of_window(together, name, 2, 5));
    CHECK(of_window(together, name, 0, 5) != right);
  }
}

// Tracks of chosen are those of whole: all of the mouse, and of the human's seven the ones numbered
// 6, 0, 3.
template <class Loaded>
void check_chosen_tracks(Loaded& whole, Loaded& chosen, const std::vector<Letters>& windows,
                         std::size_t n_rows) {
  const models::Outputs all = whole.run(windows), some = chosen.run(windows);
  CHECK(some.at("tracks.mouse").values == all.at("tracks.mouse").values);
  const auto& human = some.at("tracks.human");
  REQUIRE(human.shape == std::vector<std::int64_t>{static_cast<std::int64_t>(n_rows), 3});
  for (std::size_t row = 0; row < n_rows; ++row) {
    std::size_t column = 0;
    for (const std::size_t track : {6u, 0u, 3u})
      CHECK(human.values[row * 3 + column++] == all.at("tracks.human").values[row * 7 + track]);
  }
}

// Neither the embedding nor parts change tracks, nor tracks the embedding.
template <class Loaded>
void check_requests(Loaded& loaded, const std::vector<Letters>& windows) {
  const auto tracks = loaded.run(windows).at("tracks.human").values;
  CHECK(loaded.run(windows, {true, true, true}).at("tracks.human").values == tracks);
  const models::Outputs both = loaded.run(windows, {true, true, false});
  CHECK(both.at("tracks.human").values == tracks);
  const models::Outputs alone = loaded.run(windows, {false, true, false});
  CHECK(alone.find("tracks.human") == nullptr);
  CHECK(alone.at("embedding").values == both.at("embedding").values);
}

// A window is near one with a substitution, not one with n letters from the first on replaced, nor
// one that begins a letter later.
template <class Loaded>
void check_near(const Loaded& loaded, const Letters& window, std::size_t n) {
  CHECK(loaded.model.is_near(window, window));
  CHECK(loaded.model.is_near(window, with_letters(window, n, 1)));
  CHECK_FALSE(loaded.model.is_near(window, with_letters(window, 0, n)));
  Letters moved(window.begin() + 1, window.end());
  moved.push_back(0);
  CHECK_FALSE(loaded.model.is_near(window, moved));
}

// Tracks and the embedding of another context rise and fall over positions as those of right do.
template <class Loaded>
void check_course(Loaded& right_one, Loaded& other, const std::vector<Letters>& windows,
                  double bound) {
  const models::Outputs right = right_one.run(windows, {true, true, false});
  const models::Outputs got = other.run(windows, {true, true, false});
  REQUIRE_FALSE(right_one.model.heads().empty());
  for (const models::HeadChoice& head : right_one.model.heads()) {
    if (right_one.model.head(head).is_ragged) continue;  // its rows are chosen by 16 bits
    const std::string name = "tracks." + head.name;
    const auto n_tracks = static_cast<std::size_t>(right.at(name).shape[1]);
    for (std::size_t track = 0; track < n_tracks; ++track) {
      INFO(name << " " << track);
      CHECK(cosine(got.at(name), right.at(name), track, n_tracks) > bound);
    }
  }
  for (const models::Embedding& embedding : right_one.model.info().embeddings)
    CHECK(cosine(got.at(embedding.output()), right.at(embedding.output()), 0, 1) > bound);
}

// A window gets the same bytes in a batch as alone. The second pass of a shape is recorded, the
// third repeated.
template <class Loaded>
void check_again(Loaded& gpu, const std::vector<Letters>& windows) {
  const std::string name = "tracks." + gpu.model.heads().at(0).name;
  const auto alone = of_window(gpu.run({windows[0]}), name, 0, 1);
  for (int pass = 0; pass < 3; ++pass) {
    const models::Outputs together = gpu.run({windows[1], windows[0]});
    CHECK(of_window(together, name, 1, 2) == alone);
  }
}

}  // namespace biogpu::test
