//! Whose fault a failed build is, as data: what cargo and rustc print, and what must be made of it.

use guardian::blame::{Evidence, build, death};
use guardian::vocabulary::Blame;

fn blamed(output: &str) -> Blame {
    build(&Evidence { output: output.into(), ..Evidence::default() })
}

fn overdue(output: &str) -> Blame {
    build(&Evidence { output: output.into(), overdue: true, ..Evidence::default() })
}

/// Found by the fault matrix: a type error in a line about connections was excused as the network's.
#[test]
fn the_creatures_own_words_excuse_nothing() {
    for excuse in ["Connection refused", "failed to download", "is not installed", "No space left on device"]
    {
        let shown =
            format!("error[E0308]: mismatched types\n  |\n8 | fn wrong() -> u32 {{ \"{excuse}\" }}\n  |");
        assert_eq!(blamed(&shown), Blame::Code, "{shown}");
        let suggested = format!("error: this\n\n12 -     old(\"{excuse}\")\n12 +     new(\"{excuse}\")\n");
        assert_eq!(blamed(&suggested), Blame::Code, "{suggested}");
        assert_ne!(blamed(&format!("error: {excuse}")), Blame::Code, "cargo itself says so");
    }
}

/// Found by the fault matrix: each of these condemned the commit that was built.
#[test]
fn what_the_world_did_is_not_the_codes() {
    let offline = "error: no matching package named `x` found\nnote: offline mode (via `--offline`) can sometimes cause";
    assert_eq!(blamed(offline), Blame::Network);
    let refused =
        "error: failed to get `x`\n\nCaused by:\n  [7] Could not connect to server (Failed to connect)";
    assert_eq!(blamed(refused), Blame::Network);
    let no_rustc = "error: could not execute process `/gone/rustc -vV` (never executed)";
    assert_eq!(blamed(no_rustc), Blame::Toolchain);
    let deleted = "error: failed to write `/house/target/creature/debug/deps/x`\n\nCaused by:\n  No such file or directory (os error 2)";
    assert_eq!(blamed(deleted), Blame::Owner);
    assert_eq!(build(&Evidence { folder_gone: true, ..Evidence::default() }), Blame::Owner);
}

#[test]
fn what_overstays_is_the_codes_once_it_compiles() {
    assert_eq!(overdue("   Compiling creature v0.1.0\n"), Blame::Code);
    assert_eq!(overdue(""), Blame::Code);
    assert_eq!(
        overdue("   Compiling a v1\n    Blocking waiting for file lock on build directory\n"),
        Blame::Owner
    );
    assert_eq!(
        overdue("    Blocking waiting for file lock on package cache\n   Compiling creature v0.1.0\n"),
        Blame::Code
    );
    assert_eq!(overdue("    Updating crates.io index\n"), Blame::Network);
    assert_eq!(overdue("  Downloaded x v1\n   Compiling x v1\n  Downloaded y v1\n"), Blame::Code);
}

#[test]
fn a_disk_that_is_full_comes_before_all_else() {
    let full = Evidence { free_mib: 3, floor_mib: 64, overdue: true, ..Evidence::default() };
    assert_eq!(build(&full), Blame::Disk);
}

/// Found under faults: a tree whose lives were killed from outside stayed fallen.
#[test]
fn a_kill_that_nothing_inside_can_have_sent_is_not_the_codes() {
    let killed = Evidence { signal: Some(9), sheltered: true, ..Evidence::default() };
    assert_eq!(death(&killed), Blame::Owner);
    assert_eq!(death(&Evidence { sheltered: false, ..killed.clone() }), Blame::Code);
    assert_eq!(death(&Evidence { overdue: true, ..killed.clone() }), Blame::Code, "that was the guardian");
    assert_eq!(death(&Evidence { signal: Some(6), ..killed.clone() }), Blame::Code, "it aborted");
    assert_eq!(death(&Evidence { memory_kills: 1, ..killed }), Blame::Memory);
}
