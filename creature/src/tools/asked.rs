//! Tools that the owner's words ask for, judged by plain code and only beyond doubt. Pure.
//!
//! Invariant: quoted words ask for nothing, nor does a report, a refusal or a question that is no polite request.

use agenda::text::among;

/// Tools or families; words that ask for them alone; verbs that ask only with a thing; beginnings of such things.
const ASKS: [(&str, &str, &str, &str); 9] = [
    (
        "repo.install_deps",
        "install",
        "add use get fetch update upgrade pull take",
        "crate package librar dependenc",
    ),
    (
        "purpose.rewrite",
        "",
        "rewrite change edit write update add shorten improve replace put set remove adjust make",
        "purpose prompt identity",
    ),
    (
        "repo",
        "edit build test commit fix mend implement improve patch reset refactor",
        "change give make add write",
        "source code yourself tool function",
    ),
    ("files", "", "read write save list make create show put open", "file folder workspace"),
    ("notes", "note", "read write save show put keep", "note diary checklist scratch"),
    (
        "web",
        "search google browse",
        "read fetch open look find get check",
        "http web www page site online news",
    ),
    ("feed", "", "read fetch check get scan", "feed rss news"),
    ("x", "tweet", "post reply write search check", "x tweet mention"),
    (
        "service mcp",
        "send mail email message order book pay call",
        "use check read get",
        "service mail calendar account",
    ),
];

/// A sentence with one of these words asks for nothing: its meaning is in doubt.
const DOUBT: &str = "no not don't dont never nothing without instead unless if says said writes wrote told tells asked asks \
    claims suggests recommends wants";

/// A question that begins with one of these words is a request.
const POLITE: &str = "can could would will please";

/// Marks where a quotation may begin; nobody but the owner speaks for the owner, so the text after one is not read.
const QUOTES: [&str; 11] = ["\"", "“", "„", "«", " '", "```", "\n>", "\n\n", ": ", ":\n", "> "];

/// The tools among `of` that the owner's message `text` asks for.
pub fn tools<'a>(text: &str, of: impl Iterator<Item = &'a str>) -> Vec<String> {
    let text = text.trim().to_lowercase().replace('’', "'");
    let own = QUOTES.iter().filter_map(|quote| text.find(quote)).min().unwrap_or(text.len());
    let own = text.get(..own).unwrap_or_default().replace(" but ", ";");
    let sentences: Vec<Vec<&str>> = own
        .split_inclusive(['!', '?', ';', '\n'])
        .flat_map(|part| part.split_inclusive(". "))
        .map(asking)
        .collect();
    of.filter(|tool| sentences.iter().any(|words| asks(words, tool))).map(str::to_owned).collect()
}

/// The tools among `of` that a text names in full.
pub fn named<'a>(text: &str, of: impl Iterator<Item = &'a str>) -> Vec<String> {
    let words = words_and_names(text);
    of.filter(|tool| words.contains(tool)).map(str::to_owned).collect()
}

/// The words of a sentence that asks for something; none of any other.
fn asking(sentence: &str) -> Vec<&str> {
    let words = words_and_names(sentence);
    let polite = words.first().is_some_and(|first| among(POLITE, first));
    let certain = !words.iter().any(|word| among(DOUBT, word)) && (polite || !sentence.contains('?'));
    if certain { words } else { Vec::new() }
}

/// Words as they stand between spaces and marks, the name of a tool such as `page.read` whole.
fn words_and_names(text: &str) -> Vec<&str> {
    let split = text.split(|c: char| c.is_whitespace() || ",;!?()`[]".contains(c));
    split.map(|word| word.trim_matches(['.', ':', '\''])).filter(|word| !word.is_empty()).collect()
}

fn asks(words: &[&str], tool: &str) -> bool {
    let (family, verb) = tool.split_once('.').unwrap_or((tool, tool));
    if words.contains(&tool) {
        return true;
    }
    let any = |list: &str, whole: bool| {
        list.split_whitespace().any(|stem| {
            words
                .iter()
                .any(|word| if whole || stem.len() < 3 { *word == stem } else { word.starts_with(stem) })
        })
    };
    let of = |name: &str| ASKS.iter().find(|(of, ..)| of.split(' ').any(|of| of == name));
    let asks = of(tool).or_else(|| of(family));
    match asks {
        Some((_, alone, verbs, things)) => any(alone, true) || (any(verbs, true) && any(things, false)),
        None => any(family, false) || verb.split('_').any(|part| any(part, true)),
    }
}
