// Bluesky's own servers: sessions, threads with pictures, marks, limits, what others say, and that no part is out twice.
import { pathToFileURL } from 'node:url';
import { figure, holds, until } from '../page/told.mjs';
import { Between, house, installed, killed, picture, posted } from './house.mjs';

const load = (name) => import(pathToFileURL(installed.resolve(name)).href);
const whole = Boolean(process.env.DB_POSTGRES_URL && process.env.REDIS_HOST);
const RULES = ['GET /xrpc/** allow', 'POST /xrpc/app.bsky.feed.post allow', '* /** ask'].map((line) => {
  const [method, path, verdict] = line.split(' ');
  return `{ method = "${method}", path = "${path}", do = "${verdict}" }`;
});
const AUTH = '{ kind = "atproto", handle_env = "BLUESKY_HANDLE", password_env = "BLUESKY_APP_PASSWORD" }';
/** The service that the keys alone make has ten posts an hour; this one has no such bound. */
const settings = (url) =>
  `taint = "allow"\n[services.bluesky]\nbase_url = "${url}"\nallow_private = true\nauth = ${AUTH}\nrules = [${RULES.join(', ')}]\n`;

class Network {
  static async start() {
    const { TestNetwork, TestNetworkNoAppView } = await load('@atproto/dev-env');
    const network = new Network();
    const schema = `s${[...String(Date.now())].map((digit) => 'abcdefghij'[digit]).join('')}`;
    network.all = await (whole ? TestNetwork.create({ dbPostgresSchema: schema }) : TestNetworkNoAppView.create({}));
    network.url = network.all.pds.url;
    network.people = {};
    for (const name of ['creature', 'alice']) {
      const account = { email: `${name}@example.test`, handle: `${name}.test`, password: 'secret-of-it' };
      network.people[name] = await network.call('com.atproto.server.createAccount', account);
    }
    const made = await network.call('com.atproto.server.createAppPassword', { name: 'feral' }, 'creature');
    network.env = { BLUESKY_HANDLE: 'creature.test', BLUESKY_APP_PASSWORD: made.password };
    return network;
  }

  async call(method, body, who = undefined) {
    const headers = { 'content-type': 'application/json' };
    if (who) headers.authorization = `Bearer ${this.people[who].accessJwt}`;
    const answer = await fetch(`${this.url}/xrpc/${method}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${method}: ${answer.status} ${JSON.stringify(said)}`);
    return said;
  }

  /** The account's posts, as the server has them. */
  async posts(who = 'creature') {
    const all = [];
    for (let cursor = ''; cursor !== undefined; ) {
      const query = `repo=${this.people[who].did}&collection=app.bsky.feed.post&limit=100${cursor && `&cursor=${cursor}`}`;
      const page = await (await fetch(`${this.url}/xrpc/com.atproto.repo.listRecords?${query}`)).json();
      all.push(...page.records);
      cursor = page.records.length ? page.cursor : undefined;
    }
    return all;
  }

  say(who, text, more = {}) {
    const record = { $type: 'app.bsky.feed.post', text, createdAt: new Date().toISOString(), ...more };
    return this.call('com.atproto.repo.createRecord', { repo: this.people[who].did, collection: 'app.bsky.feed.post', record }, who);
  }
}

const MARKED = [
  'plain', '@alice.test hi', 'é 日本 👨‍👩‍👧‍👦 (@alice.test) and @nobody.test', 'https://example.org/a?b=c#d. (https://example.org/(x)) http://a.example',
  'example.com/x and so on, me@example.com', '#tag #Vögel! #1 #2a ＃全 a#b', '#a.b, (#no) @alice.test: #x',
];

async function threads(network, broker) {
  const alices = await network.say('alice', 'What stands there?');
  const parts = [
    { text: 'Seven herons, @alice.test', pictures: [picture('a.png', 100, 'a dot'), picture('b.png', 1_900_000, 'Große Reiher')] }, 'Two 👨‍👩‍👧‍👦', 'Three',
  ];
  const said = await broker.post('bluesky', parts, { in_reply_to: alices.uri, quote: alices.uri });
  const ids = posted(said);
  const all = await network.posts();
  const [first, second, third] = (ids.map?.((id) => all.find((post) => post.uri === id)) ?? []).map((post) => post?.value);
  holds(first && second && third, 'a thread of three is out', JSON.stringify(said));
  const named = ({ uri, cid }) => JSON.stringify({ uri, cid });
  const refs = [first, second, third].map((one) => [one?.reply?.root, one?.reply?.parent].map((ref) => ref?.uri));
  holds(JSON.stringify(refs) === JSON.stringify([[alices.uri, alices.uri], [alices.uri, ids[0]], [alices.uri, ids[1]]]), 'each answers the one before, under the root', JSON.stringify(refs));
  holds(named(first?.embed?.record?.record ?? {}) === named(alices), 'it quotes', JSON.stringify(first?.embed));
  const images = first?.embed?.media?.images ?? [];
  holds(images.map((image) => image.alt).join() === 'a dot,Große Reiher' && images[1].image.size === 1_900_000, 'its pictures are there with their words', JSON.stringify(images));
  const again = posted(await broker.post('bluesky', parts, { in_reply_to: alices.uri, quote: alices.uri }));
  holds(JSON.stringify(again) === JSON.stringify(ids) && (await network.posts()).length === all.length, 'the same again is the same');
  const { RichText } = await load('@atproto/api');
  for (const text of MARKED) {
    const [id] = posted(await broker.post('bluesky', [text]));
    const rich = new RichText({ text });
    await rich.detectFacets({ com: { atproto: { identity: { resolveHandle: (query) => network.resolved(query.handle) } } } });
    const plain = (facets = []) =>
      JSON.stringify(facets.map(({ index, features: [one] }) => [index.byteStart, index.byteEnd, one.uri ?? one.did ?? one.tag]).sort((a, b) => a[0] - b[0]));
    const ours = (await network.posts()).find((post) => post.uri === id)?.value.facets;
    // Its client marks a handle that is nobody's for an account without a name.
    const theirs = rich.facets?.filter(({ features: [one] }) => one.did !== '');
    holds(plain(ours) === plain(theirs), `marked as Bluesky's own client marks: ${text}`, `${plain(ours)} and not ${plain(theirs)}`);
  }
  for (const [text, fits] of [['x'.repeat(300), true], ['x'.repeat(301), false], ['👨‍👩‍👧‍👦'.repeat(120), true], ['👨‍👩‍👧‍👦'.repeat(121), false]]) {
    const ours = await broker.post('bluesky', [text]);
    const theirs = await network.say('alice', text).then(() => true, () => false);
    holds(Boolean(ours.ok) === fits && theirs === fits, `${[...text].length} signs fit: ${fits}`, JSON.stringify(ours));
  }
  const doomed = posted(await broker.post('bluesky', ['To be deleted']))[0];
  const body = { repo: 'creature.test', collection: 'app.bsky.feed.post', rkey: doomed.split('/').at(-1) };
  const asked = await broker.ask('/service', { service: 'bluesky', method: 'POST', path: '/xrpc/com.atproto.repo.deleteRecord', body });
  await broker.answer(asked.asked, 'approve');
  holds(!(await network.posts()).some((post) => post.uri === doomed), 'a post of its own is deleted by the owner\'s yes', JSON.stringify(asked));
}

async function sessions(network, between, broker) {
  const made = () => between.paths.filter((path) => path.endsWith('Session')).map((path) => path.split('.').at(-1));
  between.forget();
  await broker.stop();
  await broker.open();
  const me = await broker.get('bluesky', '/xrpc/com.atproto.repo.listRecords?repo=creature.test&collection=app.bsky.feed.post');
  holds(Array.isArray(me.records) && made().length === 0, 'a session outlives the broker', `${made()} ${JSON.stringify(me).slice(0, 200)}`);
  const secret = Object.values(network.env)[1];
  const kept = ['.self/ledger.jsonl', '.self/broker/oauth2-bluesky.json'].map((name) => broker.text(name)).join('');
  holds(kept.length > 0 && !kept.includes(secret) && !/eyJ\w{20}/.test(kept), 'neither password nor token stands in ledger or session');
  // As after two hours: the server takes the access token no more, the refresh token still.
  let stale = 1;
  between.refuses = (path) => !path.endsWith('Session') && stale-- > 0;
  const renewed = await broker.get('bluesky', '/xrpc/com.atproto.repo.listRecords?repo=creature.test&collection=app.bsky.feed.post');
  between.refuses = undefined;
  holds(Array.isArray(renewed.records) && made().join() === 'refreshSession', 'an expired token is renewed without a body', `${made()} ${JSON.stringify(renewed).slice(0, 300)}`);
}

async function heard(network, broker) {
  const [id] = posted(await broker.post('bluesky', ['Ask me about herons']));
  const mine = (await network.posts()).find((post) => post.uri === id);
  const ref = { uri: mine.uri, cid: mine.cid };
  const facets = [{ index: { byteStart: 0, byteEnd: 14 }, features: [{ $type: 'app.bsky.richtext.facet#mention', did: network.people.creature.did }] }];
  const mention = await network.say('alice', '@creature.test how many?', { facets });
  await network.say('alice', 'And when?', { reply: { root: ref, parent: ref } });
  await network.all.processAll();
  const told = await broker.get('bluesky', '/xrpc/app.bsky.notification.listNotifications?reasons=mention&reasons=reply&reasons=quote&limit=100');
  const words = told.notifications?.map((one) => `${one.reason} ${one.record.text}`) ?? [];
  holds(words.includes('mention @creature.test how many?') && words.includes('reply And when?'), 'mentions and answers are heard', JSON.stringify(told).slice(0, 400));
  const found = await broker.get('bluesky', '/xrpc/app.bsky.feed.searchPosts?q=herons&sort=latest&limit=10');
  holds(found.posts?.some((post) => post.uri === id), 'a search finds it', JSON.stringify(found).slice(0, 300));
  const answer = posted(await broker.post('bluesky', ['Seven.'], { in_reply_to: mention.uri }));
  await network.all.processAll();
  const thread = await broker.get('bluesky', `/xrpc/app.bsky.feed.getPostThread?uri=${encodeURIComponent(mention.uri)}`);
  holds(thread.thread?.replies?.[0]?.post.uri === answer[0], 'a mention is answered, and the thread shows it', JSON.stringify(thread).slice(0, 300));
  const timeline = await broker.get('bluesky', '/xrpc/app.bsky.feed.getTimeline?limit=10');
  holds(timeline.feed?.length > 0, 'its timeline is read', JSON.stringify(timeline).slice(0, 300));
}

async function kills(network, between, broker) {
  const times = await killed(broker, between, (name) => {
    const parts = [{ text: `kill ${name} a @alice.test`, pictures: [picture('k.png', 80, 'k')] }, `kill ${name} b`];
    return {
      first: () => broker.post('bluesky', parts),
      again: async () => {
        const said = await broker.post('bluesky', parts);
        const all = await network.posts();
        const out = parts.map((part) => all.filter((post) => post.value.text === (part.text ?? part)).length);
        holds(said.ok && out.every((count) => count === 1), `killed at ${name}: each part is out exactly once`, `${out} ${JSON.stringify(said)}`);
      },
    };
  });
  figure('calls at each of which the broker was killed, before and after', times, 'calls');
}

export async function bluesky() {
  const begun = Date.now();
  const network = await Network.start();
  figure(`Bluesky's servers are up${whole ? ', all of them' : ' (without DB_POSTGRES_URL and REDIS_HOST no AppView: nothing is heard)'}`, (Date.now() - begun) / 1000, 's');
  network.resolved = async (handle) => {
    const found = Object.values(network.people).find((one) => one.handle === handle);
    if (!found) throw new Error('Unable to resolve handle');
    return { data: { did: found.did }, did: found.did };
  };
  const between = await Between.start(network.url);
  const broker = await house(settings(between.url), network.env);
  try {
    await threads(network, broker);
    await sessions(network, between, broker);
    if (whole) await heard(network, broker);
    await kills(network, between, broker);
  } finally {
    between.end();
    await broker.end();
    await network.all.close();
  }
}
