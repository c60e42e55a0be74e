//! Checked-in files of emitted code: written by a command, compared by a test.
//!
//! A crate registers its files in one function, which its command and its test call.

use crate::error::Error;
use crate::source::Source;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Files with emitted code, and the command that renews them.
///
/// # Example
/// A crate `model` with the functions in its library:
/// ```
/// use derivative_source::{Error, Files, Operator, Recording, Source};
///
/// pub fn files() -> Result<Files, Error> {
///     let spring = Recording::new("spring", &|x: &[_]| x[0] * x[0] * x[1], &&[1.0, 2.0])?;
///     let source = Source::new().with(&spring, Operator::GRADIENT.and_value())?;
///     // `env!("CARGO_MANIFEST_DIR")` in place of the temporary folder.
///     # let folder = std::env::temp_dir().join(format!("derivative-source-files-{}", std::process::id()));
///     # std::fs::create_dir_all(&folder).unwrap();
///     # let folder = folder.to_str().unwrap().to_string();
///     Files::new(&folder, "cargo run -p model --bin emit").rust("spring_generated.rs", &source)
/// }
/// // The command, `src/bin/emit.rs`: `fn main() -> ExitCode { model::files().expect("..").command() }`
/// files()?.write().unwrap();
/// // The test: fails with the name of the command if the function or its code has changed.
/// files()?.assert_current();
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
    command: String,
    texts: Vec<(String, String)>,
}

impl Files {
    /// No files yet. Their paths are relative to `root`; `command` is how a user renews them, as it is typed.
    pub fn new(root: impl AsRef<Path>, command: &str) -> Files {
        Files { root: root.as_ref().to_path_buf(), command: command.to_string(), texts: Vec::new() }
    }

    /// The same with a file of Rust code.
    ///
    /// # Errors
    /// Those of [`Source::rust`].
    pub fn rust(mut self, path: &str, source: &Source) -> Result<Files, Error> {
        let text = source.clone().made_by(&self.command).rust()?;
        self.texts.push((path.to_string(), text));
        Ok(self)
    }

    /// The same with a file of C code, `path` ending in `.c`, and its header beside it.
    ///
    /// # Errors
    /// Those of [`Source::c`].
    pub fn c(mut self, path: &str, source: &Source) -> Result<Files, Error> {
        let source = source.clone().made_by(&self.command);
        let header = Path::new(path).with_extension("h");
        let name = header.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = source.c(&name)?;
        self.texts.push((path.to_string(), text));
        self.texts.push((header.to_string_lossy().into_owned(), source.header()));
        Ok(self)
    }

    /// Writes the files, and returns the paths of those that have changed.
    ///
    /// # Errors
    /// Errors of the file system, with the path.
    pub fn write(&self) -> std::io::Result<Vec<String>> {
        let mut changed = Vec::new();
        for (path, text) in &self.texts {
            let full = self.root.join(path);
            if std::fs::read_to_string(&full).is_ok_and(|known| known == *text) {
                continue;
            }
            let named =
                |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", full.display()));
            std::fs::write(&full, text).map_err(named)?;
            changed.push(path.clone());
        }
        Ok(changed)
    }

    /// What is stale: one line for each file that is missing or differs, with the first line that does, and the command that renews it.
    /// `None` if all files are current.
    pub fn stale(&self) -> Option<String> {
        let mut report = String::new();
        for (path, text) in &self.texts {
            let Ok(known) = std::fs::read_to_string(self.root.join(path)) else {
                let _ = writeln!(report, "{path} cannot be read");
                continue;
            };
            // A checkout may have lines that end otherwise.
            let known = known.replace("\r\n", "\n");
            if known == *text {
                continue;
            }
            let (mut found, mut expected) = (known.lines(), text.lines());
            let differing = (1..).map(|line| (line, found.next(), expected.next())).find(|(_, a, b)| a != b);
            let (line, found, expected) = differing.expect("the texts differ");
            let shown = |line: Option<&str>| line.map_or("the end".to_string(), |line| format!("`{}`", line.trim()));
            let _ = writeln!(
                report,
                "{path} is stale: line {line} is {}, the functions give {}",
                shown(found),
                shown(expected)
            );
        }
        (!report.is_empty()).then(|| format!("{report}renew by: {}", self.command))
    }

    /// For a test: panics with what is [`stale`](Self::stale).
    ///
    /// # Panics
    /// If a file is not what the functions give.
    #[track_caller]
    pub fn assert_current(&self) {
        if let Some(report) = self.stale() {
            panic!("{report}");
        }
    }

    /// For the `main` of a command: writes the files, or with the argument `--check` reports what is stale and fails.
    pub fn command(&self) -> ExitCode {
        self.command_with(std::env::args().skip(1))
    }

    fn command_with(&self, mut arguments: impl Iterator<Item = String>) -> ExitCode {
        match arguments.next().as_deref() {
            Some("--check") => match self.stale() {
                Some(report) => {
                    eprintln!("{report}");
                    ExitCode::FAILURE
                }
                None => ExitCode::SUCCESS,
            },
            None | Some("emit") => match self.write() {
                Ok(changed) => {
                    changed.iter().for_each(|path| println!("{path} has been written"));
                    ExitCode::SUCCESS
                }
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            },
            Some(other) => {
                eprintln!("`{other}` is no argument; give none to write the files, or `--check`");
                ExitCode::FAILURE
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operator, Recording};

    fn files(factor: f64) -> Files {
        let folder = std::env::temp_dir().join(format!("derivative-source-stale-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let f = |x: &[compiled_trace::Recorded]| x[0] * x[0] * factor;
        let recording = Recording::new("spring", &f, &&[1.0]).unwrap();
        let source = Source::new().with(&recording, Operator::GRADIENT).unwrap();
        let files = Files::new(&folder, "cargo run -p model --bin emit").rust("spring.rs", &source).unwrap();
        files.c("spring.c", &source).unwrap()
    }

    #[test]
    fn a_changed_function_makes_its_files_stale() {
        assert_eq!(files(3.0).write().unwrap().len(), 3);
        files(3.0).assert_current();
        assert!(files(3.0).write().unwrap().is_empty(), "nothing has changed");
        let report = files(4.0).stale().unwrap();
        assert!(report.contains("spring.rs is stale: line "), "{report}");
        assert!(report.contains("is `grad[0] = 6.0 * x[0];`, the functions give `grad[0] = 8.0 * x[0];`"), "{report}");
        assert!(report.ends_with("renew by: cargo run -p model --bin emit"), "{report}");
        let check = |files: Files| files.command_with(["--check".to_string()].into_iter());
        assert_eq!(format!("{:?}", check(files(3.0))), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(format!("{:?}", check(files(4.0))), format!("{:?}", ExitCode::FAILURE));
        let caught = std::panic::catch_unwind(|| files(4.0).assert_current());
        assert!(caught.is_err(), "the test of a stale file fails");
    }
}
