//! Programs as data: the drawn programs, and the one interpreter that all number types share.
//!
//! `draw` makes programs, `shrink` makes them smaller, `print` prints them. [`Program::run`] interprets them over an [`Algebra`]:
//! that of the engines' numbers is in `function`, that of the reference in `reference`.

/// Maximum number of statements of a run, whatever its loops are.
const FUEL: usize = 600;

/// A number that a statement reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// `x[i]`
    Input(usize),
    /// `x[(start + stride * i) % n]` in iteration `i` of the innermost loop
    InputAt { start: usize, stride: usize },
    /// A local variable.
    Register(usize),
    /// An entry of the work memory.
    Work(usize),
    /// The work memory, as `InputAt`.
    WorkAt { start: usize, stride: usize },
    /// A plain number.
    Constant(f64),
}

/// The target of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Register(usize),
    Work(usize),
    WorkAt { start: usize, stride: usize },
}

/// The comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

impl Relation {
    /// Whether the relation holds for plain numbers.
    pub fn holds<B: PartialOrd>(self, a: &B, b: &B) -> bool {
        match self {
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::Greater => a > b,
            Relation::GreaterOrEqual => a >= b,
            Relation::Equal => a == b,
        }
    }
}

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unary {
    Neg,
    Recip,
    Abs,
    Signum,
    Floor,
    Ceil,
    Round,
    Trunc,
    Fract,
    ToDegrees,
    ToRadians,
    Sqrt,
    Cbrt,
    Exp,
    Exp2,
    ExpM1,
    Ln,
    Log2,
    Log10,
    Ln1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    LnGamma,
    Digamma,
    Logistic,
    Softplus,
    /// x / (1 + x²), a rule of this crate.
    Bell,
    Powi(i32),
    Powc(f64),
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Powf,
    Atan2,
    Hypot,
    Max,
    Min,
    Copysign,
    AbsSub,
}

/// Functions of two numbers with their own derivative, or that differentiate a function inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Special {
    /// a² b + sin b, a custom rule with a pushforward.
    ByPushforward,
    /// a b - b², a custom rule with a pullback; the second output a + 2 b is added to the first.
    ByPullback,
    /// ∂/∂y (sin(a y) + a y²) at y = b, by forward mode.
    NestedForward,
    /// ∂/∂u (u² v + exp(-u v)) at u = a, v = b, by the tape.
    NestedReverse,
}

/// The right-hand side of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Copy(Operand),
    Unary(Unary, Operand),
    Binary(Binary, Operand, Operand),
    /// `a * b + c` by `mul_add`
    MulAdd(Operand, Operand, Operand),
    /// `a.clamp(low, high)` with plain limits
    Clamp(Operand, f64, f64),
    Select {
        relation: Relation,
        a: Operand,
        b: Operand,
        then: Operand,
        otherwise: Operand,
    },
    /// A number of a table, by a value cast to an integer.
    Table(Operand, Vec<f64>),
    /// One of several numbers, by a value cast to an integer.
    Lookup(Operand, Vec<Operand>),
    Special(Special, Operand, Operand),
    /// The sum of a function of all inputs.
    SumOfInputs(Unary),
    /// The product of all inputs.
    ProductOfInputs,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Set { place: Place, value: Expression },
    For { trips: usize, body: Vec<Statement> },
    If { relation: Relation, a: Operand, b: Operand, then: Vec<Statement>, otherwise: Vec<Statement> },
    While { relation: Relation, a: Operand, b: Operand, limit: usize, body: Vec<Statement> },
}

/// A program. All registers and the work memory begin as constants, so that any statement can be removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub inputs: usize,
    pub registers: usize,
    pub work: usize,
    pub body: Vec<Statement>,
    pub outputs: Vec<Operand>,
}

/// The initial value of the registers; `WORK_BEGINS` is that of the work memory.
pub const REGISTER_BEGINS: f64 = 0.5;
pub const WORK_BEGINS: f64 = 0.25;

/// An operand that may be a plain number.
pub enum Argument<N> {
    Number(N),
    Plain(f64),
}

/// Numbers that programs run on.
pub trait Algebra {
    type Number: Clone;
    fn constant(&mut self, value: f64) -> Self::Number;
    fn unary(&mut self, function: Unary, a: Self::Number) -> Self::Number;
    /// At most one argument is plain.
    fn binary(&mut self, function: Binary, a: Argument<Self::Number>, b: Argument<Self::Number>) -> Self::Number;
    fn mul_add(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
    fn clamp(&mut self, a: Self::Number, low: f64, high: f64) -> Self::Number;
    fn holds(&mut self, relation: Relation, a: Self::Number, b: Self::Number) -> bool;
    fn select(
        &mut self,
        relation: Relation,
        compared: [Self::Number; 2],
        then: Self::Number,
        otherwise: Self::Number,
    ) -> Self::Number;
    /// The value truncated to an integer, modulo `count`; 0 if it is not finite or does not fit.
    fn index(&mut self, a: Self::Number, count: usize) -> usize;
    fn special(&mut self, function: Special, a: Self::Number, b: Self::Number) -> Self::Number;
    fn sum(&mut self, terms: Vec<Self::Number>) -> Self::Number;
    fn product(&mut self, factors: &[Self::Number]) -> Self::Number;
}

struct Walk<'a, A: Algebra> {
    algebra: &'a mut A,
    x: &'a [A::Number],
    registers: Vec<A::Number>,
    work: Vec<A::Number>,
    fuel: usize,
}

impl Program {
    /// Runs the program and returns its outputs.
    pub fn run<A: Algebra>(&self, algebra: &mut A, x: &[A::Number]) -> Vec<A::Number> {
        let registers = (0..self.registers).map(|_| algebra.constant(REGISTER_BEGINS)).collect();
        let work = (0..self.work).map(|_| algebra.constant(WORK_BEGINS)).collect();
        let mut walk = Walk { algebra, x, registers, work, fuel: FUEL };
        walk.run(&self.body, 0);
        self.outputs.iter().map(|output| walk.number(*output, 0)).collect()
    }
}

impl<A: Algebra> Walk<'_, A> {
    fn argument(&mut self, operand: Operand, i: usize) -> Argument<A::Number> {
        Argument::Number(match operand {
            Operand::Input(k) => self.x[k % self.x.len()].clone(),
            Operand::InputAt { start, stride } => self.x[(start + stride * i) % self.x.len()].clone(),
            Operand::Register(k) => self.registers[k].clone(),
            Operand::Work(k) => self.work[k].clone(),
            Operand::WorkAt { start, stride } => self.work[(start + stride * i) % self.work.len()].clone(),
            Operand::Constant(value) => return Argument::Plain(value),
        })
    }

    fn number(&mut self, operand: Operand, i: usize) -> A::Number {
        match self.argument(operand, i) {
            Argument::Number(number) => number,
            Argument::Plain(value) => self.algebra.constant(value),
        }
    }

    fn evaluate(&mut self, expression: &Expression, i: usize) -> A::Number {
        match *expression {
            Expression::Copy(a) => self.number(a, i),
            Expression::Unary(function, a) => {
                let a = self.number(a, i);
                self.algebra.unary(function, a)
            }
            Expression::Binary(function, a, b) => match (self.argument(a, i), self.argument(b, i)) {
                (Argument::Plain(a), b @ Argument::Plain(_)) => {
                    let a = self.algebra.constant(a);
                    self.algebra.binary(function, Argument::Number(a), b)
                }
                (a, b) => self.algebra.binary(function, a, b),
            },
            Expression::MulAdd(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|operand| self.number(operand, i));
                self.algebra.mul_add(a, b, c)
            }
            Expression::Clamp(a, low, high) => {
                let a = self.number(a, i);
                self.algebra.clamp(a, low, high)
            }
            Expression::Select { relation, a, b, then, otherwise } => {
                let [a, b, then, otherwise] = [a, b, then, otherwise].map(|operand| self.number(operand, i));
                self.algebra.select(relation, [a, b], then, otherwise)
            }
            Expression::Table(a, ref table) => {
                let a = self.number(a, i);
                let k = self.algebra.index(a, table.len());
                self.algebra.constant(table[k])
            }
            Expression::Lookup(a, ref among) => {
                let a = self.number(a, i);
                let k = self.algebra.index(a, among.len());
                self.number(among[k], i)
            }
            Expression::Special(function, a, b) => {
                let [a, b] = [a, b].map(|operand| self.number(operand, i));
                self.algebra.special(function, a, b)
            }
            Expression::SumOfInputs(function) => {
                let terms = self.x.iter().map(|x| self.algebra.unary(function, x.clone())).collect();
                self.algebra.sum(terms)
            }
            Expression::ProductOfInputs => self.algebra.product(self.x),
        }
    }

    fn run(&mut self, body: &[Statement], i: usize) {
        for statement in body {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            match statement {
                Statement::Set { place, value } => {
                    let value = self.evaluate(value, i);
                    match *place {
                        Place::Register(k) => self.registers[k] = value,
                        Place::Work(k) => self.work[k] = value,
                        Place::WorkAt { start, stride } => {
                            let k = (start + stride * i) % self.work.len();
                            self.work[k] = value;
                        }
                    }
                }
                Statement::For { trips, body } => (0..*trips).for_each(|i| self.run(body, i)),
                Statement::If { relation, a, b, then, otherwise } => {
                    let (a, b) = (self.number(*a, i), self.number(*b, i));
                    let side = self.algebra.holds(*relation, a, b);
                    self.run(if side { then } else { otherwise }, i);
                }
                Statement::While { relation, a, b, limit, body } => {
                    for trip in 0..*limit {
                        // The comparison uses the counter of the enclosing loop, the body that of this one.
                        let (left, right) = (self.number(*a, i), self.number(*b, i));
                        if !self.algebra.holds(*relation, left, right) {
                            break;
                        }
                        self.run(body, trip);
                    }
                }
            }
        }
    }
}
