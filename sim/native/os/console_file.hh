// The standard streams. Bytes written to standard output or error become the run's console output.
#pragma once

#include "os/open_file.hh"

namespace uncore {

// A standard stream. Standard input is empty.
class ConsoleFile : public OpenFile {
 public:
  explicit ConsoleFile(bool output) : OpenFile(O_RDWR), output_(output) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) override;
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t&) override;
  Stat stat() const override;

 private:
  const bool output_;
};

}  // namespace uncore
