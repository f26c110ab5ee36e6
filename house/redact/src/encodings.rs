//! Undoes escapes in a text, layer by layer, so that escaped secrets are found too.
//!
//! Invariant: the number of views is bounded, none is larger than the text, and each is made in one pass, so the work
//! is linear in the text's length. Pure: nothing here reads, sends or waits.

use std::borrow::Cow;
use std::ops::Range;

/// ASCII characters that have names in HTML, each after its name; separated by blanks.
const NAMED: &str = "excl! quot\" QUOT\" num# dollar$ percnt% amp& AMP& apos' lpar( rpar) ast* midast* plus+ comma, \
    period. sol/ colon: semi; lt< LT< equals= gt> GT> quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_ \
    UnderBar_ grave` lcub{ lbrace{ verbar| vert| VerticalLine| rcub} rbrace} tilde~";
const BLANKS: [&str; 3] = ["Tab", "NewLine", "nbsp"];

/// The kinds of escapes that are undone.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Escapes of JSON, JavaScript and similar.
    Backslash,
    Percent,
    Html,
    QuotedPrintable,
    /// The first three kinds at once.
    Mixed,
}

const KINDS: [Kind; 4] = [Kind::Backslash, Kind::Percent, Kind::Html, Kind::QuotedPrintable];
/// Layers that are undone where escapes of several kinds are mixed.
const MIXED_LAYERS: usize = 3;

/// A text with some escapes undone, and where each byte came from.
pub struct View<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// Start of each byte in the original text, and one past the last; empty if nothing was undone.
    from: Vec<u32>,
}

/// Shows the text as it is, then with each kind of escapes undone, and with each two in turn: a secret may itself
/// look like an escape of another kind, so the kinds are also undone separately.
pub fn each_view(bytes: &[u8], mut look: impl FnMut(&View)) {
    let plain = View { bytes: Cow::Borrowed(bytes), from: Vec::new() };
    look(&plain);
    for outer in KINDS {
        let Some(view) = plain.without(outer) else { continue };
        look(&view);
        KINDS.iter().filter_map(|inner| view.without(*inner)).for_each(|view| look(&view));
    }
    let mut view = plain;
    for _ in 0..MIXED_LAYERS {
        let Some(below) = view.without(Kind::Mixed) else { break };
        view = below;
        look(&view);
    }
}

impl View<'_> {
    /// The bytes for which `keep` returns one, and the place of each in this view.
    pub fn only(&self, keep: impl Fn(u8) -> Option<u8>) -> (Vec<u8>, Vec<u32>) {
        let (mut kept, mut places) =
            (Vec::with_capacity(self.bytes.len()), Vec::with_capacity(self.bytes.len()));
        for (byte, at) in self.bytes.iter().zip(0_u32..) {
            if let Some(byte) = keep(*byte) {
                kept.push(byte);
                places.push(at);
            }
        }
        (kept, places)
    }

    /// The range of the original text that the bytes from `first` to `last` came from.
    pub fn place(&self, first: u32, last: u32) -> Range<usize> {
        self.origin(first as usize) as usize..self.origin(last as usize + 1) as usize
    }

    fn origin(&self, at: usize) -> u32 {
        self.from.get(at).copied().unwrap_or(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// The view with escapes of a kind undone; `None` if there are none.
    fn without(&self, kind: Kind) -> Option<View<'static>> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut from = Vec::with_capacity(self.bytes.len() + 1);
        let (mut at, mut changed) = (0, false);
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = rest.iter().position(|byte| begins(kind, *byte)).unwrap_or(rest.len());
            if let Some((piece, length)) = unescaped(rest).filter(|_| plain == 0) {
                bytes.extend(piece.bytes.iter().take(piece.length));
                from.extend(std::iter::repeat_n(self.origin(at), piece.length));
                (at, changed) = (at + length, true);
                continue;
            }
            let length = plain.max(1);
            bytes.extend_from_slice(rest.get(..length).unwrap_or_default());
            from.extend((at..at + length).map(|at| self.origin(at)));
            at += length;
        }
        from.push(self.origin(at));
        changed.then_some(View { bytes: Cow::Owned(bytes), from })
    }
}

/// Whether an escape of this kind may begin with the byte.
fn begins(kind: Kind, byte: u8) -> bool {
    match kind {
        Kind::Backslash => byte == b'\\',
        Kind::Percent => byte == b'%',
        Kind::Html => byte == b'&',
        Kind::QuotedPrintable => byte == b'=',
        Kind::Mixed => matches!(byte, b'\\' | b'%' | b'&'),
    }
}

/// Bytes that an escape stands for; empty for a soft line break.
#[derive(Default)]
struct Piece {
    bytes: [u8; 4],
    length: usize,
}

impl Piece {
    fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }

    fn character(code: u32) -> Option<Self> {
        let mut piece = Self::default();
        piece.length = char::from_u32(code)?.encode_utf8(&mut piece.bytes).len();
        Some(piece)
    }
}

/// Decodes the escape at the beginning, and returns its length too; `None` if there is none.
fn unescaped(rest: &[u8]) -> Option<(Piece, usize)> {
    match rest {
        [b'%' | b'=', high, low, ..] if hex(&[*high, *low]).is_some() => {
            Some((Piece::byte(u8::try_from(hex(&[*high, *low])?).ok()?), 3))
        }
        [b'=', after @ ..] => {
            let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
            (after.get(blanks) == Some(&b'\n')).then_some((Piece::default(), blanks + 2))
        }
        [b'\\', after @ ..] => backslashed(after).map(|(piece, length)| (piece, length + 1)),
        [b'&', after @ ..] => entity(after).map(|(piece, length)| (piece, length + 1)),
        _ => None,
    }
}

fn backslashed(after: &[u8]) -> Option<(Piece, usize)> {
    let byte = |byte: u8| Some((Piece::byte(byte), 1));
    match after {
        [b'u', b'{', digits @ ..] => {
            let length = digits.iter().take(9).position(|byte| *byte == b'}')?;
            Some((Piece::character(hex(digits.get(..length)?)?)?, length + 3))
        }
        [b'u', a, b, c, d, rest @ ..] => {
            let unit = hex(&[*a, *b, *c, *d])?;
            if let (0xD800..0xDC00, [b'\\', b'u', a, b, c, d, ..]) = (unit, rest)
                && let Some(low @ 0xDC00..0xE000) = hex(&[*a, *b, *c, *d])
            {
                let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Some((Piece::character(code)?, 11));
            }
            Some((Piece::character(unit)?, 5))
        }
        [b'x', high, low, ..] => Some((Piece::byte(u8::try_from(hex(&[*high, *low])?).ok()?), 3)),
        [b'n', ..] => byte(b'\n'),
        [b'r', ..] => byte(b'\r'),
        [b't', ..] => byte(b'\t'),
        [itself @ (b'"' | b'\\' | b'/' | b'\''), ..] => byte(*itself),
        _ => None,
    }
}

/// `&amp;`, `&#38;`, `&#x26;`; the semicolon of a number may be missing.
fn entity(after: &[u8]) -> Option<(Piece, usize)> {
    let Some(number) = after.strip_prefix(b"#") else {
        let length = after.iter().take(16).position(|byte| *byte == b';')?;
        let name = after.get(..length)?;
        let known = || NAMED.split(' ').filter_map(|known| known.as_bytes().split_last());
        let byte = match BLANKS.iter().any(|known| known.as_bytes() == name) {
            true => b' ',
            false => *known().find(|(_, known)| *known == name)?.0,
        };
        return Some((Piece::byte(byte), length + 1));
    };
    let (digits, before, base) = match number {
        [b'x' | b'X', digits @ ..] => (digits, 2, 16),
        _ => (number, 1, 10),
    };
    let length = digits.iter().take_while(|byte| char::from(**byte).is_digit(base)).count();
    let (digits, rest) = digits.split_at_checked(length)?;
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok()?;
    Some((Piece::character(code)?, before + length + usize::from(rest.first() == Some(&b';'))))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|_| plain)
}
