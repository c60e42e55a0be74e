//! The results of a run: the table on the screen, and the files in a folder.
//!
//! Called by `main.rs` with all rows.

use differentiation_interface_test::report::{Page, Plot};
use differentiation_interface_test::table::Table;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Makes the folder and tries to write into it, so that an unusable one is reported before anything is measured.
pub(crate) fn check(folder: &Path) -> Result<(), Box<dyn Error>> {
    let attempt = folder.join(format!(".{}-{}", env!("CARGO_PKG_NAME"), std::process::id()));
    let attempted =
        fs::create_dir_all(folder).and_then(|()| fs::write(&attempt, "")).and_then(|()| fs::remove_file(&attempt));
    Ok(attempted.map_err(|error| format!("folder {}: {error}", folder.display()))?)
}

/// Writes rows, page and a plot of every variant on every scenario; returns the files.
pub(crate) fn write(folder: &Path, table: &Table, title: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    fs::create_dir_all(folder).map_err(|error| format!("folder {}: {error}", folder.display()))?;
    let mut files = ["rows.csv", "rows.json", "rows.md", "report.html"].map(|name| folder.join(name)).to_vec();
    table.write_csv(&files[0])?;
    table.write_json(&files[1])?;
    table.write_markdown(&files[2])?;
    let mut page = Page::new(table).title(title);
    for note in [command(), machine()] {
        page = page.note(note);
    }
    page.write(&files[3])?;
    for (name, plot) in Plot::of_each_variant(table) {
        files.extend(draw(&plot, folder, &file_name(&name))?);
    }
    Ok(files)
}

/// Writes a plot as SVG and PNG; returns the files.
pub(crate) fn draw(plot: &Plot<'_>, folder: &Path, name: &str) -> Result<[PathBuf; 2], Box<dyn Error>> {
    let files = ["svg", "png"].map(|kind| folder.join(format!("{name}.{kind}")));
    plot.write_svg(&files[0])?;
    plot.write_png(&files[1])?;
    Ok(files)
}

/// Letters, digits and `_`; other characters between them become one `-`.
fn file_name(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The command as it was typed, with arguments that contain spaces in quotes.
fn command() -> String {
    let quoted = |argument: String| if argument.contains([' ', '(']) { format!("\"{argument}\"") } else { argument };
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(argument.to_string_lossy().into_owned()));
    format!("{} {}", env!("CARGO_PKG_NAME"), arguments.collect::<Vec<_>>().join(" "))
}

/// A description of the machine, as far as it is known.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get());
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or_else(String::new, |(_, name)| format!(", {name}"));
    format!("{} on {}{model}, {cores} threads", std::env::consts::OS, std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_name("waves(100)/x: hvp_into"), "waves-100-x-hvp_into");
    }
}
