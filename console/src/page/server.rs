//! Connections: accepted at once, none held without sending; the guard stands before every route.

use crate::page::door::{self, Door, Place};
use crate::page::entrance::{Admitted, Ends, Opening};
use crate::page::guard::Refusal;
use crate::page::{Server, form, frame, routes};
use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tower::ServiceExt;

/// Longest time for a request's head and for a form.
const HEAD: Duration = Duration::from_secs(10);
const FORM: Duration = Duration::from_secs(20);
/// Most bytes held of a connection; no head is longer.
const MOST_HELD_BYTES: usize = 32 << 10;

/// Serves until a signal; `begun` is called once it listens.
pub async fn run(server: Server, listener: TcpListener, begun: impl FnOnce()) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener).context("failed to listen")?;
    let mut terminated = signal(SignalKind::terminate()).context("failed to listen for signals")?;
    let mut interrupted = signal(SignalKind::interrupt()).context("failed to listen for signals")?;
    let mut hung_up = signal(SignalKind::hangup()).context("failed to listen for signals")?;
    let door = Door::default();
    let server = Arc::new(server);
    let router = router(&server);
    begun();
    loop {
        let accepted = tokio::select! {
            _ = terminated.recv() => break,
            _ = interrupted.recv() => break,
            _ = hung_up.recv() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, there)) => {
                let _ = stream.set_nodelay(true);
                let ends = Ends { here: stream.local_addr().unwrap_or(there), there };
                let (place, ended) = door.admit();
                let opening = server.entrance.opened(stream, ends);
                tokio::spawn(converse(opening, ends, router.clone(), place, ended));
                // Read before the next one comes: what has sent its token already is known at once.
                tokio::task::yield_now().await;
            }
            // Too many files are open: some will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Ok(())
}

async fn converse(
    opening: Opening,
    ends: Ends,
    router: Router,
    place: Arc<Place>,
    mut ended: oneshot::Receiver<()>,
) {
    let opened = tokio::select! {
        opened = tokio::time::timeout(HEAD, opening) => opened,
        _ = &mut ended => return,
    };
    let Ok(Some(bytes)) = opened else { return };
    let asking = place.clone();
    let service = TowerToHyperService::new(router.map_request(move |request: http::Request<_>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(asking.clone());
        request.extensions_mut().insert(ends);
        request
    }));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HELD_BYTES)
        .serve_connection(TokioIo::new(bytes), service);
    let outstays = async {
        tokio::time::sleep(door::STRANGER).await;
        if place.is_kept() {
            tokio::time::sleep(door::LONGEST).await;
        }
    };
    // One that broke is of no weight: a browser begins another.
    tokio::select! {
        _ = served => {}
        _ = &mut ended => {}
        () = outstays => {}
    }
}

fn router(server: &Arc<Server>) -> Router {
    let guarded = middleware::from_fn_with_state(server.clone(), guarded);
    routes::all(server).layer(guarded)
}

/// Lets a request in, or refuses it and ends its connection; every answer says that it is closed to other sites.
async fn guarded(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let (asked, body) = request.into_parts();
    let admitted = server.entrance.admits(&asked);
    if let (Admitted::In(_), Some(place)) | (Admitted::Answered(_, true), Some(place)) =
        (&admitted, asked.extensions.get::<Arc<Place>>())
    {
        place.keep();
    }
    let mut response = match admitted {
        Admitted::Refused(refusal) => last(frame::refuse(&refusal)),
        Admitted::Answered(answer, true) => *answer,
        Admitted::Answered(answer, false) => last(*answer),
        Admitted::In(seal) => go_on(server.sealed(&seal), asked, body, form::MOST_BYTES, next).await,
        Admitted::Open => go_on(server.sealed(""), asked, body, form::STRANGERS_BYTES, next).await,
    };
    frame::close(response.headers_mut());
    server.entrance.closes(response.headers_mut());
    response
}

/// The last answer of its connection.
fn last(mut answer: Response) -> Response {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Hands a request on with what it is to see of the server, a post with its fields.
async fn go_on(server: Arc<Server>, mut asked: Parts, body: Body, most: usize, next: Next) -> Response {
    asked.extensions.insert(server);
    if asked.method != Method::POST {
        return next.run(Request::from_parts(asked, body)).await;
    }
    match tokio::time::timeout(FORM, axum::body::to_bytes(body, most)).await {
        Ok(Ok(bytes)) => {
            asked.extensions.insert(form::Fields::read(&bytes));
            next.run(Request::from_parts(asked, Body::empty())).await
        }
        Ok(Err(_)) => unread(StatusCode::PAYLOAD_TOO_LARGE, "The form is too long."),
        Err(_) => unread(StatusCode::REQUEST_TIMEOUT, "The form did not arrive within its time."),
    }
}

fn unread(status: StatusCode, why: &'static str) -> Response {
    frame::refuse(&Refusal { status, why, what_to_do: "Nothing was done. Go back and send less at once." })
}
