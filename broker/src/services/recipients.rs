//! The recipients of an act: its place, and every name in its query and body, whatever the field is called.
//!
//! Invariant: a value not known to be prose counts as a name, so that no known name beside it and no unknown field
//! hides a new recipient. A body without any recognised recipient, or with text that could be read as a head of its own,
//! is known only by its exact bytes.
//! Pure: nothing here reads, sends or waits.

use crate::approvals::act::{Act, Call};
use crate::ground::{encoding, globs};
use crate::services::mail;
use crate::services::posts::post::Post;
use house::printable::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Fields that name recipients, in widely used services; in lower case, without signs.
pub const PEOPLE: &str = "to cc bcc recipient recipients recipientid recipientids toaddress toaddresses ccaddresses \
    bccaddresses torecipients ccrecipients bccrecipients replyto email emails emailaddress address addresses \
    destination destinations rcptto mailto attendees inviteduseremailaddress chatid userodatabind membersodatabind \
    principalid channel channels channelid user users userid userids usergroup username phone phonenumber number \
    msisdn mobile fromchatid inreplyto inreplytoid inreplytotweetid quotetweetid participantids targetuserid \
    taggeduserids screenname assignee assignees reviewers teamreviewers inviteeid login owner newowner organization \
    customer customerid payee payeeid receiver beneficiary account accountid accountnumber targetaccount iban wallet \
    receiptemail merchantid room roomid conversationid group groupid member members memberids invite invitees \
    participant participants contact contacts handle mentions";
/// Fields of prose: only mentions in them count as recipients.
pub const WORDS: &str = "text body content message subject title html plain caption description comment summary \
    question markdown status note notes";
/// Fields among `WORDS` that have one line and become the head of a mail, an invitation or a page.
pub const ONE_LINE: &str = "subject title summary";
/// Paths that identify the recipient themselves, so that the body need not.
pub const PLACES: [&str; 8] = [
    "/**/tweets",
    "/xrpc/app.bsky.feed.post",
    "/**/channels/*/messages/**",
    "/**/chats/*/messages/**",
    "/**/webhooks/*/*",
    "/**/services/*/*/*",
    "/**/repos/*/*/**",
    "/**/rooms/*/send/**",
];
/// Most depth that is searched: a deeper body counts as opaque.
const MOST_DEPTH: usize = 12;
const MOST_NAMES: usize = 200;

/// All recipients of an act; each has to be known.
pub fn of(act: &Act) -> Vec<String> {
    let Some(call) = act.call() else { return Vec::new() };
    let place = format!("{}:{}", act.kind(), call.service);
    let mut names = Names::default();
    let query = call.url.split_once('?').map_or("", |(_, query)| query);
    names.in_pairs(&encoding::pairs(query).unwrap_or_default());
    match serde_json::from_str::<Post>(&call.body) {
        Ok(post) if matches!(act, Act::Post(_)) => names.in_json(&post.whom(), Field::Unknown, 0),
        _ => names.in_body(call),
    }
    let named = names.recognised || PLACES.iter().any(|pattern| globs::matches(pattern, &call.path));
    let mut keys = vec![format!("{place} {} {}", call.method, call.path)];
    let many = names.found.len() > MOST_NAMES;
    if many || (!call.body.is_empty() && (names.opaque || !named)) {
        keys.push(format!("{place} #{}", hex(&Sha256::digest(format!("{}\n{}", call.url, call.body)))));
    }
    if many {
        names.found.clear();
    }
    keys.extend(names.found.into_iter().map(|name| format!("{place} {name}")));
    keys.sort();
    keys.dedup();
    keys
}

/// The kind of a field's content, by its own name and those around it.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    People,
    OneLine,
    Words,
    Unknown,
}

#[derive(Default)]
struct Names {
    found: Vec<String>,
    /// Whether a known recipient field had a value.
    recognised: bool,
    opaque: bool,
}

impl Names {
    fn in_body(&mut self, call: &Call) {
        let kind = call.headers.iter().find(|(name, _)| name == "content-type").map_or("", |(_, kind)| kind);
        let json = serde_json::from_str::<Value>(&call.body).ok().filter(|_| encoding::is_json(kind));
        if let Some(json) = json {
            // The body was serialized anew, so every reader sees the same. That does not hold for text that only
            // looks like JSON.
            self.in_json(&json, Field::Unknown, 0);
        } else if kind == encoding::FORM {
            self.in_pairs(&encoding::pairs(&call.body).unwrap_or_default());
        } else {
            self.opaque = true;
        }
    }

    /// `to[0][name]` in a form is `{"to": [{"name": …}]}` in JSON.
    fn in_pairs(&mut self, pairs: &[(String, String)]) {
        for (name, value) in pairs {
            let mut field = Field::Unknown;
            for part in name.split(['[', ']', '.']).filter(|part| !part.is_empty()) {
                field = self.field(part, field);
            }
            self.leaf(value, field);
        }
    }

    fn in_json(&mut self, value: &Value, field: Field, depth: usize) {
        if depth > MOST_DEPTH {
            self.opaque = true;
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if let (Value::String(raw), "raw") = (value, bare(name).as_str()) {
                        self.in_mail(raw);
                    } else {
                        let field = self.field(name, field);
                        self.in_json(value, field, depth + 1);
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.in_json(value, field, depth + 1)),
            Value::String(text) => match within(text).filter(|_| field != Field::People) {
                // An argument of a tool may be the whole body of a call that its server makes.
                Some((json, true)) => self.in_json(&json, Field::Unknown, depth + 1),
                Some((_, false)) => self.opaque = true,
                None => self.leaf(text, field),
            },
            Value::Number(number) if matches!(field, Field::People | Field::Unknown) => {
                self.leaf(&number.to_string(), field);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The kind of content of the field called `name`; an unknown name counts as a recipient's. So does a name with
    /// other letters than ASCII, for servers may read it as one without them, or as its twin.
    fn field(&mut self, name: &str, around: Field) -> Field {
        let bare = bare(name);
        let is_plain = name.chars().all(|letter| letter.is_ascii() && !letter.is_ascii_control());
        let is_in = |table: &str| is_plain && table.split_ascii_whitespace().any(|known| known == bare);
        let field = match (is_in(PEOPLE), is_in(WORDS)) {
            (true, _) => Field::People,
            (_, true) if around == Field::OneLine || is_in(ONE_LINE) => Field::OneLine,
            (_, true) => Field::Words,
            _ if !name.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.found.push(format!(".{}", name.to_lowercase()));
                Field::Unknown
            }
            _ => around,
        };
        if around == Field::People { Field::People } else { field }
    }

    fn leaf(&mut self, text: &str, field: Field) {
        self.opaque |= match field {
            Field::People | Field::OneLine => mail::breaks(text),
            Field::Words => mail::holds_head(text),
            Field::Unknown => false,
        };
        match field {
            Field::OneLine | Field::Words => self.in_words(text),
            Field::Unknown => self.name(text),
            Field::People => {
                self.recognised |= !text.trim().is_empty();
                text.split([',', ';']).for_each(|one| self.person(one));
            }
        }
    }

    /// Mentions in a text: `@somebody`, `<@U1>`, `<!channel>`.
    fn in_words(&mut self, text: &str) {
        let mut before = ' ';
        for (at, sign) in text.char_indices() {
            let calls = matches!(sign, '@' | '＠') && !before.is_ascii_alphanumeric() && before != '_';
            if calls || (before == '<' && sign == '!') {
                let rest = text.get(at + sign.len_utf8()..).unwrap_or_default();
                let name: String = rest
                    .chars()
                    .take_while(|letter| letter.is_alphanumeric() || "_-.&!@".contains(*letter))
                    .collect();
                self.name(&if name.is_empty() { name } else { format!("@{name}") });
            }
            before = sign;
        }
    }

    /// A whole mail in base64, as mail APIs accept it: its headers name the recipients.
    fn in_mail(&mut self, raw: &str) {
        let Some(head) = mail::head(raw) else {
            self.opaque = true;
            return;
        };
        self.opaque |= !head.is_plain;
        let before = self.found.len();
        for (name, value) in head.fields {
            match mail::kind(&name) {
                mail::Kind::People => self.leaf(&value, Field::People),
                mail::Kind::Harmless => {}
                mail::Kind::Unknown => {
                    self.found.push(format!(".{}", name.trim().to_lowercase()));
                    self.name(&value);
                }
            }
        }
        self.opaque |= self.found.len() == before;
    }

    /// A recipient, possibly with words around the address.
    fn person(&mut self, text: &str) {
        let inner = text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<'));
        match inner.filter(|(words, address)| address.contains('@') && !words.contains('@')) {
            Some((_, address)) => self.name(address),
            None => self.name(text),
        }
    }

    fn name(&mut self, text: &str) {
        let text = text.trim().to_lowercase();
        if !text.is_empty() {
            self.found.push(text);
        }
    }
}

/// The JSON of an object or a list that a text is, and whether all readers see the same: a name may stand there twice.
fn within(text: &str) -> Option<(Value, bool)> {
    let is_like = text.trim_start().starts_with(['{', '[']);
    let json: Value = is_like.then(|| serde_json::from_str(text).ok()).flatten()?;
    let again = json.to_string();
    Some((json, again == text))
}

/// A field's name in lower case, without signs.
pub fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}
