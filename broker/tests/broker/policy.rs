//! `owner.toml`: everything it may say, and what each mistake is answered with.

use crate::outside::{Start, command, folder};
use broker::policy::{Auth, Policy, Taint, Verdict};
use house::House;
use house::settings::words::{looks_secret, nearest};

pub const WHOLE: &str = r#"
walls = "required"
taint = "allow"

[limits]
build_s = 900
[sandbox]
read = ["/opt/tools"]
[rest]
shortest_s = 2

[model]
provider = "openai"
model = "meta/Llama-3.3-70B-Instruct-Turbo"
base_url = "http://192.168.1.5:8080/v1"
key_env = "MY_KEY"
deadline_s = 120
max_tokens = 4_096

[budget]
daily_usd = 5
weekly_usd = 20.5
autonomous_percent = 15
warn_percent = 80.0
owner_window_s = 900
worst_input_usd = 30
worst_output_usd = 150

[autonomy]
usd_per_day = 0.75
waking_hours = "20:00-02:00"
[agenda]
time_zone = "Europe/Berlin"
order = ["goals"]

[prices."claude-3.5"]
input = 3
output = 15.0
cache_read = 0.3
cache_write = 3.75
[prices.local]
input = 0
output = 0

[services.open]
base_url = "https://api.example.org/v1"
[services.code-host]
base_url = "https://api.example.com"
about = "where the code is"
auth = { kind = "bearer", token_env = "CODE_TOKEN" }
untrusted = false
rules = [
  { method = "GET", path = "/repos/**", do = "allow", per_hour = 30 },
  { method = "POST", path = "/repos/*/issues", do = "ask" },
  { method = "*", path = "/", do = "deny" },
  { method = "PUT", path = "/drafts/", do = "draft" },
]
[services.inside]
base_url = "http://wiki.corp.example"
allow_private = true
auth = { kind = "header", header = "X-Api-Key", value_env = "WIKI_KEY" }
[services.local]
base_url = "http://127.0.0.1:9000"
auth = { kind = "none" }
[services.mail]
base_url = "https://mail.example.org"
[services.mail.auth]
kind = "oauth2"
token_url = "https://login.example.org/token"
client_id_env = "MAIL_ID"
client_secret_env = ""
refresh_token_env = "MAIL_REFRESH"
scope = "read write"
[services.old]
base_url = "https://old.example.org"
auth = { kind = "basic", user_env = "OLD_USER", password_env = "OLD_PASSWORD" }
[services.x]
base_url = "https://x.example.org"
[services.x.auth]
kind = "oauth1"
key_env = "K"
secret_env = "S"
token_env = "T"
token_secret_env = "TS"

[mcp.janee]
command = ["janee", "serve", "--token-file=/etc/janee"]
env = ["JANEE_PASSWORD"]
rules = [{ tool = "execute", with = { capability = "stripe", method = "GET" }, do = "allow", looks = true }]

[web]
allow_private = true
allow = ["example.org", "*.example.com", "::1"]
deny = ["bad.example.com"]
most_bytes = 1_000_000
deadline_s = 30
per_hour = 0

[search]
provider = "searxng"
base_url = "http://localhost:8888"
key_env = ""

[x]
base_url = "https://api.x.example"
"#;

#[test]
fn the_whole_schema_is_read() {
    let policy = Policy::read(WHOLE).unwrap();
    assert_eq!(policy.taint, Taint::Allow);
    assert_eq!((policy.model.provider.as_str(), policy.model.max_tokens), ("openai", Some(4_096)));
    assert!((policy.budget.weekly_usd - 20.5).abs() < 1e-9 && (policy.budget.daily_usd - 5.0).abs() < 1e-9);
    assert_eq!(policy.prices["claude-3.5"].cache_write, Some(3.75));
    let rules = &policy.services["code-host"].rules;
    let verdicts: Vec<Verdict> = rules.iter().map(|rule| rule.verdict).collect();
    assert_eq!(verdicts, [Verdict::Allow, Verdict::Ask, Verdict::Deny, Verdict::Draft]);
    assert!(policy.services["open"].untrusted && !policy.services["code-host"].untrusted);
    assert!(
        matches!(&policy.services["x"].auth, Auth::OAuth1 { token_secret_env, .. } if token_secret_env == "TS")
    );
    assert!(matches!(policy.services["local"].auth, Auth::None));
    let janee = &policy.mcp["janee"];
    assert_eq!((janee.command.len(), janee.rules[0].with.len(), janee.rules[0].looks), (3, 2, true));
    assert_eq!((policy.web.allow.len(), policy.web.per_hour), (3, 0));
    let names = policy.key_names();
    for name in
        ["MY_KEY", "CODE_TOKEN", "WIKI_KEY", "OLD_PASSWORD", "MAIL_REFRESH", "JANEE_PASSWORD", "X_API_KEY"]
    {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn nothing_said_is_all_defaults() {
    for text in ["", "# only a word\n", "[limits]\nbuild_s = 1\n"] {
        let policy = Policy::read(text).unwrap();
        assert_eq!(policy.taint, Taint::Ask);
        assert!(policy.mcp.is_empty() && policy.services.is_empty() && !policy.web.allow_private);
    }
}

const SECRETS: [&str; 9] = [
    "sk-ant-REDACTED",
    "ghp_0123456789abcdefABCDEF0123456789abcd",
    "AKIAIOSFODNN7EXAMPLE",
    "d41d8cd98f00b204e9800998ecf8427e",
    "Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg==",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "EXAMPLE_KEY=hunter2hunter2",
    "correct horse battery staple",
    "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
];

#[test]
fn a_secret_in_the_place_of_a_name_is_refused_and_not_repeated() {
    let places = [
        "[model]\nkey_env = \"{}\"",
        "[search]\nkey_env = \"{}\"",
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"bearer\", token_env = \"{}\" }",
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"basic\", user_env = \"A\", password_env = \"{}\" }",
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"header\", header = \"X-Key\", value_env = \"{}\" }",
        "[mcp.j]\ncommand = [\"j\"]\nenv = [\"{}\"]",
    ];
    for place in places {
        for secret in SECRETS {
            let said = format!("{:#}", Policy::read(&place.replace("{}", secret)).expect_err(secret));
            assert!(said.contains(".env"), "{said}");
            assert!(!said.contains(secret.split([' ', '=']).next().unwrap()), "{said}");
        }
    }
}

#[test]
fn a_secret_anywhere_else_is_not_repeated_either() {
    let places = [
        "[web]\n\"{}\" = 1",
        "\"{}\" = \n",
        "[model]\nprovider = \"{}\"",
        "[model]\nprovider = {}",
        "[model]\nmodel = \"{}",
        "[model]\nmax_tokens = \"{}\"",
        "[budget]\ndaily_usd = \"{}\"",
        "taint = \"{}\"",
        "[services.a]\nbase_url = \"{}\"",
        "[services.a]\nbase_url = \"https://u:{}@a.example\"",
        "[services.\"{}\"]\nbase_url = \"https://a.example\"",
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"{}\", path = \"/\", do = \"ask\" }]",
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"{}\" }",
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"bearer\", \"{}\" = \"A\" }",
    ];
    for place in places {
        for secret in SECRETS {
            let said = format!("{:#}", Policy::read(&place.replace("{}", secret)).expect_err(place));
            for part in secret.split([' ', '=']).filter(|part| part.len() > 6) {
                assert!(!said.contains(part), "{place}: {said}");
            }
        }
    }
}

#[test]
fn names_of_variables_and_models_are_no_secrets() {
    for name in [
        "ANTHROPIC_API_KEY",
        "X_ACCESS_TOKEN_SECRET",
        "MY_COMPANY_S3_BUCKET_2_READ_ONLY_TOKEN",
        "claude-3-5-sonnet-20241022",
        "gpt-4o-mini-2024-07-18",
        "meta/Llama-3.3-70B-Instruct-Turbo",
        "Meta-Llama-3-70B-Instruct-Turbo-2024",
        "https://generativelanguage.example.com/v1beta/openai",
        "/users/*/posts/**",
        "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    ] {
        assert!(!looks_secret(name), "{name}");
    }
    assert!(SECRETS.iter().filter(|secret| !secret.contains([' ', '='])).all(|secret| looks_secret(secret)));
}

#[test]
fn the_nearest_name_is_found() {
    let known = ["allow_private", "allow", "deny", "most_bytes"];
    for (word, expected) in [
        ("alow", Some("allow")),
        ("denny", Some("deny")),
        ("dney", Some("deny")),
        ("ALLOW", Some("allow")),
        ("allow_priv", Some("allow_private")),
        ("mostbytes", Some("most_bytes")),
        ("zzzzzzzz", None),
    ] {
        assert_eq!(nearest(word, &known), expected, "{word}");
    }
    assert_eq!(nearest("x", &[]), None);
}

#[test]
fn the_check_names_the_file_and_starts_nothing() {
    let start = Start { settings: "[web]\nalow = []\n", ..Start::default() };
    let house = folder(&start);
    let output = command(house.path(), &start).arg("--check").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(
        said.contains("owner.toml, line 2: [web] alow") && said.contains("did you mean allow?"),
        "{said}"
    );
    let output = command(house.path(), &start).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "it does not serve half a policy either: {said}");
    std::fs::write(house.path().join("owner.toml"), WHOLE).unwrap();
    assert_eq!(command(house.path(), &start).arg("--check").output().unwrap().status.code(), Some(0));
    std::fs::write(house.path().join("owner.toml"), [0xff, 0xfe]).unwrap();
    assert_eq!(command(house.path(), &start).arg("--check").output().unwrap().status.code(), Some(2));
    std::fs::remove_file(house.path().join("owner.toml")).unwrap();
    assert!(Policy::load(&House::new(house.path())).is_ok());
    for wrong in [&["--bogus"][..], &["--house"], &["extra"]] {
        let mut broker = std::process::Command::new(env!("CARGO_BIN_EXE_broker"));
        assert_eq!(broker.args(wrong).output().unwrap().status.code(), Some(2), "{wrong:?}");
    }
}
