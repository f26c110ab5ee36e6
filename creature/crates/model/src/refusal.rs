//! Refusals of a request's form: told by their words from what is wrong with a conversation, and which tools they name. Pure.

/// Words by which a refusal speaks of what was said or of a reply that went wrong, not of the tools that were offered.
const OF_TURNS: [&str; 14] = [
    "tool_use_failed",
    "failed_generation",
    "validation failed",
    "messages[",
    "messages.",
    "assistant message",
    "tool message",
    "input[",
    "call_id",
    "call id",
    "tool_use_id",
    "tool_result",
    "tool output",
    "role 'tool'",
];

/// Words by which a server in trouble says that it is the tools: it may as well fail at a reply that calls one.
const OF_ABILITY: [&str; 9] =
    ["support", "requir", "need", "flag", "enable", "implement", "schema", "too many", "more than"];

/// Keys under which a list of tools stands, the innermost first.
const LISTS: [&str; 3] = ["function_declarations", "functions", "tools"];

/// Whether an answer of this status says that tools, or the form they are sent in, are not taken.
pub(crate) fn is_of_tools(status: u16, said: &str, code: &str) -> bool {
    let said = format!("{code} {said}").to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let of_tools = has(&["tool", "function"]) && !has(&OF_TURNS);
    match status {
        501 => true,
        400 | 405 | 422 => of_tools,
        // A model that is not there may be called after tools.
        404 => of_tools && said.contains("support"),
        500 => of_tools && has(&OF_ABILITY) && !said.contains("parse"),
        _ => false,
    }
}

/// Words of a server whose model's template does not take the conversation: llama.cpp's, LM Studio's, vLLM's and
/// Mistral's.
const OF_TEMPLATE: [&str; 7] = [
    "jinja exception",
    "with jinja template",
    "templateerror",
    "roles must alternate",
    "single tool-calls",
    "length of 9",
    "with length 9",
];

/// Whether an answer says that the template of the server's model does not take the conversation: with 500 by llama.cpp,
/// with 404 by MLX.
pub(crate) fn is_of_template(status: u16, said: &str) -> bool {
    matches!(status, 400 | 404 | 422 | 500) && OF_TEMPLATE.iter().any(|word| said.contains(word))
}

/// The tools among `names`, in the order they were sent, that a refusal names: in quotes, or by their place.
pub(crate) fn tools_named<'n>(said: &str, names: &[&'n str]) -> Vec<&'n str> {
    let list = LISTS.iter().find(|list| said.contains(**list));
    let places: Vec<usize> = list.map_or(Vec::new(), |list| places(said, list));
    let quoted = |name: &str| {
        ["'", "\"", "`"].iter().any(|mark| said.contains(&format!("{mark}{name}{mark}")))
            // Vertex writes names of functions bare; one of a single word may be any word.
            || (name.contains('_') && said.split(|c: char| !is_of_name(c)).any(|word| word == name))
    };
    let named = |(at, name): (usize, &&'n str)| (places.contains(&at) || quoted(name)).then_some(*name);
    names.iter().enumerate().filter_map(named).collect()
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

/// Numbers after the name of a list, as in `tools[17].parameters`, `tools.17.name` and `"tools",17`.
fn places(said: &str, list: &str) -> Vec<usize> {
    let number = |(at, _): (usize, &str)| {
        let rest = said.get(at + list.len()..)?.trim_start_matches(['[', '.', '"', '\'', ',', ' ']);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    };
    said.match_indices(list).filter_map(number).collect()
}
