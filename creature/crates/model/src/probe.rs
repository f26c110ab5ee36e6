//! The question whether tools reach a model and its calls come back.

use crate::{Call, Client, Error, Heard, Kind, Talk, Tool, Turn};
use serde_json::{Value, json};
use tokio::time::timeout;

impl Client {
    /// Whether tools reach the model and its calls come back: it is asked, twice at most, to call a tool that
    /// echoes `word`. `autonomous` as in [`Talk`].
    pub async fn takes_tools(&self, word: &str, autonomous: bool) -> Result<bool, Error> {
        let schema =
            json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]});
        let description = "Says a word again.".to_owned();
        let tools = [Tool { name: "echo".to_owned(), description, schema, strict: false }];
        let text = format!("Call the tool echo with this word, and say nothing else: `{word}`");
        let turns = [Turn::Said { text }];
        let system = "You test whether tools work.";
        let talk = Talk { system, tools: &tools, turns: &turns, autonomous, ..Talk::default() };
        for _ in 0..2 {
            let mut deaf = |_: Heard<'_>| {};
            let said = timeout(self.endpoint.deadline, self.say(&talk, &mut deaf)).await;
            match said.unwrap_or_else(|_| Err(self.late(self.endpoint.deadline))) {
                Ok(reply) if reply.calls.iter().any(|call| echoes(call, word)) => return Ok(true),
                Ok(_) => {}
                // The request's form is refused, as servers without a parser for tools do.
                Err(error) if error.kind == Kind::Form => return Ok(false),
                Err(error) if error.kind == Kind::BadRequest && error.status != Some(404) => {
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

fn echoes(call: &Call, word: &str) -> bool {
    let args = call.args.as_ref();
    call.name == "echo" && args.is_ok_and(|args| args.get("word").and_then(Value::as_str) == Some(word))
}
