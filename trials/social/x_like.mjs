// X as it publishes itself: each rule names where. Its state is what a timeline would show.
import crypto from 'node:crypto';
import http from 'node:http';
import { installed } from './house.mjs';

const { parseTweet } = installed('twitter-text');
const ID = /^[0-9]{1,19}$/;

export const KEYS = { X_API_KEY: 'consumer-key-1', X_API_SECRET: 'consumer-secret-1', X_ACCESS_TOKEN: 'token-of-a-user-1', X_ACCESS_TOKEN_SECRET: 'token-secret-1' };

/** RFC 5849, 3.4: the signature over method, address and parameters; a JSON body is no part of it (3.4.1.3.1). */
function isSigned(request, base) {
  const header = request.headers.authorization ?? '';
  if (!header.startsWith('OAuth ')) return false;
  const fields = Object.fromEntries(
    header.slice(6).split(', ').map((pair) => pair.split('=', 2)).map(([name, value]) => [decodeURIComponent(name), decodeURIComponent(value.slice(1, -1))]),
  );
  const escape = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const url = new URL(request.url, base);
  const pairs = [...url.searchParams, ...Object.entries(fields).filter(([name]) => name !== 'oauth_signature')];
  const sorted = pairs.map(([name, value]) => `${escape(name)}=${escape(value)}`).sort().join('&');
  const text = [request.method, escape(`${base}${url.pathname}`), escape(sorted)].join('&');
  const key = `${escape(KEYS.X_API_SECRET)}&${escape(KEYS.X_ACCESS_TOKEN_SECRET)}`;
  const fits = crypto.createHmac('sha1', key).update(text).digest('base64') === fields.oauth_signature;
  return fits && fields.oauth_consumer_key === KEYS.X_API_KEY && fields.oauth_token === KEYS.X_ACCESS_TOKEN;
}

class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const need = (is, status, detail) => {
  if (!is) throw new Problem(status, detail);
};
/** OpenAPI, `additionalProperties: false`. */
const only = (body, names) => {
  const odd = Object.keys(body).find((name) => !names.includes(name));
  need(!odd, 400, `$.${odd}: is not defined in the schema and the schema does not allow additional properties`);
};

export class X {
  posts = [];
  media = new Map();
  /** What befalls the next creations: `429`, `lost` (made, and answered 503), `cut` (made, and never answered). */
  faults = [];
  next = 1_990_000_000_000_000_000n;

  static async start() {
    const x = new X();
    x.server = http.createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      try {
        // OpenAPI, `security` of each: UserToken is OAuth 1.0a.
        need(isSigned(request, x.signed), 401, 'Unauthorized');
        const text = Buffer.concat(chunks).toString();
        need(!text || request.headers['content-type'] === 'application/json', 415, 'content-type');
        const [status, body] = x.called(request.method, new URL(request.url, x.url), text ? JSON.parse(text) : undefined);
        if (status === 'cut') response.destroy();
        else answer(status, body);
      } catch (error) {
        answer(error.status ?? 500, { title: 'Problem', detail: String(error.message), status: error.status ?? 500, type: 'about:blank' });
      }
    });
    await new Promise((done) => x.server.listen(0, '127.0.0.1', done));
    x.url = x.signed = `http://127.0.0.1:${x.server.address().port}`;
    return x;
  }

  id() {
    this.next += 1n;
    return String(this.next);
  }

  called(method, url, body) {
    const at = `${method} ${url.pathname}`;
    const of = (pattern) => at.match(pattern)?.[1];
    if (at === 'POST /2/tweets') return this.create(body);
    if (at === 'POST /2/media/upload/initialize') return this.initialize(body);
    if (of(/^POST \/2\/media\/upload\/(\d+)\/append$/)) return this.append(of(/(\d+)\/append$/), body);
    if (of(/^POST \/2\/media\/upload\/(\d+)\/finalize$/)) return this.finalize(of(/(\d+)\/finalize$/), body);
    if (at === 'GET /2/media/upload') return this.status(url.searchParams);
    if (at === 'POST /2/media/metadata') return this.describe(body);
    if (of(/^DELETE \/2\/tweets\/(\d+)$/)) {
      this.posts = this.posts.filter((post) => post.id !== of(/(\d+)$/));
      return [200, { data: { deleted: true } }];
    }
    throw new Problem(404, 'Not Found');
  }

  /** OpenAPI, `CreatePostsRequest`; its length by "Counting characters", that is by twitter-text. */
  create(body) {
    only(body, ['text', 'reply', 'quote_tweet_id', 'media']);
    const { text = '', reply, quote_tweet_id: quote, media } = body;
    need(text || media, 400, 'text or media is needed');
    need(!text || parseTweet(text).valid, 403, 'Your Tweet text is too long.');
    for (const id of [quote, reply?.in_reply_to_tweet_id]) {
      need(id === undefined || (ID.test(id) && this.posts.some((post) => post.id === id)), 400, `there is no post ${id}`);
    }
    const ids = media?.media_ids ?? [];
    // As X's own playground answers.
    need(!media || !quote, 400, 'You can only provide one of poll or quote_tweet_id or direct_message_deep_link or media or card_uri.');
    need(!media || (ids.length >= 1 && ids.length <= 4), 400, 'media_ids: 1 to 4');
    need(ids.every((id) => this.media.get(id)?.ready), 400, 'Your media IDs are invalid.');
    need(!this.posts.some((post) => post.text === text), 403, 'You are not allowed to create a Tweet with duplicate content.');
    const fault = this.faults.shift();
    need(fault !== '429', 429, 'Too Many Requests');
    const post = { id: this.id(), text, reply: reply?.in_reply_to_tweet_id, quote, media: ids.map((id) => this.media.get(id)) };
    this.posts.push(post);
    if (fault === 'lost') return [503, { title: 'Service Unavailable' }];
    return fault === 'cut' ? ['cut'] : [201, { data: { id: post.id, text } }];
  }

  /** OpenAPI, `InitializeMediaUploadRequest`; bytes by "Media best practices". */
  initialize(body) {
    only(body, ['media_type', 'total_bytes', 'media_category', 'shared', 'additional_owners']);
    const kinds = { tweet_image: ['image/png', 'image/jpeg', 'image/webp'], tweet_gif: ['image/gif'] };
    need(kinds[body.media_category]?.includes(body.media_type), 400, 'media_category does not fit media_type');
    need(Number.isInteger(body.total_bytes) && body.total_bytes <= 5_000_000, 400, 'total_bytes');
    const id = this.id();
    this.media.set(id, { id, total: body.total_bytes, kind: body.media_type, pieces: [], looks: 0 });
    return [200, { data: { id, expires_after_secs: 86_400, media_key: `3_${id}` } }];
  }

  /** OpenAPI, `AppendMediaUploadRequest`. */
  append(id, body) {
    only(body, ['media', 'segment_index']);
    const media = this.media.get(id);
    need(media && !media.ready, 400, 'media id');
    need(body.segment_index === media.pieces.length && body.segment_index <= 999, 400, 'segment_index');
    media.pieces.push(Buffer.from(body.media, 'base64'));
    return [200, { data: { expires_at: 0 } }];
  }

  /** "Chunked media upload", step 3; a GIF is then made in the background (step 4). */
  finalize(id, body) {
    // OpenAPI: it has no `requestBody`.
    need(body === undefined, 400, 'a body');
    const media = this.media.get(id);
    need(media, 400, 'media id');
    media.bytes = Buffer.concat(media.pieces);
    need(media.bytes.length === media.total, 400, 'Segments do not add up to provided total file size.');
    media.ready = media.kind !== 'image/gif';
    const info = media.ready ? {} : { processing_info: { state: 'pending', check_after_secs: 1 } };
    return [200, { data: { id, size: media.total, ...info } }];
  }

  status(query) {
    const media = this.media.get(query.get('media_id'));
    need(media && query.get('command') === 'STATUS', 400, 'media id');
    media.looks += 1;
    media.ready = media.looks > 1;
    const state = media.ready ? 'succeeded' : 'in_progress';
    return [200, { data: { id: media.id, processing_info: { state, check_after_secs: 1 } } }];
  }

  /** OpenAPI, `CreateMediaMetadataRequest`. */
  describe(body) {
    only(body, ['id', 'metadata']);
    const media = this.media.get(body.id);
    need(media && body.metadata?.alt_text?.text?.length <= 1000, 400, 'alt_text');
    media.alt = body.metadata.alt_text.text;
    return [200, { data: { id: body.id } }];
  }

  end() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
