//! What stands between a shell and the programs: the launcher, completions that a real bash asks for, the man page.

use console::commands::list::names;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};
use trials::{House, SOUND, said};

fn written(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A house with the launcher, programs that say who they are and where, and a cargo that notes what it is asked for.
struct Launched {
    folder: tempfile::TempDir,
}

impl Launched {
    fn new() -> Self {
        let launched = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(launched.house().join("guardian/src")).unwrap();
        let feral =
            house::House::new(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).root().join("feral");
        fs::copy(feral, launched.house().join("feral")).unwrap();
        fs::write(launched.house().join("guardian/src/a b.rs"), "").unwrap();
        written(
            &launched.folder.path().join("bin/cargo"),
            "echo \"$*\" >> built; test -e broken && exit 101\nname=$4; mkdir -p target/debug\n\
             printf '#!/bin/sh\\necho %s of a build \"$@\"\\n' \"$name\" > target/debug/$name; chmod +x target/debug/$name",
        );
        launched
    }

    /// With a space in its name.
    fn house(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("a house")
    }

    fn program(&self, name: &str, age_s: u64) {
        let path = self.house().join("target/debug").join(name);
        written(&path, &format!("echo {name} in \"$PWD\" with \"$@\"; echo ${{CARGO-none}}"));
        let source = self.house().join("guardian/src/a b.rs").display().to_string().replace(' ', "\\ ");
        fs::write(path.with_extension("d"), format!("{}: {source} /nowhere.rs\n", path.display())).unwrap();
        let then = SystemTime::now() - Duration::from_secs(age_s);
        fs::File::open(&path).unwrap().set_modified(then).unwrap();
    }

    fn both(&self, age_s: u64) {
        self.program("guardian", age_s);
        self.program("console", age_s);
    }

    fn source_is(&self, age_s: u64) {
        let source = fs::File::options().write(true).open(self.house().join("guardian/src/a b.rs")).unwrap();
        source.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
    }

    fn run(&self, program: &Path, from: &Path, args: &[&str]) -> Output {
        let path = format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap());
        Command::new(program)
            .args(args)
            .current_dir(from)
            .env("PATH", path)
            .env("CARGO", "cargo")
            .output()
            .unwrap()
    }

    fn feral(&self, args: &[&str]) -> String {
        let output = self.run(&self.house().join("feral"), &self.house(), args);
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    }

    fn built(&self) -> Vec<String> {
        let text = fs::read_to_string(self.house().join("built")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn what_is_built_is_run_at_once_from_wherever_it_is_called() {
    let launched = Launched::new();
    launched.source_is(3_600);
    launched.both(60);
    let house = launched.house();
    let told = launched.feral(&["asks", "a b", "--json"]);
    assert_eq!(told, format!("guardian in {} with asks a b --json\nnone\n", house.display()));
    assert!(launched.feral(&[]).starts_with("console in "), "alone it attaches");
    let link = launched.folder.path().join("linked");
    symlink(house.join("feral"), &link).unwrap();
    let far = launched.run(&link, Path::new("/"), &["status"]);
    assert!(
        said(&far).starts_with(&format!("guardian in {} with status", house.display())),
        "{}",
        said(&far)
    );
    let below = launched.run(Path::new("../../feral"), &house.join("guardian/src"), &["status"]);
    assert!(said(&below).contains("with status"), "{}", said(&below));
    assert!(launched.built().is_empty(), "cargo was not asked: {:?}", launched.built());
}

/// Found: what `./feral` printed named commands the long way.
#[test]
fn the_launcher_says_how_it_was_called() {
    let launched = Launched::new();
    launched.source_is(3_600);
    launched.both(60);
    let house = launched.house();
    let called = |program: &Path, path: &Path| {
        let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        let program = if program.is_absolute() { program.to_owned() } else { house.join(program) };
        written(&house.join("target/debug/guardian"), "echo \"$FERAL_CALLED\"");
        launched.source_is(3_600);
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$0\" status"]).arg(program).current_dir(&house).env("PATH", path);
        String::from_utf8(shell.output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let bin = launched.folder.path().join("bin");
    let feral = house.join("feral");
    assert_eq!(called(&feral, &bin), feral.display().to_string());
    symlink(&feral, bin.join("feral")).unwrap();
    assert_eq!(called(&bin.join("feral"), &bin), "feral", "by its name where PATH leads to it");
}

#[test]
fn what_is_missing_or_older_than_its_sources_is_built_first() {
    let launched = Launched::new();
    let building = |names: &[&str]| -> String {
        names.iter().map(|name| format!("feral: building the {name}\n")).collect()
    };
    let told = launched.feral(&["status"]);
    assert!(told.contains(&building(&["guardian", "console"])), "nothing is silent: {told}");
    assert!(told.contains("guardian of a build status\n"), "{told}");
    let both = ["build --quiet --package guardian", "build --quiet --package console"];
    assert_eq!(launched.built(), both);
    launched.source_is(30);
    launched.program("guardian", 60);
    launched.program("console", 5);
    let told = launched.feral(&["status"]);
    assert!(
        told.contains("guardian of a build status\n") && told.contains(&building(&["guardian"])),
        "{told}"
    );
    assert_eq!(launched.built()[2..], both[..1], "the guardian was older, the console was not");
    // What does not build is not run where there is none; else the one from before is, and that is said.
    fs::write(launched.house().join("broken"), "").unwrap();
    launched.both(60);
    let told = launched.feral(&["status"]);
    assert!(
        told.contains("with status") && told.contains("the guardian does not build (see above)"),
        "{told}"
    );
    fs::remove_file(launched.house().join("target/debug/guardian")).unwrap();
    let failed = launched.run(&launched.house().join("feral"), &launched.house(), &["status"]);
    assert!(
        failed.status.code() == Some(1) && said(&failed).contains("none from before"),
        "{}",
        said(&failed)
    );
}

#[test]
fn a_build_under_way_is_not_waited_for() {
    let launched = Launched::new();
    launched.source_is(30);
    launched.both(60);
    let lock = fs::File::create(launched.house().join("target/debug/.cargo-lock")).unwrap();
    let held = nix::fcntl::Flock::lock(lock, nix::fcntl::FlockArg::LockExclusive).unwrap();
    let told = launched.feral(&["status"]);
    assert!(told.contains("with status") && told.contains("a build is under way"), "{told}");
    assert!(launched.built().is_empty());
    held.unlock().unwrap();
    assert!(launched.feral(&["status"]).contains("guardian of a build status\n"));
}

/// Found: typed in the first minutes, it waited without a word for the console, and then for the broker's build as well.
#[test]
fn a_program_that_is_being_built_is_waited_for_with_a_word_and_no_longer() {
    let launched = Launched::new();
    launched.source_is(30);
    launched.program("guardian", 5);
    let lock = fs::File::create(launched.house().join("target/debug/.cargo-lock")).unwrap();
    let _held = nix::fcntl::Flock::lock(lock, nix::fcntl::FlockArg::LockExclusive).unwrap();
    let path = format!("{}:{}", launched.folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(launched.house().join("feral"));
    command.args(["say", "hi"]).env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut typed = command.spawn().unwrap();
    let mut told = String::new();
    BufReader::new(typed.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("the console is being built"), "{told}");
    launched.program("console", 5);
    // The lock is held on: another program is built.
    let output = typed.wait_with_output().unwrap();
    assert!(output.status.success() && said(&output).contains("with say hi"), "{}", said(&output));
    assert!(launched.built().is_empty(), "nothing is built twice");
}

fn out(house: &House, args: &[&str]) -> String {
    let output = house.ask(args);
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a shell offers behind these words, the last of them begun.
fn offered(house: &House, words: &[&str]) -> Vec<String> {
    let script = format!(
        "set -u\n{}\nCOMP_WORDS=({}); COMP_CWORD={}; _feral feral '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]-}}\"; complete -p feral >&2",
        out(house, &["completions", "bash"]),
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2]
    );
    let output = Command::new("bash").args(["--norc", "-c", &script]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_real_bash_completes_every_command_and_its_options() {
    let house = House::new(SOUND);
    let all = offered(&house, &["feral", ""]);
    for command in names() {
        assert!(all.contains(&command.to_owned()), "{command} is not in {all:?}");
    }
    assert!(!all.contains(&"notices".to_owned()), "the guardian's own is none of the owner's: {all:?}");
    assert_eq!(offered(&house, &["feral", "go"]), ["goals"]);
    assert_eq!(offered(&house, &["feral", "say", "--w"]), ["--wait"]);
    assert_eq!(offered(&house, &["feral", "rollback", "--"]), ["--dry-run", "--list", "--json", "--help"]);
    assert_eq!(offered(&house, &["feral", "completions", ""]), ["-h", "--help", "bash", "zsh", "fish"]);
    assert_eq!(offered(&house, &["feral", "help", "goa"]), ["goals"]);
    assert_eq!(offered(&house, &["feral", "remind", ""]), ["-h", "--wait", "--thread", "--json", "--help"]);
    assert_eq!(offered(&house, &["feral", "window", "--verbosity", "n"]), ["normal"]);
    // Of shells that may not be here: each command and option is in their words, and where the shell is, it reads them.
    for shell in ["zsh", "fish"] {
        let text = out(&house, &["completions", shell]);
        for part in names().chain(["dry-run", "wait", "bash"]) {
            assert!(text.contains(part), "{shell}: {part}");
        }
        let path = house.folder.path().join(shell);
        fs::write(&path, text).unwrap();
        if let Ok(read) = Command::new(shell).arg("-n").arg(&path).output() {
            assert!(read.status.success(), "{}", said(&read));
        }
    }
    for (line, offers) in
        [("go", "goals"), ("say --w", "--wait"), ("help goa", "goals"), ("window --verbosity n", "normal")]
    {
        let script = format!("source fish; complete -C 'feral {line}'");
        let mut fish = Command::new("fish");
        let Ok(read) = fish.args(["-c", &script]).current_dir(house.folder.path()).output() else { break };
        assert_eq!(said(&read).split_whitespace().next(), Some(offers), "{line}: {}", said(&read));
    }
    for wrong in [&["completions"][..], &["completions", "csh"], &["completions", "bash", "zsh"]] {
        assert_eq!(house.ask(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_man_page_has_every_command_and_roff_reads_it_without_a_word() {
    let house = House::new(SOUND);
    let roff = out(&house, &["man"]);
    assert!(roff.contains("\n.TH FERAL 1 "), "{roff}");
    assert!(roff.contains("\\-\\-dry\\-run"), "an option can be typed as it is shown");
    for command in names() {
        assert!(roff.contains(&format!(".SH \"feral {command}")), "{command}");
    }
    let orders = [".ie", ".el", ".TH", ".SH", ".SS", ".TP", ".PP", ".br", ".RS", ".RE", ".IP"];
    for line in roff.lines().filter(|line| line.starts_with(['.', '\''])) {
        let order = line.split(' ').next().unwrap();
        assert!(orders.contains(&order), "no order was meant by {line:?}");
    }
    let path = house.folder.path().join("feral.1");
    fs::write(&path, &roff).unwrap();
    let groff = Command::new("groff").args(["-man", "-Tutf8", "-ww", "-P-cbu"]).arg(&path).output();
    let Ok(read) = groff else { return };
    assert!(read.status.success() && read.stderr.is_empty(), "{}", said(&read));
    let text = String::from_utf8_lossy(&read.stdout).replace(['\u{2010}', '\u{2212}'], "-");
    for part in ["rollback", "--dry-run", "EXIT STATUS", "100 refused to start", "remind me WHEN to WHAT"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}
