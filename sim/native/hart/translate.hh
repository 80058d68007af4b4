// How a hart with supervisor mode finds physical addresses: translation, the walk through a page
// table, and code by page. Part of hart.hh.
//
// A walk's accesses are accesses of the port like any other: loads of entries, and a
// compare-and-swap where an entry has to be marked accessed or dirty. One that is answered later
// suspends the hart; then the instruction is executed anew and the walk goes on with what came.
#pragma once

namespace uncore {

template <class Port>
void Hart<Port>::supervise(TlbSpec tlb) {
  csr_.supervised = true;
  mmu_ = std::make_unique<Mmu<Instruction>>(tlb);
  code_.pages.add(*mmu_);
  changed();
}

// What decides about interrupts, or as whom it asks for memory, may have changed.
template <class Port>
void Hart<Port>::changed() {
  attention_ = interruptible();
  if (mmu_) mmu_->ask_as(static_cast<unsigned>(csr_.mode), csr_.status_sum, csr_.status_mxr);
}

template <class Port>
void Hart<Port>::flush(std::optional<uint64_t> address, std::optional<uint16_t> asid) {
  spin_.effect();
  mmu_->flush(address, asid);
}

template <class Port>
void Hart<Port>::forget_code() {
  spin_.effect();
  if (const uint64_t found = code_.pages.grow_old(); found != aged_) {
    aged_ = found;
    mmu_->forget_code();
  }
}

// The access it waited for has been performed: others see what it has written.
template <class Port>
void Hart<Port>::wrote() {
  const auto [last, before] = std::exchange(mmu_->writes, {});
  code_.pages.write(last);
  code_.pages.write(before);
  if (mmu_->walk.waits && mmu_->walk.updates) code_.pages.write(mmu_->walk.table >> kPageShift);
}

constexpr uint64_t page_fault(Right right) {
  if (right == Right::execute) return kFetchPageFault;
  return right == Right::write ? kStorePageFault : kLoadPageFault;
}
constexpr uint64_t access_fault(Right right) {
  if (right == Right::execute) return kFetchFault;
  return right == Right::write ? kStoreFault : kLoadFault;
}

// The physical address, in place of the other. If it ends otherwise, how the instruction does.
template <class Port>
[[gnu::noinline]] std::optional<bool> Hart<Port>::translate(uint64_t& address, Right right) {
  const uint64_t asked = address;
  const bool code = right == Right::execute, write = right == Right::write;
  const auto& page = write ? mmu_->store(asked) : mmu_->load(asked);
  if (!code && page.key == mmu_->key(asked)) {
    address += page.offset;
  } else {
    if (const auto ends = locate(address, right)) return ends;
    if (write) code_.pages.write(address >> kPageShift);
    if (address >= ram && !code) mmu_->keep(asked, address, right);
  }
  mmu_->reached(address, write);
  return std::nullopt;
}

// The same by the TLBs and a walk.
template <class Port>
std::optional<bool> Hart<Port>::locate(uint64_t& address, Right right) {
  const uint64_t asked = address;
  if (csr_.mode == Mode::machine || csr_.satp.levels() == 0) return std::nullopt;
  if (!csr_.satp.canonical(asked)) return trap(page_fault(right), asked);
  const View view{csr_.in_user_mode(), csr_.status_sum, csr_.status_mxr};
  const auto decides = [&](Tlb::Found in) {
    return in.entry && (!in.entry->pte.allows(right, view) ||
                        in.entry->pte.bits == in.entry->pte.touched(right).bits);
  };
  Tlb::Found found = mmu_->find(asked, csr_.satp.asid(), right);
  if (!decides(found)) {
    found = mmu_->tlb.find(asked, csr_.satp.asid());
    if (decides(found)) {
      if (right != Right::execute) clock += mmu_->latency;
    } else {
      if (const auto ends = walk(asked, right, view)) return ends;
      found = mmu_->tlb.find(asked, csr_.satp.asid());
    }
    if (right != Right::execute) mmu_->promote(asked, found);
  }
  if (!found.entry->pte.allows(right, view)) return trap(page_fault(right), asked);
  address = found.address;
  return std::nullopt;
}

template <class Port>
std::optional<bool> Hart<Port>::walk(uint64_t address, Right right, View view) {
  Walk& w = mmu_->walk;
  const uint64_t page = address & ~(kPageBytes - 1);
  if (!w.active || w.address != page || w.right != right) {
    w = {};
    w.active = true;
    w.right = right;
    w.level = csr_.satp.levels() - 1;
    w.address = page;
    w.table = csr_.satp.root();
  }
  for (;;) {
    if (!w.answered)
      if (const auto ends = step(w, address)) return ends;
    w.answered = false;
    if (const auto cause = follow(w, view)) {
      w.active = false;
      if (*cause == 0) return std::nullopt;
      return trap(*cause, address);
    }
  }
}

// The walk's next access.
template <class Port>
std::optional<bool> Hart<Port>::step(Walk& w, uint64_t address) {
  spin_.effect();
  const uint64_t index = w.address >> shift_of(w.level) & ((1u << kIndexBits) - 1);
  const uint64_t at = w.table + index * sizeof(Pte);
  if (at < ram || !port_.mapped(at, sizeof(Pte))) {
    w.active = false;
    return trap(access_fault(w.right), address);
  }
  const uint64_t touched = w.found.touched(w.right).bits;
  if (w.updates) code_.pages.write(at >> kPageShift);
  const Answer answer =
      w.updates ? port_.amo(Amo::cas, at, sizeof(Pte), touched, w.found.bits, w.value, 0)
                : port_.load(at, sizeof(Pte), w.value);
  if (answer == Answer::now) return std::nullopt;
  if (answer == Answer::retry) return stop(Stop::retry);
  w.waits = suspended_ = true;
  return stop(Stop::later);
}

// What its answer means: nothing, it goes on; 0, the TLB has the page; or the cause of a trap.
template <class Port>
std::optional<uint64_t> Hart<Port>::follow(Walk& w, View view) {
  const bool updated = w.updates && w.value == w.found.bits;
  if (w.updates && !updated) {  // somebody else has changed it: it is read again
    w.updates = false;
    return std::nullopt;
  }
  const Pte pte = updated ? w.found.touched(w.right) : Pte{w.value};
  if (!pte.sound()) return page_fault(w.right);
  if (!pte.leaf()) {
    if (w.level == 0) return page_fault(w.right);
    w.table = pte.address();
    --w.level;
    return std::nullopt;
  }
  if (pte.address() % (uint64_t{1} << shift_of(w.level)) != 0) return page_fault(w.right);
  if (!pte.allows(w.right, view)) return page_fault(w.right);
  if (pte.bits != pte.touched(w.right).bits) {
    w.found = pte;
    w.updates = true;
    return std::nullopt;
  }
  mmu_->insert(w.address, w.level, pte, csr_.satp.asid());
  return 0;
}

// ---- code

// The instruction at pc, decoded. Null: there was a trap, or the hart stops: `goes_on_` says which.
template <class Port>
Instruction* Hart<Port>::fetched() {
  Mmu<Instruction>& m = *mmu_;
  if (m.code_key(pc) != m.window.key && !m.look(pc)) {
    uint64_t at = pc;
    if (const auto ends = translate(at, Right::execute)) {
      goes_on_ = *ends;
      return nullptr;
    }
    if (at < ram || !port_.mapped(at, 2)) {
      goes_on_ = trap(kFetchFault, pc);
      return nullptr;
    }
    m.keep(pc, code_.pages.enter(at >> kPageShift), at);
  }
  Instruction* const in = m.find(pc);
  return in->op == Op::undecoded ? decode_here(*in) : in;
}

template <class Port>
Instruction* Hart<Port>::decode_here(Instruction& in) {
  const uint64_t at = mmu_->window.address + pc % kPageBytes, page = at >> kPageShift;
  const bool last = pc % kPageBytes == kPageBytes - 2;
  if (last && code_.pages.across(page)) return decode_across(at);
  uint32_t word = 0;
  port_.fetch(at, word);
  if (last && (word & 3) == 3) return decode_across(at);
  in = decode(word);
  code_.pages.decoded(page);
  return &in;
}

// One whose halves are on two pages stands alone: where the second one is may change.
template <class Port>
Instruction* Hart<Port>::decode_across(uint64_t at) {
  uint64_t rest = pc + 2;
  if (const auto ends = translate(rest, Right::execute)) {
    goes_on_ = *ends;
    return nullptr;
  }
  uint32_t low = 0, high = 0;
  if (rest < ram || !port_.mapped(rest, 2)) {
    goes_on_ = trap(kFetchFault, pc + 2);
    return nullptr;
  }
  const uint64_t page = at >> kPageShift, next = rest >> kPageShift;
  const CodePages::Across* known = code_.pages.across(page);
  if (!known || known->next != next) {
    port_.fetch(at, low);
    port_.fetch(rest, high);
    known = &code_.pages.decoded(page, next, decode((low & 0xffff) | high << 16));
  }
  outside_[0] = known->code;
  return outside_;
}

template <class Port>
[[gnu::noinline]] Stop Hart<Port>::run_translated() {
  for (;;) {
    if (clock > horizon) return Stop::horizon;
    if (attention_ && !interrupted()) [[unlikely]]
      return stop_;
    Instruction* in = fetched();
    if (!(in ? straight<true>(in) : goes_on_)) return stop_;
  }
}

// ---- instructions

template <class Port>
bool Hart<Port>::sret() {
  if (!csr_.may_return()) return illegal();
  spin_.effect();
  retire(0, cost.instruction);
  pc = csr_.leave_supervisor();
  handling_ = false;
  changed();
  port_.returned();
  return true;
}

// sfence.vma: of an address or all, of an address space or all.
template <class Port>
bool Hart<Port>::order_translations(const Instruction& in) {
  if (!csr_.may_order()) return illegal();
  std::optional<uint64_t> address;
  std::optional<uint16_t> asid;
  if (in.rs1 != 0) address = x[in.rs1];
  if (in.rs2 != 0) asid = static_cast<uint16_t>(x[in.rs2]);
  flush(address, asid);
  retire(in.length, cost.instruction);
  return true;
}

}  // namespace uncore
