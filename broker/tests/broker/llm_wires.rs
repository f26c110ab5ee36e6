//! Requests and answers of both wires as data: what a call can cost, what it did cost, what is refused.

use broker::ground::refusal::Refusal;
use broker::llm::choice::{Chosen, pick};
use broker::llm::data::fetches_nothing;
use broker::llm::meter::Meter;
use broker::llm::request::{self, Judged};
use broker::llm::scrub::Lines;
use broker::llm::wire::Wire::{self, Anthropic, OpenAi};
use broker::makers::Makers;
use broker::money::prices::Usage;
use broker::policy::Model;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn judge(wire: Wire, body: &Value) -> Result<Judged, Refusal> {
    let (model, fields) = request::parse(body.to_string().as_bytes())?;
    request::judge(wire, model, fields, true, Some(200_000))
}

fn message(more: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[test]
fn a_request_without_a_limit_gets_one() {
    let judged = judge(Anthropic, &message(json!({}))).unwrap();
    assert_eq!(judged.size.output_tokens, 8_192);
    let sent: Value = serde_json::from_slice(&judged.body).unwrap();
    assert_eq!(sent["max_tokens"], 8_192);
    let judged = judge(OpenAi, &message(json!({"max_tokens": null}))).unwrap();
    let sent: Value = serde_json::from_slice(&judged.body).unwrap();
    assert_eq!((judged.size.output_tokens, &sent["max_completion_tokens"]), (8_192, &json!(8_192)));
}

#[test]
fn bytes_are_tokens_replies_multiply_and_images_count() {
    let text = "é".repeat(1_000);
    let body = message(json!({"messages": [{"role": "user", "content": text}], "n": 3, "max_tokens": 100}));
    let judged = judge(OpenAi, &body).unwrap();
    assert_eq!(judged.size.input_tokens, judged.body.len() as u64 + 1_000);
    assert!(judged.size.input_tokens >= 3_000);
    assert_eq!(judged.size.output_tokens, 300);
    let both = judge(OpenAi, &message(json!({"max_tokens": 5, "max_completion_tokens": 700}))).unwrap();
    assert_eq!(both.size.output_tokens, 700, "the larger of two limits");
    let image = json!([{"type": "tool_result", "content": [{"type": "image", "source": {"type": "base64", "data": "x"}}]}]);
    let judged =
        judge(Anthropic, &message(json!({"messages": [{"role": "user", "content": image}]}))).unwrap();
    assert!(judged.size.input_tokens > 50_000);
    assert!(!judged.size.hour_cache);
    let cached = json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]);
    assert!(judge(Anthropic, &message(json!({"system": cached}))).unwrap().size.hour_cache);
}

#[test]
fn a_stream_is_made_to_say_what_it_cost() {
    for options in [json!(null), json!({"include_usage": false}), json!({"include_obfuscation": false})] {
        let judged = judge(OpenAi, &message(json!({"stream": true, "stream_options": options}))).unwrap();
        let sent: Value = serde_json::from_slice(&judged.body).unwrap();
        assert_eq!(sent["stream_options"]["include_usage"], true);
        assert!(judged.is_stream);
    }
    let judged = judge(Anthropic, &message(json!({"stream": true}))).unwrap();
    assert!(!String::from_utf8(judged.body).unwrap().contains("stream_options"));
}

#[test]
fn what_has_no_bound_is_refused_with_a_hint() {
    let odd = [
        (Anthropic, json!({"tools": [{"type": "web_search_20250305", "name": "web_search"}]})),
        (Anthropic, json!({"tools": [{"type": "code_execution_20250825", "name": "code"}]})),
        (Anthropic, json!({"tools": [{"type": 7}]})),
        (Anthropic, json!({"mcp_servers": []})),
        (Anthropic, json!({"container": "c"})),
        (Anthropic, json!({"service_tier": "priority"})),
        (Anthropic, json!({"speed": "fast"})),
        (Anthropic, json!({"inference_geo": "us"})),
        (Anthropic, json!({"context_management": {}})),
        (
            Anthropic,
            json!({"messages": [{"content": [{"type": "document", "source": {"type": "url", "url": "x"}}]}]}),
        ),
        (Anthropic, json!({"messages": [{"content": [{"type": "container_upload", "file_id": "x"}]}]})),
        (OpenAi, json!({"web_search_options": {}})),
        (OpenAi, json!({"tools": [{"type": "web_search"}]})),
        (OpenAi, json!({"modalities": ["audio"], "audio": {}})),
        (OpenAi, json!({"service_tier": "priority"})),
        (OpenAi, json!({"prediction": {"content": "x"}})),
        (OpenAi, json!({"models": ["dearer"]})),
        (OpenAi, json!({"plugins": []})),
        (OpenAi, json!({"messages": [{"content": [{"type": "input_audio", "input_audio": {}}]}]})),
        (OpenAi, json!({"messages": [{"content": [{"type": "file", "file": {"file_id": "x"}}]}]})),
        (OpenAi, json!({"messages": [{"content": null, "audio": {"id": "a"}}]})),
    ];
    for (wire, more) in odd {
        let refusal = judge(wire, &message(more.clone())).unwrap_err();
        assert_eq!((refusal.status, refusal.kind), (400, "cost_unknown"), "{more}");
        assert!(!refusal.hint.is_empty(), "{more}");
    }
    let bad = [
        json!({"max_tokens": 0}),
        json!({"max_tokens": -1}),
        json!({"max_tokens": 1.5}),
        json!({"max_tokens": "9"}),
        json!({"max_tokens": 1e30}),
        json!({"n": 0}),
        json!({"n": 1_000}),
        json!({"stream": "yes"}),
        json!({"messages": "hello"}),
        json!({"tools": {}}),
        json!({"model": 7}),
        json!({"model": ""}),
    ];
    for more in bad {
        assert_eq!(
            judge(OpenAi, &message(more.clone())).unwrap_err().kind,
            "invalid_request_error",
            "{more}"
        );
    }
    for body in ["", "[]", "nonsense", "{\"model\":", "null"] {
        assert!(request::parse(body.as_bytes()).is_err(), "{body}");
    }
}

#[test]
fn what_is_usual_passes() {
    let usual = [
        (
            Anthropic,
            json!({"tools": [{"name": "t", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}]}),
        ),
        (Anthropic, json!({"service_tier": "auto", "thinking": {"type": "enabled", "budget_tokens": 1_024}})),
        (Anthropic, json!({"output_config": {"format": {"type": "json_schema", "schema": {}}}})),
        (
            Anthropic,
            json!({"messages": [{"content": [{"type": "document", "source": {"type": "text", "data": "x"}}]}]}),
        ),
        (OpenAi, json!({"tools": [{"type": "function", "function": {"name": "t"}}], "tool_choice": "auto"})),
        (
            OpenAi,
            json!({"response_format": {"type": "json_schema", "json_schema": {}}, "service_tier": "default"}),
        ),
        (OpenAi, json!({"messages": [{"content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]})),
    ];
    for (wire, more) in usual {
        judge(wire, &message(more.clone())).unwrap_or_else(|refusal| panic!("{more}: {refusal:?}"));
    }
}

#[test]
fn images_are_passed_on_as_data_only() {
    let judged = |content: Value| {
        let body = message(json!({"messages": [{"role": "user", "content": content}]}));
        let (_, fields) = request::parse(body.to_string().as_bytes()).unwrap();
        fetches_nothing(&fields).map_err(|refusal| refusal.kind)
    };
    let stolen = format!("https://example.org/?{}", "x".repeat(3_000));
    for block in [
        json!({"type": "image_url", "image_url": {"url": stolen}}),
        json!({"type": "image_url", "image_url": stolen}),
        json!({"type": "input_image", "image_url": stolen}),
        json!({"type": "video_url", "video_url": {"url": "ftp://x"}}),
        json!({"type": "image_url", "image_url": {}}),
        json!({"type": "image", "source": {"type": "url", "url": stolen}}),
        json!({"type": "document", "source": {"type": "url", "url": stolen}}),
        json!({"type": "image", "source": {"type": "file", "file_id": "f"}}),
        json!({"type": "image", "source": {"type": "base64", "data": "x", "url": stolen}}),
        json!({"type": "document", "source": {"type": "content", "content": [{"type": "image", "source": {"type": "url"}}]}}),
    ] {
        assert_eq!(judged(json!([block.clone()])), Err("not_data"), "{block}");
        assert_eq!(judged(block.clone()), Err("not_data"), "{block}");
        let deep = json!([{"type": "tool_result", "content": [{"type": "text", "text": "a"}, block]}]);
        assert_eq!(judged(deep.clone()), Err("not_data"), "{deep}");
    }
    for block in [
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
        json!({"type": "input_image", "image_url": "DATA:image/png;base64,AA=="}),
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}),
        json!({"type": "tool_use", "name": "web", "input": {"url": stolen, "image_url": stolen}}),
        json!({"type": "search_result", "source": stolen, "content": [{"type": "text", "text": stolen}]}),
        json!({"type": "text", "text": stolen}),
    ] {
        assert_eq!(judged(json!([block.clone()])), Ok(()), "{block}");
    }
}

#[test]
fn two_readers_of_a_body_see_the_same() {
    let twice = br#"{"model":"m","messages":[],"max_tokens":9,"max_tokens":10,"model":"n"}"#;
    let (model, fields) = request::parse(twice).unwrap();
    let judged = request::judge(Anthropic, model, fields, false, None).unwrap();
    assert_eq!(String::from_utf8(judged.body).unwrap(), r#"{"model":"n","messages":[],"max_tokens":10}"#);
}

fn metered(wire: Wire, is_stream: bool, text: &str, is_ended: bool) -> Option<Usage> {
    // However it is cut, it comes to the same.
    let all: Vec<Option<Usage>> = [1, 2, 7, 64, 100_000]
        .iter()
        .map(|size| {
            let mut meter = Meter::new(wire, is_stream);
            text.as_bytes().chunks(*size).for_each(|piece| meter.feed(piece));
            meter.usage(is_ended)
        })
        .collect();
    assert!(all.iter().all(|usage| *usage == all[0]), "{all:?}");
    all[0]
}

#[test]
fn usage_of_both_wires_counts_caches_once() {
    let anthropic = r#"{"content":[],"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":100,
        "cache_creation_input_tokens":40,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":10}}}"#;
    let usage = Usage {
        input: 10,
        output: 5,
        cache_read: 100,
        cache_write: 30,
        cache_write_hour: 10,
        ..Usage::default()
    };
    assert_eq!(metered(Anthropic, false, anthropic, true), Some(usage));
    let openai = r#"{"choices":[],"usage":{"prompt_tokens":110,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":100}}}"#;
    let usage = Usage { input: 10, output: 5, cache_read: 100, ..Usage::default() };
    assert_eq!(metered(OpenAi, false, openai, true), Some(usage));
    assert_eq!(metered(OpenAi, false, &openai[..openai.len() - 2], true), None, "cut short");
    for silent in [
        r#"{"content":[]}"#,
        r#"{"usage":{}}"#,
        r#"{"usage":{"input_tokens":5}}"#,
        r#"{"usage":null}"#,
        "<html>",
    ] {
        assert_eq!(metered(Anthropic, false, silent, true), None, "{silent}");
    }
}

#[test]
fn streams_count_once_they_are_whole() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":7,\"output_tokens\":1}}}\n\n";
    let text = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"usage\\\": {\\\"output_tokens\\\": 9999}\"}}\n\n";
    let end = "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":33}}\n\n";
    let stop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let usage = Usage { input: 10, output: 33, cache_read: 7, ..Usage::default() };
    assert_eq!(metered(Anthropic, true, &[start, text, end, stop].concat(), true), Some(usage));
    assert_eq!(
        metered(Anthropic, true, &[start, text, end, stop].concat(), false),
        Some(usage),
        "said to be over"
    );
    assert_eq!(metered(Anthropic, true, &[start, text, end].concat(), false), None);
    assert_eq!(metered(Anthropic, true, &[start, text].concat(), true), None, "broken off");
    let word = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n";
    let cost = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":4}}\r\n\r\n";
    let usage = Usage { input: 20, output: 4, ..Usage::default() };
    assert_eq!(metered(OpenAi, true, &[word, cost, "data: [DONE]\n\n"].concat(), false), Some(usage));
    let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(metered(OpenAi, true, &[word, stop, cost].concat(), true), Some(usage));
    let unended = [word, stop, cost.trim_end()].concat();
    assert_eq!(metered(OpenAi, true, &unended, true), Some(usage), "no newline at its end");
    assert_eq!(metered(OpenAi, true, &[word, cost].concat(), true), None, "an early usage");
    assert_eq!(metered(OpenAi, true, &[cost, word, "data: [DONE]\n\n"].concat(), true), None);
    assert_eq!(metered(OpenAi, true, &[word, "data: [DONE]\n\n"].concat(), true), None);
}

#[test]
fn lines_pass_whole() {
    let mut lines = Lines::default();
    assert_eq!(lines.push(b"data: sec").unwrap(), b"");
    assert_eq!(lines.push(b"ret\n\ndata: mo").unwrap(), b"data: secret\n\n");
    assert_eq!(lines.push(b"re\n").unwrap(), b"data: more\n");
    assert_eq!(lines.push(b"rest").unwrap(), b"");
    assert_eq!(lines.finish(), b"rest");
    assert!(lines.push(&vec![b'x'; 9 << 20]).is_err());
}

fn chosen(settings: Model, keys: &[&str], env: &[(&str, &str)]) -> Chosen {
    let key = |name: &str| keys.contains(&name).then(|| "a key".to_owned());
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    pick(&settings, Makers::with_owners(&BTreeMap::new()), &key, &env)
}

fn of(provider: &str, base_url: &str, key_env: &str) -> Model {
    Model {
        provider: provider.into(),
        base_url: base_url.into(),
        key_env: key_env.into(),
        ..Model::default()
    }
}

fn shown(chosen: &Chosen) -> String {
    chosen.first.as_ref().map_or("none".into(), |provider| {
        let model = provider.model.as_deref().unwrap_or("whatever");
        format!("{} {} {model}", provider.name, provider.url(""))
    })
}

/// Found: a provider without a key, or an address that is none, was instinct without a word.
#[test]
fn the_mind_in_use_and_why_is_told() {
    let (a, o) = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY");
    let plain = Model::default();
    let cases = [
        (
            chosen(plain.clone(), &[a], &[]),
            "anthropic: claude-sonnet-5-5 at api.anthropic.com, with the key in ANTHROPIC_API_KEY",
        ),
        (
            chosen(plain.clone(), &[], &[]),
            "ollama: whatever model it offers at 127.0.0.1:11434, if it runs; no key is set, so nothing else is asked",
        ),
        (
            chosen(of("openai", "http://localhost:1234", ""), &[], &[]),
            "openai: whatever model it offers at localhost:1234, without a key",
        ),
        (
            chosen(of("instinct", "", ""), &[a], &[]),
            "instinct: owner.toml [model] says provider = \"instinct\"",
        ),
        (
            chosen(of("anthropic", "", ""), &[], &[]),
            "instinct: owner.toml [model] names a provider, but no key is in ANTHROPIC_API_KEY or key_env: no model",
        ),
        (
            chosen(plain, &[o], &[("OPENAI_BASE_URL", "nonsense://x")]),
            "instinct: OPENAI_BASE_URL is no address of a model: neither http nor https: no model",
        ),
    ];
    for (chosen, told) in cases {
        assert_eq!(chosen.told(), told);
    }
}

#[test]
fn the_provider_is_chosen_as_the_readme_says() {
    let (a, o) = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY");
    let plain = Model::default();
    let anthropic = "anthropic https://api.anthropic.com claude-sonnet-5-5";
    let openai = "openai https://api.openai.com/v1 gpt-6.1-terra";
    let cases = [
        (chosen(plain.clone(), &[a, o], &[]), anthropic),
        (chosen(plain.clone(), &[o], &[]), openai),
        (chosen(plain.clone(), &[], &[]), "ollama http://127.0.0.1:11434/v1 whatever"),
        (
            chosen(plain.clone(), &[], &[("OLLAMA_HOST", "0.0.0.0:9")]),
            "ollama http://127.0.0.1:9/v1 whatever",
        ),
        (chosen(of("instinct", "", ""), &[a, o], &[]), "none"),
        (chosen(of("openai", "", ""), &[a, o], &[]), openai),
        (chosen(of("openai", "", ""), &[a], &[]), "none"),
        (
            chosen(of("openai", "http://localhost:1234", ""), &[], &[]),
            "openai http://localhost:1234/v1 whatever",
        ),
        (
            chosen(of("anthropic", "http://localhost:1/v1/", ""), &[], &[]),
            "anthropic http://localhost:1 claude-sonnet-5-5",
        ),
        (
            chosen(of("", "http://localhost:1234/v1", ""), &[], &[]),
            "openai http://localhost:1234/v1 whatever",
        ),
        (chosen(of("", "", "MINE"), &["MINE", a], &[]), openai),
        (chosen(of("gpt", "", ""), &[a], &[]), "none"),
        (chosen(of("openai", "ftp://x", ""), &[o], &[]), "none"),
        (
            chosen(
                plain.clone(),
                &[a],
                &[("ANTHROPIC_MODEL", "claude-x"), ("ANTHROPIC_BASE_URL", "https://g.example")],
            ),
            "anthropic https://g.example claude-x",
        ),
    ];
    for (n, (chosen, expected)) in cases.iter().enumerate() {
        let shown =
            shown(chosen).replace(".com/ ", ".com ").replace(":1/ ", ":1 ").replace("example/ ", "example ");
        assert_eq!(&shown, expected, "case {n}: {:?}", chosen.said);
    }
    assert_eq!(
        chosen(plain, &[a, o], &[]).other.unwrap().name,
        "openai",
        "both wires where there are both keys"
    );
    assert!(chosen(of("anthropic", "", ""), &[a, o], &[]).other.is_none(), "named: only that");
    let ollama = chosen(of("ollama", "http://models.example:11434", ""), &[], &[]).first.unwrap();
    assert!(!ollama.is_free(), "free only on this machine");
    assert!(!chosen(of("openai", "http://127.0.0.1:9", ""), &[], &[]).first.unwrap().is_free());
}
