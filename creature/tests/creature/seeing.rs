//! Tests of what a mind is shown: whatever is there can be found and read, whole or page by page, and never with a hole.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Copies the creature's own source into the yard; every file by its path.
fn own_source(yard: &Yard) -> BTreeMap<String, String> {
    fn walk(at: &Path, name: &str, files: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(at).unwrap().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let name = format!("{name}/{file}");
            match entry.path() {
                _ if file.starts_with('.') || file == "target" => {}
                dir if dir.is_dir() => walk(&dir, &name, files),
                path => _ = files.insert(name, std::fs::read_to_string(path).unwrap()),
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(Path::new(env!("CARGO_MANIFEST_DIR")), "creature", &mut files);
    files.iter().for_each(|(name, text)| yard.put(name, text));
    files
}

/// The number that a line of what was shown says after this.
pub fn after(shown: &str, said: &str) -> Option<usize> {
    let rest = &shown[shown.find(said)? + said.len()..];
    rest.split(|letter: char| !letter.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}

/// What is below the lines that say what is shown.
pub fn body(shown: &str) -> &str {
    shown.split_once("\n\n").map_or("", |(_, body)| body)
}

/// All pages of an answer, one after another.
async fn pages(yard: &mut Yard, tool: &str, args: Value) -> String {
    let (mut all, mut from) = (String::new(), 1);
    loop {
        let mut args = args.clone();
        args["from"] = json!(from);
        let shown = yard.shown(tool, args).await;
        assert!(shown.chars().count() <= yard.tools.most_shown && !shown.starts_with("failed"), "{shown}");
        all += body(&shown);
        match after(&shown, "\nnext_from:") {
            Some(next) if next > from => from = next,
            Some(next) => panic!("page {next} after {from}: {shown}"),
            None => return all,
        }
    }
}

/// The files that a map and the maps of its folded folders show.
async fn mapped(yard: &mut Yard, folder: &str) -> Vec<String> {
    let map = pages(yard, "repo.map", json!({"folder": folder})).await;
    let (mut files, mut folder, mut folded) = (Vec::new(), String::new(), Vec::new());
    for line in map.lines() {
        match line.strip_prefix("  ") {
            Some(file) => files.push(format!("{folder}/{}", file.split(" (").next().unwrap())),
            None => {
                folder = line.split("/ (").next().unwrap().to_owned();
                folded.extend(line.contains("too long to show").then(|| folder.clone()));
            }
        }
    }
    for folder in folded {
        files.extend(Box::pin(mapped(yard, &folder)).await);
    }
    files
}

#[tokio::test]
async fn the_only_occurrence_of_a_word_in_200_files_is_found() {
    let mut yard = Yard::new();
    for number in 0..200 {
        let word = if number == 137 { "quixotic_zephyr" } else { "common" };
        yard.put(
            &format!("creature/src/m{number}.rs"),
            &format!("//! One.\n{}let {word} = 1;\n", "// x\n".repeat(300)),
        );
    }
    let shown = yard.shown("repo.search", json!({"pattern": "quixotic_\\w+"})).await;
    assert!(
        shown.contains("hits: 1\n") && shown.contains("creature/src/m137.rs:302: let quixotic_zephyr = 1;"),
        "{shown}"
    );
    let around = yard.shown("repo.search", json!({"pattern": "quixotic", "context": 2})).await;
    assert_eq!(body(&around).lines().count(), 3, "{around}");
    let none = yard.shown("repo.search", json!({"pattern": "quixotic", "path": "creature/src/m1.rs"})).await;
    assert!(none.contains("hits: 0") && none.contains("files_searched: 1"), "{none}");
    let all = pages(&mut yard, "repo.search", json!({"pattern": "common"})).await;
    assert_eq!(all.lines().filter(|line| line.contains("let common = 1;")).count(), 199);
    let plain = yard.shown("repo.search", json!({"pattern": "quixotic_zephyr = 1;("})).await;
    assert!(plain.contains("hits: 0") && plain.contains("no regular expression"), "{plain}");
}

#[tokio::test]
async fn a_search_shows_no_secret_and_follows_no_link_out() {
    let mut yard = Yard::new();
    yard.put("creature/a.rs", "needle\n");
    yard.put("creature/.env", "needle\n");
    yard.put("owner.toml", "needle\n");
    yard.put(".self/workspace/b.txt", "a needle\n");
    std::os::unix::fs::symlink("../owner.toml", yard.root().join("creature/link")).unwrap();
    let shown = yard.shown("repo.search", json!({"pattern": "needle"})).await;
    assert_eq!(body(&shown), "creature/a.rs:1: needle\n", "{shown}");
    for path in ["owner.toml", "../x", "creature/link", ".git"] {
        let shown = yard.shown("repo.search", json!({"pattern": "needle", "path": path})).await;
        assert!(shown.starts_with("failed: repo.search"), "{path}: {shown}");
    }
    let everywhere = yard.shown("repo.search", json!({"pattern": "needle", "path": "."})).await;
    assert_eq!(body(&everywhere), "creature/a.rs:1: needle\n", "{everywhere}");
    let files = yard.shown("files.search", json!({"pattern": "needle"})).await;
    assert_eq!(body(&files), ".self/workspace/b.txt:1: a needle\n", "{files}");
}

#[tokio::test]
async fn a_compile_error_is_shown_whole() {
    let mut yard = Yard::new();
    let manifest = "[workspace]\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    yard.put("creature/Cargo.toml", manifest);
    yard.put("creature/Cargo.lock", "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n");
    let uses: String = (0..12).map(|at| format!("    let x{at}: u32 = missing_{at}();\n")).collect();
    yard.put("creature/src/main.rs", &format!("//! Wrong.\nfn main() {{\n{uses}}}\n"));
    let shown = yard.shown("repo.check", json!({})).await;
    assert!(shown.starts_with("failed: cargo check failed: exit status 101\nhint: "), "{shown}");
    for at in 0..12 {
        assert!(shown.contains(&format!("cannot find function `missing_{at}`")), "error {at}: {shown}");
        assert!(shown.contains(&format!("src/main.rs:{}:", at + 3)), "place {at}: {shown}");
        assert!(shown.contains(&format!("let x{at}: u32 = missing_{at}();\n")), "line {at}: {shown}");
    }
    assert!(shown.contains("could not compile `creature`"), "{shown}");
}

#[tokio::test]
async fn the_line_that_matters_in_a_log_of_3000_is_found() {
    let mut yard = Yard::new();
    let line = "i=0; while [ $i -lt 3000 ]; do if [ $i = 1234 ]; then echo 'FATAL: the pump stands'; else echo \"$i all is well with the pump\"; fi; i=$((i+1)); done";
    let shown = yard.shown("repo.run", json!({"command": line})).await;
    assert!(
        shown.contains("\n0 all is well") && shown.ends_with("\n2999 all is well with the pump\n"),
        "{shown}"
    );
    assert!(!shown.contains("FATAL") && shown.contains(" of 3000 left out"), "{shown}");
    let mark = &shown[shown.find("… lines ").unwrap()..];
    let (first, path) =
        (after(mark, "from: ").unwrap(), mark.split("path: ").nth(1).unwrap().split(',').next().unwrap());
    let last: usize = mark.split('-').nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(shown.contains(&format!("\n{} all is well", first - 2)), "the head ends where the gap begins");
    assert!(shown.contains(&format!("\n{last} all is well")), "the tail begins where the gap ends");
    let page = yard.shown("repo.read", json!({"path": path, "from": first, "lines": last + 1 - first})).await;
    assert!(page.contains("1235  FATAL: the pump stands\n"), "{page}");
    let found = yard.shown("files.search", json!({"pattern": "FATAL|ERROR", "path": path})).await;
    assert!(
        body(&found).ends_with(":1235: FATAL: the pump stands\n") && found.contains("hits: 1"),
        "{found}"
    );
}

#[tokio::test]
async fn a_line_longer_than_the_cap_is_cut_with_its_count() {
    let mut yard = Yard::new();
    yard.put("creature/wide.rs", &format!("// one\n{}\n// three\n", "é".repeat(50_000)));
    let shown = yard.shown("repo.read", json!({"path": "creature/wide.rs"})).await;
    assert!(shown.contains("next_from: 2\n") && body(&shown) == "1  // one\n", "{shown}");
    let shown = yard.shown("repo.read", json!({"path": "creature/wide.rs", "from": 2})).await;
    assert!(shown.chars().count() <= 35_000 && shown.contains("next_from: 3\n"), "{}", &shown[..200]);
    let cut = after(&shown, "the rest of this line is left out:").unwrap();
    assert_eq!(shown.matches('é').count() + cut, 50_000);
}

#[tokio::test]
async fn an_item_is_read_by_the_name_the_outline_shows() {
    let mut yard = Yard::new();
    let text = "//! A thing.\n\n/// Holds one.\n#[derive(Debug)]\npub struct Thing {\n    one: u8,\n}\n\nimpl Thing {\n    /// Makes it.\n    pub const fn new(\n        one: u8,\n    ) -> Self {\n        Self { one }\n    }\n}\n\nimpl Default for Thing {\n    fn default() -> Self {\n        Self::new(1)\n    }\n}\n\nconst MOST: [u8; 2] = [\n    1, 2,\n];\n\npub(crate) async fn new() {}\n";
    yard.put("creature/src/thing.rs", text);
    let outline = yard.shown("repo.outline", json!({"path": "creature/src/thing.rs"})).await;
    let lines = "5-7  pub struct Thing  // Holds one.\n9-16  impl Thing\n11-15    pub const fn new(one: u8, ) -> Self  // Makes it.\n\
        18-22  impl Default for Thing\n19-21    fn default() -> Self\n24-26  const MOST: [u8; 2]\n28-28  pub(crate) async fn new() {}\n";
    assert_eq!(body(&outline), lines, "{outline}");
    let mut read = async |item: &str| {
        yard.shown("repo.read", json!({"path": "creature/src/thing.rs", "item": item})).await
    };
    let thing = read("Thing").await;
    assert!(
        thing.contains("lines: 3-7 of 28\n") && body(&thing).starts_with(" 3  /// Holds one.\n"),
        "{thing}"
    );
    assert!(read("Thing::new").await.contains("lines: 10-15 of 28"));
    assert!(read("impl Default for Thing").await.contains("lines: 18-22 of 28"));
    assert!(read("MOST").await.contains("lines: 24-26 of 28"));
    let two = read("new").await;
    assert!(
        two.contains("2 items `new`: lines 11-15 in impl Thing, 28-28") && two.contains("Type::name"),
        "{two}"
    );
    assert!(read("nothing").await.contains("finds no item `nothing`"));
}

#[tokio::test]
async fn what_it_did_in_the_last_hour_and_what_it_cost() {
    let mut yard = Yard::new();
    let now: jiff::Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    yard.store.clock = creature::clock::Clock::told(move || now);
    let mut tell = |minute: u32, kind: &str, data: Value| {
        let at = format!("2026-03-02T{}:{:02}:00.000Z", 10 + minute / 60, minute % 60);
        yard.store.memory.append(&memory::Record { at, life: 7, kind: kind.to_owned(), data }).unwrap();
    };
    let usage =
        json!({"input_tokens": 1_000, "cache_read_tokens": 9_000, "output_tokens": 200, "cost_usd": 0.02});
    for minute in [10, 50, 70, 80, 90] {
        tell(
            minute,
            "thought",
            json!({"thought": minute, "intent": format!("look at {minute}"), "usage": usage}),
        );
        let result = json!({"ok": minute != 90, "error": "no such file"});
        tell(minute, "action", json!({"tool": "repo.read", "args": {"path": "x"}, "result": result}));
    }
    tell(95, "action", json!({"tool": "web.search", "args": {}, "result": {"ok": true}}));
    let sums = yard.shown("self.examine", json!({"since": "60m"})).await;
    for said in [
        "thoughts: ? 3\n",
        "cost: 0.06 USD\n",
        "calls: 4, 1 failed\n",
        "repo.read 3, 1 failed",
        "web.search 1,",
    ] {
        assert!(sums.contains(said), "{said}: {sums}");
    }
    let hour = yard.shown("records", json!({"since": "60m"})).await;
    for said in [
        "records: 7\n",
        "2026-03-02T11:30:00.000Z action repo.read {\"path\":\"x\"}: failed: no such file\n",
        "2026-03-02T11:20:00.000Z thought 80: look at 80\n",
    ] {
        assert!(hour.contains(said), "{said}: {hour}");
    }
    assert!(
        !hour.contains("look at 50") && body(&hour).starts_with("2026-03-02T11:35"),
        "the newest first: {hour}"
    );
    let thoughts = yard.shown("records", json!({"since": "2026-03-02T10:30:00Z", "kind": "thought"})).await;
    assert_eq!(body(&thoughts).lines().count(), 4, "{thoughts}");
    let one = yard.shown("records", json!({"text": "LOOK AT 50"})).await;
    assert!(one.contains("\"intent\": \"look at 50\""), "a single one is shown whole: {one}");
    assert!(yard.shown("records", json!({"since": "soon"})).await.contains("as in 30m, 8h, today"));
    assert!(yard.shown("history", json!({})).await.contains("lines: none"));
    let golden = include_str!("../golden/history.jsonl");
    yard.put(".self/history.jsonl", &format!("{golden}garbage\n"));
    let history = yard.shown("history", json!({"since": "2026-01-02T03:01:00Z"})).await;
    assert!(history.contains("2026-01-02T03:02:00.000Z fall: cause tries_spent, deaths 3"), "{history}");
    assert!(!history.contains("rest longer") && !history.contains("garbage"), "{history}");
}

#[tokio::test]
async fn a_map_that_does_not_fit_folds_its_longest_folders_and_counts_them() {
    let mut yard = Yard::new();
    yard.put("creature/src/life.rs", "//! The one loop.\n");
    for number in 0..60 {
        yard.put(
            &format!("creature/src/tools/t{number}.rs"),
            "//! A tool with many words in its first line.\n\n",
        );
        yard.put(&format!("creature/tests/t{number}.rs"), "//! A test with many words in its first line.\n");
    }
    let whole = yard.shown("repo.map", json!({})).await;
    assert!(
        whole.contains("\ncreature/src/ (1 files, 1 lines)\n  life.rs (1 lines): The one loop.\n"),
        "{whole}"
    );
    assert!(
        whole.contains("files: 121\n")
            && whole.find("creature/tests/").unwrap() > whole.find("tools/").unwrap()
    );
    yard.tools.most_shown = 6_000;
    let tests = yard.shown("repo.map", json!({})).await;
    let said = "\ncreature/tests/ (60 files, 60 lines): too long to show here; repo.map {folder: creature/tests} does\n";
    assert!(tests.contains(said) && tests.contains("  t59.rs (2 lines): A tool"), "{tests}");
    yard.tools.most_shown = 2_000;
    let both = yard.shown("repo.map", json!({})).await;
    assert!(
        both.contains("creature/src/tools/ (60 files, 120 lines): too long") && both.contains("The one loop"),
        "{both}"
    );
}

mod probation {
    use super::*;

    #[tokio::test]
    async fn every_line_of_the_source_is_read_through_map_and_pages() {
        let mut yard = Yard::new();
        let source = own_source(&yard);
        for most in [35_000, 6_000] {
            yard.tools.most_shown = most;
            let mut files = mapped(&mut yard, "creature").await;
            files.sort();
            files.dedup();
            let unseen: Vec<_> = source.keys().filter(|file| files.binary_search(file).is_err()).collect();
            assert!(unseen.is_empty(), "at {most} characters the map leaves out {unseen:?}");
            for (file, text) in source.iter().filter(|(file, text)| file.ends_with(".rs") && !text.is_empty())
            {
                let read = pages(&mut yard, "repo.read", json!({"path": file})).await;
                let unnumbered =
                    read.lines().map(|line| line.trim_start().split_once("  ").map_or("", |(_, line)| line));
                assert!(unnumbered.eq(text.lines()), "{file} at {most} characters");
            }
        }
    }
}
