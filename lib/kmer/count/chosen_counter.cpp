#include "lib/kmer/count/chosen_counter.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/core/timed.hpp"
#include "lib/io/char_buffer.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::uint64_t kMostWaitingBytes = 512u << 20;

std::uint64_t most_waiting_bytes(const CountOptions& options) {
  if (options.max_memory == 0) return kMostWaitingBytes;
  return std::min(kMostWaitingBytes, options.max_memory / 4);
}

// What is left of --max-memory beside texts that wait.
CountOptions beside_waiting(CountOptions options) {
  if (options.max_memory != 0) options.max_memory -= most_waiting_bytes(options);
  return options;
}

}  // namespace

ChosenCounter::ChosenCounter(const CountOptions& options, const Request& request, Tell tell)
    : options_(options),
      tell_(std::move(tell)),
      packer_(options.k, options.least_quality, GpuCounter::kMaxLetters),
      waiting_(most_waiting_bytes(options)) {
  using Kind = DeviceRequest::Kind;
  const Kind kind = request.device.kind;
  if (kind == Kind::cpu || (kind == Kind::automatic && !request.worth_gpu)) {
    choice_ = choose_device(request.device, request.worth_gpu);
    cpu_ = std::make_unique<Counter>(options_);
    tell_(choice_);
    settled_ = true;
    return;
  }
  start_ = std::async(std::launch::async, [this, request] {
    return timed(start_s_, [&] {
      DeviceChoice choice = choose_device(request.device, request.worth_gpu);
      if (choice.on_gpu())
        gpu_ = std::make_unique<GpuCounting>(options_, choice.gpus, request.max_device_bytes);
      return choice;
    });
  });
}

void ChosenCounter::add(const Read& read) {
  if (settled_ && cpu_) {
    cpu_->add(read);
    return;
  }
  packer_.pack(read, [&](PackedText text) {
    if (is_waiting() && waiting_.keep(text)) return;
    settle();
    add(text);
  });
}

bool ChosenCounter::is_waiting() const {
  return !settled_ && start_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

void ChosenCounter::settle() {
  if (settled_) return;
  const std::lock_guard lock(mutex_);
  if (settled_) return;
  choice_ = timed(wait_s_, [&] { return start_.get(); });
  tell_(choice_);
  if (!choice_.on_gpu()) cpu_ = std::make_unique<Counter>(beside_waiting(options_));
  try {
    waiting_.release([this](const PackedText& text) { add(text); }, options_.n_threads);
  } catch (...) {
    settled_ = true;  // the texts are gone: no other thread begins again
    throw;
  }
  settled_ = true;
}

void ChosenCounter::add(const PackedText& text) {
  if (gpu_) {
    gpu_->add(text);
    return;
  }
  io::CharBuffer letters;
  text.unpack(letters);
  cpu_->add([&](const Counter::Add& add_sequence) { add_sequence(letters.view(), {}); });
}

void ChosenCounter::finish() {
  settle();
  if (gpu_)
    gpu_->finish();
  else
    cpu_->count_bins();
}

}  // namespace biogpu::kmer
