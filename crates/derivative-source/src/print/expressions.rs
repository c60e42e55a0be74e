//! Prints blocks: instructions that are used once become part of an expression, others a name.
//!
//! Called by the printer for every block. Expressions stay short, so that lines need no breaking.

use super::dialect::Language;
use super::math;
use super::printer::Printer;
use crate::code::{Address, Array, Node, Unary};
use crate::error::Error;
use compiled_trace::Outcome;
use compiled_trace::rules::{MINUS, MODULO, NEGATE, OVER, PLUS, TIMES, TOGETHER};
use differentiation_interface_core::scalar::Relation;
use std::collections::BTreeSet;

/// Longest operand that becomes part of an expression.
const LONGEST: usize = 28;
/// Longest line.
const WIDTH: usize = 100;

/// An expression and how tightly it binds: 0 for names and calls, 1 for a sign, 2 for products, 3 for sums, 4 for comparisons.
#[derive(Clone)]
struct Text {
    text: String,
    binding: u8,
}

impl Text {
    fn atom(text: String) -> Text {
        Text { text, binding: 0 }
    }
    /// In parentheses if it binds less tightly.
    fn within(&self, most: u8) -> String {
        if self.binding > most { format!("({})", self.text) } else { self.text.clone() }
    }
}

impl Printer<'_> {
    pub(super) fn block(&mut self, nodes: &[Node]) -> Result<(), Error> {
        let mut uses = vec![0usize; nodes.len()];
        let mut is_written = vec![false; nodes.len()];
        for node in nodes {
            let writes = matches!(node, Node::Store(..) | Node::Add(..));
            node.operands(|operand| {
                uses[operand] += 1;
                is_written[operand] = writes;
            });
        }
        let written: BTreeSet<Array> = nodes
            .iter()
            .filter_map(|node| match node {
                Node::Store(_, address) | Node::Add(_, address) => Some(address.array),
                _ => None,
            })
            .collect();
        let mut texts: Vec<Text> = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            let text = match node {
                Node::Store(value, address) => {
                    self.write(&mut texts, *value, address, "=")?;
                    Text::atom(String::new())
                }
                Node::Add(value, address) => {
                    self.write(&mut texts, *value, address, "+=")?;
                    Text::atom(String::new())
                }
                Node::Guard(line, outcome, a, b) => {
                    self.guard(&texts, *line, *outcome, *a, *b)?;
                    Text::atom(String::new())
                }
                Node::Constant(c) => {
                    let text = self.dialect.literal(*c);
                    let binding = u8::from(text.starts_with('-'));
                    Text { text, binding }
                }
                node => {
                    let text = self.expression(node, &mut texts)?;
                    let is_read_later = matches!(node, Node::Load(a) if written.contains(&a.array));
                    let is_condition = matches!(node, Node::Compare(..) | Node::NotZero(_));
                    let longest = if is_written[i] { WIDTH } else { LONGEST };
                    if uses[i] == 1 && text.text.len() <= longest && !is_read_later {
                        text
                    } else {
                        self.named(text, is_condition)
                    }
                }
            };
            texts.push(text);
        }
        Ok(())
    }

    /// Gives an expression a name.
    fn named(&mut self, text: Text, is_condition: bool) -> Text {
        let name = self.names.value();
        let line = match (self.dialect.is_rust(), is_condition) {
            (true, _) => format!("let {name} = {};", text.text),
            (false, true) => format!("const int {name} = {};", text.text),
            (false, false) => format!("const {} {name} = {};", self.dialect.float(), text.text),
        };
        self.line(&line);
        Text::atom(name)
    }

    fn write(&mut self, texts: &mut [Text], value: usize, address: &Address, sign: &str) -> Result<(), Error> {
        let cell = match address.array {
            Array::Output(o) if self.is_number(o) => {
                let name = self.array(address.array);
                if sign == "=" && !self.declared[o] {
                    self.declared[o] = true;
                    format!("let {name}")
                } else {
                    name
                }
            }
            _ => self.cell(address),
        };
        if 4 * self.depth + cell.len() + texts[value].text.len() + sign.len() + 3 > WIDTH {
            texts[value] = self.named(texts[value].clone(), false);
        }
        let line = format!("{cell} {sign} {};", texts[value].text);
        self.line(&line);
        Ok(())
    }

    fn guard(&mut self, texts: &[Text], line: u32, outcome: Outcome, a: usize, b: usize) -> Result<(), Error> {
        let (x, y) = (texts[a].within(3), texts[b].within(3));
        let nan = |x: &Text| match self.dialect.is_rust() {
            true => format!("{}::is_nan({})", self.dialect.float(), x.text),
            false => format!("isnan({})", x.text),
        };
        let holds = match outcome {
            Outcome::Less => format!("{x} < {y}"),
            Outcome::Equal => format!("{x} == {y}"),
            Outcome::Greater => format!("{x} > {y}"),
            Outcome::Unordered => format!("{} || {}", nan(&texts[a]), nan(&texts[b])),
            Outcome::Same => {
                self.used.print("same", self.dialect)?;
                let (x, y) = (self.typed(&texts[a]), self.typed(&texts[b]));
                format!("same({x}, {y})")
            }
        };
        let fails = if outcome == Outcome::Same { format!("!{holds}") } else { format!("!({holds})") };
        if self.dialect.is_rust() {
            self.line(&format!("if {fails} {{"));
            self.line(&format!("    return Err(BranchChanged {{ line: {line} }});"));
            self.line("}");
        } else {
            self.line(&format!("if ({fails}) return {};", line.max(1)));
        }
        Ok(())
    }

    fn typed(&self, text: &Text) -> String {
        text.text.clone()
    }

    /// A call, with long arguments named before it.
    fn call(&mut self, name: &str, arguments: &[usize], texts: &mut [Text], more: &str) -> Text {
        let total = |texts: &[Text]| arguments.iter().map(|a| texts[*a].text.len() + 2).sum::<usize>() + more.len();
        while total(texts) > 58 {
            let longest = arguments.iter().copied().max_by_key(|a| texts[*a].text.len());
            match longest.filter(|a| texts[*a].text.len() > 6) {
                Some(a) => texts[a] = self.named(texts[a].clone(), texts[a].binding == 4),
                None => break,
            }
        }
        let list: Vec<String> = arguments.iter().map(|a| texts[*a].text.clone()).collect();
        Text::atom(format!("{name}({}{more})", list.join(", ")))
    }

    fn expression(&mut self, node: &Node, texts: &mut [Text]) -> Result<Text, Error> {
        let dialect = self.dialect;
        Ok(match node {
            Node::Load(address) => match address.array {
                Array::Output(o) if self.is_number(o) => Text::atom(self.array(address.array)),
                _ => Text::atom(self.cell(address)),
            },
            Node::Unary(Unary::Rule(NEGATE), a) => Text { text: format!("-{}", texts[*a].within(0)), binding: 1 },
            Node::Unary(Unary::Rule(rule), a) => {
                let name = self.used.name(math::unary(*rule), dialect)?;
                self.call(&name, &[*a], texts, "")
            }
            Node::Unary(Unary::Powi(n), a) => {
                self.used.print("powi", dialect)?;
                self.call("powi", &[*a], texts, &format!(", {n}"))
            }
            Node::Unary(Unary::Powc(c), a) => {
                let name = self.used.name(math::binary(compiled_trace::rules::POWF), dialect)?;
                self.call(&name, &[*a], texts, &format!(", {}", dialect.literal(*c)))
            }
            Node::Unary(Unary::Polygamma(order), a) => {
                self.used.print("powi", dialect)?;
                self.used.print("polygamma", dialect)?;
                self.call("polygamma", &[*a], texts, &format!(", {order}"))
            }
            Node::Binary(PLUS | TOGETHER, a, b) => infix(&texts[*a], "+", &texts[*b], 3, 2),
            Node::Binary(MINUS, a, b) => infix(&texts[*a], "-", &texts[*b], 3, 2),
            Node::Binary(TIMES, a, b) => infix(&texts[*a], "*", &texts[*b], 2, 0),
            Node::Binary(OVER, a, b) => infix(&texts[*a], "/", &texts[*b], 2, 0),
            Node::Binary(MODULO, a, b) if dialect.is_rust() => infix(&texts[*a], "%", &texts[*b], 2, 0),
            Node::Binary(MODULO, a, b) => {
                let name = self.used.name(math::remainder(), dialect)?;
                self.call(&name, &[*a, *b], texts, "")
            }
            Node::Binary(rule, a, b) => {
                let name = self.used.name(math::binary(*rule), dialect)?;
                self.call(&name, &[*a, *b], texts, "")
            }
            // A number that equals itself is no NaN.
            Node::Compare(Relation::LessOrEqual | Relation::GreaterOrEqual | Relation::Equal, a, b) if a == b => {
                match dialect.is_rust() {
                    true => Text::atom(format!("!{}::is_nan({})", dialect.float(), texts[*a].text)),
                    false => Text::atom(format!("!isnan({})", texts[*a].text)),
                }
            }
            Node::Compare(relation, a, b) => {
                let sign = match relation {
                    Relation::Less => "<",
                    Relation::LessOrEqual => "<=",
                    Relation::Greater => ">",
                    Relation::GreaterOrEqual => ">=",
                    Relation::Equal => "==",
                };
                infix(&texts[*a], sign, &texts[*b], 4, 3)
            }
            Node::NotZero(a) => Text { text: format!("{} != 0.0", texts[*a].within(3)), binding: 4 },
            Node::Truth(c) => match dialect.language {
                Language::Rust { .. } => Text::atom(format!("{}::from(u8::from({}))", dialect.float(), texts[*c].text)),
                Language::C => Text::atom(format!("({})({})", dialect.float(), texts[*c].text)),
            },
            Node::Select(c, a, b) => match dialect.language {
                Language::Rust { .. } => {
                    self.used.print("select", dialect)?;
                    self.call("select", &[*c, *a, *b], texts, "")
                }
                Language::C => {
                    let choice = format!("({} ? {} : {})", texts[*c].within(0), texts[*a].text, texts[*b].text);
                    Text::atom(choice)
                }
            },
            Node::Constant(_) | Node::Store(..) | Node::Add(..) | Node::Guard(..) => Text::atom(String::new()),
        })
    }

    /// A cell of an array.
    fn cell(&mut self, address: &Address) -> String {
        let counters = self.counters.clone();
        if address.array == Array::Constant {
            return self.constant_cell(address, &counters);
        }
        let name = self.array(address.array);
        let index = self.index(address, address.base, &counters);
        format!("{name}[{index}]")
    }

    /// A cell of the constants that the address reaches.
    fn constant_cell(&mut self, address: &Address, counters: &[String]) -> String {
        let code = self.code;
        let trips = &self.trips;
        let (low, high) = address.range(trips);
        let table = self.tables.constants(&code.constants[low as usize..=high as usize]);
        let index = self.index(address, address.base - low, counters);
        format!("{table}[{index}]")
    }

    /// Base, counters and table of an address. Terms that count down come last, so that no partial sum is negative.
    fn index(&mut self, address: &Address, base: i64, counters: &[String]) -> String {
        let mut shift = base;
        let mut terms = Vec::new();
        if let Some((table, trips)) = &address.table {
            // The smallest cell is part of the base, so that addresses with the same distances share a table.
            let inner = &counters[counters.len() - trips.len()..];
            let mut index: Vec<String> = Vec::new();
            for (k, counter) in inner.iter().enumerate() {
                let stride: u32 = trips[k + 1..].iter().product();
                index.push(if stride == 1 { counter.clone() } else { format!("{stride} * {counter}") });
            }
            let low = table.iter().copied().min().unwrap_or(0);
            let cells: Vec<u32> = table.iter().map(|cell| cell - low).collect();
            shift += i64::from(low);
            let name = self.tables.cells(&cells);
            let index = if index.is_empty() { "0".to_string() } else { index.join(" + ") };
            terms.push(match self.dialect.is_rust() {
                true => format!("{name}[{index}] as usize"),
                false => format!("{name}[{index}]"),
            });
        }
        let mut down = String::new();
        for (stride, counter) in address.strides.iter().zip(counters) {
            match stride {
                0 => {}
                1 => terms.push(counter.clone()),
                -1 => down += &format!(" - {counter}"),
                stride if *stride > 0 => terms.push(format!("{stride} * {counter}")),
                stride => down += &format!(" - {} * {counter}", -stride),
            }
        }
        if shift > 0 || terms.is_empty() {
            terms.push(shift.to_string());
        } else if shift < 0 {
            down += &format!(" - {}", -shift);
        }
        terms.join(" + ") + &down
    }
}

/// An operator between two expressions: the operands bind at least as tightly as given on the left and on the right.
fn infix(a: &Text, sign: &str, b: &Text, binding: u8, right: u8) -> Text {
    let left = if binding == 4 { 3 } else { binding };
    // A sign after an operator is put in parentheses.
    let right = if b.binding == 1 { 0 } else { right };
    Text { text: format!("{} {sign} {}", a.within(left), b.within(right)), binding }
}
