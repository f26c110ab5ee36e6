//! The guardian's command line: starts, refuses to start, or carries an order; all other commands go to the console.

use anyhow::Result;
use guardian::act::daemons::small;
use guardian::{console, orders, start, status};
use house::{House, outlet, terminal};
use std::ffi::OsString;
use std::process::ExitCode;
use walls::launch::launch;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == walls::STAGE) {
        return launch(arguments.into_iter().skip(1), |failed| {
            terminal::error(&format!("guardian {failed}"))
        });
    }
    house::files::close_to_others();
    let code = stage(&arguments).unwrap_or_else(|| carry_out(&arguments)).unwrap_or_else(|error| {
        terminal::error(&format!("guardian: {error:#}"));
        if error.is::<house::refused::Refused>() { 100 } else { 1 }
    });
    outlet::settle();
    ExitCode::from(code)
}

/// The stages that the heart starts; a house's path need not be text.
fn stage(arguments: &[OsString]) -> Option<Result<u8>> {
    let (first, more) = arguments.split_first()?;
    match (first.to_str()?, more) {
        (heart::STEWARD, [root, plain @ ..]) => Some(start::steward(root.as_ref(), !plain.is_empty())),
        (heart::STAND_IN, [root, plan]) => Some(stand_in::stage(root.as_ref(), plan.to_str()?)),
        _ => None,
    }
}

/// Commands that stop, steer or show the status are handled here; all others, and help, go to the console.
fn carry_out(arguments: &[OsString]) -> Result<u8> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        [small::STAGE, loose] => small::stage(loose),
        [] if arguments.is_empty() => start::run(false),
        ["--plain"] => start::run(true),
        ["-V" | "--version"] => {
            terminal::line(concat!("guardian ", env!("CARGO_PKG_VERSION")));
            Ok(0)
        }
        ["status"] => tell(false),
        ["status", "--json"] | ["--json", "status"] => tell(true),
        [order @ ("stop" | "pause" | "resume" | "rollback")] => orders::give(&find()?, order, None),
        ["rollback", commit] if !commit.starts_with('-') => {
            orders::give(&find()?, "rollback", Some((*commit).to_owned()))
        }
        _ => console::hand_over(find().ok().as_ref(), arguments),
    }
}

fn tell(as_json: bool) -> Result<u8> {
    terminal::end_with_reader();
    status::print(&find()?, as_json)
}

fn find() -> Result<House> {
    house::find::find_house(&std::env::current_dir()?)
}
