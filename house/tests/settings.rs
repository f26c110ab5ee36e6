//! `owner.toml` as data: what is valid stays valid, and every mistake is named with its line, its key and what was meant.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

use house::House;
use house::settings::judge::Mistakes;
use house::settings::{self, Read, Reader, declared, forms, handed, table, words};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn judged(text: &str) -> Result<Read, Mistakes> {
    settings::read(text, Reader::Guardian, forms::check)
}

fn refused(text: &str) -> String {
    judged(text).expect_err(text).to_string()
}

/// Out of bounds a number is taken to its nearest bound; what tools there are, the creature decides.
#[test]
fn the_creatures_sections_are_known() {
    let text = "[rest]\nshortest_s = 1\nlongest_s = 2\nquiet_s = 3\n\
                [agenda]\norder = [\"scanning\", \"goals\", \"opportunities\", \"tasks\", \"gaps\", \"presence\", \"knowledge\"]\n\
                ask_above_usd = 100\ngoal_cost_usd = 2.5\nmessages_per_hour = 5\ntime_zone = \"Europe/Berlin\"\nrounds = 50\n\
                [sessions]\nat_once = 99\n[dream]\nat = \"23:59\"\nmodel = \"small\"\n\
                 [files]\nrisky = true\nrisky_root = \"shared\"\nmost_entries = 9\nmost_bytes = 99999999\n\
                 [autonomy]\nusd_per_day = 0.5\n\
                [permissions]\n\"repo.run\" = \"owner\"\nspawn = \"never\"\n\"a.tool.to.come\" = \"always\"\n";
    judged(text).unwrap();
}

/// Written before there was a broker, by the README of then.
#[test]
fn old_files_stay_valid() {
    let text = "[model]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:1234/v1\"\nmodel = \"m\"\nkey_env = \"K\"\n\
                deadline_s = 60\nmax_tokens = 100\n[rest]\nshortest_s = 1\nlongest_s = 3\n[web]\nallow_private = true\n\
                [search]\nprovider = \"brave\"\nbase_url = \"\"\nkey_env = \"\"\n[x]\nbase_url = \"\"\n\
                [self_edit]\nbuild_s = 900\ntest_s = 600\nrehearsal_s = 60\n\
                [limits]\nbuild_s = 9\nboot_s = 9\nbeat_s = 9\nstandstill_s = 9\nprobation_s = 0.3\ngrace_s = 9\nrest_s = 0.05\n\
                rest_longest_s = 9\ntries = 3\nloop_deaths = 3\nloop_window_s = 9\nparked_s = 9\nlives_unblessed = 28\n\
                look_s = 0.03\ndisk_free_mib = 0\nmemory_mib = 1\ntarget_mib = 1\n";
    judged(text).unwrap();
    judged("limits.beat_s = 3\nmodel = { provider = \"instinct\" }\n").unwrap();
}

#[test]
fn every_mistake_is_named() {
    let cases = [
        (
            "[limits]\nbeat_s = 3\nbaet_s = 3\n",
            "line 3: [limits] baet_s: no such setting; did you mean beat_s?",
        ),
        ("[limist]\nbeat_s = 3\n", "line 1: [limist]: no such section; did you mean limits?"),
        ("\nwals = \"on\"\n", "line 2: wals: no such setting; did you mean walls?"),
        ("walls = \"strong\"\n", "line 1: walls: not a value it can have; there is on, required, off"),
        ("taint = 3\n", "line 1: taint: must be text, not a number"),
        ("[rest]\nshortest = 1\n", "line 2: [rest] shortest: no such setting; did you mean shortest_s?"),
        ("[self_edit]\nbuild_s = \"x\"\n", "line 2: [self_edit] build_s: must be a whole number, not text"),
        ("[rest]\nquiet = 1\n", "line 2: [rest] quiet: no such setting; did you mean quiet_s?"),
        ("[agend]\n", "line 1: [agend]: no such section; did you mean agenda?"),
        (
            "[agenda]\norder = [\"gaols\"]\n",
            "line 2: [agenda] order[1]: not a value it can have; did you mean goals?",
        ),
        ("[agenda]\nask_above_usd = -1\n", "line 2: [agenda] ask_above_usd: must be at least 0"),
        ("[agenda]\ngoal_cost_usd = nan\n", "line 2: [agenda] goal_cost_usd: must be at least 0"),
        ("[agenda]\ngoal_cost_usd = inf\n", "line 2: [agenda] goal_cost_usd: must be at least 0"),
        ("[agenda]\nround = 8\n", "line 2: [agenda] round: no such setting; did you mean rounds?"),
        (
            "[agenda]\ntime_zone = \"berlin\"\n",
            "line 2: [agenda] time_zone: no such time zone; did you mean Europe/Berlin?",
        ),
        (
            "[agenda]\ntime_zone = \"GMT+2\"\n",
            "line 2: [agenda] time_zone: no such time zone; write a place, like Europe/Berlin, whose summer time is kept too, \
             or Etc/GMT-2: names under Etc have the sign turned round",
        ),
        (
            "[agenda]\ntime_zone = \"Nowhere\"\n",
            "line 2: [agenda] time_zone: no such time zone; names are like Europe/Berlin",
        ),
        ("[sessions]\nat_once = -1\n", "line 2: [sessions] at_once: must be a whole number of 0 or more"),
        ("[dream]\nat = \"1:00\"\n", "line 2: [dream] at: must be a time of day, like \"01:00\""),
        ("[dream]\nat = \"24:00\"\n", "line 2: [dream] at: must be a time of day"),
        ("[files]\nrisk = true\n", "line 2: [files] risk: no such setting; did you mean risky?"),
        (
            "[permissions]\n\"repo.run\" = \"ask\"\n",
            "line 2: [permissions] repo.run: not a value it can have; there is always, owner, never",
        ),
        ("[self_edit]\nbuild_s = -1\n", "line 2: [self_edit] build_s: must be a whole number of 0 or more"),
        ("[limits]\nbeat_s = -1\n", "line 2: [limits] beat_s: must be between 0 and 31536000"),
        ("[limits]\ntries = 4294967296\n", "line 2: [limits] tries: must be between 0 and 4294967295"),
        ("[limits]\n\nprocesses = 3\n", "line 3: [limits] processes: must be at least 32"),
        ("[limits]\nzzz = 3\n", "line 2: [limits] zzz: no such setting; there is build_s, boot_s"),
        ("[sandbox]\nread = [\"tools\"]\n", "line 2: [sandbox] read[1]: must be an absolute path"),
        ("[sandbox]\nwrite = []\n", "line 2: [sandbox] write: no such setting; there is read"),
        ("[limits]\nbeat_s = 3\nbeat_s = 4\n", "line 3: not TOML: duplicate key"),
        ("[limits\n", "line 1: not TOML"),
        ("limits = 3\n", "line 1: [limits]: must be a table, not a number"),
        ("[service.x]\nbase_url = \"\"\n", "line 1: [service]: no such section; did you mean services?"),
        ("creature = 3\n", "line 1: [creature]: must be a table, not a number"),
        // The broker's sections by their shapes: it judges addresses besides.
        ("[web]\nalow = []\n", "line 2: [web] alow: no such setting; did you mean allow?"),
        (
            "[janee]\npass_env = []\n",
            "line 1: [janee]: is an MCP server like any other now: write [mcp.janee]",
        ),
        ("[search]\nprovider = \"searxng\"\n", "line 1: [search] base_url: is missing"),
    ];
    for (text, expected) in cases {
        let said = refused(text);
        assert!(said.starts_with(expected), "{text:?}\n  said     {said}\n  expected {expected}");
        assert_eq!(said.lines().count(), 1, "one line: {said}");
    }
}

/// Found: of a key that was put in here only what else may stand here was told, not where it belongs.
#[test]
fn of_a_secret_in_the_settings_is_told_where_it_belongs() {
    for (text, expected) in [
        (
            "api_key = \"s\"\n",
            "line 1: api_key: no such setting; keys stand in .env, a line each: ANTHROPIC_API_KEY=…",
        ),
        (
            "[model]\nopenai_secret = \"s\"\n",
            "line 2: [model] openai_secret: no such setting; keys stand in .env",
        ),
    ] {
        let said = refused(text);
        assert!(said.starts_with(expected), "{text:?}: {said}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_file() {
    let said = refused("[web]\nalow = []\n[limits]\nbeat_s = -1\n[model]\nbaseurl = \"\"\n");
    let lines: Vec<_> =
        ["line 2: [web] alow: ", "; also line 4: [limits] beat_s: ", "; also line 6: [model] baseurl: "]
            .iter()
            .map(|part| said.find(part).unwrap_or_else(|| panic!("{part} is not in {said}")))
            .collect();
    assert!(lines.is_sorted(), "{said}");
    let many: String = (0..50).map(|number| format!("a{number} = 1\n")).collect();
    assert!(refused(&many).ends_with("; and 42 more"), "{}", refused(&many));
}

#[test]
fn no_text_of_the_owners_is_ever_repeated() {
    let secret = "ghp_0123456789abcdefABCDEF0123456789abcd";
    for place in [
        "walls = \"{}\"",
        "{} = 1",
        "[{}]",
        "[limits]\n{} = 1",
        "[agenda]\ntime_zone = \"{}\"",
        "[agenda]\norder = [\"{}\"]",
        "[dream]\nat = \"{}\"",
        "[permissions]\n{} = \"never ever\"",
        "[sandbox]\nread = [\"{}\"]",
        "[rest]\nshortest_s = \"{}\"",
    ] {
        let said = refused(&place.replace("{}", secret));
        assert!(!said.contains("0123456789abcdef"), "{place}: {said}");
    }
}

/// Names of folders may look random: those of a Nix store are.
#[test]
fn a_folder_is_no_secret() {
    let text = "[sandbox]\nread = [\"/nix/store/0c0vq8hn3zd2hzhwn5w9fk7r4bq1k2x8-tools\"]\n";
    assert_eq!(judged(text).unwrap().settings.sandbox.read.len(), 1);
}

#[test]
fn numbers_beyond_their_bounds_are_taken_to_them_and_told() {
    let read = judged("[rest]\nshortest_s = 0\nlongest_s = 9999999\n[sessions]\nat_once = 99\n").unwrap();
    let settings = &read.settings;
    assert_eq!((settings.rest.shortest_s, settings.rest.longest_s, settings.sessions.at_once), (1, 3_600, 8));
    let told: Vec<String> = read.told.iter().map(ToString::to_string).collect();
    assert!(told.contains(&"line 3: [rest] longest_s: 9999999 is taken as 3600".to_owned()), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn the_broker_judges_its_own_sections_alone() {
    let read = |text: &str| settings::read(text, Reader::Broker, forms::check);
    let other = "[limits]\nbaet_s = 1\n[rest]\nshortest_s = \"x\"\n[strange]\n[web]\nper_hour = 7\n";
    assert_eq!(read(other).unwrap().settings.web.per_hour, 7);
    assert!(read("[web]\nper_hours = 7\n").is_err());
}

/// A house with a tree that declares what `declaration` says.
fn house(declaration: &str) -> (TempDir, House) {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("creature")).unwrap();
    fs::create_dir_all(folder.path().join(".self")).unwrap();
    fs::write(folder.path().join("creature/settings.toml"), declaration).unwrap();
    let house = House::new(folder.path());
    (folder, house)
}

const DECLARED: &str = "[naps]\nkind = \"number\"\ndefault = 3\nleast = 1\nmost = 9\nmeaning = \"naps a day\"\n\
    [tone]\nkind = \"word\"\ndefault = \"plain\"\nwords = [\"plain\", \"warm\"]\nmeaning = \"how it speaks\"\n";

#[test]
fn the_creature_is_handed_its_part_and_nothing_else() {
    let (_folder, house) = house(DECLARED);
    let text = "[limits]\nbeat_s = 3\n[model]\nprovider = \"openai\"\nkey_env = \"K\"\ndeadline_s = 9\n\
                [rest]\nlongest_s = 9999\n[permissions]\n\"repo.run\" = \"never\"\n[creature]\nnaps = 5\n";
    handed::hand_over(&house, 7, text).unwrap();
    let written: Value = serde_json::from_slice(&fs::read(house.handed_settings()).unwrap()).unwrap();
    assert_eq!(written["life"], 7);
    assert_eq!(written["told"], json!(["owner.toml line 8: [rest] longest_s: 9999 is taken as 3600"]));
    let settings = &written["settings"];
    assert_eq!(settings["creature"], json!({"naps": 5, "tone": "plain"}));
    assert_eq!(settings["permissions"], json!({"repo.run": "never"}));
    assert_eq!(
        (&settings["rest"]["longest_s"], &settings["model"]["deadline_s"]),
        (&json!(3_600), &json!(9))
    );
    for name in ["/limits", "/model/provider", "/model/key_env", "/budget", "/services"] {
        assert_eq!(settings.pointer(name), None, "{name}");
    }
}

/// Both sides hold this file: the guardian's and the creature's tests compare theirs with the bytes of each other.
#[test]
fn what_is_handed_over_is_as_the_golden_file_has_it() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guardian/tests/golden/settings.json");
    let (_folder, house) = house("");
    let written = format!("{:#}\n", handed::document(&house, 1, "", "UTC").unwrap());
    if std::env::var_os("RENEW").is_some() {
        fs::write(&golden, &written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(golden).unwrap());
}

/// Found by living with it: where the owner named no time zone, reminders of nine o'clock came at ten.
#[test]
fn the_time_zone_is_the_owners_and_else_this_machines() {
    let (_folder, house) = house("");
    let zone = |text: &str| {
        let document = handed::document(&house, 1, text, "Asia/Tokyo").unwrap();
        document["settings"]["agenda"]["time_zone"].clone()
    };
    assert_eq!(zone(""), "Asia/Tokyo");
    assert_eq!(zone("[agenda]\ntime_zone = \"\"\n"), "Asia/Tokyo");
    assert_eq!(zone("[agenda]\ntime_zone = \"Europe/Berlin\"\n"), "Europe/Berlin");
    handed::hand_over(&house, 1, "").unwrap();
    let written: Value = serde_json::from_slice(&fs::read(house.handed_settings()).unwrap()).unwrap();
    assert_eq!(written["settings"]["agenda"]["time_zone"], ::house::moments::machine_zone());
}

#[test]
fn what_the_creature_has_not_declared_is_told_and_keeps_nothing_from_starting() {
    let (_folder, house) = house(DECLARED);
    for (owners, told) in [
        (
            "nasp = 5",
            "owner.toml line 2: [creature] nasp: no such setting; did you mean naps? there is naps, tone",
        ),
        ("naps = 50", "owner.toml line 2: [creature] naps: must be between 1 and 9; it is at its default"),
        ("naps = \"5\"", "owner.toml line 2: [creature] naps: must be a whole number; it is at its default"),
        (
            "tone = \"wram\"",
            "owner.toml line 2: [creature] tone: not a value it can have; did you mean warm? there is plain, warm; it is at its default",
        ),
    ] {
        let document = handed::document(&house, 1, &format!("[creature]\n{owners}\n"), "UTC").unwrap();
        assert_eq!(document["told"], json!([told]));
        assert_eq!(document["settings"]["creature"], json!({"naps": 3, "tone": "plain"}));
    }
}

/// The creature writes the declaration: whatever stands in it, the guardian starts, and nobody's settings change.
#[test]
fn a_declaration_is_bounded_and_changes_nothing_of_anybody_elses() {
    let plain = "kind = \"flag\"\ndefault = true\nmeaning = \"m\"\n";
    let many: String = (0..51).map(|number| format!("[k{number}]\n{plain}")).collect();
    let long = format!("[a]\nkind = \"text\"\ndefault = \"\"\nmeaning = \"{}\"\n", "m".repeat(401));
    for (declaration, part) in [
        (
            "[naps]\nkind = \"nubmer\"\ndefault = 3\nmeaning = \"m\"\n",
            "line 2: [naps] kind: not a value it can have; did you mean number?",
        ),
        (
            "[naps]\nkind = \"flag\"\ndefault = 3\nmeaning = \"m\"\n",
            "line 3: [naps] default: must be true or false",
        ),
        ("[naps]\nkind = \"flag\"\nmeaning = \"m\"\n", "line 1: [naps] default: is missing"),
        ("[Naps]\nkind = \"flag\"\ndefault = true\nmeaning = \"m\"\n", "a setting is named in a-z"),
        ("[limits.beat_s]\nkind = \"flag\"\n", "[limits] beat_s: no such setting"),
        (many.as_str(), "51 settings; at most 50"),
        (long.as_str(), "[a] meaning: is too long"),
        ("[", "not TOML"),
        (&"#".repeat(17 << 10), "larger than"),
        (&format!("[a]\nb = {}", "[".repeat(5_000)), "not TOML"),
    ] {
        let (_folder, house) = house(declaration);
        let (declared, told) = declared::load(&house);
        let told = told.unwrap_or_default();
        assert!(declared.is_empty() && told.contains(part), "{told}\n  wanted {part}");
        let document = handed::document(&house, 1, "[limits]\nbeat_s = 3\n", "UTC").unwrap();
        assert!(
            document["told"][0].as_str().unwrap().starts_with("creature/settings.toml declares nothing: ")
        );
    }
    // Sections and keys of the owner's by name: they are keys below `[creature]` and no more.
    let (_folder, house) = house(&format!("[limits]\n{plain}[walls]\n{plain}"));
    assert_eq!(judged("[limits]\nbaet_s = 1\n").unwrap_err().0.len(), 1);
    let document = handed::document(&house, 1, "[creature]\nlimits = false\n", "UTC").unwrap();
    assert_eq!(document["settings"]["creature"], json!({"limits": false, "walls": true}));
}

/// What the creature's tree really declares is good.
#[test]
fn the_creature_of_this_tree_declares_well() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (_, told) = declared::load(&House::new(root));
    assert_eq!(told, None);
}

#[test]
fn the_table_is_as_the_schema_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/owner-toml.md");
    if std::env::var_os("RENEW").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, table::page()).unwrap();
    }
    let is_stale = fs::read_to_string(&path).unwrap_or_default() != table::page();
    assert!(
        !is_stale,
        "docs/owner-toml.md is stale: RENEW=1 cargo test -p house the_table_is_as_the_schema_is"
    );
}

#[test]
fn every_setting_that_stands_beside_another_name_exists() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md");
    let text = fs::read_to_string(path).unwrap();
    let names = text.split("## By other names").nth(1).unwrap().split("\n## ").next().unwrap();
    for name in [
        "FILE_WORKSPACE_ROOT",
        "RISKY_WORKSPACE_MODE",
        "RISKY_WORKSPACE_ROOT",
        "READ_FILE_MAX_BYTES",
        "RUN_COMMAND_TIMEOUT_MS",
        "MAX_MULTI_ACT_STEPS",
        "HEARTBEAT_ENABLED",
        "HEARTBEAT_INTERVAL_MS",
    ] {
        assert!(names.contains(&format!("| `{name}`")), "{name}");
    }
    let page = table::page();
    let named: Vec<&str> = names.split('`').filter(|code| code.starts_with('[')).collect();
    assert!(named.len() > 15, "{named:?}");
    for code in named {
        let (section, key) = code.trim_start_matches('[').split_once(']').unwrap();
        let heading = format!("\n## `[{section}]`\n");
        let about = page.split(&heading).nth(1).unwrap_or_else(|| panic!("there is no section {code}"));
        let key = key.split('=').next().unwrap().trim();
        let rows = about.split("\n## ").next().unwrap();
        assert!(key.is_empty() || rows.contains(&format!("| `{key}` |")), "there is no {code}");
    }
}

#[test]
fn what_was_meant_is_told_among_one_many_or_none() {
    assert_eq!(words::suggest("files", &[]), "there is none");
    assert_eq!(words::suggest("fils", &["files"]), "did you mean files?");
    assert_eq!(words::suggest("fils", &["files", "git"]), "did you mean files? there is files, git");
    assert_eq!(words::suggest("zzz", &["files"]), "there is files");
}
