//! Houses with a stand-in for the creature, and what it stamps: times to the nanosecond on one clock.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use trials::{Guardian, House, PATIENCE};

const SOURCE: &str = include_str!("stand_in.c");

/// No rest, and deaths for ever without a fall; a look at the heartbeat every second, as by default.
pub const TIRELESS: &str = "probation_s = 0.3\nrest_s = 0\nrest_longest_s = 0\nloop_window_s = 0.001\n\
    lives_unblessed = 1000000\ndisk_free_mib = 0\n";

/// A house whose creature is the stand-in, with these limits.
pub fn house(limits: &str) -> House {
    let house = House::new("exit 1");
    house.write("owner.toml", &format!("[limits]\n{limits}"));
    compile(&house.path("creature/creature.sh"));
    house.commit("a creature that stamps");
    house
}

/// The guardian as `cargo run -p guardian` builds it.
pub fn start(house: &House) -> Guardian {
    start_as(house, Path::new(trials::programs::guardian()))
}

/// Another build of the guardian; with the house's own stand-in for cargo where it has one.
pub fn start_as(house: &House, guardian: &Path) -> Guardian {
    let path = house.folder.path().join("guardian.log");
    let log = File::options().create(true).append(true).open(path).unwrap();
    let mut command = Command::new(guardian);
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_HOST", "CARGO_TARGET_DIR", "RUST_LOG"] {
        command.env_remove(name);
    }
    let cargo = house.folder.path().join("cargo");
    if cargo.exists() {
        command.env("CARGO", cargo);
    }
    command.current_dir(&house.root).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    Guardian::new(command.spawn().unwrap(), house)
}

pub fn until_blessed(house: &House) {
    house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
}

fn compile(to: &Path) {
    let source = to.with_extension("c");
    fs::write(&source, SOURCE).unwrap();
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compile =
        |how: &[&str]| Command::new(&cc).args(["-O1", "-o"]).arg(to).arg(&source).args(how).status();
    let is_static = compile(&["-static"]).expect("no C compiler: install cc, or name one in CC").success();
    assert!(is_static || compile(&[]).unwrap().success(), "the compiler refuses a small program");
    fs::remove_file(source).unwrap();
}

/// Asks the stand-in that lives in a folder for something.
pub fn ask(folder: &Path, what: &str) {
    File::create(folder.join(".self/mind").join(what)).unwrap();
}

/// What was stamped in a folder since there were `after` bytes: words and milliseconds.
pub struct Stamps {
    pub list: Vec<(String, f64)>,
    pub bytes: usize,
}

pub fn stamps(folder: &Path, after: usize) -> Stamps {
    let text = fs::read_to_string(folder.join(".self/mind/stamps")).unwrap_or_default();
    // A line may be half written.
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let parse = |line: &str| {
        let (what, at) = line.split_once(' ').unwrap();
        (what.to_owned(), at.parse::<f64>().unwrap() / 1e6)
    };
    let list = text[after.min(whole)..whole].lines().map(parse).collect();
    Stamps { list, bytes: whole }
}

/// Waits until what was stamped ends with these words, oldest first.
pub fn until_stamped(folder: &Path, after: usize, words: &[&str]) -> Stamps {
    let begun = Instant::now();
    loop {
        let found = stamps(folder, after);
        let enough = found.list.len() >= words.len();
        if enough && found.list.iter().rev().zip(words.iter().rev()).all(|((what, _), word)| what == word) {
            return found;
        }
        if begun.elapsed() > PATIENCE {
            let log = fs::read_to_string(folder.with_file_name("guardian.log")).unwrap_or_default();
            let at = log.len().saturating_sub(3_000);
            panic!("waited in vain for {words:?}, found {:?}\n{}", found.list, log.get(at..).unwrap_or(&log));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Pid of the stand-in that lives in a folder.
pub fn pid(folder: &Path) -> i32 {
    let begun = Instant::now();
    loop {
        let beat = fs::read_to_string(folder.join(".self/heartbeat")).unwrap_or_default();
        if let Ok(serde_json::Value::Object(beat)) = serde_json::from_str(&beat) {
            return beat["pid"].as_i64().unwrap() as i32;
        }
        assert!(begun.elapsed() < PATIENCE, "no beat in {}", folder.display());
    }
}

/// Now, on the clock of the stamps, in milliseconds.
pub fn now() -> f64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() as f64 * 1e3 + now.tv_nsec() as f64 / 1e6
}
