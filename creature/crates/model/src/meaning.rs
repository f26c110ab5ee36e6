//! Meaning of a refusal, by its codes and words as makers and servers write them; each wording beside its source. Pure.
//!
//! In a wording, `*` stands for anything; all are in lower case. A wording counts at any status, unless said otherwise.

use crate::Kind;
use crate::said::Said;

type Wordings = [(&'static str, &'static str)];

/// The prompt does not fit: a shorter conversation helps.
const TOO_LONG: &Wordings = &[
    ("context_length_exceeded", "OpenAI, error codes; Groq"),
    ("string_above_max_length", "OpenAI, error codes"),
    ("request_too_large", "Anthropic, errors"),
    ("exceed_context_size", "llama.cpp pull request 15780"),
    ("context_exceeded", "ds4 pull request 150"),
    ("model_context_window_exceeded", "Z.ai, finish_reason"),
    ("max_prompt_tokens_exceeded", "GitHub Copilot"),
    ("prompt is too long", "Anthropic, errors"),
    ("prompt too long", "Ollama; pi-ai overflow.ts"),
    ("prompt exceeds max", "Z.ai, error codes, 1261"),
    ("context length", "OpenAI, vLLM, SGLang, OpenRouter, LM Studio; vLLM chat serving"),
    ("context window", "OpenAI, MiniMax; llama-cpp-python issue 416"),
    ("context size", "llama.cpp issue 19774, also with 500"),
    ("context limit", "Anthropic on Vertex; litellm pull request 15839"),
    ("input is too long", "Bedrock, ValidationException"),
    ("input token*exceed", "Gemini API; Azure; litellm issue 15968"),
    ("input token count*supports up to", "Vertex AI; hermes-agent pull request 99701"),
    ("maximum prompt length", "xAI; cline issue 3120"),
    ("reduce the length of the", "Groq; OpenAI"),
    ("length of all messages is too long", "Perplexity; litellm pull request 21647"),
    ("exceeded model token limit", "Moonshot; pi-ai overflow.ts"),
    ("range of input length", "Alibaba; opencode pull request 45834"),
    ("prompt token*exceed", "GitHub Copilot; OpenRouter; Bedrock Mantle; litellm pull request 37862"),
    ("input length*exceed", "Poolside, GLM; pi issues 4943 and 5677"),
    ("tokens*too large for model", "Mistral; litellm pull request 21647"),
    ("inputs` tokens*must be <=", "text-generation-inference, validation"),
    ("too many tokens: ", "Cohere, errors"),
    ("entity too large", "nginx and others, 413"),
    ("maximum number of input tokens", "of the kind of Gemini's"),
    ("max_input_tokens", "gateways that name the model's limit so"),
    ("prompt*larger than", "of the kind of llama.cpp's"),
    ("input*too large", "of the kind of Bedrock's"),
];

/// The prompt is more than a minute's tokens, so that waiting does not help.
const TOO_LONG_FOR_A_MINUTE: &Wordings = &[
    ("request*too large for*tokens per min", "OpenAI, Groq, rate limits; aider issue 1880"),
    ("tokens must be reduced", "OpenAI, rate limits; aider issue 1880"),
];

/// Words of a limit that waiting does help against; they may name tokens too.
const PASSING: &Wordings = &[
    ("rate limit", "OpenAI and others"),
    ("too many requests", "RFC 6585"),
    ("please wait", "Bedrock, ThrottlingException"),
    ("try again in", "OpenAI"),
    ("allocated quota exceeded", "Alibaba, Throttling.AllocationQuota, whose code is insufficient_quota"),
];

const NO_MONEY: &Wordings = &[
    ("insufficient_quota", "OpenAI, error codes"),
    ("billing_hard_limit_reached", "OpenAI, error codes"),
    ("billing_not_active", "OpenAI, error codes"),
    ("exceeded_current_quota", "Moonshot, error codes"),
    ("arrearage", "Alibaba, error codes"),
    ("freetieronly", "Alibaba, error codes"),
    ("credit balance is too low", "Anthropic, errors"),
    ("insufficient balance", "DeepSeek, error codes, 402; Z.ai, 1113; Moonshot"),
    ("insufficient credits", "OpenRouter, errors"),
    ("purchase more credits", "xAI; koan issue 2412"),
    ("out of credits or need", "xAI; sub2api issue 4069"),
    ("doesn't have any credits", "xAI; continue issue 12670"),
    ("monthly spending limit", "xAI; koan issue 2412"),
    // Its details name a short wait as well, after which it is refused again.
    ("perday", "Gemini API, QuotaFailure.quotaId; jp pull request 1061"),
];

/// A filter of the maker's refused this request; another one may pass. With a status of a refused request only.
const FILTERED: &Wordings = &[
    ("content_filter", "Azure; browser-use issue 262"),
    ("responsibleaipolicyviolation", "Azure, innererror"),
    ("data_inspection_failed", "Alibaba, error codes"),
    ("datainspectionfailed", "Alibaba, error codes"),
    ("inappropriate content", "Alibaba, error codes"),
    ("invalid_prompt", "OpenAI, error codes"),
    ("prompt*flagged", "OpenAI, error codes"),
    ("input*flagged", "OpenRouter, moderation errors"),
    ("content exists risk", "DeepSeek"),
    ("unsafe or sensitive content", "Z.ai, error codes, 1301"),
    ("contain sensitive", "ModelArts MaaS, error codes"),
    ("content management policy", "Azure"),
    ("content_policy", "OpenAI, content_policy_violation"),
    ("content policy", "OpenAI, content_policy_violation"),
    ("prohibited_content", "Gemini API, blockReason"),
];

const REGION: &Wordings = &[
    ("unsupported_country", "OpenAI, error codes"),
    ("region, or territory not supported", "OpenAI, error codes"),
    ("location is not supported", "Gemini API; gemini-cli issue 1614"),
    ("not available in your region", "OpenRouter"),
    ("not available in your country", "Gemini API"),
];

/// Wordings for a refused key, at 400; 401 needs no words.
const KEY: &Wordings = &[
    ("api_key_invalid", "Gemini API, google.rpc.ErrorInfo"),
    ("api key not valid", "Gemini API"),
    ("api key expired", "Gemini API"),
    ("incorrect api key", "xAI"),
    ("invalid_api_key", "OpenAI, error codes"),
];

/// Thinking that is not the server's, or not of this conversation.
const SIGNATURE: &Wordings = &[
    ("`signature`", "Anthropic, preserved thinking"),
    ("`thinking` or `redacted_thinking` blocks", "Anthropic, extended thinking"),
    ("invalid_encrypted_content", "OpenAI, Responses"),
    ("encrypted content could not be", "OpenAI, Responses"),
    ("of type 'reasoning'", "OpenAI, Responses"),
    ("item with id 'rs_", "OpenAI, Responses, with 404; openai-agents-python issue 2265"),
];

/// The model wrote something that its server cannot read: it may write better the next time.
const UNREADABLE: &Wordings = &[
    ("tool_use_failed", "Groq, error codes; pydantic-ai issue 4350"),
    ("failed_generation", "Groq; vercel/ai issue 6916"),
    ("does not match the expected peg", "llama.cpp, tried"),
    ("failed to parse input at pos", "llama.cpp, common/chat-parser"),
    ("failed to parse tool call", "llama.cpp pull request 23516"),
    ("error parsing tool call", "ollama issue 12884"),
];

/// Ends of a reply that say the same, where nothing came.
const UNREADABLE_ENDS: &Wordings = &[
    (
        "malformed_function_call",
        "Gemini API, FinishReason; with function_call_filter before it, hermes-agent issue 11171",
    ),
    ("unexpected_tool_call", "Gemini API, FinishReason"),
    ("too_many_tool_calls", "Gemini API, FinishReason"),
    ("network_error", "Z.ai, finish_reason"),
];

/// Whether a reply without a word is no reply, by its end: nothing was said, or nothing that its server can read.
pub(crate) fn is_nothing(end: &str) -> bool {
    let end = end.to_lowercase();
    matches!(end.as_str(), "" | "end_turn") || UNREADABLE_ENDS.iter().any(|(wording, _)| fits(&end, wording))
}

/// Returns what a refusal of a model's server means; none where its status alone says it.
pub(crate) fn of(status: u16, said: &Said) -> Option<Kind> {
    let names = |wordings: &Wordings| wordings.iter().any(|(wording, _)| fits(&said.about, wording));
    let is_refused = matches!(status, 400 | 403 | 422 | 451);
    let is_passing = names(PASSING);
    let more_than_a_minute = || {
        let [most, asked] = ["limit", "requested"].map(|word| number_after(&said.about, word));
        status == 429 && most.zip(asked).is_some_and(|(most, asked)| asked > most)
    };
    match () {
        () if names(TOO_LONG_FOR_A_MINUTE) || more_than_a_minute() => Some(Kind::TooLong),
        () if status == 413 || (names(TOO_LONG) && !is_passing) => Some(Kind::TooLong),
        // One of the hosts behind a gateway has no money: another one may answer.
        () if status == 402 && said.is_of_host => Some(Kind::Busy),
        () if status == 402 || (names(NO_MONEY) && !is_passing) => Some(Kind::OutOfMoney),
        () if is_refused && names(FILTERED) => Some(Kind::Filtered),
        () if status == 451 || (is_refused && names(REGION)) => Some(Kind::Region),
        () if status == 401 || (status == 400 && names(KEY)) => Some(Kind::Refused),
        // A model's server answers in JSON; this is a firewall or a proxy before it.
        () if status == 403 && said.is_plain => Some(Kind::Blocked),
        () if status == 403 => Some(Kind::Refused),
        () if matches!(status, 400 | 404 | 422) && names(SIGNATURE) => Some(Kind::Signature),
        () if matches!(status, 400 | 422 | 500) && names(UNREADABLE) => Some(Kind::Garbled),
        () => None,
    }
}

/// Whether a text has the parts of a wording, in their order.
fn fits(said: &str, wording: &str) -> bool {
    let mut rest = said;
    wording.split('*').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The whole number behind a word.
pub(crate) fn number_after(said: &str, word: &str) -> Option<u64> {
    let after = said.split_once(word)?.1.trim_start_matches([':', ' ', '=']);
    let digits: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
    digits.replace(',', "").parse().ok()
}
