//! Tests of the tools: arguments, confinement, quotas, and what each family does.

use crate::broker::{Answer, Asked, StandIn, loopback, refusal};
use crate::yard::Yard;
use creature::tools::catalogue::{LIST, TOOLS};
use creature::tools::tool::arg::Kind;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

#[tokio::test]
async fn bad_arguments_are_named() {
    let mut yard = Yard::new();
    for (tool, args, why) in [
        ("repo.read", json!({}), "needs `path`"),
        ("repo.read", json!({"path": null}), "needs `path`"),
        ("repo.read", json!({"path": 3}), "takes text as `path`, not a number"),
        ("repo.read", json!({"path": "x", "line": 3}), "takes no argument `line`"),
        ("repo.read", json!({"path": "PURPOSE.md", "from": 0}), "`from`"),
        ("repo.read", json!({"path": "PURPOSE.md", "from": 9}), "has 1 lines"),
        ("repo.read", json!({"path": "PURPOSE.md", "from": [1]}), "takes a number as `from`, not a list"),
        ("files.write", json!({"path": "a"}), "needs `text`"),
        ("files.write", json!({"path": "", "text": "x"}), "`path`"),
        ("repo.edit", json!({"edits": "x", "summary": "s"}), "a list of {path, old, new?}"),
        ("repo.edit", json!({"edits": [], "summary": "s"}), "1 to 64"),
        ("repo.edit", json!({"edits": [{"path": "a"}], "summary": "s"}), "needs `old` in edits[0]"),
        (
            "repo.edit",
            json!({"edits": [{"path": "a", "old": "", "new": "", "x": 1}], "summary": "s"}),
            "takes no `x`",
        ),
        ("repo.edit", json!({"edits": [3], "summary": "s"}), "as edits[0], not a number"),
        ("repo.edit", json!({"edits": [{"path": "a", "old": "", "new": ""}]}), "needs `summary`"),
        ("repo.apply_patch", json!({"patch": " ", "summary": "s"}), "it is empty"),
        ("repo.run", json!({"command": "true", "deadline_s": 9999}), "600 s at most"),
        ("repo.diff", json!({"staged": "maybe"}), "true or false"),
        ("memory.append", json!({}), "needs `text` or `data`"),
        ("memory.append", json!({"text": "a", "data": {}}), "not both"),
        ("memory.append", json!({"data": "a"}), "takes an object"),
        ("memory.append", json!({"text": "a", "kind": "death"}), "kind `death`"),
        ("memory.append", json!({"text": "x".repeat(40_000)}), "32 KiB"),
        ("memory.snapshot", json!({"text": "x".repeat(9_000)}), "8000 characters"),
        ("notes.write", json!({"name": "../x", "text": "a"}), "no paper"),
        ("notes.write", json!({"name": "notes/../../x", "text": "a"}), "slug"),
        ("notes.append", json!({"name": "diary", "text": ""}), "it is empty"),
        ("purpose.rewrite", json!({"text": " ", "reason": "r"}), "it is empty"),
        ("purpose.rewrite", json!({"text": "x".repeat(70_000), "reason": "r"}), "64 KiB"),
        ("purpose.rewrite", json!({"text": "Be curious.\n", "reason": "r"}), "change nothing"),
        ("x.reply", json!({"to": "12a", "text": "t"}), "all digits"),
        ("web.search", json!({"query": "q"}), "no way out"),
        ("web.fetch_text", json!({"url": "https://example.org"}), "no way out"),
        ("service.list", json!({}), "no way out"),
        ("service.execute", json!({"service": "s", "method": "GET"}), "needs `path`"),
        ("repo.red", json!({}), "no tool is called `repo.red`"),
        ("rm -rf", json!({}), "no tool is called"),
    ] {
        let result = yard.call(tool, args.clone()).await;
        assert_eq!(result["ok"], json!(false), "{tool} {args}");
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(why), "{tool} {args}: {error}");
        assert!(!result["hint"].as_str().unwrap().is_empty(), "{tool} {args}");
    }
    assert_eq!(yard.text("PURPOSE.md"), "Be curious.\n");
    for (wrong, near) in
        [("repo.red", "repo.read"), ("web_serch", "web.search"), ("notes.list", "files.list")]
    {
        let hint = yard.call(wrong, json!({})).await["hint"].clone();
        assert!(hint.as_str().unwrap().contains(near), "{wrong}: {hint}");
    }
}

/// Something that an argument of this kind takes.
fn fitting(kind: Kind) -> Value {
    match kind {
        Kind::Text | Kind::NonBlankText => json!("diary"),
        Kind::OneOf(of) => json!(of[0]),
        Kind::Number(least, _) => json!(least),
        Kind::Amount => json!(1),
        Kind::Flag => json!(true),
        Kind::Object => json!({"text": "t"}),
        Kind::Record(fields) => {
            Value::Object(fields.iter().map(|arg| (arg.name.to_owned(), fitting(arg.kind))).collect())
        }
        Kind::List(of, _) => json!([fitting(*of)]),
        Kind::Json(types) => {
            if types.contains(&"object") {
                json!({})
            } else {
                json!("0")
            }
        }
    }
}

#[tokio::test]
async fn every_listed_tool_is_built_and_listed_once() {
    let mut yard = Yard::with(false, true);
    let names: std::collections::BTreeSet<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), TOOLS.len());
    for tool in TOOLS.iter() {
        let args = tool.args.iter().map(|arg| (arg.name.to_owned(), fitting(arg.kind)));
        let result = yard.call(tool.name, Value::Object(args.collect())).await;
        assert!(!result.to_string().contains("not built"), "{}: {result}", tool.name);
        assert!(LIST.lines(&|_| true).contains(&format!("- {} {{", tool.name)), "{}", tool.name);
    }
}

#[tokio::test]
async fn files_stay_in_the_workspace() {
    let mut yard = Yard::new();
    let outside = tempfile::tempdir().unwrap();
    let bare = yard.call("files.list", json!({})).await;
    assert_eq!((&bare["ok"], &bare["entries"]), (&json!(true), &json!([])), "{bare}");
    yard.put(".self/workspace/real.txt", "real\n");
    symlink(outside.path(), yard.root().join(".self/workspace/out")).unwrap();
    symlink("/etc/passwd", yard.root().join(".self/workspace/passwd")).unwrap();
    symlink("/nowhere/x", yard.root().join(".self/workspace/dangling")).unwrap();
    for path in [
        "../memory.jsonl",
        "a/../../memory.jsonl",
        "/etc/passwd",
        "/",
        "out/x.txt",
        "passwd",
        "dangling",
        "..",
        "a\\b",
        "a\0b",
        ".self/workspace/../memory.jsonl",
        ".self/workspace_other/../../x",
    ] {
        for (tool, args) in [
            ("files.read", json!({"path": path})),
            ("files.list", json!({"path": path})),
            ("files.write", json!({"path": path, "text": "x"})),
        ] {
            let result = yard.call(tool, args).await;
            assert_eq!(result["ok"], json!(false), "{tool} {path:?}: {result}");
        }
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    let result = yard.call("files.write", json!({"path": "made/by/me.txt", "text": "one\ntwo\n"})).await;
    assert_eq!(
        (&result["ok"], &result["path"]),
        (&json!(true), &json!(".self/workspace/made/by/me.txt")),
        "{result}"
    );
    let result =
        yard.call("files.read", json!({"path": ".self/workspace/made/by/me.txt", "from": "2"})).await;
    assert_eq!((&result["text"], &result["lines_total"]), (&json!("two\n"), &json!(2)), "{result}");
    let result = yard.call("files.write", json!({"path": "big", "text": "x".repeat(1024 * 1024 + 1)})).await;
    assert!(result["error"].as_str().unwrap().contains("1 MiB"));
    yard.put(".self/workspace/long.txt", &"x".repeat(600 * 1024));
    assert!(
        yard.call("files.read", json!({"path": "long.txt"})).await["error"]
            .as_str()
            .unwrap()
            .contains("at most 524288 bytes")
    );
    assert_eq!(yard.call("files.create_workspace", json!({"name": "garden"})).await["existed"], json!(false));
    assert_eq!(yard.call("files.create_workspace", json!({"name": "../garden"})).await["ok"], json!(false));
    for folder in [".", "made", "fresh/"] {
        let refused = yard.call("files.write", json!({"path": folder, "text": "x"})).await;
        assert!(refused["error"].as_str().unwrap().contains("is a folder's"), "{folder}: {refused}");
    }
    let listed = yard.call("files.list", json!({})).await["entries"].to_string();
    assert!(listed.contains("garden/") && listed.contains("real.txt (file, 5 bytes, "), "{listed}");
}

#[tokio::test]
async fn a_full_workspace_takes_no_more_and_loses_nothing() {
    let mut yard = Yard::new();
    yard.put(".self/workspace/deep/er/small.txt", "four");
    yard.put(".self/workspace/deep/huge", "");
    let huge =
        std::fs::File::options().write(true).open(yard.root().join(".self/workspace/deep/huge")).unwrap();
    let most = 512 * 1024 * 1024;
    huge.set_len(most - 14).unwrap();
    let fits = json!({"path": "last.txt", "text": "ten bytes."});
    assert_eq!(yard.call("files.write", fits.clone()).await["ok"], json!(true));
    let refused = yard.call("files.write", json!({"path": "more.txt", "text": "x"})).await;
    assert!(refused["error"].as_str().unwrap().contains("full: 3 files, 512 MiB"), "{refused}");
    huge.set_len(most - 15).unwrap();
    assert_eq!(yard.call("files.write", json!({"path": "more.txt", "text": "x"})).await["ok"], json!(true));
    assert_eq!(yard.text(".self/workspace/last.txt"), "ten bytes.");
}

#[tokio::test]
async fn what_a_mind_may_read_of_the_repository() {
    let mut yard = Yard::new();
    yard.put("owner.toml", "secret");
    yard.put(".env", "secret");
    yard.put(".git/config", "secret");
    yard.put("creature/src/life.rs", "//! The one loop.\nfn a() {}\n");
    symlink("../owner.toml", yard.root().join("creature/link")).unwrap();
    symlink("/etc/passwd", yard.root().join("creature/out")).unwrap();
    for path in [
        "owner.toml",
        ".env",
        "./owner.toml",
        ".git/config",
        "creature/../owner.toml",
        "/etc/passwd",
        "creature/link",
        "creature/out",
        "creature/none",
    ] {
        let result = yard.call("repo.read", json!({"path": path})).await;
        assert_eq!(result["ok"], json!(false), "{path}: {result}");
    }
    for path in ["creature/../PURPOSE.md", "creature\\src", "PURPOSE.md\0", "/PURPOSE.md"] {
        let result = yard.call("repo.read", json!({"path": path})).await;
        assert!(result["error"].as_str().unwrap().contains("from the repository root"), "{path}: {result}");
    }
    let result = yard.call("repo.read", json!({"path": "creature/src/life.rs", "lines": 1})).await;
    assert_eq!(
        (&result["text"], &result["next_from"]),
        (&json!("//! The one loop.\n"), &json!(2)),
        "{result}"
    );
    let map = yard.call("repo.map", json!({})).await;
    assert!(map["text"].as_str().unwrap().contains("life.rs (2 lines): The one loop."), "{map}");
}

#[tokio::test]
async fn long_results_are_kept_whole_and_old_ones_forgotten() {
    let mut yard = Yard::new();
    for number in 0..205 {
        yard.put(&format!(".self/workspace/results/{number:03}.txt"), "old");
    }
    let command = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done";
    let result = yard.call("repo.run", json!({"command": command})).await;
    let shown = result["stdout"].as_str().unwrap();
    assert!(
        result.to_string().len() < 7_000 && shown.starts_with("line 0\n") && shown.ends_with("line 2999\n")
    );
    let other = yard.call("repo.run", json!({"command": command.replace("line", "verse")})).await;
    let whole = yard.text(result["whole"]["stdout"].as_str().unwrap());
    assert_eq!(whole.lines().count(), 3_000);
    assert!(shown.contains(&format!("… {} characters left out", whole.len() - 3_600)), "{shown}");
    let both = yard.call("repo.run", json!({"command": format!("{command}; ({command}) >&2")})).await;
    assert!(both.to_string().len() < 7_000 && both["stderr"].as_str().unwrap().len() > 500, "{both}");
    assert!(whole.starts_with("line 0\n"), "the next result took its place");
    assert!(yard.text(other["whole"]["stdout"].as_str().unwrap()).starts_with("verse 0\n"));
    assert_eq!(std::fs::read_dir(yard.root().join(".self/workspace/results")).unwrap().count(), 200);
    let slept = yard.call("repo.run", json!({"command": "sleep 0.03"})).await;
    assert!(slept["took_ms"].as_u64() >= Some(30), "{slept}");
    yard.put("creature/full.rs", &format!("{}\n", "x".repeat(99)).repeat(50));
    let page = yard.call("repo.read", json!({"path": "creature/full.rs"})).await;
    assert_eq!((&page["lines"], &page["next_from"]), (&json!(50), &Value::Null), "just one page");
    yard.put("creature/wide.rs", &format!("{}\nshort\n", "x".repeat(6_000)));
    let page = yard.call("repo.read", json!({"path": "creature/wide.rs"})).await;
    assert!(page["text"].as_str().unwrap().contains("the rest of this line is left out"), "{page}");
    assert_eq!((&page["lines"], &page["next_from"]), (&json!(1), &json!(2)), "it goes on behind it");
    yard.put("creature/long.rs", &"//! A line.\n".repeat(2_000));
    let page = yard.call("repo.read", json!({"path": "creature/long.rs"})).await;
    assert!(
        page["whole"].is_null() && page["next_from"].as_u64().unwrap() > 300,
        "a page is never spilled: {page}"
    );
}

#[tokio::test]
async fn posts_without_an_account_are_drafts() {
    let mut yard = Yard::new();
    let result = yard.call("x.post", json!({"text": "Hello, small world! Tea again."})).await;
    let path = result["drafted"].as_str().unwrap();
    assert!(path.starts_with("self/drafts/") && path.ends_with("-hello-small-world-tea-again.md"), "{path}");
    assert!(yard.text(path).contains("Hello, small world!"));
    let result = yard.call("x.reply", json!({"to": "123", "text": "…"})).await;
    assert!(yard.text(result["drafted"].as_str().unwrap()).contains("reply_to: 123"));
    for (tool, args) in [("x.search", json!({"query": "tea"})), ("x.get_mentions", json!({}))] {
        let result = yard.call(tool, args).await;
        assert!(result["error"].as_str().unwrap().contains("not configured"), "{result}");
    }
}

#[tokio::test]
async fn safe_mode_talks_and_a_rehearsal_keeps_to_itself() {
    let mut safe = Yard::with(true, false);
    assert_eq!(safe.call("notes.write", json!({"name": "diary", "text": "t"})).await["ok"], json!(true));
    assert_eq!(safe.call("memory.append", json!({"text": "t"})).await["ok"], json!(true));
    for (tool, args) in [
        ("files.write", json!({"path": "a", "text": "b"})),
        ("repo.status", json!({})),
        ("repo.run", json!({"command": "true"})),
    ] {
        let result = safe.call(tool, args).await;
        assert!(result["error"].as_str().unwrap().contains("safe mode"), "{result}");
    }
    let mut rehearsal = Yard::with(false, true);
    let edits = json!([{"path": "self/x.md", "old": "", "new": "x"}]);
    for (tool, args) in [
        ("repo.edit", json!({"edits": edits, "summary": "s"})),
        ("repo.run", json!({"command": "touch x"})),
        ("repo.commit", json!({"summary": "s"})),
        ("repo.reset_hard", json!({})),
        ("x.post", json!({"text": "t"})),
        ("web.fetch_text", json!({"url": "http://127.0.0.1:9/"})),
    ] {
        let result = rehearsal.call(tool, args).await;
        assert_eq!((&result["ok"], &result["rehearsal"]), (&json!(true), &json!(true)), "{tool} {result}");
    }
    assert!(rehearsal.tools.left.rebirth.is_none() && !rehearsal.root().join("self/x.md").exists());
    assert!(!rehearsal.root().join(".self/mind/request.json").exists());
}

#[tokio::test]
async fn pages_and_feeds_come_through_the_broker() {
    loopback!();
    let broker = StandIn::new(|asked: &Asked| {
        let items: String = (0..40)
            .map(|n| format!("<item><title>Tea {n}</title><link>http://x/{n}</link><description>{}</description></item>", "leaf ".repeat(80)))
            .collect();
        let (kind, body) = match asked.query["url"].as_str() {
            "https://tea.example/feed" => (
                "application/rss+xml",
                format!(
                    "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Teas</title>{items}</channel></rss>"
                ),
            ),
            "http://10.0.0.1/" => return refusal(403, "refused_address", None),
            _ => (
                "text/html",
                format!(
                    "<html><title>Tea</title><body><article><p>{}</p></article></body></html>",
                    "Tea is a leaf. ".repeat(900)
                ),
            ),
        };
        Answer::Is(
            200,
            vec![("content-type", kind.to_owned()), ("x-feral-url", "https://tea.example/".to_owned())],
            body,
        )
    });
    let mut yard = Yard::behind(&broker);
    let refused = yard.call("web.fetch_text", json!({"url": "http://10.0.0.1/"})).await;
    assert!(refused["error"].as_str().unwrap().contains("refused_address"), "{refused}");
    let page = "https://tea.example/page";
    let short = yard.call("web.fetch_text", json!({"url": page, "most_chars": 100})).await;
    assert_eq!((short["text"].as_str().unwrap().len(), &short["truncated"]), (100, &json!(true)), "{short}");
    assert_eq!(short["url"], json!("https://tea.example/"));
    let page = yard.call("web.fetch_text", json!({"url": page, "most_chars": 100_000})).await;
    let whole = yard.text(page["whole"]["text"].as_str().unwrap());
    assert!(whole.len() > 12_000 && page["text"].as_str().unwrap().contains("characters left out"), "{page}");
    let feed = yard.call("feed.read", json!({"url": "https://tea.example/feed", "most": 40})).await;
    let shown = feed["items"].as_array().unwrap().len();
    assert!(feed["title"] == json!("Teas") && (5..40).contains(&shown), "{feed}");
    let whole: Value = serde_json::from_str(&yard.text(feed["whole"]["items"].as_str().unwrap())).unwrap();
    assert_eq!(whole.as_array().unwrap().len(), 40);
}

mod probation {
    use super::*;

    #[tokio::test]
    async fn memory_papers_and_purpose() {
        let mut yard = Yard::new();
        assert_eq!(yard.call("memory.append", json!({"text": "seen"})).await["ok"], json!(true));
        assert_eq!(yard.last("observation"), json!({"about": "note", "text": "seen"}));
        assert_eq!(yard.call("memory.append", json!({"text": "x".repeat(32_000)})).await["ok"], json!(true));
        yard.caller.owner = true;
        yard.call("memory.append", json!({"kind": "message", "data": {"from": "owner", "text": "hi"}})).await;
        assert_eq!(yard.last("message")["from"], json!("creature"), "nobody speaks for the owner");
        let result = yard.call("memory.snapshot", json!({"text": "what I am"})).await;
        assert_eq!(yard.text(result["path"].as_str().unwrap()), "what I am");
        assert_eq!(yard.last("snapshot")["path"], result["path"]);
        let made = yard.call("memory.snapshot", json!({})).await;
        assert!(yard.text(made["path"].as_str().unwrap()).contains("life 7"), "{made}");
        for (name, path) in [
            ("scratch", "self/scratch.md"),
            ("diary", "self/diary.md"),
            ("heartbeat", "self/HEARTBEAT.md"),
            ("notes/tea", "self/notes/tea.md"),
        ] {
            assert_eq!(yard.call("notes.read", json!({"name": name})).await["missing"], json!(true));
            yard.call("notes.write", json!({"name": name, "text": "one"})).await;
            yard.call("notes.append", json!({"name": name, "text": "two"})).await;
            assert_eq!(yard.text(path), "one\ntwo\n");
            assert_eq!(yard.call("notes.read", json!({"name": name})).await["text"], json!("one\ntwo\n"));
        }
        for number in 1..1_000 {
            yard.put(&format!("self/notes/{number}.md"), "");
        }
        for (name, fits) in [("notes/one-more", false), ("notes/tea", true), ("scratch", true)] {
            let result = yard.call("notes.write", json!({"name": name, "text": "full"})).await;
            assert_eq!(result["ok"], json!(fits), "{name}: {result}");
        }
        symlink("/etc/hostname", yard.root().join("self/notes/link.md")).unwrap();
        assert_eq!(yard.call("notes.read", json!({"name": "notes/link"})).await["ok"], json!(false));
        let result = yard.call("purpose.rewrite", json!({"text": "Be bold.\n", "reason": "grown"})).await;
        assert_eq!(result["ok"], json!(true), "{result}");
        assert_eq!(
            (yard.text("PURPOSE.md").as_str(), &yard.last("self_change")["previous"]),
            ("Be bold.\n", &json!("Be curious.\n"))
        );
    }
}
