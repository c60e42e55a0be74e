//! Backends as text and in configurations.

use super::*;

fn parse_error(text: &str) -> String {
    text.parse::<AnyBackend>().unwrap_err().to_string()
}

#[test]
fn mistakes_in_names_are_explained() {
    for (text, expected) in [
        ("RevrseDiff", "unknown backend `RevrseDiff` at column 1; did you mean `ReverseDiff`?"),
        ("forward_diff", "unknown backend `forward_diff` at column 1; did you mean `ForwardDiff`?"),
        ("AutoFinitDiff", "unknown backend `AutoFinitDiff` at column 1; did you mean `FiniteDiff`?"),
        (
            "Zygote",
            "unknown backend `Zygote` at column 1; known are ForwardDiff, ReverseDiff, FiniteDiff, FiniteDifferences and SecondOrder",
        ),
        (
            "SecondOrder(ForwardDiff, ReverseDif)",
            "unknown backend `ReverseDif` at column 26; did you mean `ReverseDiff`?",
        ),
        ("ForwardDiff(chnk=4)", "ForwardDiff has no option `chnk`, found at column 13; did you mean `chunk`?"),
        ("ForwardDiff(size=4)", "ForwardDiff has no option `size`, found at column 13; its options: chunk"),
        (
            "ReverseDiff(chunk=4)",
            "ReverseDiff has no option `chunk`, found at column 13; its options: compile, refuse_other_branches, \
             most_recordings, memory_limit, tape and recording_from",
        ),
        (
            "ReverseDiff(compiled=true)",
            "ReverseDiff has no option `compiled`, found at column 13; did you mean `compile`?",
        ),
        (
            "ReverseDiff(compile=true, most_recording=4)",
            "ReverseDiff has no option `most_recording`, found at column 27; did you mean `most_recordings`?",
        ),
        (
            "ReverseDiff(compile=true, refusing_other_branches=true)",
            "ReverseDiff has no option `refusing_other_branches`, found at column 27; did you mean `refuse_other_branches`?",
        ),
        ("ReverseDiff(compile=ture)", "`compile` at column 21 is `ture`, expected true or false; did you mean `true`?"),
        ("ReverseDiff(compile=yes)", "`compile` at column 21 is `yes`, expected true or false"),
        (
            "ReverseDiff(compile=true, refuse_other_branches=1)",
            "`refuse_other_branches` at column 49 is `1`, expected true or false",
        ),
        (
            "ReverseDiff(compile=true, most_recordings=0)",
            "`most_recordings` at column 43 is `0`, expected a whole number from 1",
        ),
        (
            "ReverseDiff(compile=true, memory_limit=1e6)",
            "`memory_limit` at column 40 is `1e6`, expected a whole number of bytes from 1",
        ),
        (
            "SecondOrder(ForwardDiff, ReverseDiff(most_recordings=4))",
            "option `most_recordings` at column 38 requires `compile=true`, which is missing; give both",
        ),
        (
            "ReverseDiff(tape=true, compile=true)",
            "option `tape` at column 13 has no meaning with `compile=true`; give one of them",
        ),
        (
            "ReverseDiff(tape=true, recording_from=4)",
            "option `recording_from` at column 24 has no meaning with `tape=true`; give one of them",
        ),
        ("ReverseDiff(recording_from=0)", "`recording_from` at column 28 is `0`, expected a whole number from 1"),
        (
            "Sparse(ReverseDiff)",
            "unknown backend `Sparse` at column 1; a wrapper takes a parsed backend: `AutoSparse::new(any)`",
        ),
        ("AutoTaylor", "unknown backend `AutoTaylor` at column 1; strings do not have it; pass `AutoTaylor` itself"),
        (
            "FiniteDiff(step=1)",
            "FiniteDiff has no option `step`, found at column 12; its options: scheme, relative_step and absolute_step",
        ),
        ("ForwardDiff(chunk=13)", "`chunk` at column 19 is `13`, expected a whole number from 1 to 12"),
        ("ForwardDiff(chunk=0)", "`chunk` at column 19 is `0`, expected a whole number from 1 to 12"),
        ("ForwardDiff(chunk=two)", "`chunk` at column 19 is `two`, expected a whole number from 1 to 12"),
        (
            "FiniteDiff(scheme=centrl)",
            "`scheme` at column 19 is `centrl`, expected forward, backward or central; did you mean `central`?",
        ),
        ("FiniteDiff(relative_step=-1)", "`relative_step` at column 26 is `-1`, expected a positive number"),
        ("FiniteDifferences(levels=0)", "`levels` at column 26 is `0`, expected a whole number from 1 to 16"),
        ("FiniteDifferences(order=13)", "`order` at column 25 is `13`, expected a whole number from 1 to 12"),
        ("FiniteDifferences(noise=-1)", "`noise` at column 25 is `-1`, expected a positive number"),
        ("FiniteDifferences(lower=inf)", "`lower` at column 25 is `inf`, expected a number"),
        (
            "FiniteDifferences(scheme=centre)",
            "`scheme` at column 26 is `centre`, expected forward, backward or central; did you mean `central`?",
        ),
        (
            "FiniteDifferences(step=1)",
            "FiniteDifferences has no option `step`, found at column 19; its options: scheme, levels, order, first_step, noise, lower \
             and upper",
        ),
        ("FiniteDiff(absolute_step=inf)", "`absolute_step` at column 26 is `inf`, expected a positive number"),
        ("ForwardDiff(chunk=1, chunk=2)", "option `chunk` is repeated at column 22; give it once"),
        ("", "expected a backend at column 1, found the end"),
        ("  (", "expected a backend at column 3, found `(`"),
        ("ForwardDiff(", "expected an option or `)` at column 13, found the end"),
        ("ForwardDiff(chunk)", "expected `=` and a value at column 18, found `)`"),
        ("ForwardDiff(chunk=4", "expected `,` or `)` at column 20, found the end"),
        ("ForwardDiff ReverseDiff", "expected the end at column 13, found `ReverseDiff`"),
        ("SecondOrder", "expected `(` and two backends at column 12, found the end"),
        ("SecondOrder(ForwardDiff)", "expected `,` and the inner backend at column 24, found `)`"),
        ("SecondOrder(ForwardDiff, ReverseDiff, x)", "expected `)` at column 37, found `,`"),
        (
            "SecondOrder(SecondOrder(ForwardDiff, ForwardDiff), ForwardDiff)",
            "`SecondOrder` inside `SecondOrder` at column 13; pass two first-order backends",
        ),
        ("∂ForwardDiff(é=1)", "unknown backend `∂ForwardDiff` at column 1; did you mean `ForwardDiff`?"),
        ("ForwardDiff(é=1)", "ForwardDiff has no option `é`, found at column 13; its options: chunk"),
    ] {
        assert_eq!(parse_error(text), expected, "{text:?}");
    }
    let pair = "SecondOrder(ForwardDiff, ForwardDiff)".parse::<FirstOrder>().unwrap_err();
    assert_eq!(pair.to_string(), "expected a first-order backend at column 1, found `SecondOrder`");
    let error: ParseBackendError = "FinteDiff".parse::<AnyBackend>().unwrap_err();
    assert_eq!(error.column(), 1);
}

#[test]
fn strings_may_be_written_loosely() {
    for (text, canonical) in [
        ("AutoForwardDiff", "ForwardDiff"),
        ("ForwardDiff()", "ForwardDiff"),
        (" AutoForwardDiff ( chunk = 4 ) ", "ForwardDiff(chunk=4)"),
        ("FiniteDiff(scheme=forward)", "FiniteDiff"),
        ("ReverseDiff(compile=false)", "ReverseDiff"),
        ("ReverseDiff(tape=false, recording_from=24)", "ReverseDiff"),
        ("ReverseDiff(tape=true, compile=false)", "ReverseDiff(tape=true)"),
        ("ReverseDiff(memory_limit=5, recording_from=1)", "ReverseDiff(recording_from=1, memory_limit=5)"),
        ("AutoReverseDiff( compile = true )", "ReverseDiff(compile=true)"),
        ("ReverseDiff(refuse_other_branches=false, compile=true, most_recordings=8)", "ReverseDiff(compile=true)"),
        (
            "ReverseDiff(memory_limit=1000000, most_recordings=4, refuse_other_branches=true, compile=true)",
            "ReverseDiff(compile=true, refuse_other_branches=true, most_recordings=4, memory_limit=1000000)",
        ),
        (
            "SecondOrder(ForwardDiff, ReverseDiff(compile=true, most_recordings=1))",
            "SecondOrder(ForwardDiff, ReverseDiff(compile=true, most_recordings=1))",
        ),
        (
            "AutoFiniteDifferences(upper=2, lower=-1e0, noise=1e-9, first_step=0.5, order=4, levels=7, scheme=forward)",
            "FiniteDifferences(scheme=forward, levels=7, order=4, first_step=0.5, noise=1e-9, lower=-1.0, upper=2.0)",
        ),
        ("FiniteDifferences(scheme=central, levels=5)", "FiniteDifferences"),
        ("FiniteDiff(relative_step=0.000001,scheme=central)", "FiniteDiff(scheme=central, relative_step=1e-6)"),
        ("AutoSecondOrder(AutoForwardDiff,ReverseDiff())", "SecondOrder(ForwardDiff, ReverseDiff)"),
    ] {
        assert_eq!(text.parse::<AnyBackend>().unwrap().to_string(), canonical);
    }
}

fn first_orders() -> impl Strategy<Value = FirstOrder> {
    let step = prop::option::of(prop_oneof![Just(1e-6), 1e-300..1e300f64, 1e-12..1e-2f64]);
    let schemes =
        prop::sample::select(vec![AutoFiniteDiff::forward(), AutoFiniteDiff::backward(), AutoFiniteDiff::central()]);
    let finite = (schemes, step.clone(), step).prop_map(|(scheme, relative, absolute)| {
        let backend = relative.map_or(scheme, |step| scheme.relative_step(step));
        absolute.map_or(backend, |step| backend.absolute_step(step)).into()
    });
    let forward = prop::option::of(1usize..=12)
        .prop_map(|chunk| FirstOrder::from(AutoForwardDiff::with_runtime_chunk(chunk).expect("a chunk from 1 to 12")));
    let compiled = (any::<bool>(), prop::option::of(1usize..20), prop::option::of(1usize..=usize::MAX));
    let compiled = compiled.prop_map(|(refuses, recordings, bytes)| {
        let backend = AutoReverseDiff::compiled();
        let backend = if refuses { backend.refusing_other_branches() } else { backend };
        let backend = recordings.map_or(backend, |recordings| backend.with_most_recordings(recordings));
        bytes.map_or(backend, |bytes| backend.with_memory_limit(bytes)).into()
    });
    let chosen = (prop::option::of(0u64..60), prop::option::of(1usize..=usize::MAX));
    let chosen = chosen.prop_map(|(first, bytes)| {
        let backend =
            first.map_or(AutoReverseDiff::default(), |first| AutoReverseDiff::default().recording_from(first));
        bytes.map_or(backend, |bytes| backend.with_memory_limit(bytes)).into()
    });
    let sides = prop::sample::select(vec![
        AutoFiniteDifferences::forward(),
        AutoFiniteDifferences::backward(),
        AutoFiniteDifferences::central(),
    ]);
    let number = prop::option::of(1e-12..1e3f64);
    let bound = prop::option::of(-1e300..1e300f64);
    let extrapolated =
        (sides, 1usize..=16, prop::option::of(1usize..=12), number.clone(), number, [bound.clone(), bound]);
    let extrapolated = extrapolated.prop_map(|(side, levels, order, step, noise, [lower, upper])| {
        let backend = order.map_or(side, |order| side.order(order)).levels(levels);
        let backend = step.map_or(backend, |step| backend.first_step(step));
        let backend = noise.map_or(backend, |noise| backend.noise(noise));
        backend.within(lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)).into()
    });
    prop_oneof![chosen, forward, Just(AutoReverseDiff::default().into()), finite, extrapolated, compiled]
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(outer in first_orders(), inner in first_orders()) {
        prop_assert_eq!(outer.to_string().parse(), Ok(outer));
        for backend in [AnyBackend::from(outer), SecondOrder(outer, inner).into()] {
            prop_assert_eq!(backend.to_string().parse(), Ok(backend));
        }
    }

    #[test]
    fn no_string_makes_the_parser_panic(text in "(SecondOrder|ForwardDiff|ReverseDiff|FiniteDiff|FiniteDifferences|levels|lower|chunk|scheme|compile|true|[(),=é 1])*") {
        if let Ok(backend) = text.parse::<AnyBackend>() {
            prop_assert_eq!(backend.to_string().parse(), Ok(backend));
        }
    }
}

#[cfg(feature = "serde")]
mod configuration {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn strings_and_parts_are_read() {
        for (value, canonical) in [
            (json!("SecondOrder(ForwardDiff, ReverseDiff)"), "SecondOrder(ForwardDiff, ReverseDiff)"),
            (json!({"name": "ForwardDiff", "chunk": 4}), "ForwardDiff(chunk=4)"),
            (json!({"name": "ReverseDiff", "compile": true}), "ReverseDiff(compile=true)"),
            (json!({"name": "ReverseDiff", "tape": true}), "ReverseDiff(tape=true)"),
            (json!({"name": "ReverseDiff", "recording_from": 3}), "ReverseDiff(recording_from=3)"),
            (
                json!({"name": "ReverseDiff", "compile": true, "refuse_other_branches": true, "most_recordings": 4,
                       "memory_limit": 1000000}),
                "ReverseDiff(compile=true, refuse_other_branches=true, most_recordings=4, memory_limit=1000000)",
            ),
            (
                json!({"name": "FiniteDiff", "scheme": "central", "relative_step": 1e-6}),
                "FiniteDiff(scheme=central, relative_step=1e-6)",
            ),
            (
                json!({"name": "FiniteDifferences", "levels": 4, "lower": 0, "noise": 1e-10}),
                "FiniteDifferences(levels=4, noise=1e-10, lower=0.0)",
            ),
            (
                json!({"name": "SecondOrder", "outer": {"name": "ForwardDiff"}, "inner": "ReverseDiff"}),
                "SecondOrder(ForwardDiff, ReverseDiff)",
            ),
        ] {
            let backend: AnyBackend = from_value(value).unwrap();
            assert_eq!(backend.to_string(), canonical);
            assert_eq!(to_value(backend).unwrap(), json!(canonical));
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (value, expected) in [
            (json!("RevrseDiff"), "unknown backend `RevrseDiff` at column 1; did you mean `ReverseDiff`?"),
            (
                json!({"name": "ForwardDiff", "chunk": 40}),
                "`chunk` at column 19 is `40`, expected a whole number from 1 to 12 of `ForwardDiff(chunk=40)`",
            ),
            (
                json!({"name": "ReverseDiff", "most_recordings": 4}),
                "option `most_recordings` at column 13 requires `compile=true`, which is missing; give both of \
                 `ReverseDiff(most_recordings=4)`",
            ),
            (
                json!({"name": "ForwardDiff", "chunks": 4}),
                "unknown field `chunks`, expected one of `name`, `chunk`, `scheme`, `relative_step`, `absolute_step`, \
                 `levels`, `order`, `first_step`, `noise`, `lower`, `upper`, `compile`, `refuse_other_branches`, `most_recordings`, `memory_limit`, `tape`, `recording_from`, `outer`, `inner`",
            ),
            (
                json!(4),
                "invalid type: integer `4`, expected a backend such as \"ForwardDiff(chunk=4)\", or a map with its \
                 `name` and options",
            ),
        ] {
            assert_eq!(from_value::<AnyBackend>(value).unwrap_err().to_string(), expected);
        }
    }
}
