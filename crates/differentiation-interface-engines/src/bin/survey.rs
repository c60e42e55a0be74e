//! What each engine gets right, gets wrong and refuses, operator by operator, as Markdown and HTML.
//!
//! The scenarios are the default ones of the test kit, its singular points, and for tensor libraries its scenarios of tensors. `--costs`
//! adds the times and allocations of a file that the program `compare` wrote. `--check` compares the verdicts with those of an earlier
//! survey and fails where they differ: an error of an engine of another crate is data, a change of it is news.

use clap::Parser;
use differentiation_interface_engines::{AutoBurn, AutoCandle, arrays_only, each_engine, write};
use differentiation_interface_test::families::{
    ScenarioOptions, default_scenarios, singular_scenarios, tensor_scenarios,
};
use differentiation_interface_test::table::Table;
use differentiation_interface_test::{Check, CountingAllocator, Options, Survey, Verdict, survey};
use std::error::Error;
use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[derive(Parser)]
#[command(about = "Surveys all engines on the scenarios of the test kit")]
struct Arguments {
    /// The folder of `survey.md` and `survey.html`.
    #[arg(long, default_value = "target/survey")]
    out: PathBuf,
    /// A CSV file with times, written by `compare costs`.
    #[arg(long)]
    costs: Option<PathBuf>,
    /// The verdicts that are expected.
    #[arg(long)]
    check: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    // Engines of other crates allocate; costs show how much.
    let options = Options::default().without(Check::Allocations);
    let mut all = Survey::default();
    let (scenarios, singular) = (default_scenarios(ScenarioOptions::default()), singular_scenarios());
    each_engine!(engine => {
        let engines = std::slice::from_ref(&engine);
        all.add(survey(engines, &scenarios, &options));
        all.add(survey(engines, &singular, &options));
    });
    let tensors = tensor_scenarios::<f64>();
    all.add(survey(&(arrays_only("AutoBurn", AutoBurn::default()),), &tensors, &options));
    all.add(survey(&(arrays_only("AutoCandle", AutoCandle::default()),), &tensors, &options));
    if let Some(costs) = &arguments.costs {
        all.add_costs(&Table::read_csv(costs)?);
    }
    let verdicts = all.to_markdown();
    print!("{verdicts}");
    let count = |verdict| all.cells().iter().filter(|cell| cell.verdict() == verdict).count();
    let (scenarios, checks) = all.cells().iter().fold((0, 0), |(s, c), cell| (s + cell.scenarios, c + cell.checks));
    println!(
        "\n{} engines, {scenarios} scenarios, {checks} checks: {} right, {} wrong, {} refused",
        all.engines().len(),
        count(Verdict::Right),
        count(Verdict::Wrong),
        count(Verdict::Refused)
    );
    let costs = all.costs_to_markdown();
    write(&arguments.out.join("verdicts.md"), &verdicts)?;
    write(&arguments.out.join("survey.md"), &format!("{verdicts}\n{costs}"))?;
    write(&arguments.out.join("survey.html"), &all.to_html("Engines of differentiation-interface"))?;
    if let Some(expected) = &arguments.check {
        let expected_text = std::fs::read_to_string(expected)?;
        for (found, expected) in verdicts.lines().zip(expected_text.lines()) {
            if found != expected {
                println!("expected: {expected}\nfound:    {found}");
            }
        }
        if verdicts != expected_text {
            return Err(format!(
                "the survey differs from {}; see what has changed, then copy verdicts.md",
                expected.display()
            )
            .into());
        }
    }
    Ok(())
}
