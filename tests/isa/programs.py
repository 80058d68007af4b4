"""Random programs that any RV64GC machine with Zba, Zbb, Zbs and user mode must execute alike.

    random_program(seed, compressed) -> assembly text

A program is a sequence of blocks. After each block, all registers are appended to a log in memory.
Every trap is also appended to the log, and the trapping instruction is skipped. Two machines are
compared by the bytes of their logs, and a difference identifies the block. A record of the log has
RECORD bytes, of which the first eight are an address.

Invariant: a program writes only to its data page, its log and its own registers, and terminates.
"""

from __future__ import annotations

import random
from collections.abc import Callable

DATA, LOG, RECORD = 0x80100000, 0x80110000, 256
BLOCKS = 300

# x29 (link and scratch), x30 (data page) and x31 (log) are missing, because only this generator
# uses them.
FREE_REGISTERS = [f"x{n}" for n in range(1, 29)]
COMPRESSIBLE_REGISTERS = [f"x{n}" for n in range(8, 16)]


def names(text: str) -> list[str]:
    return text.split()


REGISTER_OPERATIONS = names("""
add sub sll slt sltu xor srl sra or and addw subw sllw srlw sraw mul mulh mulhsu
mulhu div divu rem remu mulw divw divuw remw remuw
add.uw sh1add sh2add sh3add sh1add.uw sh2add.uw sh3add.uw andn orn xnor max maxu min minu rol ror
rolw rorw bclr bext binv bset""")
UNARY_OPERATIONS = names("clz ctz cpop clzw cpopw sext.b sext.h zext.h orc.b rev8")
IMMEDIATE_OPERATIONS = names("addi slti sltiu xori ori andi addiw")
SHIFT_WIDTHS = {name: 64 for name in names("slli srli srai slli.uw rori bclri bexti binvi bseti")}
SHIFT_WIDTHS |= {name: 32 for name in names("slliw srliw sraiw roriw")}
LOADS = {"lb": 1, "lbu": 1, "lh": 2, "lhu": 2, "lw": 4, "lwu": 4, "ld": 8}
STORES = {"sb": 1, "sh": 2, "sw": 4, "sd": 8}
BRANCHES = names("beq bne blt bge bltu bgeu")
AMOS = names("amoswap amoadd amoxor amoand amoor amomin amomax amominu amomaxu")
COMPRESSED_PAIRS = names("c.sub c.xor c.or c.and c.subw c.addw")
EDGE_VALUES = [0, 1, -1, 2, 0x7FFFFFFF, -0x80000000, 0x80000000]
EDGE_VALUES += [2**63 - 1, -(2**63), 0xFFFFFFFF]
SCRATCH_CSRS = ["mscratch", "mtval", "mcause"]
MISSING_CSRS = [0x5C0, 0x8FF, 0xBC0, 0xFC0]
READ_ONLY_CSRS = ["mhartid", "cycle", "instret"]
# addresses without a device or memory, on both machines
UNMAPPED_ADDRESSES = [0x08000000, 0x70000000000]

START = f"""
    la x29, trapped
    csrw mtvec, x29
    csrw mie, x0
    li x29, 0x2000          # mstatus.FS
    csrs mstatus, x29
    li x31, {LOG:#x}
    li x30, {DATA:#x}
"""

# Dumps all registers except x29, which holds an address after the block.
END = f"""
    exit_guest:
    li a0, 1
    la a1, open_block
    semihost
    la a1, write_block
    sd a0, 0(a1)
    li x29, {LOG:#x}
    sub x29, x31, x29
    sd x29, 16(a1)
    li a0, 5
    semihost
    exit 0

dump:
    sd x29, 0(x31)
    {"; ".join(f"sd x{n}, {8 * n}(x31)" for n in range(1, 29))}
    sd x30, 232(x31)
    addi x31, x31, {RECORD}
    jr x29

.balign 4
trapped:
    csrr x29, mepc
    sd x29, 0(x31)
    csrr x29, mcause
    sd x29, 8(x31)
    csrr x29, mtval
    sd x29, 16(x31)
    csrr x29, mstatus
    li x28, 0x1888
    and x29, x29, x28
    sd x29, 24(x31)
    addi x31, x31, {RECORD}
    csrr x29, mcause
    addi x29, x29, -1       # a fetch fault: go on where the caller said
    beqz x29, 2f
    bltz x29, 3f            # an interrupt: silence it, and go on
    csrr x29, mepc
    lhu x29, 0(x29)
    andi x29, x29, 3
    addi x29, x29, -3
    seqz x29, x29
    slli x29, x29, 1        # two bytes more for a whole instruction
    addi x29, x29, 2
    csrr x28, mepc
    add x29, x29, x28
1:  csrw mepc, x29
    j 4f
2:  csrw mepc, x1
    j 4f
3:  li x29, 0x02000000
    sw x0, 0(x29)
4:  li x29, 0x1800          # every trap goes back to machine mode
    csrs mstatus, x29
    mret

.balign 8
open_block: .dword name, 5, 3
write_block: .dword 0, {LOG:#x}, 0
name: .asciz "log"
"""


class Writer:
    def __init__(self, seed: int, compressed: bool) -> None:
        self.random = random.Random(seed)
        self.compressed = compressed
        self.labels = 0

    def pick(self, *choices: list[str]) -> str:
        return self.random.choice([c for group in choices for c in group])

    def rd(self) -> str:
        return self.pick(FREE_REGISTERS, ["x0"])

    def rs(self) -> str:
        return self.pick(FREE_REGISTERS, ["x0", "x30", "x31"])

    def imm(self, low: int = -2048, high: int = 2047) -> int:
        return self.random.choice([self.random.randint(low, high), low, high, 1])

    def offset(self, size: int, top: int = 2048) -> int:
        return self.random.randrange(0, top, size)

    def anywhere(self, size: int) -> int:
        """Returns an offset that may be misaligned, and whose access may cross the end of a
        line.
        """
        return self.offset(self.random.choice([size, 1]), 2041)

    def fs(self) -> str:
        return f"f{self.random.randrange(32)}"

    # ---- generators of lines

    def arithmetic(self) -> str:
        kind = self.random.randrange(6)
        if kind == 5:
            # Before version 8, QEMU's ctzw also counts zeros above the word, so the upper half is
            # cleared.
            word = f"add.uw x29, {self.rs()}, x0\nctzw {self.rd()}, x29"
            return self.random.choice(
                [word, f"{self.pick(UNARY_OPERATIONS)} {self.rd()}, {self.rs()}"]
            )
        if kind < 2:
            return f"{self.pick(REGISTER_OPERATIONS)} {self.rd()}, {self.rs()}, {self.rs()}"
        if kind == 2:
            name, rd = self.pick(IMMEDIATE_OPERATIONS), self.pick(FREE_REGISTERS)
            return f"{name} {rd}, {self.rs()}, {self.imm()}"
        if kind == 3:
            name = self.pick(list(SHIFT_WIDTHS))
            return f"{name} {self.rd()}, {self.rs()}, {self.random.randrange(SHIFT_WIDTHS[name])}"
        return f"{self.pick(['lui', 'auipc'])} {self.rd()}, {self.random.randrange(1 << 20)}"

    def constant(self) -> str:
        wide = self.random.getrandbits(64) - 2**63
        return f"li {self.pick(FREE_REGISTERS)}, {self.random.choice([*EDGE_VALUES, wide])}"

    def load(self) -> str:
        name = self.pick(list(LOADS))
        return f"{name} {self.rd()}, {self.anywhere(LOADS[name])}(x30)"

    def store(self) -> str:
        name = self.pick(list(STORES))
        return f"{name} {self.rs()}, {self.anywhere(STORES[name])}(x30)"

    def atomic(self) -> str:
        size, order = self.pick(["w", "d"]), self.pick(["", ".aq", ".rl", ".aqrl"])
        address = f"addi x29, x30, {self.offset(8)}\n"
        if self.random.random() < 0.7:
            return address + f"{self.pick(AMOS)}.{size}{order} {self.rd()}, {self.rs()}, (x29)"
        reserve = f"lr.{size}{order} {self.rd()}, (x29)\n" if self.random.random() < 0.8 else ""
        # The second store-conditional certainly fails, because the first one has used the
        # reservation.
        store = f"sc.{size} {self.pick(FREE_REGISTERS)}, {self.rs()}, (x29)\n"
        return address + (reserve + store + store if reserve else "")

    def branch(self) -> str:
        label = self.label()
        name, left, right = self.pick(BRANCHES), self.rs(), self.rs()
        skipped = "\n".join(self.arithmetic() for _ in range(self.random.randint(1, 3)))
        return f"{name} {left}, {right}, {label}\n{skipped}\n{label}:"

    def loop(self) -> str:
        label, counter = self.label(), self.pick(FREE_REGISTERS)
        others = [name for name in FREE_REGISTERS if name != counter]
        work = self.random.choice(
            [
                "",
                f"{self.store()}\nld {self.pick(others)}, {self.offset(8)}(x30)",
                f"{self.pick(REGISTER_OPERATIONS)} {self.pick(others)}, {self.rs()}, {self.rs()}",
            ]
        )
        turns = f"li {counter}, {self.random.randint(1, 20)}"
        return f"{turns}\n{label}: {work}\naddi {counter}, {counter}, -1\nbnez {counter}, {label}"

    def jump(self) -> str:
        label, link = self.label(), self.pick(FREE_REGISTERS)
        if self.random.random() < 0.5:
            return f"jal {link}, {label}\n{self.arithmetic()}\n{label}:"
        odd = self.random.randint(0, 1)  # jalr clears bit 0
        return (
            f"la {link}, {label}\naddi {link}, {link}, {odd}\n"
            f"jalr {link}, 0({link})\n{self.arithmetic()}\n{label}:"
        )

    def csr(self) -> str:
        verb = self.pick(["rw", "rs", "rc"])
        kind = self.random.randrange(6)
        if kind == 5:
            counter = self.pick(["cycle", "time", "instret"])
            return f"csrr x0, {counter}\ncsrw mcounteren, {self.rs()}\ncsrr x0, {counter}"
        if kind == 0:
            bits = self.random.choice([0x88, 0x80, 0x8, 0])
            rd = self.pick(FREE_REGISTERS)
            change = self.pick(["csrrs", "csrrc"])
            return f"li x29, {bits}\n{change} {rd}, mstatus, x29\nandi {rd}, {rd}, 0x88"
        if kind == 1:
            return f"csrr {self.rd()}, mhartid\ncsrr {self.rd()}, misa\nli x29, 0\nfence.i"
        csr = self.pick(SCRATCH_CSRS)
        if self.random.random() < 0.5:
            return f"csr{verb} {self.rd()}, {csr}, {self.rs()}"
        return f"csr{verb}i {self.rd()}, {csr}, {self.random.randrange(32)}"

    def trap(self) -> str:
        link = "la x1, {0}\njr x29\n{0}:"
        return self.random.choice(
            [
                lambda: "ecall",
                lambda: ".option push\n.option norvc\nebreak\n.option pop",
                lambda: f"csrw {self.random.choice(MISSING_CSRS)}, x1",
                lambda: f"csrr x1, {self.random.choice(MISSING_CSRS)}",
                lambda: f"csrw {self.pick(READ_ONLY_CSRS)}, x1",
                lambda: f"li x29, {self.random.choice(UNMAPPED_ADDRESSES)}\n{self.outside()}",
                lambda: (
                    f"li x29, {self.random.choice(UNMAPPED_ADDRESSES)}\n{link.format(self.label())}"
                ),
                lambda: ".word 0xffffffff",
                self.interrupt,
                self.user,
            ]
        )()

    def user(self) -> str:
        """Enters user mode, which lasts until an instruction traps."""
        label = self.label()
        return f"""la x29, {label}
            csrw mepc, x29
            li x29, 0x1800
            csrc mstatus, x29
            mret
            {label}: {self.random.choice(["", "mret", "ecall", "csrr x1, mstatus", "fence.i"])}"""

    def outside(self) -> str:
        return self.random.choice(
            [
                f"{self.pick(list(LOADS))} {self.rd()}, 0(x29)",
                f"{self.pick(list(STORES))} {self.rs()}, 0(x29)",
                # an LR and not an AMO, because QEMU reports faults of AMOs as those of loads
                f"lr.d {self.rd()}, (x29)",
            ]
        )

    def interrupt(self) -> str:
        """Sends a software interrupt to its own hart, which is taken immediately after the
        instruction that enables it.
        """
        # Enters user mode, whose first instruction traps back to machine mode.
        return """csrci mstatus, 8
            csrci mstatus, 8
            csrsi mie, 8
            li x29, 0x02000000
            sw x30, 0(x29)
            li x28, 1
            sw x28, 0(x29)
            csrsi mstatus, 8
            csrw mie, x0"""

    def fuzz(self) -> str:
        """Returns a random word or half-word instruction, but only a harmless one."""
        word = self.random.getrandbits(32)
        if self.compressed and self.random.random() < 0.6:
            parcel = word & 0xFFFF
            return f".half {parcel:#x}" if harmless_parcel(parcel) else ""
        word |= 3
        if self.random.random() < 0.7:
            word = word & ~0x7F | self.random.choice([0x13, 0x1B, 0x33, 0x3B])
            if self.random.random() < 0.5:
                word &= ~0xFC000000 | self.random.choice([0, 1 << 30, 1 << 25])
        return f".word {word:#x}" if harmless_word(word) else ""

    def floating(self) -> str:
        """Mixes floating-point operations with memory accesses and integers; test_floating.py tests
        each instruction separately.
        """
        form, fs, r = self.pick(["s", "d"]), self.fs, self.random
        wide, word = ("d", "d") if form == "d" else ("w", "w")
        return r.choice(
            [
                f"fl{wide} {fs()}, {self.anywhere(8)}(x30)",
                f"fs{wide} {fs()}, {self.anywhere(8)}(x30)",
                f"f{self.pick(['add', 'sub', 'mul', 'div', 'min'])}.{form} {fs()}, {fs()}, {fs()}",
                f"f{self.pick(['madd', 'nmsub'])}.{form} {fs()}, {fs()}, {fs()}, {fs()}",
                f"f{self.pick(['eq', 'lt', 'le'])}.{form} {self.rd()}, {fs()}, {fs()}",
                f"fcvt.{self.pick(['w', 'wu', 'l', 'lu'])}.{form} {self.rd()}, {fs()}, dyn",
                f"fcvt.{form}.{self.pick(['l', 'lu'])} {fs()}, {self.rs()}",
                f"fmv.{word}.x {fs()}, {self.rs()}",
                f"fmv.x.{word} {self.rd()}, {fs()}",
                f"csrwi frm, {r.randrange(5)}",
                f"csrr{self.pick(['s', 'c'])} {self.rd()}, fflags, {self.rs()}",
            ]
        )

    def compressed_line(self) -> str:
        low, any_, r = self.pick(COMPRESSIBLE_REGISTERS), self.pick(FREE_REGISTERS), self.random
        return r.choice(
            [
                f"{self.pick(COMPRESSED_PAIRS)} {low}, {self.pick(COMPRESSIBLE_REGISTERS)}",
                f"c.addi {any_}, {r.choice([-32, -1, 1, 31])}",
                f"c.addiw {any_}, {r.randint(-32, 31)}",
                f"c.li {any_}, {r.randint(-32, 31)}",
                f"c.lui {self.pick([f for f in FREE_REGISTERS if f != 'x2'])}, {r.randint(1, 31)}",
                f"c.andi {low}, {r.randint(-32, 31)}",
                f"{self.pick(['c.srli', 'c.srai'])} {low}, {r.randint(1, 63)}",
                f"c.slli {any_}, {r.randint(1, 63)}",
                f"c.mv {any_}, {self.pick(FREE_REGISTERS)}",
                f"c.add {any_}, {self.pick(FREE_REGISTERS)}",
                f"c.addi4spn {low}, x2, {4 * r.randint(1, 255)}",
                f"c.addi16sp x2, {16 * r.choice([-32, -1, 1, 7, 31])}",
                f"mv x2, x30\nc.sdsp {any_}, {8 * r.randrange(64)}(x2)",
                f"mv x2, x30\nc.swsp {any_}, {4 * r.randrange(64)}(x2)",
                f"mv x2, x30\nc.ldsp {any_}, {8 * r.randrange(64)}(x2)",
                f"mv x2, x30\nc.lwsp {any_}, {4 * r.randrange(64)}(x2)",
                f"mv x2, x30\nc.fsdsp {self.fs()}, {8 * r.randrange(64)}(x2)",
                f"mv x2, x30\nc.fldsp {self.fs()}, {8 * r.randrange(64)}(x2)",
                f"mv x9, x30\nc.fsd f{r.randint(8, 15)}, {8 * r.randrange(32)}(x9)",
                f"mv x9, x30\nc.fld f{r.randint(8, 15)}, {8 * r.randrange(32)}(x9)",
                f"mv x9, x30\nc.sd {low}, {8 * r.randrange(32)}(x9)",
                f"mv x9, x30\nc.sw {low}, {4 * r.randrange(32)}(x9)",
                f"mv x9, x30\nc.ld {low}, {8 * r.randrange(32)}(x9)",
                f"mv x9, x30\nc.lw {low}, {4 * r.randrange(32)}(x9)",
                self.compressed_jump(),
            ]
        )

    def compressed_jump(self) -> str:
        label, r = self.label(), self.pick(FREE_REGISTERS)
        skipped = f"{self.arithmetic()}\n{label}:"
        return self.random.choice(
            [
                f"c.j {label}\n{skipped}",
                f"c.beqz {self.pick(COMPRESSIBLE_REGISTERS)}, {label}\n{skipped}",
                f"c.bnez {self.pick(COMPRESSIBLE_REGISTERS)}, {label}\n{skipped}",
                f"la {r}, {label}\nc.jr {r}\n{skipped}",
                f"la {r}, {label}\nc.jalr {r}\n{skipped}",
                "c.ebreak",
                "c.nop",
            ]
        )

    def label(self) -> str:
        self.labels += 1
        return f"l{self.labels}"

    def block(self) -> str:
        kinds: dict[Callable[[], str], int] = {
            self.arithmetic: 8,
            self.constant: 3,
            self.load: 3,
            self.store: 3,
            self.atomic: 2,
            self.branch: 2,
            self.loop: 1,
            self.jump: 1,
            self.csr: 1,
            self.floating: 4,
            self.trap: 1,
            self.fuzz: 4,
            self.compressed_line: 8 if self.compressed else 0,
        }
        lines = self.random.choices(list(kinds), list(kinds.values()), k=8)
        return "\n".join(line() for line in lines) + "\njal x29, dump\n"


def random_program(seed: int, compressed: bool) -> str:
    writer = Writer(seed, compressed)
    seeds = "\n".join(f"li x{n}, {writer.random.getrandbits(64) - 2**63}" for n in range(1, 29))
    return START + seeds + "\n" + "".join(writer.block() for _ in range(BLOCKS)) + "ecall\n" + END


def harmless_word(word: int) -> bool:
    """Returns False if the word jumps, accesses memory, uses x29 to x31 or a CSR, or is an
    instruction that the hart does not have.
    """
    opcode = word & 0x7F
    harmless = opcode in (0x13, 0x1B, 0x33, 0x3B, 0x17, 0x37, 0x0B, 0x2B, 0x5B, 0x7B, 0x6B, 0x77)
    is_ctzw = word & 0xFFF0707F == 0x6010101B
    return harmless and word >> 7 & 31 < 29 and not is_ctzw


def harmless_parcel(parcel: int) -> bool:
    quadrant, funct3, rd = parcel & 3, parcel >> 13, parcel >> 7 & 31
    if quadrant == 0:
        return funct3 in (0, 4)  # addi4spn or a reserved encoding, which access no memory
    if quadrant == 1:
        return funct3 < 5 and rd < 29
    # shifts and register moves, but no jr and no jalr
    return quadrant == 2 and rd < 29 and (funct3 == 0 or (funct3 == 4 and parcel >> 2 & 31 != 0))
