//! Bodies passing the door: one that arrives too slowly is an error.

use crate::ground::refusal::Refusal;
use bytes::Bytes;
use http::{HeaderMap, header};
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// Longest time for a body to arrive; it comes from this machine.
pub const LONGEST_BODY: Duration = Duration::from_secs(20);

/// The body's length; `None` if not stated. Stating it in both ways is refused: two readers could disagree on the
/// length.
pub fn length(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let said = headers.get(header::CONTENT_LENGTH).map(|value| value.to_str().ok()?.parse::<u64>().ok());
    match (headers.contains_key(header::TRANSFER_ENCODING), said) {
        (true, Some(_)) | (false, Some(None)) => {
            let hint = "send either content-length or transfer-encoding";
            Err(Refusal::new(400, "bad_length", "the length of the body is not clear", hint))
        }
        (true, None) => Ok(None),
        (false, Some(length)) => Ok(length),
        (false, None) => Ok(Some(0)),
    }
}

/// A request's body that fails if it takes too long.
pub struct Paced {
    body: Incoming,
    rest: Pin<Box<Sleep>>,
}

impl Paced {
    pub fn new(body: Incoming) -> Self {
        Self { body, rest: Box::pin(tokio::time::sleep(LONGEST_BODY)) }
    }
}

impl hyper::body::Body for Paced {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(
                format!("the body took longer than {} s", LONGEST_BODY.as_secs()).into()
            )));
        }
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
