//! Elements of the HTML that Matrix has: those of its list alone, no attribute but those it names.
//!
//! Client-Server API, "m.room.message msgtypes": the elements and attributes that clients show.

use super::inline::fence;
use super::pretends;
use crate::channel::Form;
use console::markdown::Dress;
use pulldown_cmark::HeadingLevel;

/// Clients show where a link leads: told are an address which cannot be followed, and one that its words pretend to be another.
pub const MATRIX: Dress = Dress {
    link: "<a href=\"",
    address: (" (", ")"),
    tells: pretends,
    picture: ("", ""),
    heading: |level| match level {
        HeadingLevel::H1 => ("<h1>", "</h1>"),
        HeadingLevel::H2 => ("<h2>", "</h2>"),
        HeadingLevel::H3 => ("<h3>", "</h3>"),
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => ("<h4>", "</h4>"),
    },
    code: |language| fence(Form::MatrixHtml, language),
    table: ("<table>", "</tbody></table>"),
    head: ("<thead><tr>", "</tr></thead><tbody>"),
    head_cell: "<th>",
};
