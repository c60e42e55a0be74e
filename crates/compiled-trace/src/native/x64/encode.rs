//! Bytes of x86-64 instructions.
//!
//! Called by the other files of this folder with registers and places. The tests of `native` run random functions that use
//! every form, and compare the results with plain Rust. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 (prefixes, ModR/M, VEX, EVEX).

/// General registers by number.
pub(super) const RAX: u8 = 0;
pub(super) const RSP: u8 = 4;
pub(super) const RSI: u8 = 6;
pub(super) const RDI: u8 = 7;
/// Neither an argument nor preserved by calls.
pub(super) const R11: u8 = 11;

/// An operand: a register, or a place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rm {
    Register(u8),
    Memory {
        base: u8,
        index: Option<u8>,
        shift: i32,
    },
    /// A constant of the function.
    Pool(u32),
}

impl Rm {
    /// A place in the frame of the function.
    pub(super) fn frame(shift: i32) -> Rm {
        Rm::Memory { base: RSP, index: None, shift }
    }
}

/// An instruction on vector registers: prefix (none, 66, F3, F2), table of opcodes (0F, 0F38, 0F3A), opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simd {
    pub(super) prefix: u8,
    pub(super) table: u8,
    pub(super) opcode: u8,
}

impl Simd {
    pub(super) const fn new(prefix: u8, table: u8, opcode: u8) -> Simd {
        Simd { prefix, table, opcode }
    }
}

/// A double in all lanes of a register of 32 or 64 bytes.
pub(super) const BROADCAST: Simd = Simd::new(1, 2, 0x19);

/// How much of a vector register an instruction uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Length {
    /// One number, or 16 bytes.
    Xmm,
    /// 32 bytes: instructions of AVX2.
    Ymm,
    /// 64 bytes: instructions of AVX-512 (F and DQ) on doubles.
    Zmm,
}

/// The mask register that comparisons of 64 bytes set.
pub(super) const MASK: u8 = 1;

/// Code being written.
pub(super) struct Bytes {
    pub(super) code: Vec<u8>,
    /// Whether the three-operand encoding is used.
    pub(super) vex: bool,
    /// Where distances to constants are to be filled in, with the end of the instruction and the constant.
    pub(super) pooled: Vec<(u32, u32, u32)>,
    /// Whether upper halves of vector registers may be in use.
    pub(super) upper: bool,
    /// Whether the sign and zero flags are those of the last integer that was written.
    pub(super) flags: bool,
}

impl Bytes {
    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    fn long(&mut self, long: i32) {
        self.code.extend_from_slice(&long.to_le_bytes());
    }

    /// Extension bits of an operand: index, base.
    fn extension(rm: Rm) -> (u8, u8) {
        match rm {
            Rm::Register(register) => (0, register >> 3),
            Rm::Memory { base, index, .. } => (index.unwrap_or(0) >> 3, base >> 3),
            Rm::Pool(_) => (0, 0),
        }
    }

    /// The operands; `trailing` bytes of the instruction follow them. A distance of one byte counts in units of `scale`.
    fn operands(&mut self, register: u8, rm: Rm, trailing: u32, scale: i32) {
        let register = (register & 7) << 3;
        match rm {
            Rm::Register(other) => self.byte(0xC0 | register | other & 7),
            Rm::Pool(constant) => {
                self.byte(register | 5);
                let at = self.code.len() as u32;
                self.pooled.push((at, at + 4 + trailing, constant));
                self.long(0);
            }
            Rm::Memory { base, index, shift } => {
                let short = (shift % scale == 0).then_some(shift / scale).and_then(|shift| i8::try_from(shift).ok());
                let mode = match short {
                    Some(0) if base & 7 != 5 => 0x00,
                    Some(_) => 0x40,
                    None => 0x80,
                };
                match index {
                    None if base & 7 != 4 => self.byte(mode | register | base & 7),
                    _ => {
                        self.byte(mode | register | 4);
                        self.byte((index.unwrap_or(4) & 7) << 3 | base & 7);
                    }
                }
                match short {
                    Some(_) if mode == 0x00 => {}
                    Some(short) => self.byte(short as u8),
                    None => self.long(shift),
                }
            }
        }
    }

    /// An instruction on general registers of 64 bits (`wide`) or 32 bits.
    pub(super) fn general(&mut self, opcode: &[u8], wide: bool, register: u8, rm: Rm, trailing: u32) {
        let (x, b) = Bytes::extension(rm);
        let rex = 0x40 | (wide as u8) << 3 | (register >> 3) << 2 | x << 1 | b;
        if rex != 0x40 {
            self.byte(rex);
        }
        self.code.extend_from_slice(opcode);
        self.operands(register, rm, trailing, 1);
    }

    /// An instruction on vector registers. `first` is the first source in the three-operand encoding and ignored in the other, in
    /// which `register` is the first source as well as the result.
    pub(super) fn simd(&mut self, simd: Simd, length: Length, register: u8, first: u8, rm: Rm, immediate: Option<u8>) {
        if length == Length::Zmm {
            return self.masked(simd, register, first, rm, immediate, 0);
        }
        let (x, b) = Bytes::extension(rm);
        let r = register >> 3;
        let long = length == Length::Ymm;
        self.upper |= long;
        if self.vex {
            let rest = (!first & 15) << 3 | (long as u8) << 2 | simd.prefix;
            if x == 0 && b == 0 && simd.table == 1 {
                self.code.extend_from_slice(&[0xC5, (r ^ 1) << 7 | rest]);
            } else {
                self.code.extend_from_slice(&[0xC4, (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | simd.table, rest]);
            }
        } else {
            if simd.prefix > 0 {
                self.byte([0, 0x66, 0xF3, 0xF2][simd.prefix as usize]);
            }
            let rex = 0x40 | r << 2 | x << 1 | b;
            if rex != 0x40 {
                self.byte(rex);
            }
            self.byte(0x0F);
            match simd.table {
                2 => self.byte(0x38),
                3 => self.byte(0x3A),
                _ => {}
            }
        }
        self.byte(simd.opcode);
        self.operands(register, rm, immediate.is_some() as u32, 1);
        if let Some(immediate) = immediate {
            self.byte(immediate);
        }
    }

    /// An instruction on registers of 64 bytes, with a mask register if it is not 0: in the encoding with four bytes before the opcode.
    pub(super) fn masked(&mut self, simd: Simd, register: u8, first: u8, rm: Rm, immediate: Option<u8>, mask: u8) {
        let (x, b) = Bytes::extension(rm);
        let r = register >> 3;
        self.upper = true;
        // Instructions on doubles have this bit and the prefix 66.
        let wide = (simd.prefix == 1) as u8;
        self.code.extend_from_slice(&[
            0x62,
            (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | 1 << 4 | simd.table,
            wide << 7 | (!first & 15) << 3 | 1 << 2 | simd.prefix,
            2 << 5 | 1 << 3 | mask,
            simd.opcode,
        ]);
        self.operands(register, rm, immediate.is_some() as u32, if simd == BROADCAST { 8 } else { 64 });
        if let Some(immediate) = immediate {
            self.byte(immediate);
        }
    }

    /// `mask` = where both masks are set, or where one of them is, for masks of eight bits.
    pub(super) fn combine_masks(&mut self, both: bool, mask: u8, other: u8) {
        let opcode = if both { 0x41 } else { 0x45 };
        self.code.extend_from_slice(&[0xC5, 0x85 | (!mask & 15) << 3, opcode, 0xC0 | mask << 3 | other]);
    }

    /// `eax` = mask of eight bits.
    pub(super) fn load_mask(&mut self, mask: u8) {
        self.code.extend_from_slice(&[0xC5, 0xF9, 0x93, 0xC0 | mask]);
    }

    /// register = constant. Leaves the flags as they are.
    pub(super) fn set(&mut self, register: u8, value: i64) {
        if let Ok(value) = u32::try_from(value) {
            if register >= 8 {
                self.byte(0x41);
            }
            self.byte(0xB8 | register & 7);
            self.long(value as i32);
        } else if let Ok(value) = i32::try_from(value) {
            self.general(&[0xC7], true, 0, Rm::Register(register), 4);
            self.long(value);
        } else {
            self.byte(0x48 | register >> 3);
            self.byte(0xB8 | register & 7);
            self.code.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// register = operand of 64 bits. Leaves the flags as they are.
    pub(super) fn load(&mut self, register: u8, rm: Rm) {
        self.general(&[0x8B], true, register, rm, 0);
    }

    /// place = register of 64 bits. Leaves the flags as they are.
    pub(super) fn store(&mut self, rm: Rm, register: u8) {
        self.general(&[0x89], true, register, rm, 0);
    }

    /// register = address of the place. Leaves the flags as they are.
    pub(super) fn address(&mut self, register: u8, rm: Rm) {
        self.general(&[0x8D], true, register, rm, 0);
    }

    /// register += constant.
    pub(super) fn add_constant(&mut self, register: u8, constant: i32) {
        self.with_constant(0, register, constant);
    }

    /// register -= constant.
    pub(super) fn subtract_constant(&mut self, register: u8, constant: i32) {
        self.with_constant(5, register, constant);
    }

    /// Rounds a register down to a multiple of a power of 2.
    pub(super) fn round_down(&mut self, register: u8, to: i32) {
        self.with_constant(4, register, -to);
    }

    /// Compares a register with a constant.
    pub(super) fn compare_constant(&mut self, register: u8, constant: i32) {
        if constant == 0 {
            self.general(&[0x85], true, register, Rm::Register(register), 0);
        } else {
            self.with_constant(7, register, constant);
        }
    }

    fn with_constant(&mut self, which: u8, register: u8, constant: i32) {
        self.flags = false;
        if let Ok(short) = i8::try_from(constant) {
            self.general(&[0x83], true, which, Rm::Register(register), 1);
            self.byte(short as u8);
        } else {
            self.general(&[0x81], true, which, Rm::Register(register), 4);
            self.long(constant);
        }
    }

    /// Compares two registers.
    pub(super) fn compare(&mut self, register: u8, other: u8) {
        self.flags = false;
        self.general(&[0x39], true, other, Rm::Register(register), 0);
    }

    /// register += other.
    pub(super) fn add(&mut self, register: u8, other: u8) {
        self.flags = false;
        self.general(&[0x01], true, other, Rm::Register(register), 0);
    }

    /// register = operand * constant.
    pub(super) fn multiply_constant(&mut self, register: u8, rm: Rm, constant: i32) {
        self.flags = false;
        self.general(&[0x69], true, register, rm, 4);
        self.long(constant);
    }

    /// register *= other.
    pub(super) fn multiply(&mut self, register: u8, other: u8) {
        self.flags = false;
        self.general(&[0x0F, 0xAF], true, register, Rm::Register(other), 0);
    }

    /// register <<= bits.
    pub(super) fn shift_left(&mut self, register: u8, bits: u8) {
        self.flags = false;
        self.general(&[0xC1], true, 4, Rm::Register(register), 1);
        self.byte(bits);
    }

    /// Compares the lowest byte of `rax` with bits of which one is tested.
    pub(super) fn test_lowest_bit(&mut self) {
        self.flags = false;
        self.code.extend_from_slice(&[0xA8, 1]);
    }

    pub(super) fn compare_lowest_byte(&mut self, with: u8) {
        self.flags = false;
        self.code.extend_from_slice(&[0x3C, with]);
    }

    /// `eax` = constant; leaves the flags as they are.
    pub(super) fn result(&mut self, value: u32) {
        self.set(RAX, value as i64);
    }

    pub(super) fn call(&mut self, register: u8) {
        self.flags = false;
        self.general(&[0xFF], false, 2, Rm::Register(register), 0);
    }

    pub(super) fn push(&mut self, register: u8) {
        if register >= 8 {
            self.byte(0x41);
        }
        self.byte(0x50 | register & 7);
    }

    pub(super) fn pop(&mut self, register: u8) {
        if register >= 8 {
            self.byte(0x41);
        }
        self.byte(0x58 | register & 7);
    }

    /// Clears the upper halves of all vector registers, without which code in the two-operand encoding would be slow.
    pub(super) fn clear_upper_halves(&mut self) {
        self.upper = false;
        self.code.extend_from_slice(&[0xC5, 0xF8, 0x77]);
    }

    pub(super) fn leave(&mut self) {
        self.byte(0xC3);
    }

    /// Jumps to an earlier place if the last comparison found a difference.
    pub(super) fn back_if_different(&mut self, to: usize) {
        let distance = to as i64 - (self.code.len() as i64 + 2);
        if let Ok(distance) = i8::try_from(distance) {
            self.code.extend_from_slice(&[0x75, distance as u8]);
        } else {
            self.code.extend_from_slice(&[0x0F, 0x85]);
            self.long((distance - 4) as i32);
        }
    }

    /// A jump to a place that is not known yet, taken if the last comparison found a difference, or equality. Returns where its
    /// distance is.
    pub(super) fn forward_if(&mut self, equal: bool) -> usize {
        self.code.extend_from_slice(&[0x0F, if equal { 0x84 } else { 0x85 }]);
        self.long(0);
        self.code.len() - 4
    }

    /// Jumps.
    pub(super) fn jump(&mut self, to: usize) {
        let distance = to as i64 - (self.code.len() as i64 + 5);
        self.byte(0xE9);
        self.long(distance as i32);
    }

    /// Sets the distance of a jump to the present place.
    pub(super) fn land(&mut self, at: usize) {
        let distance = (self.code.len() - (at + 4)) as i32;
        self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Fills up to a multiple of so many bytes with instructions that do nothing.
    pub(super) fn align(&mut self, to: usize) {
        const NOTHING: [&[u8]; 8] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0F, 0x1F, 0x00],
            &[0x0F, 0x1F, 0x40, 0x00],
            &[0x0F, 0x1F, 0x44, 0x00, 0x00],
            &[0x66, 0x0F, 0x1F, 0x44, 0x00, 0x00],
            &[0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let mut missing = self.code.len().next_multiple_of(to) - self.code.len();
        while missing > 0 {
            let length = missing.min(8);
            self.code.extend_from_slice(NOTHING[length - 1]);
            missing -= length;
        }
    }
}
