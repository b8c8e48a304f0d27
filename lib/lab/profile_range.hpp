#pragma once

namespace biogpu::lab {

// A named range around what runs while it lives, as profilers show it: of NVTX or ROCTX, whichever
// library this machine has. Nothing where it has neither, and for a null name.
class ProfileRange {
 public:
  explicit ProfileRange(const char* name);
  ~ProfileRange();
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;

 private:
  const bool is_open_;
};

// The library whose ranges are used; null where there is none.
const char* profile_library();

}  // namespace biogpu::lab
