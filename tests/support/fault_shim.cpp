// A library to preload that makes one call of a process fail: the n-th write, read, close, rename,
// link, opening, thread start, mapping or allocation after the process first opened a given file,
// or from its start.
//
//   BIOGPU_FAULT=KIND:N      what fails: write (ENOSPC), read (EIO), close (EDQUOT), rename or link
//                            (EACCES), exchange (EINVAL), open (EMFILE), thread (EAGAIN), mmap or
//                            malloc (ENOMEM)
//   BIOGPU_FAULT_AFTER=PATH  counting begins when PATH is opened
//   BIOGPU_FAULT_HIT=PATH    a file made when the fault was injected
//   BIOGPU_FAULT_COUNT=PATH  a file that then holds the number of calls, a binary number of 8 bytes
//   BIOGPU_NAMED_FILES=1     as a file system without unnamed files: opening one fails
//   BIOGPU_SLOW_NAMES=MS     after an output got its name, the process sleeps so long
//
// Writes to standard error and files below /proc, /sys and /dev are not counted: a program may do
// without the one and the other. Of closes only those of regular files open for writing count.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

extern "C" {
// glibc's own names: they need no look-up, which would allocate.
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum class Kind { none, write, read, close, rename, link, exchange, open, thread, mmap, malloc };

std::atomic<bool> armed{false};
long own_count = 0;
long* n_calls = &own_count;
Kind kind = Kind::none;
long fail_at = 0;
const char* hit_path = nullptr;

void arm() {
  const char* fault = std::getenv("BIOGPU_FAULT");
  hit_path = std::getenv("BIOGPU_FAULT_HIT");
  const char* colon = fault == nullptr ? nullptr : std::strchr(fault, ':');
  if (colon == nullptr || hit_path == nullptr) return;
  constexpr struct {
    const char* name;
    Kind kind;
  } kKinds[] = {{"write:", Kind::write},   {"read:", Kind::read},         {"close:", Kind::close},
                {"rename:", Kind::rename}, {"link:", Kind::link},         {"open:", Kind::open},
                {"thread:", Kind::thread}, {"exchange:", Kind::exchange}, {"mmap:", Kind::mmap},
                {"malloc:", Kind::malloc}};
  for (const auto& known : kKinds)
    if (std::strncmp(fault, known.name, std::strlen(known.name)) == 0) kind = known.kind;
  fail_at = std::strtol(colon + 1, nullptr, 10);
  if (const char* const path = std::getenv("BIOGPU_FAULT_COUNT"); path != nullptr) {
    // Shared, as a process may end without a word to its libraries.
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    syscall(SYS_ftruncate, file, sizeof(long));
    const long shared =
        syscall(SYS_mmap, nullptr, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared > 0) n_calls = reinterpret_cast<long*>(shared);
    syscall(SYS_close, file);
  }
  armed = true;
}

__attribute__((constructor)) void begin() {
  if (std::getenv("BIOGPU_FAULT_AFTER") == nullptr) arm();
}

void watch_open(const char* path) {
  const char* trigger = std::getenv("BIOGPU_FAULT_AFTER");
  if (!armed && trigger != nullptr && std::strcmp(path, trigger) == 0) arm();
}

bool fails(Kind call, int error) {
  if (!armed || call != kind || __atomic_add_fetch(n_calls, 1, __ATOMIC_RELAXED) != fail_at)
    return false;
  const long marker = syscall(SYS_openat, AT_FDCWD, hit_path, O_CREAT | O_WRONLY, 0600);
  syscall(SYS_close, marker);
  errno = error;
  return true;
}

bool is_system_file(int descriptor) {
  char digits[12] = {};
  int first = sizeof(digits) - 1;  // digits[first] is the end of the text
  do {
    digits[--first] = static_cast<char>('0' + descriptor % 10);
    descriptor /= 10;
  } while (descriptor > 0);
  char link[32] = "/proc/self/fd/";
  std::strcat(link, digits + first);
  char target[5];
  const long size = syscall(SYS_readlink, link, target, sizeof(target));
  return size == 5 &&
         (std::memcmp(target, "/proc", 5) == 0 || std::memcmp(target, "/sys/", 5) == 0);
}

bool is_written_file(int descriptor) {
  struct stat status {};
  const long flags = syscall(SYS_fcntl, descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(descriptor, &status) == 0 &&
         S_ISREG(status.st_mode);
}

// What comes next is late, as on a busy file system.
int slowly(long result) {
  const char* const milliseconds = std::getenv("BIOGPU_SLOW_NAMES");
  if (milliseconds != nullptr && result == 0)
    usleep(1000 * static_cast<unsigned>(std::strtol(milliseconds, nullptr, 10)));
  return static_cast<int>(result);
}

bool fails_to_open(const char* path) {
  for (const char* const folder : {"/proc/", "/sys/", "/dev/"})
    if (std::strncmp(path, folder, std::strlen(folder)) == 0) return false;
  return fails(Kind::open, EMFILE);
}

int open_file(const char* path, int flags, std::va_list arguments) {
  if ((flags & O_TMPFILE) == O_TMPFILE && std::getenv("BIOGPU_NAMED_FILES") != nullptr) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (fails_to_open(path)) return -1;
  const bool creates = (flags & (O_CREAT | O_TMPFILE)) != 0;
  const mode_t mode = creates ? va_arg(arguments, mode_t) : 0;
  watch_open(path);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const int descriptor = open_file(path, flags, arguments);
  va_end(arguments);
  return descriptor;
}

int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const int descriptor = open_file(path, flags, arguments);
  va_end(arguments);
  return descriptor;
}

ssize_t read(int descriptor, void* to, std::size_t n) {
  if (armed && kind == Kind::read && !is_system_file(descriptor) && fails(Kind::read, EIO))
    return -1;
  return syscall(SYS_read, descriptor, to, n);
}

ssize_t write(int descriptor, const void* from, std::size_t n) {
  if (descriptor != STDERR_FILENO && fails(Kind::write, ENOSPC)) return -1;
  return syscall(SYS_write, descriptor, from, n);
}

ssize_t pread(int descriptor, void* to, std::size_t n, off_t at) {
  if (armed && kind == Kind::read && !is_system_file(descriptor) && fails(Kind::read, EIO))
    return -1;
  return syscall(SYS_pread64, descriptor, to, n, at);
}

ssize_t pread64(int descriptor, void* to, std::size_t n, off_t at) {
  return pread(descriptor, to, n, at);
}

ssize_t pwrite(int descriptor, const void* from, std::size_t n, off_t at) {
  if (fails(Kind::write, ENOSPC)) return -1;
  return syscall(SYS_pwrite64, descriptor, from, n, at);
}

ssize_t pwrite64(int descriptor, const void* from, std::size_t n, off_t at) {
  return pwrite(descriptor, from, n, at);
}

ssize_t writev(int descriptor, const iovec* from, int n) {
  if (descriptor != STDERR_FILENO && fails(Kind::write, ENOSPC)) return -1;
  return syscall(SYS_writev, descriptor, from, n);
}

FILE* fopen(const char* path, const char* mode) {
  using Function = FILE* (*)(const char*, const char*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "fopen"));
  watch_open(path);
  return fails_to_open(path) ? nullptr : original(path, mode);
}

FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  return fails(Kind::thread, EAGAIN) ? EAGAIN : original(thread, attributes, run, argument);
}

void* mmap(void* to, std::size_t n, int protection, int flags, int descriptor, off_t at) noexcept {
  if (fails(Kind::mmap, ENOMEM)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, to, n, protection, flags, descriptor, at));
}

void* mmap64(void* to, std::size_t n, int protection, int flags, int descriptor,
             off_t at) noexcept {
  return mmap(to, n, protection, flags, descriptor, at);
}

// The descriptor is closed all the same, as Linux does.
int close(int descriptor) {
  const bool fault =
      armed && kind == Kind::close && is_written_file(descriptor) && fails(Kind::close, EDQUOT);
  const long result = syscall(SYS_close, descriptor);
  if (!fault) return static_cast<int>(result);
  errno = EDQUOT;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  if (fails(Kind::rename, EACCES)) return -1;
  return slowly(syscall(SYS_rename, from, to));
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (fails(Kind::link, EACCES)) return -1;
  return slowly(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (fails(Kind::exchange, EINVAL)) return -1;
  return slowly(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

void* malloc(std::size_t size) noexcept {
  return fails(Kind::malloc, ENOMEM) ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t n, std::size_t size) noexcept {
  return fails(Kind::malloc, ENOMEM) ? nullptr : __libc_calloc(n, size);
}

void* realloc(void* old, std::size_t size) noexcept {
  return fails(Kind::malloc, ENOMEM) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails(Kind::malloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fails(Kind::malloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** to, std::size_t alignment, std::size_t size) noexcept {
  if (fails(Kind::malloc, ENOMEM)) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}

}  // extern "C"
