//! Files of the tree that lives, written and put back.

use crate::yard::Yard;
use patch::change;
use patch::plan::{self, Edit, Roots};

#[test]
fn what_is_gone_already_is_put_back_too() {
    let yard = Yard::new();
    yard.put("creature/src/main.rs", "fn answer() -> u32 {\n    42\n}\n");
    let before = yard.files();
    let edit = |path: &str, old: &str, new: &str| Edit {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let edits =
        [edit("creature/src/main.rs", "42", "43"), edit("creature/src/deep/new.rs", "", "//! New.\n")];
    let plan = plan::from_edits(&Roots { source: yard.root(), papers: yard.root() }, &edits).unwrap();
    let mut written = change::write(yard.root(), plan.changes).unwrap();
    written.guard("creature/Cargo.lock");
    assert!(yard.text("creature/src/main.rs").contains("    43\n"));
    // A build may take away what the edit made, and need not make a lock file.
    std::fs::remove_file(yard.root().join("creature/src/deep/new.rs")).unwrap();
    std::fs::remove_file(yard.root().join("creature/src/main.rs")).unwrap();
    assert_eq!(written.put_back(), Ok(()));
    assert_eq!(yard.files(), before);
}
