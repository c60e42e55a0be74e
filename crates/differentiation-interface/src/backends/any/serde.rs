//! Backends in configuration files: as the string they print as, or with their parts apart.
//!
//! Called by `serde`; calls the parser.

use super::{AnyBackend, FirstOrder};
use serde::de::{Deserialize, Deserializer, Error, Visitor, value::MapAccessDeserializer};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// The structured form.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    name: String,
    chunk: Option<usize>,
    scheme: Option<String>,
    relative_step: Option<f64>,
    absolute_step: Option<f64>,
    compile: Option<bool>,
    refuse_other_branches: Option<bool>,
    most_recordings: Option<usize>,
    memory_limit: Option<usize>,
    outer: Option<FirstOrder>,
    inner: Option<FirstOrder>,
}

impl Parts {
    /// The string that says the same; it is the parser that judges it.
    fn text(self) -> String {
        let options = [
            self.outer.map(|outer| outer.to_string()),
            self.inner.map(|inner| inner.to_string()),
            self.chunk.map(|chunk| format!("chunk={chunk}")),
            self.scheme.map(|scheme| format!("scheme={scheme}")),
            self.relative_step.map(|step| format!("relative_step={step:?}")),
            self.absolute_step.map(|step| format!("absolute_step={step:?}")),
            self.compile.map(|compile| format!("compile={compile}")),
            self.refuse_other_branches.map(|refuse| format!("refuse_other_branches={refuse}")),
            self.most_recordings.map(|recordings| format!("most_recordings={recordings}")),
            self.memory_limit.map(|bytes| format!("memory_limit={bytes}")),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        format!("{}({})", self.name, options.join(", "))
    }
}

/// Reads a string or a map.
struct TextOrParts;

impl<'de> Visitor<'de> for TextOrParts {
    type Value = AnyBackend;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a backend such as \"ForwardDiff(chunk=4)\", or a map with its `name` and options")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<AnyBackend, E> {
        text.parse().map_err(E::custom)
    }
    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<AnyBackend, A::Error> {
        let text = Parts::deserialize(MapAccessDeserializer::new(map))?.text();
        text.parse().map_err(|error| A::Error::custom(format_args!("{error} of `{text}`")))
    }
}

impl<'de> Deserialize<'de> for AnyBackend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnyBackend, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(TextOrParts)
        } else {
            deserializer.deserialize_str(TextOrParts)
        }
    }
}

impl<'de> Deserialize<'de> for FirstOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FirstOrder, D::Error> {
        // By the string, so that a pair is refused in the words of the parser.
        AnyBackend::deserialize(deserializer)?.to_string().parse().map_err(D::Error::custom)
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
