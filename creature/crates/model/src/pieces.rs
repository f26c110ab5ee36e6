//! The calls of a chat stream out of their pieces, however a server numbers and repeats them. Pure.
//!
//! Invariant: a piece without a name is never a call of its own; arguments that cannot be joined stay as they came, and
//! are refused with words.

use serde_json::{Map, Value, json};

use crate::stream::{Hear, set, word};
use crate::{Heard, arguments, surrogates};

/// Calls that have begun, in their order.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Begun>,
    /// Lists of pieces so far.
    lists: usize,
}

/// A call and what has come of it.
struct Begun {
    /// All but its function.
    call: Value,
    function: Value,
    name: String,
    args: Vec<String>,
    /// The list that its last piece stood in.
    list: usize,
}

struct Piece {
    call: Value,
    function: Value,
    id: String,
    index: Option<u64>,
    name: String,
    args: String,
    list: usize,
}

impl Calls {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes the pieces of one delta.
    pub(crate) fn take(&mut self, pieces: Vec<Value>, hear: &mut Hear<'_>) {
        self.lists += 1;
        for given in pieces {
            let piece = piece(given, self.lists);
            if piece.id.is_empty() && piece.name.is_empty() && piece.args.is_empty() {
                continue;
            }
            let place = self.place(&piece).and_then(|at| self.calls.get_mut(at));
            match place.filter(|there| there.goes_on_with(&piece)) {
                Some(there) => there.add(piece),
                None => {
                    hear(Heard::Call(&piece.name));
                    let Piece { call, function, name, args, list, .. } = piece;
                    self.calls.push(Begun { call, function, name, args: vec![args], list });
                }
            }
        }
    }

    /// The call that a piece may belong to: by index and id, by one of them, or the last.
    fn place(&self, piece: &Piece) -> Option<usize> {
        let by_id = |there: &Begun| !piece.id.is_empty() && there.id() == piece.id;
        let by_index = |there: &Begun| there.index() == piece.index;
        let find = |is: &dyn Fn(&Begun) -> bool| self.calls.iter().rposition(is);
        let last = self.calls.len().checked_sub(1);
        match piece.index {
            Some(_) => find(&|there| by_index(there) && by_id(there))
                .or_else(|| find(&by_index))
                // An index of its own without a name: the index counts pieces.
                .or_else(|| if piece.name.is_empty() { find(&by_id).or(last) } else { None }),
            None => find(&by_id).or(last),
        }
    }

    /// The calls as they would have come whole.
    pub(crate) fn whole(self) -> Vec<Value> {
        let whole = |begun: Begun| {
            let (mut call, mut function) = (begun.call, begun.function);
            set(&mut function, "name", json!(begun.name));
            set(&mut function, "arguments", json!(joined(&begun.args)));
            set(&mut call, "function", function);
            call
        };
        self.calls.into_iter().map(whole).collect()
    }
}

fn piece(mut call: Value, list: usize) -> Piece {
    let mut function = arguments::function(&mut call);
    let args = match function.get_mut("arguments").map(Value::take) {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(object) => object.to_string(),
    };
    let (id, name) = (word(&call, "id").to_owned(), word(&function, "name").to_owned());
    let index = call.get("index").and_then(Value::as_u64);
    Piece { call, function, id, index, name, args, list }
}

impl Begun {
    fn id(&self) -> &str {
        word(&self.call, "id")
    }

    fn index(&self) -> Option<u64> {
        self.call.get("index").and_then(Value::as_u64)
    }

    /// Whether its arguments so far are an object that holds something or are said to be empty.
    fn is_whole(&self) -> bool {
        self.args.last().is_some_and(|last| last.trim_end().ends_with('}')) && is_object(&joined(&self.args))
    }

    /// Whether a piece goes on with this call; else it begins another.
    fn goes_on_with(&self, piece: &Piece) -> bool {
        if piece.name.is_empty() {
            return true;
        }
        // Two with a name in one list are two calls.
        if self.list == piece.list {
            return false;
        }
        let (same_name, is_whole) = (self.name == piece.name, self.is_whole());
        if is_whole && !same_name {
            return false;
        }
        if !piece.id.is_empty() && self.id() == piece.id {
            return true;
        }
        let (old, new) = (self.args.concat(), piece.args.trim());
        let (old, begins) = (old.trim(), new.starts_with('{'));
        let is_numbered = piece.index.is_some() && piece.index == self.index();
        if !piece.id.is_empty() && !self.id().is_empty() {
            // Another id is another call, but where the arguments plainly go on.
            return match old {
                "" => is_numbered && same_name,
                _ => !is_whole && !new.is_empty() && (!begins || new.starts_with(old)),
            };
        }
        match old {
            "" => is_numbered || same_name || new.is_empty(),
            _ if is_whole => new.is_empty() || grows(&[old, new]),
            _ => is_numbered || !begins || new.starts_with(old),
        }
    }

    fn add(&mut self, piece: Piece) {
        if piece.name.starts_with(&self.name) {
            self.name = piece.name;
        } else if !self.name.ends_with(&piece.name) {
            self.name += &piece.name;
        }
        // What a later piece has beside its function, such as a signature.
        for (key, more) in piece.call.as_object().into_iter().flatten() {
            let is_known = self.call.get(key).is_some_and(|known| !known.is_null() && known != "");
            if !is_known && key != "index" {
                set(&mut self.call, key, more.clone());
            }
        }
        self.args.push(piece.args);
        self.list = piece.list;
    }
}

/// Joins arguments from their pieces: some servers send all so far each time, `{}` first, or the whole once more at the
/// end. Pieces that make no object in any of these ways stay as they came, in a row.
pub(crate) fn joined(pieces: &[String]) -> String {
    let all = pieces.concat();
    if pieces.len() < 2 || is_object(&all) {
        return all;
    }
    let full: Vec<&str> =
        pieces.iter().map(String::as_str).filter(|piece| !matches!(piece.trim(), "" | "{}")).collect();
    let rest = full.concat();
    if is_object(&rest) {
        return rest;
    }
    let Some((last, before)) = full.split_last() else { return all };
    let repeats =
        before.iter().all(|piece| last.starts_with(piece.trim_end())) || last.starts_with(&before.concat());
    if is_object(last) && (repeats || grows(&full)) { (*last).to_owned() } else { all }
}

fn is_object(text: &str) -> bool {
    surrogates::json(text).is_ok_and(|value| value.is_object())
}

/// Whether each text is an object that holds all of the one before.
fn grows(texts: &[&str]) -> bool {
    let read = texts.iter().map(|text| surrogates::json(text).ok().filter(Value::is_object));
    let read: Option<Vec<Value>> = read.collect();
    read.is_some_and(|read| read.windows(2).all(|pair| matches!(pair, [old, new] if is_within(old, new))))
}

fn is_within(old: &Value, new: &Value) -> bool {
    let holds = |new: &Map<String, Value>, (key, old): (&String, &Value)| {
        new.get(key).is_some_and(|new| is_within(old, new))
    };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => old.iter().all(|field| holds(new, field)),
        (Value::Array(old), Value::Array(new)) => {
            old.len() <= new.len() && old.iter().zip(new).all(|(old, new)| is_within(old, new))
        }
        (Value::String(old), Value::String(new)) => new.starts_with(old.as_str()),
        (old, new) => old == new,
    }
}
