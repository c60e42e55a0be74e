//! Long straight bodies in pieces, so that the numbers that a body holds for later are in work space and not on the stack.
//!
//! Called by [`Compiled::new`](super::Compiled::new) before a program is compiled. The adjoint of a recording without loops holds a number
//! for each of its operations until the way back; machine code keeps what registers have no room for in the frame of its function, which is
//! limited. In pieces, a number that a later one uses is stored to a cell; constants and cells are read again.

use super::check::check;
use super::options::MAX_STACK;
use crate::program::{Address, Instruction, Nest, Program, Space, Statement};
use rustc_hash::FxHashMap;

/// Instructions of a piece.
const LENGTH: usize = 8192;

/// The program with its long bodies outside of loops in pieces; `None` if none holds more than half of the numbers that the stack has room for.
pub(super) fn cut(program: &Program, bytes: u32) -> Option<Program> {
    cut_into(program, MAX_STACK / bytes as usize / 2, LENGTH)
}

/// The same with pieces of so many instructions, of bodies that hold more than `most` numbers.
pub(super) fn cut_into(program: &Program, most: usize, length: usize) -> Option<Program> {
    let may_be_long = |statement: &Statement| match statement {
        Statement::Nest(nest) => nest.dimensions.is_empty() && nest.body.len() > most,
        _ => false,
    };
    // `build` refuses a program that does not hold together.
    if !program.statements.iter().any(may_be_long) || check(program).is_err() {
        return None;
    }
    let is_long = |statement: &Statement| match statement {
        Statement::Nest(nest) => may_be_long(statement) && held(nest) > most,
        _ => false,
    };
    let are_long: Vec<bool> = program.statements.iter().map(is_long).collect();
    if !are_long.contains(&true) {
        return None;
    }
    let mut statements = Vec::with_capacity(program.statements.len());
    let mut work = program.work;
    for (statement, is_long) in program.statements.iter().zip(are_long) {
        match statement {
            Statement::Nest(nest) if is_long => append_pieces(nest, length, &mut work, &mut statements),
            _ => statements.push(statement.clone()),
        }
    }
    Some(Program { statements, work, ..program.clone() })
}

/// Whether an instruction is repeated where its result is used: nothing stores to a cell that a body loads.
fn is_repeated(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Constant(_) | Instruction::Load(_))
}

/// The most results, other than constants, that are held at once for later instructions.
fn held(nest: &Nest) -> usize {
    let mut last = vec![0; nest.body.len()];
    for (i, instruction) in nest.body.iter().enumerate() {
        instruction.operands(|operand| last[operand as usize] = i);
    }
    let mut ends = vec![0; nest.body.len()];
    let (mut now, mut most) = (0, 0);
    for (i, instruction) in nest.body.iter().enumerate() {
        now -= ends[i];
        if last[i] > i && !matches!(instruction, Instruction::Constant(_)) {
            ends[last[i]] += 1;
            now += 1;
            most = most.max(now);
        }
    }
    most
}

/// Appends the pieces of a body, with new cells of the work space for the results that they use of each other.
fn append_pieces(nest: &Nest, length: usize, work: &mut usize, statements: &mut Vec<Statement>) {
    let mut is_used_later = vec![false; nest.body.len()];
    for (i, instruction) in nest.body.iter().enumerate() {
        instruction.operands(|operand| is_used_later[operand as usize] |= operand as usize / length < i / length);
    }
    let mut cells = vec![None; nest.body.len()];
    for (i, instruction) in nest.body.iter().enumerate() {
        if is_used_later[i] && !is_repeated(instruction) {
            cells[i] = Some(*work as u32);
            *work += 1;
        }
    }
    for (k, instructions) in nest.body.chunks(length).enumerate() {
        let mut piece = Piece::new(nest, &cells, k * length);
        instructions.iter().for_each(|instruction| piece.take(*instruction));
        let Piece { addresses, body, .. } = piece;
        statements.push(Statement::Nest(Nest { dimensions: Vec::new(), reversed: nest.reversed, addresses, body }));
    }
}

/// A cell of the work space.
fn cell(at: u32) -> Address {
    Address { space: Space::Work, base: at, strides: Vec::new(), table: None }
}

/// A piece that is being written.
struct Piece<'a> {
    nest: &'a Nest,
    /// The cells of results that later pieces use.
    cells: &'a [Option<u32>],
    /// The next instruction of the body.
    next: usize,
    addresses: Vec<Address>,
    body: Vec<Instruction>,
    /// Where results of the body are in the piece.
    places: FxHashMap<u32, u32>,
    /// The addresses of the body that the piece has.
    known: FxHashMap<u32, u32>,
}

impl<'a> Piece<'a> {
    fn new(nest: &'a Nest, cells: &'a [Option<u32>], next: usize) -> Piece<'a> {
        let (addresses, body) = (Vec::new(), Vec::new());
        Piece { nest, cells, next, addresses, body, places: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// Appends the next instruction of the body, with what it uses of earlier pieces before it.
    fn take(&mut self, instruction: Instruction) {
        instruction.operands(|operand| self.import(operand));
        let own = self.append(instruction);
        self.places.insert(self.next as u32, own);
        if let Some(at) = self.cells[self.next] {
            let address = self.new_address(cell(at));
            self.body.push(Instruction::Store { value: own, address });
        }
        self.next += 1;
    }

    /// Makes a result of the body known in the piece.
    fn import(&mut self, result: u32) {
        if self.places.contains_key(&result) {
            return;
        }
        let place = match self.cells[result as usize] {
            Some(at) => {
                let address = self.new_address(cell(at));
                self.body.push(Instruction::Load(address));
                self.body.len() as u32 - 1
            }
            None => self.append(self.nest.body[result as usize]),
        };
        self.places.insert(result, place);
    }

    /// Appends an instruction of the body, whose operands are known, and returns its place.
    fn append(&mut self, instruction: Instruction) -> u32 {
        let places = &self.places;
        let mut renamed = instruction.renamed(|operand| places[&operand]);
        if let Instruction::Load(address)
        | Instruction::Store { address, .. }
        | Instruction::Accumulate { address, .. } = &mut renamed
        {
            *address = match self.known.get(address) {
                Some(known) => *known,
                None => {
                    let new = self.new_address(self.nest.addresses[*address as usize].clone());
                    self.known.insert(*address, new);
                    new
                }
            };
        }
        self.body.push(renamed);
        self.body.len() as u32 - 1
    }

    fn new_address(&mut self, address: Address) -> u32 {
        self.addresses.push(address);
        self.addresses.len() as u32 - 1
    }
}
