//! Rules for tools: paths that climb, texts that are escaped, whom a body within an argument reaches; drafts, and uses of an hour.

use crate::mcp::{call, home_with};
use broker::approvals::act::{Act, Call};
use broker::policy::{Policy, ToolRule, Verdict};
use broker::services::mcp::rules::judge;
use broker::services::recipients::of;
use serde_json::{Value, json};

/// The rules of the server that a page for owners shows whole.
fn shown() -> Vec<ToolRule> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mcp.md")).unwrap();
    let text = page.split("```toml\n").find(|text| text.starts_with("[mcp.janee]")).unwrap();
    Policy::read(text.split("```").next().unwrap()).unwrap().mcp["janee"].rules.clone()
}

fn execute(rules: &[ToolRule], capability: &str, method: &str, path: &str) -> Option<Verdict> {
    let arguments = json!({"capability": capability, "method": method, "path": path, "reason": "to see"});
    judge(rules, "execute", &arguments).map(|rule| rule.verdict)
}

#[test]
fn calls_by_capability_method_and_path_are_judged_as_the_page_says() {
    let rules = shown();
    for (capability, method, path, said) in [
        ("stripe", "GET", "/v1/charges?limit=3", Verdict::Allow),
        ("stripe", "GET", "/v2/charges", Verdict::Deny),
        ("stripe", "POST", "/v1/charges", Verdict::Deny),
        ("STRIPE", "GET", "/v2/charges", Verdict::Deny),
        ("wiki", "GET", "/anything", Verdict::Allow),
        ("wiki", "POST", "/anything", Verdict::Ask),
        ("wiki", "get", "/anything", Verdict::Ask),
    ] {
        assert_eq!(execute(&rules, capability, method, path), Some(said), "{capability} {method} {path}");
    }
    assert_eq!(judge(&rules, "list_services", &json!({})).map(|rule| rule.looks), Some(true));
}

#[test]
fn a_rule_that_allows_a_folder_allows_nothing_outside_it() {
    let rules = shown();
    let climbs = [
        "/v1/../admin",
        "/v1/%2e%2e/admin",
        "/v1/.%2E/admin",
        "/v1/%252e%252e/admin",
        "/v1/..\\admin",
        "/v1/..%5cadmin",
        "/v1/..;x=1/admin",
        "/v1/..",
        "/v1/a/%2e%2e%2fadmin",
        "/v1/ .. /admin",
    ];
    for path in climbs {
        assert_eq!(execute(&rules, "stripe", "GET", path), Some(Verdict::Deny), "{path}");
    }
    for path in ["/v1/a..b", "/v1/...", "/v1/100%", "/v1/%41"] {
        assert_eq!(execute(&rules, "stripe", "GET", path), Some(Verdict::Allow), "{path}");
    }
}

#[test]
fn a_rule_that_restricts_fits_what_is_escaped() {
    let text = "[mcp.files]\ncommand = [\"f\"]\nrules = [{ tool = \"*\", with = { path = \"*/private/*\" }, do = \"deny\" },\n\
        { tool = \"*\", do = \"allow\" }]\n";
    let rules = Policy::read(text).unwrap().mcp["files"].rules.clone();
    for (path, said) in [
        ("/a/Private/b", Verdict::Deny),
        ("/a/%70rivate/b", Verdict::Deny),
        ("/a%2Fprivate%2fb", Verdict::Deny),
        ("/a/public/b", Verdict::Allow),
    ] {
        assert_eq!(judge(&rules, "read", &json!({"path": path})).unwrap().verdict, said, "{path}");
    }
}

fn reached(body: &str) -> Vec<String> {
    let arguments = json!({"capability": "mail", "method": "POST", "path": "/send", "body": body});
    of(&Act::Mcp(Call {
        service: "janee".into(),
        method: "CALL".into(),
        path: "/execute".into(),
        url: "/execute".into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body: arguments.to_string(),
    }))
}

/// Found: a body as text within an argument was taken for words, and whom it reaches for known.
#[test]
fn a_body_within_an_argument_names_whom_it_reaches() {
    let has = |keys: &[String], name: &str| keys.iter().any(|key| key == &format!("mcp:janee {name}"));
    let is_opaque = |keys: &[String]| keys.iter().any(|key| key.starts_with("mcp:janee #"));
    let plain = reached(&json!({"to": "eve@example.org", "text": "hi"}).to_string());
    assert!(has(&plain, "eve@example.org") && !is_opaque(&plain), "{plain:?}");
    let nested: Value = json!({"message": {"recipients": [{"email": "eve@example.org"}]}});
    assert!(has(&reached(&nested.to_string()), "eve@example.org"));
    // Readers differ about the first and the second.
    for odd in [
        "{\"to\":\"ann@example.org\",\"to\":\"eve@example.org\"}",
        "{\"to\": \"ann@example.org\"}\n",
        "to=eve",
    ] {
        assert!(is_opaque(&reached(odd)), "{odd}: {:?}", reached(odd));
    }
}

#[tokio::test]
async fn a_draft_is_kept_and_calls_of_an_hour_are_counted_by_rule_and_by_server() {
    let rules = "[[mcp.like.rules]]\ntool = \"send\"\ndo = \"draft\"\n\
        [[mcp.like.rules]]\ntool = \"look\"\ndo = \"allow\"\nlooks = true\nper_hour = 2\n";
    let home = home_with("", "per_hour = 4\n", rules);
    let open = home.open().await;
    let drafted = call(&open, "send", json!({"to": "ann@example.org", "text": "a heron"})).await;
    let kept = home.text(drafted["path"].as_str().unwrap_or_else(|| panic!("{drafted}")));
    assert!(drafted["draft"] == true && kept.contains("a heron"), "{drafted} {kept}");
    for _ in 0..2 {
        assert_eq!(call(&open, "look", json!({})).await["ok"], true);
    }
    let third = call(&open, "look", json!({})).await;
    assert!(third["error"].as_str().unwrap().contains("may be used 2 times an hour"), "{third}");
    let fifth = call(&open, "send", json!({})).await;
    assert!(fifth["error"].as_str().unwrap().contains("like may be called 4 times an hour"), "{fifth}");
    assert_eq!(home.lines("like/calls").len(), 2, "the draft and what was too much never reached it");
}
