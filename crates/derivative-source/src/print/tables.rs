//! Arrays of constants at the beginning of a function: cells that follow no formula, and data of the function.
//!
//! Called by the printer of addresses; equal arrays are printed once.

use super::dialect::Dialect;
use std::collections::HashMap;

/// The tables of a function.
pub(super) struct Tables {
    dialect: Dialect,
    names: HashMap<Vec<u64>, String>,
    text: String,
}

/// Longest line.
const WIDTH: usize = 100;

impl Tables {
    pub(super) fn new(dialect: Dialect) -> Tables {
        Tables { dialect, names: HashMap::new(), text: String::new() }
    }

    pub(super) fn text(&self) -> String {
        self.text.clone()
    }

    /// The name of a table of cells.
    pub(super) fn cells(&mut self, cells: &[u32]) -> String {
        let most = cells.iter().copied().max().unwrap_or(0);
        let kind = match (self.dialect.is_rust(), most) {
            (true, 0..=0xff) => "u8",
            (true, 0..=0xffff) => "u16",
            (true, _) => "u32",
            (false, 0..=0xff) => "unsigned char",
            (false, 0..=0xffff) => "unsigned short",
            (false, _) => "unsigned int",
        };
        let key = cells.iter().map(|cell| u64::from(*cell)).chain([1 << 40]).collect();
        self.table(key, "CELLS", kind, cells.iter().map(|cell| cell.to_string()).collect())
    }

    /// The name of an array of constants.
    pub(super) fn constants(&mut self, constants: &[f64]) -> String {
        let key = constants.iter().map(|c| c.to_bits()).collect();
        let dialect = self.dialect;
        self.table(key, "DATA", dialect.float(), constants.iter().map(|c| dialect.literal(*c)).collect())
    }

    fn table(&mut self, key: Vec<u64>, kind: &str, of: &str, entries: Vec<String>) -> String {
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        let count = self.names.len();
        let kind = if self.dialect.is_rust() { kind.to_string() } else { kind.to_lowercase() };
        let name = format!("{kind}_{count}");
        self.text += &match self.dialect.is_rust() {
            true => format!("    #[rustfmt::skip]\n    static {name}: [{of}; {}] = [\n", entries.len()),
            false => format!("    static const {of} {name}[{}] = {{\n", entries.len()),
        };
        let mut line = String::from("       ");
        for entry in &entries {
            if line.len() + entry.len() + 2 > WIDTH {
                self.text += &line;
                self.text.push('\n');
                line = String::from("       ");
            }
            line += &format!(" {entry},");
        }
        self.text += &line;
        self.text += if self.dialect.is_rust() { "\n    ];\n" } else { "\n    };\n" };
        self.names.insert(key, name.clone());
        name
    }
}
