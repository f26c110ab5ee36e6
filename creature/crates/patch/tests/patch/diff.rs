//! Tests of reading and placing sloppy patches, as a table: text, patch, and what becomes of it.

use patch::text::diff::{Act, FilePatch, parse};
use patch::text::hunks::{Pass, apply};

const FILE: &str = "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n\nfn three() {\n    3\n}\n";

/// The file after the patch with how its hunks were found, or why not.
fn run(text: Option<&str>, patch: &str) -> Result<(Option<String>, Vec<Pass>), String> {
    let files = parse(patch).map_err(|fault| fault.error)?;
    let [file] = files.as_slice() else { return Err(format!("{} files", files.len())) };
    let applied = apply(file, text).map_err(|miss| miss.why)?;
    Ok((applied.text, applied.placed.iter().map(|at| at.pass).collect()))
}

fn two(patch: &str, pass: Pass) {
    let changed = FILE.replace("    2\n", "    22\n");
    assert_eq!(run(Some(FILE), patch), Ok((Some(changed), vec![pass])), "{patch}");
}

#[test]
fn one_change_written_in_many_ways() {
    let body = " fn two() {\n-    2\n+    22\n }\n";
    let header = "--- a/creature/x.rs\n+++ b/creature/x.rs\n";
    for (patch, pass) in [
        (format!("{header}@@ -5,3 +5,3 @@\n{body}"), Pass::Exact),
        (
            format!(
                "diff --git a/creature/x.rs b/creature/x.rs\nindex 1..2 100644\n{header}@@ -5,3 +5,3 @@ mod\n{body}"
            ),
            Pass::Exact,
        ),
        (format!("```diff\n{header}@@ -5,3 +5,3 @@\n{body}```\n"), Pass::Exact),
        (format!("Here is it:\n\n```\n{header}@@ -5,3 +5,3 @@\n{body}```\nThat is all."), Pass::Exact),
        (format!("--- creature/x.rs\n+++ creature/x.rs\n@@ -5,3 +5,3 @@\n{body}"), Pass::Exact),
        (format!("+++ b/creature/x.rs\n@@ -5,3 +5,3 @@\n{body}"), Pass::Exact),
        (format!("--- a/creature/x.rs\n@@ -5,3 +5,3 @@\n{body}"), Pass::Exact),
        (
            format!(
                "--- a/creature/x.rs\t2026-01-01 10:00:00\n+++ b/creature/x.rs\t2026\n@@ -5,3 +5,3 @@\n{body}"
            ),
            Pass::Exact,
        ),
        (format!("{header}@@ -50,3 +50,3 @@\n{body}"), Pass::Moved),
        (format!("```\n{header}@@ -1,9 +1,7 @@\n{body}```\n"), Pass::Moved),
        (format!("{header}@@\n{body}"), Pass::Moved),
        (format!("{header}@@ ... @@\n{body}"), Pass::Moved),
        (format!("{header}@@ fn two() @@\n{body}"), Pass::Moved),
        (format!("{header}@@ -5 +5 @@\n{body}"), Pass::Exact),
        (format!("{header}@@ -5,3 +5,3 @@\n{body}").replace('\n', "\r\n"), Pass::Exact),
        (format!("{header}@@ -5,3 +5,3 @@\n{body}\n\n"), Pass::Exact),
        (format!("{header}@@ -5,3 +5,3 @@\n{}", body.trim_end_matches('\n')), Pass::Exact),
        (format!("{header}@@ -3,5 +3,5 @@\n }}\n\n{body}"), Pass::Exact),
        (format!("{header}@@ -5,3 +5,3 @@\n{}", body.replace("two() {", "two() {  ")), Pass::Trailing),
    ] {
        two(&patch, pass);
    }
}

#[test]
fn refusals_name_the_place() {
    let with = |hunk: &str| format!("--- a/creature/x.rs\n+++ b/creature/x.rs\n{hunk}");
    for (patch, why) in [
        (String::new(), "names no file"),
        ("just talk".to_owned(), "names no file"),
        ("@@ -1 +1 @@\n-a\n+b\n".to_owned(), "without a file"),
        (with(""), "no hunks"),
        (with("@@ -5,3 +5,3 @@\n fn two() {\n     2\n }\n"), "changes nothing"),
        (with("@@ -5,3 +5,3 @@\n fn two() {\n-    2\n+    2\n }\n"), "changes nothing"),
        (with("@@ -3,0 +3,1 @@\n+// new\n"), "no lines to find its place"),
        (
            with("@@ -3,1 +3,2 @@\n+// new\n"),
            "the patch ends after 0 old and 1 new lines of this hunk, its header counts 1 and 2",
        ),
        (with("@@\n }\n+// new\n"), "3 places (lines 3, 7, 11)"),
        (with("@@ -3,1 +3,1 @@\n }\n+// new\n"), "3 places"),
        (with("@@ -4,1 +4,2 @@\n }\n+// new\n"), "3 places"),
        (
            with("@@ -5,3 +5,3 @@\n fn two() {\n-    4\n+    5\n }\n"),
            "first difference at line 6: expected `    4`, found `    2`",
        ),
        (with("@@ -5,3 +5,3 @@\n fn nine() {\n-    9\n+    5\n ]\n"), "none of its old lines"),
        (
            with(
                "@@ -1,3 +1,3 @@\n fn one() {\n-    1\n+    5\n }\n@@ -1,3 +1,3 @@\n fn one() {\n-    1\n+    6\n }\n",
            ),
            "same lines as another",
        ),
        (
            "diff --git a/creature/x.rs b/creature/x.rs\nold mode 100644\nnew mode 100755\n".to_owned(),
            "not supported",
        ),
        ("--- a/creature/x.rs\n+++ b/creature/y.rs\n@@ -1 +1 @@\n-a\n+b\n".to_owned(), "two different files"),
        ("--- /dev/null\n+++ b/creature/x.rs\n@@ -0,0 +1 @@\n+new\n".to_owned(), "exists already"),
        ("--- a/creature/x.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n".to_owned(), "other text"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n".to_owned(), "both created and deleted"),
    ] {
        let said = run(Some(FILE), &patch).expect_err(&patch);
        assert!(said.contains(why), "{patch}\nsaid: {said}");
    }
}

#[test]
fn a_stated_place_decides_among_twins_only_while_the_numbers_can_be_believed() {
    let header = "--- a/creature/x.rs\n+++ b/creature/x.rs\n";
    let twins = run(Some(FILE), &format!("{header}@@ -7,1 +7,2 @@\n }}\n+// new\n")).unwrap();
    assert_eq!(twins.0.unwrap(), FILE.replacen("    2\n}\n", "    2\n}\n// new\n", 1));
    // The first hunk was found elsewhere than stated, so the second's number is worth nothing.
    let moved = format!(
        "{header}@@ -9,3 +9,3 @@\n fn one() {{\n-    1\n+    11\n }}\n@@ -7,1 +7,2 @@\n }}\n+// new\n"
    );
    assert!(run(Some(FILE), &moved).expect_err("ambiguous").contains("3 places"));
}

#[test]
fn files_come_and_go() {
    let create = "--- /dev/null\n+++ b/creature/n.rs\n@@ -0,0 +1,3 @@\n+//! New.\n+\n+fn n() {}\n";
    let text = "//! New.\n\nfn n() {}\n";
    for patch in [
        create.to_owned(),
        create.replace("\n+\n", "\n\n"),
        format!("new file mode 100644\n{create}"),
        create.replace("--- /dev/null\n", ""),
    ] {
        assert_eq!(run(None, &patch).unwrap().0.as_deref(), Some(text), "{patch}");
        assert_eq!(run(Some(text), &patch).unwrap().1, [Pass::AlreadyApplied], "{patch}");
    }
    let unended = format!("{create}\\ No newline at end of file\n");
    assert_eq!(run(None, &unended).unwrap().0.as_deref(), Some("//! New.\n\nfn n() {}"));
    let delete = "--- a/creature/n.rs\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-//! New.\n-\n-fn n() {}\n";
    assert_eq!(run(Some(text), delete), Ok((None, vec![Pass::Exact])));
    assert_eq!(run(None, delete), Ok((None, vec![Pass::AlreadyApplied])));
    let modify = "--- a/creature/n.rs\n+++ b/creature/n.rs\n@@ -1 +1 @@\n-a\n+b\n";
    assert!(run(None, modify).expect_err("missing").contains("no such file"));
    assert_eq!(run(Some(""), "+++ b/creature/n.rs\n@@ -0,0 +1 @@\n+a\n").unwrap().0.as_deref(), Some("a\n"));
}

#[test]
fn ends_of_lines_and_of_files_stay_as_they_are() {
    let header = "--- a/creature/x.rs\n+++ b/creature/x.rs\n";
    let mark = "\\ No newline at end of file\n";
    for (text, hunk, wanted) in [
        ("a\r\nb\r\nc\r\n", "@@ -2 +2 @@\n-b\n+B\n".to_owned(), "a\r\nB\r\nc\r\n"),
        ("a\nb", "@@ -1 +1 @@\n-a\n+A\n".to_owned(), "A\nb"),
        ("a\nb", format!("@@ -2 +2 @@\n-b\n{mark}+B\n{mark}"), "a\nB"),
        ("a\nb", format!("@@ -2 +2 @@\n-b\n{mark}+B\n"), "a\nB\n"),
        ("a\nb\n", format!("@@ -2 +2 @@\n-b\n+B\n{mark}"), "a\nB"),
        ("a\nb", "@@ -2 +2,2 @@\n b\n+c\n".to_owned(), "a\nb\nc\n"),
        // Said of a line that stays: then the file knows better.
        ("a\nb\n", format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{mark}"), "A\nb\n"),
        ("a\nb\n", "@@ -1,2 +1 @@\n a\n-b\n".to_owned(), "a\n"),
        ("a\n", "@@ -1 +0,0 @@\n-a\n".to_owned(), ""),
        ("a  \nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n".to_owned(), "a  \nc\n"),
        ("-- sql\nx\n", "@@ -1,2 +1,2 @@\n--- sql\n+++ sql\n x\n".to_owned(), "++ sql\nx\n"),
    ] {
        assert_eq!(
            run(Some(text), &format!("{header}{hunk}")).map(|(text, _)| text),
            Ok(Some(wanted.to_owned())),
            "{hunk}"
        );
    }
}

#[test]
fn what_is_there_already_is_success_and_nothing_else_is() {
    let header = "--- a/creature/x.rs\n+++ b/creature/x.rs\n";
    for hunk in [
        "@@ -5,3 +5,3 @@\n fn two() {\n-    2\n+    22\n }\n",
        "@@ -5,3 +5,4 @@\n fn two() {\n+    // more\n     2\n }\n",
        "@@ -9,3 +9,4 @@\n fn three() {\n     3\n }\n+// end\n",
        "@@ -1,3 +1,4 @@\n+// start\n fn one() {\n     1\n }\n",
        "@@ -5,3 +5,2 @@\n fn two() {\n-    2\n }\n@@ -1,2 +1,2 @@\n-fn one() {\n+fn uno() {\n     1\n",
    ] {
        let patch = format!("{header}{hunk}");
        let (text, _) = run(Some(FILE), &patch).unwrap_or_else(|why| panic!("{hunk}: {why}"));
        let again = run(text.as_deref(), &patch);
        if let Ok((same, passes)) = again {
            assert_eq!(
                (same, passes.iter().all(|pass| *pass == Pass::AlreadyApplied)),
                (text, true),
                "{hunk}"
            );
        } else {
            // A deletion that leaves little to know it by is refused rather than believed.
            assert!(hunk.contains("3 +5,2"), "{hunk}: {again:?}");
        }
    }
    // Lines that stand there prove nothing of a line that never stood beside them.
    for misquoted in [
        "@@ -5,4 +5,3 @@\n-// never\n fn two() {\n     2\n }\n",
        "@@ -5,4 +5,3 @@\n fn two() {\n     2\n }\n-// never\n",
        "@@ -3,5 +3,4 @@\n }\n \n-// never\n fn two() {\n     2\n",
    ] {
        let read = run(Some(FILE), &format!("{header}{misquoted}"));
        assert!(read.is_err(), "{misquoted}: {read:?}");
    }
    let gone = run(Some("}\nx\n"), &format!("{header}@@ -1,2 +1 @@\n }}\n-y\n"));
    assert!(gone.is_err(), "one bracket is no proof of a deletion: {gone:?}");
}

#[test]
fn several_files_and_a_file_named_twice() {
    let files = parse("--- a/creature/a\n+++ b/creature/a\n@@ -1 +1 @@\n-a\n+b\n\n--- a/self/b\n+++ b/self/b\n@@ -1 +1 @@\n-a\n+b\n--- a/creature/a\n+++ b/creature/a\n@@ -9 +9 @@\n-c\n+d\n").unwrap();
    let seen: Vec<(&str, Act, usize)> =
        files.iter().map(|f: &FilePatch| (f.path.as_str(), f.act, f.hunks.len())).collect();
    assert_eq!(seen, [("creature/a", Act::Modify, 2), ("self/b", Act::Modify, 1)]);
}
