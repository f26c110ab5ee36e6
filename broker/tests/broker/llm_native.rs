//! Requests of native conversations: what the three wires need passes as it came, and what brings unseen tokens does not.

use crate::paid::{Paid, request};
use crate::upstream::Upstream;
use broker::ground::refusal::Refusal;
use broker::llm::data::fetches_nothing;
use broker::llm::meter::Meter;
use broker::llm::request::{self, Judged};
use broker::llm::wire::Wire::{self, Anthropic, OpenAi, Responses};
use broker::money::prices::Usage;
use serde_json::{Value, json};

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";

fn judge(wire: Wire, more: &Value) -> Result<Judged, Refusal> {
    let mut body = match wire {
        Responses => json!({"model": "m", "input": "hello"}),
        _ => json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]}),
    };
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let (model, fields) = request::parse(body.to_string().as_bytes())?;
    fetches_nothing(&fields)?;
    request::judge(wire, model, fields, true, None)
}

/// All that a conversation of Anthropic's wire holds.
fn anthropic() -> Value {
    json!({
        "model": "claude-sonnet-5-5", "max_tokens": 100,
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "thinking": {"type": "adaptive", "display": "summarized", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        "output_config": {"effort": "low"},
        "tool_choice": {"type": "auto"},
        "tools": [{"name": "repo_read", "description": "d", "strict": true, "cache_control": {"type": "ephemeral"},
            "input_schema": {"type": "object", "properties": {}, "additionalProperties": false}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "{\"do\": \"plain\"}"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "text", "text": "t"},
                {"type": "something_new", "words": ["a", {"b": 1}], "id": "x_1"},
                {"type": "tool_use", "id": "toolu_1", "name": "repo_read", "input": {"url": "https://a.example", "file": "x"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": false, "content": [{"type": "text", "text": "r"}]},
                {"type": "text", "text": "news", "cache_control": {"type": "ephemeral", "ttl": "5m"}},
            ]},
            {"role": "system", "content": "news"},
            {"role": "system", "content": [], "output_config": {"effort": "low"}},
            {"role": "system", "content": [{"type": "text", "text": "n"}], "clear_at": "next_user_message"},
        ],
    })
}

fn chat() -> Value {
    json!({
        "model": "gpt-6.1-terra", "max_tokens": 100, "parallel_tool_calls": true,
        "tools": [{"type": "function", "function": {"name": "repo_read", "parameters": {"type": "object"}, "strict": true}}],
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "{\"do\": \"plain\"}"},
            {"role": "assistant", "content": null, "reasoning_content": "hm", "refusal": null, "annotations": [],
             "reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz", "id": "r"}],
             "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "repo_read", "arguments": {"url": "x"}}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"},
        ],
    })
}

fn responses() -> Value {
    json!({
        "model": "gpt-6.1-terra", "max_output_tokens": 100, "instructions": "s", "parallel_tool_calls": true,
        "store": false, "include": ["reasoning.encrypted_content"], "previous_response_id": null,
        "reasoning": {"effort": "low", "summary": "auto"}, "text": {"verbosity": "low"}, "prompt_cache_key": "k",
        "tools": [{"type": "function", "name": "repo_read", "parameters": {"type": "object"}, "strict": true}],
        "input": [
            {"role": "user", "content": "{\"do\": \"plain\"}"},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": "gAAA", "content": null},
            {"type": "message", "role": "assistant", "phase": "commentary", "id": "msg_1", "status": "completed",
             "content": [{"type": "output_text", "text": "t", "annotations": [], "logprobs": []}]},
            {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "repo_read", "arguments": "{}", "status": "completed"},
            {"type": "function_call_output", "call_id": "c1", "output": "r"},
            {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "r"}]},
            {"type": "configuration_update", "reasoning": {"effort": "high"}},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]},
        ],
    })
}

#[tokio::test]
async fn whole_conversations_reach_their_servers_as_they_were_sent() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    for (wire, body) in [("anthropic", anthropic()), ("openai", chat()), ("responses", responses())] {
        let beta = "mid-conversation-output-config-2026-07-01, thinking-binding-controls-2026-08-01,\
            mid-conversation-system-clear-at-2026-08-21,thinking-display-updates-2026-08-18";
        let answer = paid.post(wire, &body).header("anthropic-beta", beta).send().await.unwrap();
        let status = answer.status();
        assert_eq!(status, 200, "{wire}: {}", answer.text().await.unwrap());
        let (_, sent) = upstream.counted.last.lock().unwrap().clone().unwrap();
        assert_eq!(sent, body, "{wire}");
    }
}

#[test]
fn images_of_a_conversation_count_wherever_they_stand() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA=="});
    let input = json!([
        {"role": "user", "content": [image]},
        {"type": "function_call_output", "call_id": "c", "output": [image]},
    ]);
    let judged = judge(Responses, &json!({"input": input})).unwrap();
    assert_eq!(judged.size.extra_tokens, 101_000);
}

#[test]
fn what_responses_would_keep_or_fetch_is_refused_with_a_hint() {
    let odd = [
        json!({"store": true}),
        json!({"previous_response_id": "resp_1"}),
        json!({"conversation": "conv_1"}),
        json!({"background": true}),
        json!({"prompt": {"id": "pmpt_1"}}),
        json!({"context_management": []}),
        json!({"include": ["web_search_call.action.sources"]}),
        json!({"include": "reasoning.encrypted_content"}),
        json!({"service_tier": "priority"}),
        json!({"tools": [{"type": "web_search"}]}),
        json!({"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
        json!({"tools": [{"type": "mcp", "server_url": "https://a.example"}]}),
        json!({"tools": [{"type": "image_generation"}]}),
        json!({"input": [{"type": "item_reference", "id": "rs_1"}]}),
        json!({"input": [{"id": "rs_1"}]}),
        json!({"input": [{"type": null, "id": "rs_1"}]}),
        json!({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}),
        json!({"input": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]}),
        json!({"input": [{"type": "code_interpreter_call", "container_id": "c"}]}),
        json!({"input": [{"type": "image_generation_call", "result": "AAAA"}]}),
    ];
    for more in odd {
        let refusal = judge(Responses, &more).unwrap_err();
        assert_eq!((refusal.status, refusal.kind), (400, "cost_unknown"), "{more}");
        assert!(!refusal.hint.is_empty(), "{more}");
    }
    for bad in [json!({"max_output_tokens": 0}), json!({"input": 7}), json!({"stream": "yes"})] {
        assert_eq!(judge(Responses, &bad).unwrap_err().kind, "invalid_request_error", "{bad}");
    }
    let image =
        json!([{"role": "user", "content": [{"type": "input_image", "image_url": "https://a.example"}]}]);
    assert_eq!(judge(Responses, &json!({"input": image})).unwrap_err().kind, "not_data");
    let output = json!([{"type": "function_call_output", "output": [{"type": "input_image", "image_url": "https://a.example"}]}]);
    assert_eq!(judge(Responses, &json!({"input": output})).unwrap_err().kind, "not_data");
}

#[test]
fn a_response_is_not_kept_and_has_a_limit() {
    let judged = judge(Responses, &json!({"max_tokens": null})).unwrap_err();
    assert_eq!(judged.kind, "cost_unknown", "the limit of another wire");
    let judged = judge(Responses, &json!({})).unwrap();
    let sent: Value = serde_json::from_slice(&judged.body).unwrap();
    assert_eq!((&sent["store"], &sent["max_output_tokens"]), (&json!(false), &json!(8_192)));
    assert_eq!(judged.size.output_tokens, 8_192);
}

/// Found: a block nobody here knew was refused, and with it every later request of its conversation.
#[test]
fn unknown_blocks_pass_unless_they_stand_for_what_is_elsewhere() {
    let of = |block: &Value| {
        let messages = json!([{"role": "user", "content": "u"}, {"role": "assistant", "content": [block]}]);
        judge(Anthropic, &json!({"messages": messages})).map_err(|refusal| refusal.kind)
    };
    for block in [
        json!({"type": "something_new", "words": "w", "tool_use_id": "t", "data": {"deep": [1, null, "x"]}}),
        json!({"type": "compaction", "content": "a summary"}),
        json!({"type": "something_new", "content": [{"type": "text", "text": "t"}, {"type": "newer", "a": 1}]}),
        json!({"type": "server_tool_use", "id": "s", "name": "n", "input": {"url": "https://a.example"}}),
        json!({"type": "text", "text": "t", "citations": [{"type": "c", "url": "https://a.example"}]}),
    ] {
        let judged = of(&block).unwrap_or_else(|kind| panic!("{block}: {kind}"));
        assert!(String::from_utf8(judged.body).unwrap().contains(&block.to_string()), "{block}");
        assert_eq!(judged.size.extra_tokens, 1_000);
    }
    for block in [
        json!({"type": "something_new", "file_id": "f"}),
        json!({"type": "something_new", "deep": [{"file": {"file_id": "f"}}]}),
        json!({"type": "something_new", "content": {"type": "document", "data": "x"}}),
        json!({"type": "something_new", "content": {"type": "image", "data": "x"}}),
        json!({"type": "something_new", "content": [{"type": "container_upload", "id": "f"}]}),
        json!({"type": "something_new", "media_type": "application/pdf", "data": "x"}),
        json!({"type": "something_new", "source": {"type": "base64", "data": "x"}}),
        json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x"}}),
        json!({"type": "video", "data": "x"}),
    ] {
        assert_eq!(of(&block).err(), Some("cost_unknown"), "{block}");
    }
    for block in [
        json!({"type": "something_new", "url": "https://a.example"}),
        json!({"type": "something_new", "deep": [{"thumbnail_url": "https://a.example"}]}),
        json!({"type": "something_new", "deep": {"source": {"type": "file", "file_id": "f"}}}),
    ] {
        assert_eq!(of(&block).err(), Some("not_data"), "{block}");
    }
    let audio = json!([{"role": "assistant", "content": "a", "more": {"audio": {"id": "a"}}}]);
    assert_eq!(judge(OpenAi, &json!({"messages": audio})).unwrap_err().kind, "cost_unknown");
}

#[tokio::test]
async fn betas_that_may_cost_more_are_refused_with_those_that_pass() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let body = request("anthropic", &json!({"do": "plain"}), 10);
    for beta in [
        "fast-mode-2026-02-01",
        "code-execution-2025-08-25",
        "effort-2025-11-24,mcp-client-2025-11-20",
        "effort",
    ] {
        let answer = paid.post("anthropic", &body).header("anthropic-beta", beta).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["x-feral-error"]),
            (400, &"cost_unknown".parse().unwrap())
        );
        assert!(answer.text().await.unwrap().contains("interleaved-thinking"), "{beta}");
    }
    assert_eq!(upstream.calls(), 0);
}

fn metered(text: &str, is_stream: bool, is_ended: bool) -> Option<Usage> {
    let all: Vec<Option<Usage>> = [1, 7, 64, 100_000]
        .iter()
        .map(|size| {
            let mut meter = Meter::new(Responses, is_stream);
            text.as_bytes().chunks(*size).for_each(|piece| meter.feed(piece));
            meter.usage(is_ended)
        })
        .collect();
    assert!(all.iter().all(|usage| *usage == all[0]), "{all:?}");
    all[0]
}

#[test]
fn a_response_is_metered_by_its_last_event() {
    let usage = r#"{"input_tokens":110,"output_tokens":5,"input_tokens_details":{"cached_tokens":80,"cache_write_tokens":20}}"#;
    let expected = Usage { input: 10, output: 5, cache_read: 80, cache_write: 20, ..Usage::default() };
    assert_eq!(
        metered(&format!("{{\"object\":\"response\",\"usage\":{usage}}}"), false, true),
        Some(expected)
    );
    let begun =
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\n\n";
    let word = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"\\\"usage\\\":{\\\"output_tokens\\\":9}\"}\n\n";
    for kind in ["completed", "incomplete", "failed"] {
        let end = format!("data: {{\"type\":\"response.{kind}\",\"response\":{{\"usage\":{usage}}}}}\n\n");
        assert_eq!(metered(&[begun, word, &end].concat(), true, false), Some(expected), "{kind}");
    }
    assert_eq!(metered(&[begun, word].concat(), true, true), None, "broken off");
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"usage\":null}}\n\n";
    assert_eq!(metered(&[begun, failed].concat(), true, true), None);
    let mut meter = Meter::new(Responses, true);
    meter.feed([begun, word].concat().as_bytes());
    assert_eq!(meter.so_far(), (None, 27), "what was written, without its wrapping");
}
