//! Tests of tables: what is printed, and that files return the rows that were written.

use super::{Row, Table};

fn row(backend: &str, size: usize, time: f64) -> Row {
    Row { size, time, prepared: Some(true), ..Row::new(backend, "norm2", "gradient", "gradient_into") }
}

fn failure(message: &str) -> Row {
    Row { error: Some(message.to_owned()), ..row("reverse_diff", 10, f64::NAN) }
}

#[test]
fn fastest_leaves_out_what_was_not_measured() {
    let table = Table { rows: vec![failure("no"), row("b", 10, 2.0), row("a", 10, 1.0)] };
    assert_eq!(table.fastest().unwrap().backend, "a");
    assert_eq!(Table { rows: vec![failure("no")] }.fastest(), None);
}

#[test]
fn rows_without_a_time_are_sorted_to_the_end() {
    let mut table =
        Table { rows: vec![failure("no"), row("b", 10, 2.0), row("a", 10, 1.0), row("c", 10, f64::INFINITY)] };
    table.rows[0].time = -f64::NAN;
    table.sort_by_time();
    assert_eq!(table.rows.iter().map(|row| &row.backend[..1]).collect::<String>(), "abcr");
}

#[test]
fn groups_are_in_order_of_appearance() {
    let table: Table = [row("b", 1, 1.0), row("a", 1, 2.0), row("b", 2, 3.0)].into_iter().collect();
    let groups = table.group_by(|row| row.backend.clone());
    let summary: Vec<_> = groups.iter().map(|(key, rows)| (key.as_str(), rows.len())).collect();
    assert_eq!(summary, [("b", 2), ("a", 1)]);
}

#[test]
fn terminal_shows_figures_and_failures() {
    let mut full = row("forward_diff", 10, 1.234e-7);
    (full.median, full.quantile_10, full.quantile_90) = (1.3e-7, 1.24e-7, 2e-6);
    (full.calls, full.allocs, full.bytes, full.samples, full.evals) = (Some(2.5), Some(0.0), Some(80.0), 31, 1000);
    let table = Table { rows: vec![full, failure("[0] is 1, expected 2\nat \u{1b}[31m")] };
    assert_eq!(
        table.to_string(),
        "scenario: norm2, operator: gradient, variant: gradient_into, prepared: yes, size: 10\n\
         ┌──────────────┬────────┬────────┬──────────────────┬───────┬────────┬───────┬─────────────────┐\n\
         │ backend      ┆   time ┆ median ┆      10 % – 90 % ┆ calls ┆ allocs ┆ bytes ┆ samples × evals │\n\
         ╞══════════════╪════════╪════════╪══════════════════╪═══════╪════════╪═══════╪═════════════════╡\n\
         │ forward_diff ┆ 123 ns ┆ 130 ns ┆ 124 ns – 2.00 µs ┆  2.50 ┆      0 ┆    80 ┆       31 × 1000 │\n\
         │ reverse_diff ┆ failed ┆        ┆                  ┆       ┆        ┆       ┆           0 × 0 │\n\
         └──────────────┴────────┴────────┴──────────────────┴───────┴────────┴───────┴─────────────────┘\n\
         failed: reverse_diff, norm2, gradient_into, size 10: [0] is 1, expected 2\\nat \\u{1b}[31m"
    );
    assert_eq!(Table::default().to_string(), "no rows");
}

#[test]
fn markdown_escapes_what_has_a_meaning() {
    let mut bad = failure("a|b <i>*x*\n`y`");
    bad.backend = "_in_place_".to_owned();
    let text = Table { rows: vec![bad] }.to_markdown();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("|---"), "{text}");
    assert!(lines[2].starts_with(r"| \_in_place\_ | norm2    | gradient | gradient_into | yes "), "{text}");
    assert!(lines[2].ends_with(r"| a\|b \<i\>\*x\*\\n\`y\` |"), "{text}");
    // Without failures there is no column for them.
    assert!(!Table { rows: vec![row("a", 1, 1.0)] }.to_markdown().contains("error"));
}

#[cfg(feature = "table-io")]
mod files {
    use super::*;
    use crate::table::{COLUMNS, TableError};
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a-z_]{0,8}",
            prop::sample::select(vec![
                "\"",
                "a,b",
                "a\"b\"\r\nc",
                " x ",
                "\n",
                "NaN",
                "null",
                "ψ → ∇²f 🦀",
                "1e5",
                "true"
            ])
            .prop_map(str::to_owned),
        ]
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            0.0..1.0,
            prop::sample::select(vec![
                0.0,
                -0.0,
                1e-9,
                1e20,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MIN_POSITIVE
            ]),
        ]
    }

    fn any_row() -> impl Strategy<Value = Row> {
        let names = (text(), text(), text(), text());
        let counts = (any::<Option<bool>>(), any::<usize>(), any::<usize>(), any::<usize>());
        let times = (number(), number(), number(), number());
        let optional = || prop::option::of(number());
        let error = prop::option::of(text().prop_filter("never empty", |text| !text.is_empty()));
        (names, counts, times, (optional(), optional(), optional()), error).prop_map(
            |(names, (prepared, size, samples, evals), times, (calls, allocs, bytes), error)| Row {
                backend: names.0,
                scenario: names.1,
                operator: names.2,
                variant: names.3,
                prepared,
                size,
                calls,
                samples,
                evals,
                time: times.0,
                median: times.1,
                quantile_10: times.2,
                quantile_90: times.3,
                allocs,
                bytes,
                error,
            },
        )
    }

    /// Equal to the last bit, with NaN equal to NaN: Rust prints a number with enough digits to distinguish it from all others.
    fn same(a: &Table, b: &Table) -> bool {
        format!("{a:?}").replace("-NaN", "NaN") == format!("{b:?}").replace("-NaN", "NaN")
    }

    proptest! {
        #[test]
        fn csv_gives_back_every_row(rows in prop::collection::vec(any_row(), 0..6)) {
            let table = Table { rows };
            let back = Table::from_csv(&table.to_csv().unwrap()).unwrap();
            prop_assert!(same(&table, &back), "{table:?}\n{back:?}");
        }

        #[test]
        fn json_gives_back_every_row(rows in prop::collection::vec(any_row(), 0..6)) {
            let table = Table { rows };
            let back = Table::from_json(&table.to_json().unwrap()).unwrap();
            prop_assert!(same(&table, &back), "{table:?}\n{back:?}");
        }

        #[test]
        fn markdown_has_one_line_per_row(rows in prop::collection::vec(any_row(), 1..6)) {
            let table = Table { rows };
            prop_assert_eq!(table.to_markdown().lines().count(), table.len() + 2);
        }
    }

    #[test]
    fn columns_are_the_fields_in_their_order() {
        let json = Table { rows: vec![row("a", 1, 1.0)] }.to_json().unwrap();
        let fields: Vec<_> =
            json.lines().filter_map(|line| line.trim().split_once("\": ")).map(|(name, _)| &name[1..]).collect();
        assert_eq!(fields, COLUMNS);
        assert_eq!(Table::default().to_csv().unwrap(), format!("{}\n", COLUMNS.join(",")));
    }

    #[test]
    fn files_give_back_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let table = Table { rows: vec![row("a", 1, 1.25e-7), row("b", 2, 3.0)] };
        table.write_csv(path("t.csv")).unwrap();
        table.write_json(path("t.json")).unwrap();
        table.write_markdown(path("t.md")).unwrap();
        assert!(same(&Table::read_csv(path("t.csv")).unwrap(), &table));
        assert!(same(&Table::read_json(path("t.json")).unwrap(), &table));
        assert_eq!(std::fs::read_to_string(path("t.md")).unwrap(), table.to_markdown());
        let error = Table::read_csv(path("none.csv")).unwrap_err();
        assert!(matches!(&error, TableError::File { .. }) && error.to_string().contains("none.csv"), "{error}");
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_place() {
        let csv = Table { rows: vec![row("a", 1, 1.0)] }.to_csv().unwrap();
        let message = |text: &str| Table::from_csv(text).unwrap_err().to_string();
        assert!(message(&csv.replace("median", "mean")).contains("missing field `median`"));
        let wrong = message(&csv.replace(",1.0,", ",soon,"));
        assert!(wrong.contains("line: 2") && wrong.contains("\"soon\", expected a number"), "{wrong}");
        let error = Table::from_json("[{}]").unwrap_err().to_string();
        assert!(error.contains("missing field `backend` at line 1"), "{error}");
    }
}
