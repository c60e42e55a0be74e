//! Maps: `HashMap` and `BTreeMap`, whose keys and values have types of their own.
//!
//! Called where annotations, calls, indices and methods are read.

use super::inference::Inference;
use super::ty::Ty;
use proc_macro2::Span;
use std::rc::Rc;
use syn::ExprMethodCall;

/// The types that are maps.
pub(super) const MAPS: [&str; 2] = ["HashMap", "BTreeMap"];

impl Inference<'_> {
    /// A map of keys and values of these types, or of types that are not known yet.
    pub(super) fn map_of(&mut self, types: &[Ty]) -> Ty {
        let mut types = types.iter().cloned();
        let key = types.next().unwrap_or_else(|| self.fresh_var());
        let value = types.next().unwrap_or_else(|| self.fresh_var());
        Ty::Map(Rc::new(Ty::Tuple(vec![key, value])))
    }

    /// `map[key]`: the type of the values.
    pub(super) fn map_value(&self, map: &Ty) -> Option<Ty> {
        let Ty::Map(entry) = self.resolve(map) else { return None };
        match self.resolve(&entry) {
            Ty::Tuple(types) => types.into_iter().nth(1),
            _ => None,
        }
    }

    /// Arguments that are keys, or a range of keys, of a map.
    fn keys(&mut self, m: &mut ExprMethodCall, key: &Ty) {
        let is_range = m.method == "range" || m.method == "range_mut";
        for argument in &mut m.args {
            let ty = self.expr(argument);
            match is_range {
                true => self.compared(argument, &ty, &Ty::seq(key.clone())),
                false => self.compared(argument, &ty, key),
            }
        }
    }

    /// A method of a map; `None` if it is not known.
    pub(super) fn map_method(&mut self, m: &mut ExprMethodCall, map: &Ty, name: &str, span: Span) -> Option<Ty> {
        let Ty::Map(entry) = self.resolve(map) else { return None };
        let Ty::Tuple(types) = self.resolve(&entry) else { return None };
        let [key, value] = &types[..] else { return None };
        match name {
            "len" | "is_empty" | "contains_key" | "clear" | "reserve" => {
                self.keys(m, key);
                Some(Ty::Other)
            }
            "get" | "get_mut" | "remove" | "entry" => {
                self.keys(m, key);
                Some(Ty::seq(value.clone()))
            }
            "insert" if m.args.len() == 2 => {
                for (argument, expected) in m.args.iter_mut().zip([key, value]) {
                    let ty = self.expr(argument);
                    self.coerce(argument, &ty, expected);
                }
                Some(Ty::seq(value.clone()))
            }
            "values" | "values_mut" | "into_values" => Some(Ty::seq(value.clone())),
            "keys" | "into_keys" => Some(Ty::seq(key.clone())),
            "iter" | "iter_mut" | "into_iter" | "drain" | "range" | "range_mut" | "remove_entry" | "get_key_value"
            | "first_key_value" | "last_key_value" | "pop_first" | "pop_last" => {
                self.keys(m, key);
                Some(Ty::seq((*entry).clone()))
            }
            "retain" => {
                self.callback(m.args.first_mut()?, &[key.clone(), value.clone()]);
                Some(Ty::Other)
            }
            "extend" | "append" => {
                let other = self.expr(m.args.first_mut()?);
                let item = self.item_of(&other);
                self.unify(&item, &entry, span);
                Some(Ty::Other)
            }
            _ => None,
        }
    }
}
