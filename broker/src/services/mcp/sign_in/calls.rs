//! Requests of a sign-in: bounded, each to a host within the reach of the address that the owner named, and recorded.

use crate::ground::hosts::{self, Reach};
use crate::ledger::Ledger;
use crate::net::outward::Outward;
use crate::net::{self, read_most};
use crate::services::oauth::entry;
use house::mutex::lock;
use reqwest::{Client, Method, Url};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(20);
/// Most bytes of an answer.
const MOST_ANSWER: usize = 256 << 10;
/// Most redirects that are followed, each within its host.
const MOST_REDIRECTS: usize = 3;

type HttpRequest = http::Request<Vec<u8>>;
type HttpResponse = http::Response<Vec<u8>>;

#[derive(Clone)]
pub struct Calls {
    pub name: String,
    /// The server's address.
    pub base: Url,
    pub outward: Outward,
    /// None where the owner signs in: that process has no ledger.
    pub ledger: Option<Ledger>,
    refused: Arc<Mutex<Option<String>>>,
}

impl Calls {
    pub fn new(name: &str, base: Url, outward: Outward, ledger: Option<Ledger>) -> Self {
        Self { name: name.to_owned(), base, outward, ledger, refused: Arc::default() }
    }

    /// The client for an address that the server or its metadata named; fails if the owner's address does not stand for
    /// going there.
    pub fn client(&self, url: &Url) -> Result<&Client, String> {
        let (host, own) = (hosts::host(url), hosts::host(&self.base));
        let near = hosts::is_loopback(&host) && hosts::is_loopback(&own);
        let refused = |why: String| {
            let why = format!("the sign-in leads to {host}, and {why}");
            *lock(&self.refused) = Some(why.clone());
            why
        };
        if url.scheme() != "https" && !(url.scheme() == "http" && near) {
            return Err(refused(format!("{} is not safe against readers on the way", url.scheme())));
        }
        let class = |host: &str| host.parse::<IpAddr>().ok().map(hosts::reach);
        let is_private = class(&host) == Some(Reach::Private) && class(&own) == Some(Reach::Private);
        if near || is_private || host == own {
            return Ok(self.outward.client(url));
        }
        self.outward.within(url, false).map_err(|unfit| refused(unfit.error))
    }

    /// The last address that was refused, as an answer to why all failed.
    pub fn refused(&self) -> Option<String> {
        lock(&self.refused).clone()
    }

    async fn sent(&self, asked: OAuthHttpRequest) -> Result<HttpResponse, String> {
        let OAuthHttpRequest { request, redirect_policy, .. } = asked;
        let mut url = Url::parse(&request.uri().to_string()).map_err(|error| error.to_string())?;
        let follows = redirect_policy == OAuthHttpRedirectPolicy::Follow && request.method() == Method::GET;
        for _ in 0..MOST_REDIRECTS {
            let answer = self.exchanged(&url, &request).await?;
            let next =
                answer.headers().get("location").filter(|_| answer.status().is_redirection() && follows);
            let next = next.and_then(|next| next.to_str().ok()).and_then(|next| url.join(next).ok());
            match next {
                Some(next) if next.origin() == url.origin() => url = next,
                _ => return Ok(answer),
            }
        }
        Err(format!("{} redirects without end", hosts::host(&url)))
    }

    /// Sends a request, once, and reads its answer.
    pub async fn exchanged(&self, url: &Url, request: &HttpRequest) -> Result<HttpResponse, String> {
        let client = self.client(url)?;
        if let Some(ledger) = self.ledger.as_ref().filter(|_| request.method() == Method::POST) {
            let closed = |_| "the ledger cannot be written".to_owned();
            ledger.append(entry(&self.name, url)).await.map_err(closed)?;
        }
        let host = hosts::host(url);
        let exchange = async {
            let asked = client.request(request.method().clone(), url.clone());
            let asked = asked.headers(request.headers().clone()).body(request.body().clone());
            let (mut answer, mut bytes) = (asked.send().await?, Vec::new());
            let is_more = read_most(&mut answer, MOST_ANSWER, &mut bytes).await?;
            Ok::<_, reqwest::Error>((answer, bytes, is_more))
        };
        let (answer, bytes, is_more) = match tokio::time::timeout(DEADLINE, exchange).await {
            Ok(Ok(exchanged)) => exchanged,
            Ok(Err(error)) => return Err(format!("{host} cannot be reached: {}", net::told(&error))),
            Err(_) => return Err(format!("{host} gives no answer within {} s", DEADLINE.as_secs())),
        };
        if is_more {
            return Err(format!("{host} answers with more than {MOST_ANSWER} bytes"));
        }
        let mut taken = http::Response::new(bytes);
        *taken.status_mut() = answer.status();
        *taken.headers_mut() = answer.headers().clone();
        Ok(taken)
    }
}

impl OAuthHttpClient for Calls {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { self.sent(request).await.map_err(Into::into) })
    }
}
