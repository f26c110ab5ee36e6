//! Patches of real source, damaged as models damage them: never a panic, never half, and the wrong place next to never.

use patch::text::diff::parse;
use patch::text::hunks::{Pass, apply};
use similar::TextDiff;

const SOURCES: [&str; 6] = [
    include_str!("../../src/text/hunks.rs"),
    include_str!("../../src/text/diff.rs"),
    include_str!("../../src/draft.rs"),
    include_str!("../../src/plan.rs"),
    include_str!("../../src/proof/diagnostics.rs"),
    include_str!("../../src/proof/rehearse.rs"),
];

/// A small generator of the same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

/// The source with one to three lines changed, added or removed.
fn edited(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for number in 0..=dice.roll(3) {
        let at = dice.roll(lines.len());
        match dice.roll(3) {
            0 => lines[at].push_str(" // changed"),
            1 => lines.insert(at, format!("    let added_{number} = {at};")),
            _ => _ = lines.remove(at),
        }
    }
    lines.join("\n") + "\n"
}

fn diff(old: &str, new: &str, context: usize) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(context)
        .header("a/creature/x.rs", "b/creature/x.rs")
        .to_string()
}

fn each_line(patch: &str, change: impl FnMut(&str) -> Option<String>) -> String {
    patch.lines().filter_map(change).map(|line| line + "\n").collect()
}

/// Damage of form: what the patch says of the text is still true.
fn form(kind: usize, patch: &str, dice: &mut Dice) -> String {
    let shift = dice.roll(40);
    match kind {
        0 => patch.to_owned(),
        1 => each_line(patch, |line| {
            Some(if line.starts_with("@@") {
                format!("@@ -{shift},3 +{shift},3 @@")
            } else {
                line.to_owned()
            })
        }),
        2 => each_line(patch, |line| {
            Some(if line.starts_with("@@") { "@@".to_owned() } else { line.to_owned() })
        }),
        3 => each_line(patch, |line| Some(if line == " " { String::new() } else { line.to_owned() })),
        4 => patch.replace('\n', "\r\n"),
        5 => format!("Sure!\n```diff\n{patch}```\nDone."),
        6 => patch.replace("a/creature", "creature").replace("b/creature", "creature"),
        7 => patch.trim_end_matches('\n').to_owned(),
        _ => each_line(patch, |line| {
            Some(if line.starts_with(' ') { format!("{line}  ") } else { line.to_owned() })
        }),
    }
}

#[test]
fn damage_of_form_never_leads_to_a_wrong_text() {
    let (mut dice, mut applied, mut refused) = (Dice(7), 0, 0);
    for source in SOURCES {
        for round in 0..24 {
            let new = edited(source, &mut dice);
            let patch = diff(source, &new, 3);
            if patch.is_empty() {
                continue;
            }
            for kind in 0..9 {
                let damaged = form(kind, &patch, &mut dice);
                let files = parse(&damaged).unwrap_or_else(|fault| panic!("{fault}\n{damaged}"));
                match apply(&files[0], Some(source)) {
                    Ok(done) => {
                        assert_eq!(
                            done.text.as_deref(),
                            Some(new.as_str()),
                            "kind {kind} round {round}\n{damaged}"
                        );
                        applied += 1;
                    }
                    Err(miss) => {
                        assert!(kind > 0, "an undamaged patch was refused: {}\n{damaged}", miss.why);
                        refused += 1;
                    }
                }
            }
            let files = parse(&patch).unwrap();
            if let Ok(again) = apply(&files[0], Some(&new)) {
                let already = again.placed.iter().all(|at| at.pass == Pass::AlreadyApplied);
                assert!(!already || again.text.as_deref() == Some(&new));
            }
        }
    }
    assert!(refused * 20 < applied, "{refused} refused, {applied} applied");
}

/// A hunk header that keeps its true counts and claims another line.
fn restarted(header: &str, number: usize) -> String {
    let counts = |side: &str| side.split_once(',').map_or("1".to_owned(), |(_, count)| count.to_owned());
    let sides: Vec<String> = header.split(' ').skip(1).take(2).map(counts).collect();
    format!("@@ -{number},{} +{number},{} @@", sides[0], sides[1])
}

#[test]
fn damage_of_content_is_refused_or_harmless() {
    let (mut dice, mut right, mut refused, mut wrong) = (Dice(11), 0, 0, 0);
    for source in SOURCES {
        for _ in 0..24 {
            let new = edited(source, &mut dice);
            let patch = diff(source, &new, 1 + dice.roll(3));
            for kind in 0..6 {
                let mut left = dice.roll(4);
                let mut hit = |line: &str| {
                    let matches = line.starts_with(' ') && line.len() > 4;
                    left = left.wrapping_sub(usize::from(matches));
                    matches && left == usize::MAX
                };
                let number = dice.roll(source.lines().count());
                let damaged = each_line(&patch, |line| match kind {
                    0 if hit(line) => None,
                    1 if hit(line) => Some(format!(" {}", line.to_uppercase())),
                    2 if hit(line) => Some(format!("{line}\n{line}")),
                    3 if line.starts_with('-') && line.len() > 6 && !line.starts_with("---") => {
                        Some(line.replacen('e', "a", 1))
                    }
                    4 if line.starts_with("@@") => Some(format!("@@ -{number},2 +{number},2 @@")),
                    5 if line.starts_with("@@") => Some(restarted(line, number)),
                    _ => Some(line.to_owned()),
                });
                let Some(file) = parse(&damaged).ok().and_then(|files| files.into_iter().next()) else {
                    refused += 1;
                    continue;
                };
                match apply(&file, Some(source)) {
                    Ok(done) if done.text.as_deref() == Some(&new) => right += 1,
                    Ok(_) => wrong += 1,
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(wrong * 500 <= right + refused, "{wrong} wrong, {right} right, {refused} refused");
}

#[test]
fn noise_never_panics() {
    let mut dice = Dice(23);
    let pieces = [
        "@@",
        "@@ -1,2 +3,4 @@",
        "--- a/x",
        "+++ b/x",
        "--- /dev/null",
        "+++ /dev/null",
        " ",
        "",
        "-a",
        "+b",
        "\\ No newline",
        "```",
        "diff --git a/x b/x",
        "@@ -0,0 +1 @@",
        "é",
        "\t",
        "@@ -99999999999999999999,1 +1 @@",
        "new file mode",
        "deleted file mode",
    ];
    for _ in 0..4_000 {
        let patch: Vec<&str> = (0..dice.roll(12)).map(|_| pieces[dice.roll(pieces.len())]).collect();
        for file in parse(&patch.join("\n")).unwrap_or_default() {
            for text in [None, Some(""), Some("a"), Some("a\nb\n"), Some("\n\n"), Some("é\r\n")] {
                let _ = apply(&file, text);
            }
        }
    }
}
