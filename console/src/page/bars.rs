//! Bars as SVG for tables and money: widths are attributes, since no style may stand in the page. Pure.

use house::records::view::field;
use maud::{Markup, html};
use serde_json::Value;

/// Columns of a bar, and its height.
const WIDTH: f64 = 100.0;
const HIGH: u32 = 8;

/// A part of a bar: where it begins and ends, as shares of the whole, and the class of its colour.
pub struct Part<'a> {
    pub from: f64,
    pub to: f64,
    pub class: &'a str,
}

/// A bar as wide as its place; `told` describes it.
pub fn bar(told: &str, parts: &[Part], mark: Option<f64>) -> Markup {
    let column = |share: f64| format!("{:.2}", share.clamp(0.0, 1.0) * WIDTH);
    html! {
        svg.bar role="img" aria-label=(told) viewBox={ "0 0 " (WIDTH) " " (HIGH) } preserveAspectRatio="none" {
            rect.ground x="0" y="0" width=(WIDTH) height=(HIGH) {}
            @for part in parts {
                @let wide = (part.to.min(1.0) - part.from.clamp(0.0, 1.0)).max(0.0);
                @if wide > 0.0 { rect.(part.class) x=(column(part.from)) y="0" width=(column(wide.max(0.004))) height=(HIGH) {} }
            }
            @if let Some(mark) = mark.filter(|mark| (0.0..=1.0).contains(mark)) {
                rect.cap x=(column(mark - 0.004)) y="0" width="0.8" height=(HIGH) {}
            }
        }
    }
}

/// Draws the used part of a cap of the broker's page: all of it, and the creature's own.
pub fn cap(cap: &Value) -> Markup {
    let usd = |name: &str| field(cap, name);
    html! {
        (used("all", usd("spent_usd"), usd("cap_usd")))
        (used("of it its own", usd("autonomous_usd"), usd("autonomous_cap_usd")))
    }
}

/// Draws the used part, as a bar with its words; warns where little is left.
fn used(name: &str, spent: f64, cap: f64) -> Markup {
    let told = format!("{name}: ${spent:.2} of ${cap:.2}");
    let share = if cap > 0.0 { spent / cap } else { 0.0 };
    let class = if share >= 0.9 { "over" } else { "spent" };
    html! {
        div.used {
            p { span { (name) } " " span.number { "$" (format!("{spent:.2}")) " of $" (format!("{cap:.2}")) } }
            (bar(&told, &[Part { from: 0.0, to: share, class }], None))
        }
    }
}
