// SPDX-License-Identifier: Apache-2.0
#include "live/session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "live/clock.h"
#include "live/recovery.h"

namespace nvtx_perfetto::live {
namespace {

constexpr int64_t kDrainInterval = 1;  // seconds
constexpr uint32_t kEagerEnds = 16;    // ended threads that are worth a drain
constexpr uint32_t kSpareChunks = 2;

uint64_t random_bits() {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
    bits =
        static_cast<uint64_t>(boottime()) * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(::getpid());
  }
  return bits;
}

void copy_text(char* field, size_t capacity, const std::string& text) {
  size_t size = std::min(text.size(), capacity - 1);
  std::memcpy(field, text.data(), size);
  field[size] = '\0';
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `python train.py`: the program and its first argument (two after `-m`), without folders,
// since the UI shows what follows the last slash.
std::string process_name() {
  char text[4096];
  int fd = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  ssize_t size = ::read(fd, text, sizeof(text));
  ::close(fd);
  std::string_view left(text, size > 0 ? static_cast<size_t>(size) : 0);
  std::string name;
  for (int wanted = 2; wanted > 0 && !left.empty(); --wanted) {
    std::string_view argument = left.substr(0, left.find('\0'));
    left.remove_prefix(std::min(left.size(), argument.size() + 1));
    if (argument == "-m") ++wanted;
    name += (name.empty() ? "" : " ") + std::string(base_name(argument));
  }
  return name;
}

// When this process began, which an exec does not change: ns since the machine's start.
int64_t process_start() {
  char text[1024];
  int fd = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t size = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  text[std::max<ssize_t>(size, 0)] = '\0';
  // The name, which may hold anything, ends at the last parenthesis; 20 fields on (proc(5)).
  const char* at = std::strrchr(text, ')');
  for (int field = 0; at && field < 20; ++field) at = std::strchr(at + 1, ' ');
  int64_t ticks = at ? std::strtoll(at, nullptr, 10) : 0;
  int64_t rate = ::sysconf(_SC_CLK_TCK);
  return rate > 0 ? ticks * (1'000'000'000 / rate) : 0;
}

}  // namespace

std::string Session::open(const Configuration& configuration, int64_t realtime_offset,
                          bool may_claim, Registry& registry) {
  std::string problem = open_files(configuration, may_claim);
  if (!problem.empty()) return problem;
  fill_header(configuration, realtime_offset);
  pool_ = std::make_unique<ChunkPool>(file_);
  ranges_ = std::make_unique<RangeTable>(file_, *pool_, static_cast<uint32_t>(random_bits()));
  definitions_ = std::make_unique<DefinitionWriter>(file_, *pool_);
  drain_ = std::make_unique<Drain>(file_, part_);
  registry.mirror_to(definitions_.get());
  if (configuration.drain_thread && !start_thread())
    note_ = "no thread could be started; events are drained at the end only";
  return {};
}

std::string Session::open_files(const Configuration& configuration, bool may_claim) {
  output_ = configuration.output;
  if (may_claim && !configuration.parts_only) {
    OutputClaim::Result result = claim_.take(output_, configuration.overwrite);
    if (result == OutputClaim::Result::kExists) {
      note_ = output_ +
              " exists already, so the recording is left as a part beside it; set "
              "overwrite=1 or join it with `nvtx-perfetto join`";
    }
  }
  char suffix[40];
  std::snprintf(suffix, sizeof(suffix), ".%d.%08x", ::getpid(),
                static_cast<uint32_t>(random_bits()));
  std::string stem = output_ + suffix;
  std::string problem = file_.create(stem + kLiveSuffix, configuration.chunk_limit);
  if (problem.empty()) {
    problem = part_.create(stem + kPartSuffix);
    if (!problem.empty()) file_.remove();
  }
  return problem;
}

void Session::fill_header(const Configuration& configuration, int64_t realtime_offset) {
  FileHeader& header = file_.header();
  header.pid = ::getpid();
  header.parent = ::getppid();
  header.seed = random_bits();
  header.realtime_offset = realtime_offset;
  int64_t start = process_start();
  header.process_start = start > 0 ? start + realtime_offset : 0;
  header.first_clocks = read_clocks();
  copy_text(header.boot_id, sizeof(header.boot_id), boot_id());
  copy_text(header.host, sizeof(header.host), host_name());
  copy_text(header.process_name, sizeof(header.process_name), process_name());
  copy_text(header.label, sizeof(header.label), configuration.label);
}

ThreadSlot* Session::claim_slot() {
  uint32_t first = next_slot_.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < kMaxThreads; ++i) {
    ThreadSlot& slot = file_.slots()[(first + i) % kMaxThreads];
    uint32_t expected = kSlotFree;
    if (!slot.state.compare_exchange_strong(expected, kSlotClaimed, std::memory_order_acquire)) {
      continue;
    }
    slot.serial = next_serial_.fetch_add(1, std::memory_order_relaxed);
    std::memset(slot.own_name, 0, sizeof(slot.own_name));
    std::memset(slot.seen_name, 0, sizeof(slot.seen_name));
    for (auto& tally : slot.tallies) tally.store(0, std::memory_order_relaxed);
    for (auto& word : slot.domains) word.store(0, std::memory_order_relaxed);
    return &slot;
  }
  return nullptr;
}

void Session::thread_ended() {
  if (ended_threads_.fetch_add(1, std::memory_order_relaxed) + 1 >= kEagerEnds) wake();
}

bool Session::flush() {
  std::lock_guard<std::mutex> lock(draining_);
  if (!drain_) return false;
  ended_threads_.store(0, std::memory_order_relaxed);
  if (!drain_->pass()) return false;
  recycle();
  return true;
}

void Session::recycle() {
  for (uint32_t chunk : drain_->freed_chunks()) pool_->release(chunk);
  for (uint32_t slot : drain_->taken_ends()) {
    ranges_->taken(slot);
    file_.header().late_ends.fetch_sub(1, std::memory_order_relaxed);
  }
  for (uint32_t index : drain_->freed_slots()) {
    ThreadSlot& slot = file_.slots()[index];
    for (size_t i = 0; i < kTallies; ++i) {
      file_.header().tallies[i].fetch_add(slot.tallies[i].load(std::memory_order_relaxed),
                                          std::memory_order_relaxed);
    }
    release_slot(&slot);
  }
}

bool Session::start_thread() {
  // The program's signals are not for this thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_runs_ = ::pthread_create(&thread_, nullptr, &run_thread, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_runs_;
}

void* Session::run_thread(void* pointer) {
  auto& self = *static_cast<Session*>(pointer);
  ::pthread_setname_np(::pthread_self(), "nvtx-perfetto");
  self.flush();  // the part's head, with the clocks as they are now
  recover_beside(self.output_);
  while (!self.stopping_.load(std::memory_order_acquire)) {
    self.pool_->top_up(kSpareChunks);
    timespec until;
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += kDrainInterval;
    while (::sem_timedwait(&self.wake_, &until) != 0 && errno == EINTR) {
    }
    self.awake_.store(false, std::memory_order_relaxed);
    if (self.stopping_.load(std::memory_order_acquire)) break;
    // Before the flush, which takes long, since a thread is about to need one.
    self.pool_->top_up(kSpareChunks);
    self.flush();
  }
  return nullptr;
}

void Session::stop_thread() {
  if (!thread_runs_) return;
  stopping_.store(true, std::memory_order_release);
  ::sem_post(&wake_);
  ::pthread_join(thread_, nullptr);
  thread_runs_ = false;
}

std::string Session::finish(Registry& registry) {
  registry.mirror_to(nullptr);
  stop_thread();
  std::lock_guard<std::mutex> lock(draining_);
  bool written = drain_->finish();
  std::string problem = written ? note_ : drain_->problem();
  if (!part_.close() && written) problem = part_.problem();
  if (!written) {
    drain_.reset();
    // The events stay in the live file, for a join once there is room again.
    return problem + "; what was recorded is kept in " + file_.path();
  }
  file_.remove();
  drain_->remove_spool();
  drain_.reset();
  if (claim_.held() && !claim_.fulfil(part_.path())) {
    problem = "moving " + part_.path() + " to " + output_ + " failed: " + std::strerror(errno);
  }
  return problem;
}

void Session::abandon_in_child() {
  file_.abandon_in_child();
  part_.abandon_in_child();
  if (drain_) drain_->abandon_in_child();
  claim_.give_up();
}

Stats Session::stats() {
  std::lock_guard<std::mutex> lock(draining_);
  Stats stats = {};
  const FileHeader& header = file_.header();
  const Checkpoint& counted = header.checkpoints[header.active.load()];
  stats.events = counted.events;
  stats.samples = counted.samples;
  stats.part_bytes = counted.part_size;
  stats.buffer_bytes = file_.bytes();
  auto dropped = static_cast<size_t>(Tally::kDropped);
  stats.dropped = header.tallies[dropped].load() + counted.dropped;
  for (uint32_t i = 0; i < kMaxThreads; ++i) {
    const ThreadSlot& slot = file_.slots()[i];
    uint32_t state = slot.state.load(std::memory_order_acquire);
    if (state != kSlotLive && state != kSlotEnded) continue;
    stats.threads += state == kSlotLive;
    stats.dropped += slot.tallies[dropped].load(std::memory_order_relaxed);
  }
  return stats;
}

}  // namespace nvtx_perfetto::live
