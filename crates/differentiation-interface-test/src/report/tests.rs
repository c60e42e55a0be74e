//! Tests of pictures and pages: their contents, that they are reproducible, and that text in them is escaped.

use super::{Page, Plot};
use crate::table::{Row, Table};

fn row(backend: &str, size: usize, prepared: Option<bool>, time: f64) -> Row {
    Row { size, prepared, time, quantile_90: 1.5 * time, ..Row::new(backend, "norm2", "gradient", "gradient_into") }
}

/// Two backends at four sizes, called both ways, and the times of preparations.
fn table() -> Table {
    let mut table = Table::default();
    for (backend, power) in [("forward_diff", 2.0), ("reverse_diff", 1.0)] {
        for size in [10_usize, 100, 1000, 10_000] {
            let time = 1e-9 * (size as f64).powf(power);
            table.extend(
                [(Some(true), 1.0), (Some(false), 2.0), (None, 1.5)].map(|(p, k)| row(backend, size, p, k * time)),
            );
        }
    }
    table
}

fn with_failure() -> Table {
    let mut table = table();
    let failed = table.rows.iter_mut().find(|row| row.size == 100 && row.prepared == Some(true)).unwrap();
    (failed.time, failed.error) = (f64::NAN, Some("[3] is 1, expected <b>2</b> & 'so' \"on\"".to_owned()));
    table
}

/// Texts of an SVG picture.
fn texts(svg: &str) -> Vec<&str> {
    svg.split("<text").skip(1).map(|t| t.split_once('>').unwrap().1.split_once("</text>").unwrap().0.trim()).collect()
}

#[test]
fn scaling_shows_backends_sizes_and_both_ways_of_calling() {
    let table = table();
    let svg = Plot::time_against_size(&table).title("‖x‖² & more").to_svg().unwrap();
    let texts = texts(&svg);
    for expected in [
        "‖x‖² &amp; more",
        "10",
        "100",
        "1000",
        "10000",
        "1 µs",
        "100 ms",
        "forward_diff",
        "reverse_diff",
        "prepared",
        "unprepared",
    ] {
        assert!(texts.contains(&expected), "{expected} is not in {texts:?}");
    }
    // 16 dots and 2 in the legend, each an inside and an edge.
    assert_eq!(svg.matches("<circle").count(), 2 * 18);
}

#[test]
fn solid_lines_are_one_stroke_and_dashed_ones_many() {
    let strokes = |prepared| {
        let table = table().filter(|row| row.prepared == Some(prepared));
        Plot::time_against_size(&table).to_svg().unwrap().matches("<polyline").count()
    };
    assert!(strokes(false) > strokes(true) + 50, "{} {}", strokes(false), strokes(true));
}

#[test]
fn a_failure_leaves_a_gap_and_is_named() {
    let (whole, broken) = (table(), with_failure());
    let svg = Plot::time_against_size(&broken).to_svg().unwrap();
    assert!(texts(&svg).contains(&"no time: forward_diff, prepared, at 100"));
    let solid = |table: &Table| {
        let svg = Plot::time_against_size(table).to_svg().unwrap();
        // Corners of the longest solid line of the first backend.
        svg.split("points=\"")
            .skip(1)
            .map(|p| p.split_once('"').unwrap().0.split_whitespace().count())
            .filter(|&n| n > 2)
            .collect::<Vec<_>>()
    };
    // Two solid lines of four corners and the axes; then one of them breaks into pieces of one and two corners.
    assert_eq!(solid(&whole).iter().filter(|&&n| n == 4).count(), 2);
    assert_eq!(solid(&broken).iter().filter(|&&n| n == 4).count(), 1);
}

#[test]
fn bars_are_sorted_and_say_their_figures() {
    let table = with_failure();
    let svg = Plot::bars(&table, 100).to_svg().unwrap();
    let texts = texts(&svg);
    let position =
        |text: &str| texts.iter().position(|t| *t == text).unwrap_or_else(|| panic!("{text} is not in {texts:?}"));
    assert!(position("reverse_diff, prepared") < position("reverse_diff, preparation"));
    assert!(position("reverse_diff, unprepared") < position("forward_diff, preparation"));
    assert!(position("forward_diff, unprepared") < position("forward_diff, prepared"));
    assert!(position("forward_diff, prepared") < position("failed"));
    assert_eq!(texts[position("reverse_diff, unprepared") + 1], "200 ns");
    assert_eq!(texts.iter().filter(|t| **t == "failed").count(), 1);
}

#[test]
fn a_backend_has_one_color_in_all_pictures() {
    let table = table();
    let blue = "#0072B2";
    let forward = table.filter(|row| row.backend == "forward_diff" && row.prepared == Some(true));
    // Alone or with others, and though it is not the fastest, the first backend is blue: one line of time, two of the legend.
    assert_eq!(Plot::bars(&forward, 1000).to_svg().unwrap().matches(blue).count(), 2);
    let svg = Plot::bars(&table, 1000).to_svg().unwrap();
    let bar = svg.split_once("forward_diff, prepared").unwrap().1;
    assert!(bar.split_once("<rect").unwrap().1.split_once("/>").unwrap().0.contains(blue), "{bar}");
}

#[test]
fn labels_name_what_differs() {
    let mut table = table().filter(|row| row.size == 10 && row.prepared == Some(true));
    table.rows[1].variant = "value_and_gradient_into".to_owned();
    let svg = Plot::bars(&table, 10).to_svg().unwrap();
    assert!(texts(&svg).contains(&"forward_diff · gradient_into, prepared"));
    assert!(texts(&svg).contains(&"reverse_diff · value_and_gradient_into, prepared"));
}

#[test]
fn preparations_are_in_the_pictures_of_the_variants_they_serve() {
    let mut table = table().filter(|row| row.size == 10);
    for row in table.rows.iter_mut().filter(|row| row.prepared.is_none()) {
        row.variant = "prepare_gradient".to_owned();
    }
    table.rows.push(Row { variant: "value_and_gradient_into".to_owned(), ..table.rows[0].clone() });
    let bars: Vec<_> =
        Plot::of_each_variant(&table).iter().map(|(name, plot)| (name.clone(), plot.to_svg().unwrap())).collect();
    assert_eq!(
        bars.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["norm2: gradient_into", "norm2: value_and_gradient_into"]
    );
    for (_, svg) in &bars {
        // The preparation has the name and colour of its backend.
        let bar = svg.split_once("forward_diff, preparation").unwrap().1;
        assert!(bar.split_once("<rect").unwrap().1.split_once("/>").unwrap().0.contains("#0072B2"), "{bar}");
    }
    // Preparations alone have a picture of their own.
    let alone = table.filter(|row| row.prepared.is_none());
    assert_eq!(Plot::of_each_variant(&alone)[0].0, "norm2: prepare_gradient");
}

#[test]
fn rows_without_figures_give_a_picture_that_says_so() {
    let nothing = Table::default();
    assert!(texts(&Plot::time_against_size(&nothing).to_svg().unwrap()).contains(&"no times"));
    assert!(texts(&Plot::bars(&nothing, 3).to_svg().unwrap()).contains(&"no times"));
    let odd = [0.0, -1.0, f64::INFINITY, f64::NAN].map(|time| row("a", 10, Some(true), time)).into_iter().collect();
    assert!(texts(&Plot::time_against_size(&odd).to_svg().unwrap()).contains(&"no times"));
    assert_eq!(texts(&Plot::bars(&odd, 10).to_svg().unwrap()).iter().filter(|t| **t == "not measured").count(), 3);
}

#[test]
fn many_failures_are_summed_up() {
    let odd: Table = (0..9).map(|k| row(&format!("b{k}"), 10, Some(true), f64::NAN)).collect();
    let svg = Plot::time_against_size(&odd).to_svg().unwrap();
    assert!(texts(&svg).contains(&"no time: 6 more, in the table"));
}

#[test]
fn pictures_and_pages_are_the_same_each_time() {
    let table = with_failure();
    assert_eq!(Plot::time_against_size(&table).to_svg().unwrap(), Plot::time_against_size(&table).to_svg().unwrap());
    assert_eq!(Page::new(&table).to_html().unwrap(), Page::new(&table).to_html().unwrap());
}

#[test]
fn png_files_hold_text_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let table = table();
    let write = |name: &str, plot: Plot<'_>| {
        let path = folder.path().join(name);
        plot.write_png(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    let plain = write("plain.png", Plot::time_against_size(&table));
    assert_eq!(plain[..4], [0x89, b'P', b'N', b'G']);
    // A title adds pixels: the font is available.
    assert!(write("titled.png", Plot::time_against_size(&table).title("Gradient")).len() > plain.len());
    assert!(write("bars.png", Plot::bars(&table, 10)).len() > 1000);
    let error = Plot::bars(&table, 10).write_png(folder.path().join("no/such.png")).unwrap_err();
    assert!(error.to_string().contains("such.png"), "{error}");
}

#[test]
fn page_needs_nothing_else_and_shows_failures() {
    let mut table = with_failure();
    table.rows[0].time = 1.25e-7;
    let html = Page::new(&table).title("<script>alert(1)</script>").note("5 > 3").to_html().unwrap();
    assert!(!html.contains("<script>alert") && html.contains("&lt;script&gt;alert(1)"));
    assert!(html.contains("expected &lt;b&gt;2&lt;/b&gt; &amp; &#39;so&#39; &quot;on&quot;"));
    assert!(html.contains("<strong class=\"alarm\">1 failed</strong>") && html.contains("<tr class=\"failed\">"));
    // The only address is the name of SVG's namespace, from which nothing is loaded.
    let addresses: Vec<_> = html.split("://").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(addresses.iter().all(|address| *address == "www.w3.org/2000/svg"), "{addresses:?}");
    assert!(!html.contains("src=") && !html.contains("href=") && !html.contains("@import"));
    assert_eq!(html.matches("<svg").count(), 2);
    assert_eq!(html.matches("<tr").count(), 1 + 24);
    assert!(html.contains("data-value=\"1.25e-7\">125 ns</td>"));
}

#[test]
fn page_folds_many_groups() {
    let mut table = Table::default();
    for k in 0..5 {
        table.rows.push(Row { scenario: format!("s{k}"), ..row("a", 10, Some(true), 1.0) });
    }
    let html = Page::new(&table).to_html().unwrap();
    assert_eq!((html.matches("<details>").count(), html.matches("<details open>").count()), (5, 0));
    table.rows.truncate(2);
    assert_eq!(Page::new(&table).to_html().unwrap().matches("<details open>").count(), 2);
}
