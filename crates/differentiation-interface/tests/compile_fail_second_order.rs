//! Second order that cannot work does not compile, and the compiler says why.

#[test]
fn refusals_say_why() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail_second_order/*.rs");
}
