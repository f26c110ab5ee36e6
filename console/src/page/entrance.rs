//! The way in to the page: how connections come in by it, who is let in, and what their acts are sealed with.
//!
//! Two there are: this machine's browsers come by a link (`loopback`), others by TLS and a sign-in (the program `phone`).

use crate::page::Server;
use crate::page::guard::Refusal;
use axum::Router;
use axum::response::Response;
use http::HeaderMap;
use http::request::Parts;
use maud::Markup;
use std::net::SocketAddr;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Bytes of a connection, as they are or within TLS.
pub trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A connection that is being opened; none where it was refused.
pub type Opening = Pin<Box<dyn Future<Output = Option<Box<dyn Bytes>>> + Send>>;

/// Both ends of a request's connection.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub here: SocketAddr,
    pub there: SocketAddr,
}

/// Verdict on a request.
pub enum Admitted {
    /// It is the owner's; this seals the acts of its page.
    In(String),
    /// It asks for a path that anybody may see, or by which one signs in.
    Open,
    /// It is answered with this, and goes no further; true: its connection may stay.
    Answered(Box<Response>, bool),
    Refused(Refusal),
}

pub trait Entrance: Send + Sync + 'static {
    /// Opens a connection that was accepted.
    fn opened(&self, stream: TcpStream, ends: Ends) -> Opening;
    /// Judges a request by its head alone.
    fn admits(&self, asked: &Parts) -> Admitted;
    /// Whether whoever was let in with this seal would be let in now.
    fn counts(&self, seal: &str) -> bool;
    /// Pages and acts of this way in alone: those that need no token of an act, and those that do.
    fn routes(&self) -> [Router; 2];
    /// Tells of it at the end of the first page.
    fn told(&self, server: &Server) -> Markup;
    /// Adds the headers that every answer of it has.
    fn closes(&self, _headers: &mut HeaderMap) {}
}
