#pragma once

#include <vector>

namespace biogpu::models {

// Where the weights of a family of models are published, and what makes a model folder of them.
// docs/weights.md says the same at greater length; tests/cli/infer_models_test.sh compares them.
struct PublishedWeights {
  struct File {
    const char* name;  // as its publisher calls it
    const char* size;  // as "2.6 GB"; empty: not stated
  };

  const char* family;                    // "ESM-2"
  std::vector<const char*> model_types;  // of config.json
  const char* publisher;                 // "Hugging Face hub"
  const char* licence;
  std::vector<File> files;
  std::vector<const char*> fetch;    // command lines; empty: by the publisher's own means
  std::vector<const char*> convert;  // empty: no conversion
  const char* use;                   // a first command
  const char* note;                  // a sentence; may be empty
};

const std::vector<PublishedWeights>& published_weights();

}  // namespace biogpu::models
