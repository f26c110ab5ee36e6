//! The pictures of the README: the window recorded while a real creature edits, breaks and is put back, and a still of its life.

pub mod cast;
pub mod film;
pub mod frames;
pub mod still;
mod story;

use cast::Cast;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use trials::clone::origin;

const HELP: &str = "usage: trials record [--again]\n\
    Records the window and a life of a real creature, and writes docs/pictures/window.svg and docs/pictures/life.svg.\n\
    --again  draws both anew from the last recording, target/record/; see scripts/record --help\n";
/// What the README may weigh, for a reader on a telephone.
const MOST_BYTES: usize = 1_000_000;

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.collect();
    let kept = origin().join("target/record");
    fs::create_dir_all(&kept).unwrap();
    match words.as_slice() {
        [] => story::record(&kept),
        [again] if again == "--again" => {}
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    }
    let cast = Cast::read(&kept.join("window.cast"));
    let scenes = frames::scenes(&frames::of(&cast));
    write("window.svg", &film::svg(&scenes, cast.columns, cast.rows));
    write("life.svg", &still::svg(&fs::read_to_string(kept.join("life.html")).unwrap()));
    ExitCode::SUCCESS
}

fn write(name: &str, svg: &str) {
    let path: PathBuf = origin().join("docs/pictures").join(name);
    assert!(svg.len() < MOST_BYTES, "{name} has {} bytes, more than {MOST_BYTES}", svg.len());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, svg).unwrap();
    println!("{}: {} bytes", path.display(), svg.len());
}
