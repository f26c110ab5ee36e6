//! The house of the afternoon: the real creature behind walls, a mailbox and a browser by the owner's rules.

use super::faithful::{Faithful, Wire};
use super::outside::{self, Mailbox};
use std::path::{Path, PathBuf};
use std::process::Command;
use trials::model::{MONEY, asleep};
use trials::{House, programs};

/// The script of the browser's server, and Chromium.
pub fn browser() -> Option<(PathBuf, PathBuf)> {
    let script = target().join("mcp/node_modules/@playwright/mcp/cli.js").canonicalize().ok()?;
    let chromium =
        std::env::var_os("CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    chromium.exists().then_some((script, chromium))
}

/// A house, and the command that starts it.
pub fn house(
    model: &Faithful,
    mailbox: &Mailbox,
    (script, chromium): &(PathBuf, PathBuf),
) -> (House, Command) {
    let house = House::new("exit 1").with_broker();
    house.write_life(&format!("exec {}", house.path("target/creature/the-real-one").display()));
    house.commit("the real creature");
    std::fs::create_dir_all(house.path("target/creature")).unwrap();
    programs::place(programs::creature(), &house.path("target/creature/the-real-one"));
    let name = Wire::Anthropic.model();
    let prices = MONEY.replace("prices.scripted", &format!("prices.{name}"));
    let modules = script.ancestors().find(|folder| folder.ends_with("node_modules")).unwrap();
    let workspace = house.path(".self/workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    house.settings(&format!(
        "{prices}{asleep}[rest]\nshortest_s = 1\nlongest_s = 300\n\
        [model]\nprovider = \"anthropic\"\nmodel = \"{name}\"\nbase_url = \"{address}\"\nkey_env = \"TEST_MODEL_KEY\"\n\
        [mcp.mail]\ncommand = [{hand:?}]\nnetwork = \"open\"\nabout = \"the owner's mailbox\"\n\
        env = [\"MAIL_PASSWORD\"]\n\
        set = {{ MAIL_ADDRESS = \"me@example.test\", MAIL_IMAP = \"plain://127.0.0.1:{imap}\", MAIL_SMTP = \"plain://127.0.0.1:{smtp}\" }}\n\
        rules = [{{ tool = \"search\", do = \"allow\", looks = true }}, {{ tool = \"read\", do = \"allow\", looks = true }},\n\
        {{ tool = \"draft\", do = \"allow\", looks = true }}, {{ tool = \"reply\", do = \"ask\" }}]\n\
        [mcp.browser]\ncommand = [\"node\", {script:?}, \"--headless\", \"--no-sandbox\", \"--no-webmcp\", \"--executable-path\", {chromium:?},\n\
        \"--user-data-dir\", \"profile\", \"--output-dir\", {output:?}, \"--snapshot-mode\", \"none\"]\n\
        read = [{modules:?}, \"/etc/chromium.d\", \"/etc/fonts\"]\nwrite = [\".self/workspace\"]\nnetwork = \"proxy\"\nabout = \"public pages\"\n\
        rules = [{{ tool = \"browser_navigate\", do = \"allow\", looks = true }}, {{ tool = \"browser_snapshot\", do = \"allow\", looks = true }}]\n",
        asleep = asleep(),
        address = model.base_url(),
        output = workspace.join("browser"),
        hand = hand(),
        imap = mailbox.places["imap"],
        smtp = mailbox.places["smtp"],
    ));
    let password = mailbox.places["password"].as_str().unwrap();
    house.write(".env", &format!("TEST_MODEL_KEY=test-key-of-the-house\nMAIL_PASSWORD={password}\n"));
    let mut command = house.command(&[]);
    command.env("HTTP_PROXY", outside::proxy()).env("NO_PROXY", "127.0.0.1,localhost");
    (house, command)
}

/// The mailbox's server, as a guardian builds it.
fn hand() -> PathBuf {
    let hand = target().join("hands/debug/feral-mail");
    hand.canonicalize().expect("scripts/trials afternoon builds it")
}

fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"))
}
