//! How the guardian that runs was made, as the broker beside it then is.

use processes::made::Made;
use std::fs;
use trials::{House, SOUND};

/// Found: with `CARGO_TARGET_DIR` set or a triple configured, no broker was ever built.
#[test]
fn a_program_is_known_by_its_sources_wherever_it_was_built() {
    let house = House::new(SOUND);
    let at = tempfile::tempdir().unwrap();
    let here = house::House::new(&house.root);
    let program = |folder: &str, sources: &str| {
        let folder = at.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("guardian");
        fs::write(program.with_extension("d"), format!("{}: {sources}\n", program.display())).unwrap();
        program
    };
    fs::write(at.path().join(".rustc_info.json"), "{}").unwrap();
    let ours = house.root.join("guardian/src/main.rs").display().to_string();
    let made = Made::of(&here, &program("debug", &ours)).unwrap();
    assert_eq!((made.profile.as_str(), made.target.as_path(), made.triple), ("dev", at.path(), None));
    let made = Made::of(&here, &program("riscv64-a-triple/release", &ours)).unwrap();
    assert_eq!((made.profile.as_str(), made.target.as_path()), ("release", at.path()));
    assert!(
        made.args("broker").join(" ").ends_with("--target riscv64-a-triple"),
        "{:?}",
        made.args("broker")
    );
    assert_eq!(Made::of(&here, &program("other", "/elsewhere/guardian/src/main.rs")), None);
}
