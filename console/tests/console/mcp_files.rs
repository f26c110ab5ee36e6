//! A server in `owner.toml`: put in and taken out with all else as it was; the catalogue holds only what would be taken.

use console::mcp::block::{self, Block};
use console::mcp::catalogue::Catalogue;
use console::mcp::owner::without;
use console::mcp::proposal::{self, rule};
use house::settings::broker::Verdict;
use house::settings::mcp::{Mcp, ToolRule};
use house::settings::{self, Reader, forms};
use serde_json::json;

const MINE: &str = r#"# mine
walls = "on" # as far as it goes

[mcp.first]
command = ["one"]   # the first

# about limits,
# in two lines

# about files
[mcp.files]
command = ["x"]
rules = [
  { tool = "*", do = "ask" }, # all
]

# about the second
[[mcp.second.rules]]
tool = "*"
do = "ask"

[mcp.second]
url = "https://second.example.org/mcp"

[limits]
beat_s = 30
# the end
"#;

#[test]
fn what_is_taken_out_leaves_all_else_byte_for_byte() {
    let files = "# about files\n[mcp.files]\ncommand = [\"x\"]\nrules = [\n  { tool = \"*\", do = \"ask\" }, # all\n]\n\n";
    assert_eq!(without(MINE, "mcp", "files").unwrap(), MINE.replace(files, ""));
    let first = without(MINE, "mcp", "first").unwrap();
    assert_eq!(first, MINE.replace("[mcp.first]\ncommand = [\"one\"]   # the first\n\n", ""));
    let second = without(MINE, "mcp", "second").unwrap();
    let parts: Vec<&str> = MINE.split("# about the second\n").collect();
    let rest = parts[1].split("[limits]").nth(1).unwrap();
    assert_eq!(second, format!("{}[limits]{rest}", parts[0]));
    // All of them, in any order.
    let mut text = MINE.to_owned();
    for name in ["second", "files", "first"] {
        text = without(&text, "mcp", name).unwrap();
        settings::read(&text, Reader::Guardian, forms::check).unwrap();
    }
    assert!(text.contains("# about limits,\n# in two lines\n") && text.ends_with("# the end\n"), "{text}");
    assert!(!text.contains("mcp") && !text.contains("# about files"), "{text}");
    assert!(without(MINE, "mcp", "third").is_err());
}

#[test]
fn what_is_written_in_another_way_is_taken_out_too() {
    for (text, left) in [
        ("mcp = { files = { command = [\"x\"] } }\n", "mcp = {}\n"),
        ("mcp.files.command = [\"x\"]\nwalls = \"on\"\n", "walls = \"on\"\n"),
        ("[mcp]\nfiles = { command = [\"x\"] }\n# here\n", "[mcp]\n# here\n"),
        ("# only\n\n[mcp.files]\ncommand = [\"x\"]", "# only\n"),
        (
            "walls = \"on\"\r\n\r\n[mcp.files]\r\ncommand = [\"x\"]\r\n\r\n[limits]\r\n",
            "walls = \"on\"\r\n\r\n[limits]\r\n",
        ),
    ] {
        let found = without(text, "mcp", "files").unwrap();
        settings::read(&found, Reader::Guardian, forms::check)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found, left, "{text}");
    }
}

#[test]
fn what_is_written_reads_back_as_it_was_meant() {
    let odd = "a \"quoted\" \\ 'word' = [x] # no comment";
    let allowed = ToolRule {
        with: [("a.b".to_owned(), odd.to_owned())].into(),
        ..rule("read_*", Verdict::Allow, true)
    };
    let server = Mcp {
        command: vec!["/opt/my server".to_owned(), odd.to_owned(), String::new()],
        env: vec!["A_KEY".to_owned()],
        set: [("A_HOST".to_owned(), "imap://h:143".to_owned())].into(),
        write: vec!["/srv/what's mine".to_owned()],
        network: "open".to_owned(),
        rules: vec![allowed, rule("never", Verdict::Deny, false), rule("*", Verdict::Ask, false)],
        per_hour: 7,
        untrusted: false,
        ..Mcp::default()
    };
    let lines = Block { name: "mine".to_owned(), server: server.clone() }.lines();
    let read = settings::read(&lines, Reader::Guardian, forms::check).unwrap();
    assert_eq!(read.settings.mcp["mine"], server, "{lines}");
    assert!(!lines.contains("deadline_s") && !lines.contains("url"), "what is at its default: {lines}");
}

#[test]
fn every_known_server_makes_a_block_that_would_be_taken() {
    let catalogue = Catalogue::read().unwrap();
    assert!(catalogue.servers.len() >= 7);
    // Nothing in it is misspelt.
    let table: toml_edit::DocumentMut = include_str!("../../src/mcp/catalogue.toml").parse().unwrap();
    let own = ["does", "sets", "words", "folders", "fetched", "needs", "note", "untried"];
    for (name, known) in table["servers"].as_table().unwrap() {
        let odd = |key: &&str| !own.contains(key) && Mcp::KEYS.iter().all(|setting| setting.name != *key);
        assert_eq!(known.as_table().unwrap().iter().map(|(key, _)| key).find(odd), None, "{name}");
    }
    for (name, known) in &catalogue.servers {
        let words: Vec<String> = (!known.words.is_empty()).then(|| "/tmp".to_owned()).into_iter().collect();
        let mut block = known.block(name, &words, |folder| Ok(folder.to_owned())).unwrap();
        block.server.set = known.sets.iter().map(|name| (name.clone(), "a value".to_owned())).collect();
        assert!(
            known.wants(name, &block.server.set).is_ok()
                && (known.sets.is_empty() || known.wants(name, &Default::default()).is_err())
        );
        block.server.rules = proposal::rules(&known.server.rules, &[]);
        for block in [&block, &block.fetching()] {
            let read = settings::read(&block.lines(), Reader::Guardian, forms::check);
            read.unwrap_or_else(|error| panic!("{name}: {error}\n{}", block.lines()));
        }
        // A version that moves by itself would be another program than the one that was tried.
        let is_pinned = |word: &String| {
            word.contains("==")
                || word
                    .rsplit_once('@')
                    .is_some_and(|(_, version)| version.starts_with(|first: char| first.is_ascii_digit()))
        };
        let placed = block.clone().placed("/home", "/house");
        assert!(!placed.lines().contains("{ho"), "{name}: {}", placed.lines());
        let runs_others = ["npx", "uvx"].contains(&block.server.command.first().map_or("", String::as_str));
        assert!(
            !runs_others || block.server.command.iter().any(is_pinned),
            "{name}: {:?}",
            block.server.command
        );
        assert!(!known.does.is_empty() && known.does.len() <= 120, "{name}");
        assert!(block.fetching().server.command.iter().all(|word| word != "--offline"));
    }
}

#[test]
fn words_behind_a_known_name_are_as_many_as_it_takes() {
    let catalogue = Catalogue::read().unwrap();
    let block = |name: &str, words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        catalogue.known(name).unwrap().block(name, &words, |folder| Ok(format!("/srv/{folder}")))
    };
    let files = block("files", &["a", "b"]).unwrap();
    assert_eq!(files.server.write, ["/srv/a", "/srv/b"]);
    assert_eq!(files.server.command[files.server.command.len() - 2..], ["/srv/a", "/srv/b"]);
    for (name, words) in [("files", &[][..]), ("git", &["a", "b"]), ("time", &["a"])] {
        assert!(block(name, words).is_err(), "{name} {words:?}");
    }
    let near = format!("{:#}", catalogue.known("filez").unwrap_err());
    assert!(near.contains("did you mean files?") && near.contains("mcp add filez -- COMMAND"), "{near}");
}

#[test]
fn what_says_it_reads_is_proposed_to_be_allowed_and_all_else_to_ask() {
    let tools = json!([
        {"name": "send", "says_it_looks": false}, {"name": "look", "says_it_looks": true},
        {"name": "fetch", "says_it_looks": true}, {"name": "new"},
    ]);
    let rules = proposal::rules(&[rule("fetch", Verdict::Ask, false)], tools.as_array().unwrap());
    let lines: Vec<String> = rules.iter().map(block::rule).collect();
    assert_eq!(
        lines,
        [
            "{ tool = \"fetch\", do = \"ask\" }",
            "{ tool = \"look\", do = \"allow\", looks = true }",
            "{ tool = \"*\", do = \"ask\" }",
        ]
    );
    let conditional = ToolRule {
        with: [("filename".to_owned(), "*".to_owned())].into(),
        ..rule("*", Verdict::Deny, false)
    };
    let some = [conditional, rule("look", Verdict::Allow, true), rule("*", Verdict::Ask, false)];
    assert_eq!(proposal::verdict(&some, &json!({"name": "look"})), "allow", "it denies some arguments alone");
    let read = format!("[mcp.x]\ncommand = [\"x\"]\nrules = [{}]\n", block::rule(&some[0]));
    assert_eq!(
        settings::read(&read, Reader::Guardian, forms::check).unwrap().settings.mcp["x"].rules[0].with.len(),
        1
    );
    let many: Vec<_> =
        (0..1_000).map(|number| json!({"name": format!("t{number}"), "says_it_looks": true})).collect();
    assert_eq!(proposal::rules(&[], &many).len(), 101, "what has no line of its own asks");
}
