//! Everything that is refused, with the exact message.

#[test]
fn refusals_say_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
