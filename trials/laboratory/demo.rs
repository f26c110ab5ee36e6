//! The patches that `scripts/demo` hands over fit the creature as it is here.

use std::process::Command;
use trials::clone::origin;

/// Found: the line that the second patch looks for had moved to another file, and the demo failed at its third step.
#[test]
fn each_patch_of_the_demo_changes_its_file() {
    let text = std::fs::read_to_string(origin().join("scripts/demo")).unwrap();
    let handed: Vec<&str> = text.split("\nhand_patch ").skip(1).collect();
    assert_eq!(handed.len(), 2);
    for patch in handed {
        // As bash reads it: words for the creature, file, and expression, on two lines.
        let call: Vec<&str> = patch.lines().take(2).collect();
        let script = format!(
            "set -- {}\nsed -E \"$3\" \"$2\" | cmp -s - \"$2\" || echo \"$2 changes\"",
            call.join("\n")
        );
        let run = Command::new("bash")
            .args(["-uc", &script])
            .env("rest", "1")
            .current_dir(origin())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(
            said.ends_with(" changes\n"),
            "{}: {said}{}",
            call.join(" "),
            String::from_utf8_lossy(&run.stderr)
        );
    }
}
