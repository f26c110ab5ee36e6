//! What looking through a megabyte for secrets costs: pages as they come, and texts made to be the worst.
//!
//! `cargo bench --profile dev -p broker --bench scrub`; two sizes in turns, the best of five, and their ratio.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use broker::secrets::keys::Keys;
use broker::secrets::patterns;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let value = |number: usize| (format!("KEY_{number}"), format!("secret-value-number-{number:04}-xyz"));
    let began = Instant::now();
    let keys = Keys::of((0..50).map(value).collect::<BTreeMap<_, _>>());
    println!("50 secrets prepared in {:?}", began.elapsed());
    let long = "All the words of a long page, and then some more of them. ";
    let texts = [
        ("a page", long.to_owned()),
        ("a page as JSON", long.replace('.', ".\\n\\u00e9\\\"")),
        ("every escape", long.replace('.', "%2E\\u0041\\n&amp;=20%25")),
        ("sk-", "sk-".to_owned()),
        ("-----BEGIN", "-----BEGIN ".to_owned()),
        ("Bearer", "Bearer ".to_owned()),
        ("%25", "%25".to_owned()),
        ("&#38;", "&#38;".to_owned()),
    ];
    for (name, piece) in texts {
        let text = |bytes: usize| piece.repeat(bytes / piece.len() + 1);
        let (half, whole) = (text(1 << 19), text(1 << 20));
        let mut best = [Duration::MAX; 4];
        for _ in 0..5 {
            for (at, text) in [(0, &half), (2, &whole)] {
                let (began, scrubbed) = (Instant::now(), keys.scrub(text));
                let known = began.elapsed();
                let _ = patterns::scrub(scrubbed);
                let looks = began.elapsed() - known;
                for (best, now) in best.iter_mut().skip(at).zip([known, looks]) {
                    *best = now.min(*best);
                }
            }
        }
        let [half_known, half_looks, known, looks] = best;
        let ratio = (known + looks).as_secs_f64() / (half_known + half_looks).as_secs_f64();
        println!("{name:16} 1 MiB: known {known:>10.2?}, looks {looks:>10.2?}; of half the text {ratio:.2}");
    }
}
