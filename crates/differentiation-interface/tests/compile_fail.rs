//! What the compiler says when types tell that a call cannot work. Each file holds one mistake.
//!
//! After a change of the texts: `TRYBUILD=overwrite cargo test --test compile_fail`, and read the difference.

#[test]
fn mistakes_are_explained_in_the_words_of_the_user() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
