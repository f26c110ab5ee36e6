// A hostile server of the trial's own at another port: its pages, and the headers of whoever comes by.
import http from 'node:http';

/** `{port, seen, close}`; every page of it is empty, what it sets as cookies is asked for by its address. */
export async function listen() {
  const seen = [];
  const server = http.createServer((asked, answer) => {
    seen.push({ url: asked.url, cookie: asked.headers.cookie ?? '', referer: asked.headers.referer ?? '' });
    const url = new URL(asked.url, 'http://other');
    const headers = { 'content-type': 'text/html' };
    const toss = url.searchParams.get('toss');
    if (toss) headers['set-cookie'] = [`${toss}=${'0'.repeat(64)}; Path=/`, `${toss}=${'1'.repeat(64)}; Path=/asks`];
    const to = url.searchParams.get('to');
    if (to) {
      answer.writeHead(Number(url.searchParams.get('status') ?? 302), { location: to });
      answer.end();
      return;
    }
    answer.writeHead(200, headers);
    answer.end('<!doctype html><title>another</title><p>a hostile page');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { port: server.address().port, seen, close: () => server.close() };
}
