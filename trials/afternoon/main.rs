//! An afternoon: a mail that asks something, a look into the browser, a draft, an ask, the owner's yes in the window, one mail out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm, clippy::disallowed_methods)]

#[path = "../../creature/tests/faithful/mod.rs"]
mod faithful;
mod house;
mod mind;
mod outside;

use faithful::{Faithful, Rules, Wire};
use outside::Mailbox;
use std::path::Path;
use std::time::Duration;
use trials::driven::Driven;

/// A browser takes its time to start where others build.
const PATIENCE: Duration = Duration::from_secs(600);
const MAIL: &str = "From: Ann Reed <ann@example.test>\nTo: me@example.test\nSubject: Feeding\n\
    Message-ID: <feeding@example.test>\nDate: Sat, 28 Nov 2026 13:00:00 +0000\n\n\
    Good day,\n\nwhen are the herons fed? It should stand at http://herons.example/hours, which my old telephone does not \
    show.\n\nAnn\n";
/// The hour stands on the page alone, put there by a script.
const HOUR: &str = "16:35";

#[test]
fn a_mail_is_answered_with_what_the_browser_showed_after_a_yes_in_the_window() {
    let mut mailbox = match Mailbox::start() {
        Ok(mailbox) => mailbox,
        Err(missing) => return println!("afternoon: skipped: {missing}"),
    };
    let Some(browser) = house::browser() else {
        return println!(
            "afternoon: skipped: no Chromium, or no @playwright/mcp in target/mcp (scripts/trials mcp browser)"
        );
    };
    mailbox.receives(MAIL);
    let model = Faithful::start(Wire::Anthropic, Rules::default(), mind::step);
    let (house, command) = house::house(&model, &mailbox, &browser);
    let guardian = house.start_by(command);
    house.until_within(PATIENCE, "the first thought", || !house.thoughts().is_empty());
    let window = Driven::start(house.command(&["window", "--verbosity", "normal"]), 100, 40);
    window.prompts();
    window.line("look after my mail, please");
    let ask = house.path(".self/broker/asks/1.json");
    house.until_within(PATIENCE, "the ask", || {
        model.assert_no_violations();
        ask.exists()
    });
    assert!(sent(&mailbox).is_empty(), "nothing leaves before the yes");
    let drafts = mailbox.messages(".Entw&APw-rfe");
    assert!(drafts.iter().any(|draft| draft.contains(HOUR)), "a draft with what the page says: {drafts:#?}");
    for shown in ["exactly that", "approved"] {
        window.line("/yes 1");
        window.until(shown, |screen| screen.contains(shown));
    }
    house.until_within(PATIENCE, "the mail", || sent(&mailbox).len() == 1);
    house.until_within(PATIENCE, "the thought about it", || {
        house.thoughts().iter().any(|thought| thought.to_string().contains("I answered Ann"))
    });
    let report = house.ask(&["report"]);
    let report = trials::said(&report);
    assert!(report.contains("mail ×") && report.contains("asks executed 1"), "{report}");
    assert_eq!(sent(&mailbox).len(), 1, "once");
    assert!(window.whole().contains("mcp.call browser browser_snapshot ok"), "{}", window.whole());
    keep(&window.whole(), &report, &sent(&mailbox)[0]);
    assert_eq!(guardian.stop(), 0);
}

/// Mails to Ann that the server took; her own has come from her.
fn sent(mailbox: &Mailbox) -> Vec<String> {
    let all = mailbox.messages("").into_iter();
    all.filter(|mail| mail.lines().any(|line| line.starts_with("To:") && line.contains("ann@example.test")))
        .collect()
}

/// Writes the page of what was seen, if asked to.
fn keep(window: &str, report: &str, mail: &str) {
    println!("{window}\n\n{report}\n\n{mail}");
    if std::env::var_os("AFTERNOON_KEEP").is_none() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("AFTERNOON.md");
    let block = |text: &str| format!("```text\n{}\n```\n", text.trim_end());
    let text = format!(
        "# An afternoon\n\nWritten by `scripts/trials afternoon --keep`: a real guardian, creature, broker and walls, a real\n\
        mailbox (dovecot, exim), a real Chromium, and a mind that is a script but sees only what a model would.\n\n\
        ## The window\n\n{}\n## The report\n\n{}\n## The mail that went out\n\n{}",
        block(window),
        block(report),
        block(mail)
    );
    std::fs::write(page, text).unwrap();
}
