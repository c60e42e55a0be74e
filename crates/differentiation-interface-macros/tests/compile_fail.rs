//! All refusals, with their exact messages.

#[test]
fn refusals_say_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
