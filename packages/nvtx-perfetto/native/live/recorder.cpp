// SPDX-License-Identifier: Apache-2.0
#include "live/recorder.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "live/clock.h"

namespace nvtx_perfetto::live {
namespace {

void complain(const std::string& problem) {
  if (problem.empty()) return;
  std::string line = "nvtx-perfetto: " + problem + "\n";
  // Not through stdio, whose locks another thread may hold for good.
  ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  (void)ignored;
}

// NVTX copies keep our functions' addresses, so the library must stay whatever dlclose says.
void stay_loaded() {
  Dl_info self;
  if (::dladdr(reinterpret_cast<void*>(&stay_loaded), &self) != 0 && self.dli_fname) {
    ::dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

// The library's own end comes after all atexit handlers of the program, which may
// still call NVTX.
__attribute__((destructor)) void at_unload() {
  if (Recorder* recorder = Recorder::existing()) recorder->finish();
}

}  // namespace

std::atomic<Recorder*> Recorder::instance_{nullptr};
thread_local ThreadWriter* Recorder::own_writer_ = nullptr;

Recorder::Recorder()
    : configuration_(read_configuration()), realtime_offset_(clock_offset(CLOCK_REALTIME)),
      registry_(configuration_.domains) {
  ::pthread_key_create(&thread_end_, &thread_ends);
}

Recorder& Recorder::get() {
  static Recorder* const recorder = [] {
    auto* made = new Recorder;
    complain(made->configuration_.problem);
    stay_loaded();
    instance_.store(made, std::memory_order_release);
    ::pthread_atfork(&prepare_fork, &after_fork_in_parent, &after_fork_in_child);
    return made;
  }();
  return *recorder;
}

Session* Recorder::open_session() {
  std::lock_guard<std::mutex> lock(opening_);
  State state = state_.load(std::memory_order_relaxed);
  if (state == State::kOpen) return session_.load(std::memory_order_relaxed);
  if (state != State::kFresh) return nullptr;
  sessions_.push_back(new Session);
  Session* session = sessions_.back();
  std::string problem = session->open(configuration_, realtime_offset_, !forked_, registry_);
  if (!problem.empty()) {
    state_.store(State::kFailed, std::memory_order_relaxed);
    complain(problem + "; nothing is recorded");
    return nullptr;
  }
  state_.store(State::kOpen, std::memory_order_relaxed);
  session_.store(session, std::memory_order_release);
  return session;
}

ThreadWriter* Recorder::attach() {
  State state = state_.load(std::memory_order_relaxed);
  if (state == State::kFailed || state == State::kClosed) return nullptr;
  try {
    Session* session = session_.load(std::memory_order_acquire);
    if (!session) session = open_session();
    if (!session) return nullptr;
    if (!own_writer_) {
      own_writer_ = new ThreadWriter(registry_);
      ::pthread_setspecific(thread_end_, own_writer_);
    }
    own_writer_->attach(session);
    return own_writer_;
  } catch (...) {  // out of memory
    return nullptr;
  }
}

void Recorder::thread_ends(void* writer) {
  auto* own = static_cast<ThreadWriter*>(writer);
  own_writer_ = nullptr;  // a later call in this thread makes a new one
  own->detach();
  delete own;
}

int Recorder::flush_now() {
  Session* session = session_.load(std::memory_order_acquire);
  return session ? session->flush() : -1;
}

bool Recorder::stats(Stats& stats) {
  Session* session = session_.load(std::memory_order_acquire);
  if (session) stats = session->stats();
  return session != nullptr;
}

void Recorder::finish() {
  Session* session;
  {
    std::lock_guard<std::mutex> lock(opening_);
    session = session_.exchange(nullptr, std::memory_order_acq_rel);
    state_.store(State::kClosed, std::memory_order_relaxed);
  }
  if (session) complain(session->finish(registry_));
}

// Only what a child needs whole is locked; its other inherited locks are never touched again,
// so that none of them can hold it up.
void Recorder::prepare_fork() {
  Recorder& self = *existing();
  self.opening_.lock();
  self.registry_.mutex().lock();
}

void Recorder::after_fork_in_parent() {
  Recorder& self = *existing();
  self.registry_.mutex().unlock();
  self.opening_.unlock();
}

void Recorder::after_fork_in_child() {
  Recorder& self = *existing();
  if (Session* parents = self.session_.exchange(nullptr, std::memory_order_relaxed)) {
    parents->abandon_in_child();
  }
  self.registry_.forget_mirror();
  self.forked_ = true;
  if (self.state_.load(std::memory_order_relaxed) != State::kClosed) {
    self.state_.store(State::kFresh, std::memory_order_relaxed);
  }
  if (own_writer_) own_writer_->inherit();
  self.registry_.mutex().unlock();
  self.opening_.unlock();
}

}  // namespace nvtx_perfetto::live
