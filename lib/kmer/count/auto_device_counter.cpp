#include "lib/kmer/count/auto_device_counter.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/core/gpu_backend.hpp"
#include "lib/core/timed.hpp"
#include "lib/io/char_buffer.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::uint64_t kMaxWaitingBytes = 512u << 20;

std::uint64_t max_waiting_bytes(const CountOptions& options) {
  if (options.max_memory == 0) return kMaxWaitingBytes;
  return std::min(kMaxWaitingBytes, options.max_memory / 4);
}

// Less the memory of texts that wait.
CountOptions without_waiting(CountOptions options) {
  if (options.max_memory != 0) options.max_memory -= max_waiting_bytes(options);
  return options;
}

}  // namespace

AutoDeviceCounter::AutoDeviceCounter(const CountOptions& options, const Request& request,
                                     ReportChoice report_choice)
    : options_(options),
      report_choice_(std::move(report_choice)),
      packer_(options.k, options.min_quality_symbol, DeviceCounter::kMaxLetters),
      waiting_(max_waiting_bytes(options)) {
  using Kind = DeviceRequest::Kind;
  const Kind kind = request.device.kind;
  if (kind == Kind::cpu || (kind == Kind::automatic && !request.decision.worth_gpu)) {
    choice_ = choose_device(request.device, request.decision);
    cpu_ = std::make_unique<CpuCounter>(options_);
    report_choice_(choice_);
    settled_ = true;
    return;
  }
  start_ = async_with_backend([this, request] {
    return timed(start_s_, [&] {
      DeviceChoice choice = choose_device(request.device, request.decision);
      if (choice.on_gpu())
        gpu_ = std::make_unique<MultiGpuCounter>(options_, choice.gpus, request.max_device_bytes);
      return choice;
    });
  });
}

void AutoDeviceCounter::add(const FeedSequences& feed) {
  if (settled_ && cpu_) {
    cpu_->add(feed);
    return;
  }
  packer_.pack(feed, [&](PackedText text) {
    if (is_waiting() && waiting_.keep(text)) return;
    settle();
    add(text);
  });
}

bool AutoDeviceCounter::is_waiting() const {
  return !settled_ && start_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

void AutoDeviceCounter::settle() {
  if (settled_) return;
  const std::lock_guard lock(mutex_);
  if (settled_) return;
  choice_ = timed(wait_s_, [&] { return start_.get(); });
  report_choice_(choice_);
  if (!choice_.on_gpu()) cpu_ = std::make_unique<CpuCounter>(without_waiting(options_));
  try {
    waiting_.release([this](const PackedText& text) { add(text); }, options_.n_threads);
  } catch (...) {
    settled_ = true;  // the texts are gone: no other thread begins again
    throw;
  }
  settled_ = true;
}

void AutoDeviceCounter::add(const PackedText& text) {
  if (gpu_) {
    gpu_->add(text);
    return;
  }
  io::CharBuffer letters;
  text.unpack(letters);
  cpu_->add([&](const AddSequence& add_sequence) { add_sequence(letters.view(), {}); });
}

void AutoDeviceCounter::finish() {
  settle();
  counter().finish();
}

}  // namespace biogpu::kmer
