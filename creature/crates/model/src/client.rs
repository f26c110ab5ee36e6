//! Stub.
use crate::*;
pub struct Client(Endpoint);
impl Client {
 pub fn new(endpoint: Endpoint) -> Result<Client, Error> { Ok(Client(endpoint)) }
 pub fn name(&self) -> String { self.0.model.clone() }
 pub async fn say(&self, _talk: &Talk<'_>, _hear: &mut (dyn FnMut(Heard<'_>) + Send)) -> Result<Reply, Error> { Err(Error::new(Kind::Settings, "", "")) }
 pub async fn takes_tools(&self, _word: &str) -> Result<bool, Error> { Ok(true) }
}
