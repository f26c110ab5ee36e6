//! Channels as the owner names them: what is taken, what is refused in which words, and which places each may reach.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use house::settings::channels::{Place, home};
use house::settings::{Reader, Settings, forms, read};

fn settings(text: &str) -> Settings {
    read(text, Reader::Guardian, forms::check).unwrap().settings
}

fn mistakes(text: &str) -> String {
    read(text, Reader::Broker, forms::check).map(|_| ()).unwrap_err().to_string()
}

const MAIL: &str = "[channels.mail]\naddress = \"feral@example.org\"\nimap = \"imap.example.org:993\"\n\
    smtp = \"smtp.example.org:465\"\nauthserv = \"mx.example.org\"\n";

#[test]
fn a_channel_needs_no_more_than_its_name_and_its_variables_have_usual_ones() {
    let all = settings(&format!(
        "[channels.telegram]\n[channels.discord]\n[channels.slack]\ntoken_env = \"MY_BOT\"\n\
         [channels.matrix]\nurl = \"https://matrix.example.org\"\n{MAIL}"
    ))
    .channels;
    let variables: Vec<(&str, Vec<String>)> =
        all.iter().map(|(name, channel)| (name.as_str(), channel.variables())).collect();
    let named = |name, variables: &[&str]| (name, variables.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(
        variables,
        [
            named("discord", &["DISCORD_BOT_TOKEN"]),
            named("mail", &["MAIL_PASSWORD"]),
            named("matrix", &["MATRIX_ACCESS_TOKEN"]),
            named("slack", &["MY_BOT", "SLACK_APP_TOKEN"]),
            named("telegram", &["TELEGRAM_BOT_TOKEN"]),
        ]
    );
    let telegram = &all["telegram"];
    assert_eq!((telegram.verbosity.as_str(), telegram.messages_per_hour), ("minimal", 12));
    assert_eq!(home(&all), Some("discord"));
    assert_eq!(
        home(&settings("[channels.slack]\n[channels.telegram]\nhome = true\n").channels),
        Some("telegram")
    );
    assert_eq!(home(&settings("").channels), None);
}

#[test]
fn a_channel_reaches_what_the_owner_wrote_and_else_its_platform_alone() {
    let places = |text: &str, name: &str| settings(text).channels[name].places(name);
    let owners = |host: &str, port| Place { host: host.into(), port, is_owners: true };
    let telegram = places("[channels.telegram]\n", "telegram");
    assert_eq!(telegram, [Place { host: "api.telegram.org".into(), port: 443, is_owners: false }]);
    let own = "[channels.telegram]\nurl = \"http://127.0.0.1:8081\"\n";
    assert_eq!(places(own, "telegram"), [owners("127.0.0.1", 8081)]);
    let matrix = |url: &str| places(&format!("[channels.matrix]\nurl = \"{url}\"\n"), "matrix");
    assert_eq!(matrix("https://Matrix.Example.org/base/"), [owners("matrix.example.org", 443)]);
    assert_eq!(matrix("https://[fd00::1]:8448"), [owners("fd00::1", 8448)]);
    assert_eq!(matrix("http://localhost"), [owners("localhost", 80)]);
    assert_eq!(places(MAIL, "mail"), [owners("imap.example.org", 993), owners("smtp.example.org", 465)]);
    let discord = places("[channels.discord]\n", "discord");
    let reached = |host: &str, port| discord.iter().any(|place| place.fits(host, port));
    for (host, port, is_reached) in [
        ("discord.com", 443, true),
        ("gateway.discord.gg", 443, true),
        ("gateway-us-east1-b.discord.gg", 443, true),
        ("cdn.discordapp.com", 443, true),
        ("discord.gg", 443, false),
        ("a.b.discord.gg", 443, false),
        (".discord.gg", 443, false),
        ("evildiscord.gg", 443, false),
        ("evil.discord.com", 443, false),
        ("discord.com.evil.example", 443, false),
        ("discord.com", 80, false),
        ("discord.com", 8443, false),
    ] {
        assert_eq!(reached(host, port), is_reached, "{host}:{port}");
    }
}

#[test]
fn a_mistake_in_a_channel_is_told_with_its_line_and_what_was_meant() {
    for (text, told) in [
        ("[channels.telegrm]\n", "line 1: [channels.telegrm]: no such channel; did you mean telegram?"),
        ("[channels.irc]\n", "no such channel; there is discord, mail, matrix, slack, telegram"),
        (
            "[channels.telegram]\ntoken = \"x\"\n",
            "line 2: [channels.telegram] token: no such setting; did you mean token_env?",
        ),
        (
            "[channels.telegram]\nimap = \"i.example.org:993\"\n",
            "line 2: [channels.telegram] imap: is nothing that Telegram has",
        ),
        ("[channels.telegram]\ngroups = [-100123]\n", "must be text, not a number"),
        ("[channels.telegram]\ngroups = [\"a b\"]\n", "must be the id of a chat, without spaces"),
        ("[channels.telegram]\nmessages_per_hour = 0\n", "must be between 1 and 1000"),
        ("[channels.telegram]\nverbosity = \"loud\"\n", "not a value it can have"),
        (
            "[channels.telegram]\ntoken_env = \"123456789:AAF-abcdefghijklmnopqrstuvwxyz01234\"\n",
            "looks like a secret itself",
        ),
        ("[channels.matrix]\n", "line 1: [channels.matrix] url: is missing and cannot be guessed"),
        (
            "[channels.matrix]\nurl = \"http://matrix.example.org\"\n",
            "must be https: a token would cross the network",
        ),
        ("[channels.matrix]\nurl = \"http://192.168.1.5:8008\"\n", "must be https"),
        ("[channels.matrix]\nurl = \"http://localhost.example.org\"\n", "must be https"),
        ("[channels.matrix]\nurl = \"https://owner:word@matrix.example.org\"\n", "must be an address alone"),
        ("[channels.matrix]\nurl = \"https://2130706433\"\n", "must hold a host"),
        ("[channels.matrix]\nurl = \"https://matrix.example.org:99999\"\n", "must hold a host"),
        ("[channels.matrix]\nurl = \"matrix.example.org\"\n", "must begin with https://"),
        ("[channels.mail]\naddress = \"feral\"\n", "must be an address of mail"),
        ("[channels.mail]\nimap = \"imap.example.org\"\n", "must be a host and a port"),
        ("[channels.mail]\nimap = \"imap.example.org:0\"\n", "must be a host and a port"),
        ("[channels.mail]\naddress = \"feral@example.org\"\n", "[channels.mail] authserv: is missing"),
        (
            "[channels.slack]\nhome = true\n[channels.telegram]\nhome = true\n",
            "line 4: [channels.telegram] home: slack is home already",
        ),
    ] {
        let found = mistakes(text);
        assert!(found.contains(told), "{text}\n{found}\n  wanted {told}");
    }
}
