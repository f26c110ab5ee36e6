//! `feral-mail`: a mailbox as an MCP server on standard streams; settings come from environment variables.

use mail::sending;
use mail::server::Server;
use mail::session::Mailbox;
use mail::settings::Settings;
use rmcp::ServiceExt;
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "usage: feral-mail [--read FOLDER]… [--write FOLDER]…

An MCP server on standard streams for a mailbox. Its settings are environment variables:
  MAIL_ADDRESS   the mailbox's address
  MAIL_IMAP      its server to read, as imap.example.org (TLS), or imap://HOST:PORT (STARTTLS)
  MAIL_SMTP      its server to send, as smtp.example.org (TLS), or smtp://HOST:PORT (STARTTLS)
  MAIL_PASSWORD  its password, or its password for this app
  MAIL_USER, MAIL_NAME, MAIL_STATE, MAIL_AUTO_SUBMITTED=no: where they differ from what is usual
Files are attached from the folders named, and attachments saved into those of --write.
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("feral-mail: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Vec<String>) -> Result<(), String> {
    let settings = Settings::take(&std::env::vars().collect(), arguments)?;
    let mailbox = Arc::new(Mailbox::new(settings));
    tokio::spawn(sending::settle(mailbox.clone()));
    let running = Server::new(mailbox.clone()).serve(rmcp::transport::stdio()).await;
    let running = running.map_err(|error| format!("no session began: {error}"))?;
    let ended = running.waiting().await.map_err(|error| format!("the session broke off: {error}"));
    mailbox.leave().await;
    ended.map(drop)
}
