// Asks translate.py for instructions not met before, and puts its code into memory that may be run.
#include "instructions.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace hip_on_gfx942 {
namespace {

constexpr std::size_t kLongest = 20;  // bytes of an instruction

// A process that answers lines with lines.
class Translator {
 public:
  Translator() {
    int to[2], from[2];
    const char* script = std::getenv("BIOGPU_GFX942_TRANSLATOR");
    if (script == nullptr) throw std::runtime_error("BIOGPU_GFX942_TRANSLATOR names no script");
    if (pipe(to) != 0 || pipe(from) != 0) throw std::runtime_error("no pipe to the translator");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("the translator cannot be started");
    if (child == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
      unsetenv("LD_LIBRARY_PATH");  // its Python and compiler are those of the machine
      execlp("python3", "python3", script, static_cast<char*>(nullptr));
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_ = fdopen(to[1], "w");
    from_ = fdopen(from[0], "r");
  }

  std::string ask(const std::string& line) {
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
    std::string answer;
    for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';)
      answer.push_back(static_cast<char>(c));
    if (answer.empty()) throw std::runtime_error("the translator ended");
    return answer;
  }

 private:
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

std::string as_hexadecimal(std::uint64_t address) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(address);
  char text[2 * kLongest + 1];
  for (std::size_t i = 0; i < kLongest; ++i) std::snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  return text;
}

// Code in memory; translations that are equal share it.
Instruction::Code place_code(const std::string& hexadecimal) {
  static std::unordered_map<std::string, void*> placed;
  static char* free_bytes = nullptr;
  static std::size_t n_free = 0;
  void*& code = placed[hexadecimal];
  if (code == nullptr) {
    const std::size_t n_bytes = (hexadecimal.size() / 2 + 63) / 64 * 64;
    if (n_free < n_bytes) {
      n_free = std::size_t{4} << 20;
      void* const memory = mmap(nullptr, n_free, PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::runtime_error("no memory for translated code");
      free_bytes = static_cast<char*>(memory);
    }
    code = free_bytes;
    for (std::size_t i = 0; 2 * i < hexadecimal.size(); ++i)
      free_bytes[i] = static_cast<char>(std::stoi(hexadecimal.substr(2 * i, 2), nullptr, 16));
    free_bytes += n_bytes;
    n_free -= n_bytes;
  }
  Instruction::Code function = nullptr;
  std::memcpy(&function, &code, sizeof function);
  return function;
}

Instruction parse(const std::string& answer) {
  std::istringstream words(answer);
  std::string status, arguments, code, name;
  int size = 0, barrier = 0;
  words >> status;
  if (status != "ok") throw std::runtime_error(answer);
  words >> size >> barrier >> arguments >> code >> name;
  Instruction instruction;
  instruction.size = static_cast<std::uint8_t>(size);
  instruction.is_barrier = barrier != 0;
  std::size_t n = 0;
  for (const char c : arguments)
    if (c >= '0' && c < '0' + kNumArrays && n < kNumArrays)
      instruction.arguments[n++] = static_cast<std::uint8_t>(c - '0');
  instruction.code = place_code(code);
  static std::deque<std::string> names;  // never freed: instructions point to them
  instruction.name = &names.emplace_back(name);
  return instruction;
}

}  // namespace

const Instruction& instruction_at(std::uint64_t address) {
  static Translator translator;
  // How long an instruction is stands in its first word, so that no two keys begin alike.
  static std::unordered_map<std::string, Instruction> known;
  const std::string text = as_hexadecimal(address);
  for (std::size_t size = 4; size <= kLongest; size += 4) {
    const auto found = known.find(text.substr(0, 2 * size));
    if (found != known.end()) return found->second;
  }
  const Instruction instruction = parse(translator.ask(text));
  return known.emplace(text.substr(0, 2 * std::size_t{instruction.size}), instruction)
      .first->second;
}

}  // namespace hip_on_gfx942
