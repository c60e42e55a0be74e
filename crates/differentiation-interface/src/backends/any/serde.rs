//! Backends in configuration files: as a string, or in a structured form.
//!
//! Called by `serde`; calls the parser.

use super::choice::{AnyBackend, FirstOrder};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Visitor, value::MapAccessDeserializer};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The structured form; `H` is the type of the two backends of a pair.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts<H> {
    name: String,
    chunk: Option<usize>,
    scheme: Option<String>,
    relative_step: Option<f64>,
    absolute_step: Option<f64>,
    levels: Option<usize>,
    order: Option<usize>,
    first_step: Option<f64>,
    noise: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    compile: Option<bool>,
    refuse_other_branches: Option<bool>,
    most_recordings: Option<usize>,
    memory_limit: Option<usize>,
    tape: Option<bool>,
    recording_from: Option<u64>,
    outer: Option<H>,
    inner: Option<H>,
}

/// The content of a nested pair, which is refused. It is skipped without recursion, whatever its depth of nesting.
struct Unread;

impl<'de> Deserialize<'de> for Unread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unread, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Unread)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForwardDiff")
    }
}

impl<H: fmt::Display> Parts<H> {
    /// The equivalent string, which the parser validates.
    fn text(self) -> String {
        let options = [
            self.outer.map(|outer| outer.to_string()),
            self.inner.map(|inner| inner.to_string()),
            self.chunk.map(|chunk| format!("chunk={chunk}")),
            self.scheme.map(|scheme| format!("scheme={scheme}")),
            self.relative_step.map(|step| format!("relative_step={step:?}")),
            self.absolute_step.map(|step| format!("absolute_step={step:?}")),
            self.levels.map(|levels| format!("levels={levels}")),
            self.order.map(|order| format!("order={order}")),
            self.first_step.map(|step| format!("first_step={step:?}")),
            self.noise.map(|noise| format!("noise={noise:?}")),
            self.lower.map(|lower| format!("lower={lower:?}")),
            self.upper.map(|upper| format!("upper={upper:?}")),
            self.compile.map(|compile| format!("compile={compile}")),
            self.refuse_other_branches.map(|refuse| format!("refuse_other_branches={refuse}")),
            self.most_recordings.map(|recordings| format!("most_recordings={recordings}")),
            self.memory_limit.map(|bytes| format!("memory_limit={bytes}")),
            self.tape.map(|tape| format!("tape={tape}")),
            self.recording_from.map(|call| format!("recording_from={call}")),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        format!("{}({})", self.name, options.join(", "))
    }
}

/// Reads a string or a map; `H` is the type of the two backends of a pair.
struct TextOrParts<H>(PhantomData<H>);

impl<'de, H: Deserialize<'de> + fmt::Display> Visitor<'de> for TextOrParts<H> {
    type Value = AnyBackend;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a backend such as \"ForwardDiff(chunk=4)\", or a map with its `name` and options")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<AnyBackend, E> {
        text.parse().map_err(E::custom)
    }
    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<AnyBackend, A::Error> {
        let text = Parts::<H>::deserialize(MapAccessDeserializer::new(map))?.text();
        text.parse().map_err(|error| A::Error::custom(format_args!("{error} of `{text}`")))
    }
}

/// Reads a backend; `H` is the type of the two backends of a pair in structured form.
fn read<'de, H: Deserialize<'de> + fmt::Display, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<AnyBackend, D::Error> {
    let visitor = TextOrParts::<H>(PhantomData);
    if deserializer.is_human_readable() {
        deserializer.deserialize_any(visitor)
    } else {
        deserializer.deserialize_str(visitor)
    }
}

impl<'de> Deserialize<'de> for AnyBackend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnyBackend, D::Error> {
        read::<FirstOrder, D>(deserializer)
    }
}

impl<'de> Deserialize<'de> for FirstOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FirstOrder, D::Error> {
        // Parsed as a string, so that the parser's error refuses a nested pair.
        read::<Unread, D>(deserializer)?.to_string().parse().map_err(D::Error::custom)
    }
}

impl Serialize for AnyBackend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for FirstOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn pairs_inside_of_pairs_are_refused_and_not_looked_into() {
        let pair = json!({"name": "SecondOrder", "outer": "ForwardDiff", "inner": {"name": "ReverseDiff"}});
        assert!(from_value::<AnyBackend>(pair.clone()).is_ok());
        let unread = json!({"name": "SecondOrder", "outer": {"no": "backend"}, "inner": 4});
        for inner in [pair, unread] {
            let nested = json!({"name": "SecondOrder", "outer": "ForwardDiff", "inner": inner});
            let error = from_value::<AnyBackend>(nested).unwrap_err();
            assert_eq!(error.to_string(), "expected a first-order backend at column 1, found `SecondOrder`");
        }
    }
}
