// X: what it counts, threads with pictures, and that no part is out twice, whatever breaks and whoever is killed.
import { figure, holds } from '../page/told.mjs';
import { Between, house, installed, killed, picture, posted } from './house.mjs';
import { KEYS, X } from './x_like.mjs';

const { parseTweet } = installed('twitter-text');
const OFTEN = 'auth = { kind = "oauth1", key_env = "X_API_KEY", secret_env = "X_API_SECRET", token_env = "X_ACCESS_TOKEN", token_secret_env = "X_ACCESS_TOKEN_SECRET" }';
const settings = (url, rule) =>
  `taint = "allow"\n[services.x]\nbase_url = "${url}"\nallow_private = true\n${OFTEN}\nrules = [{ method = "POST", path = "/2/tweets", do = "${rule}" }, { method = "*", path = "/**", do = "ask" }]\n`;

const TEXTS = [
  'plain words', 'grüße, Жук, ελιά', '日本語のテキスト', '한국어', 'cafe\u0301', '👾', '🙋🏽', '👨‍🎤', '👨‍👩‍👧‍👦', '❤️ ☺ ☺️ ©️ ©', '🇩🇪🇫🇷', '1️⃣ #️⃣', '…—–‘’“”', 'नमस्ते', 'می‌خواهم', 'ไทย',
  'https://example.com', 'see https://example.com/very/long/path/that/goes/on?q=1#top, and http://a.example.org.', '(https://en.wikipedia.org/wiki/Heron_(bird))',
  'example.com and www.example.co.uk/x too', 'me@example.com', '@ann #tag $TAG', 'https://localhost/x', '日本https://example.com日本', 'https://example.com/日本', 'v1.2, 3.14, e.g. and i.e.', 'a.b c.d',
];

/** The weights of texts, as the broker says them in refusing what is too long. */
async function counts() {
  const broker = await house(settings('http://127.0.0.1:9', 'draft'), KEYS);
  try {
    const words = ['heron', 'Grüße', 'cafe\u0301', '日本語', '한국', '👾', '❤️', '🙋🏽', '👨‍🎤', '1️⃣', '🇩🇪', '3.14', 'e.g.', '#tag', '@ann', 'me@example.com', 'example.com', 'https://example.org/a_(b)?c=d#e'];
    const [before, after] = [['', '', '', '(', '"', '„', '日', '👾'], ['', '', '', '.', ',', ')', '!', '…', '"', '?!', '日', '👾']];
    let seed = 7;
    const of = (list) => list[(seed = (seed * 48_271) % 2_147_483_647) % list.length];
    const random = Array.from({ length: 500 }, () => Array.from({ length: 8 }, () => of(before) + of(words) + of(after)).join(' '));
    let apart = [];
    for (const text of [...TEXTS, ...random].map((text) => `${text.trim()} ${'x'.repeat(300)}`)) {
      const said = await broker.post('x', [text]);
      const ours = Number(said.error?.match(/counts (\d+)/)?.[1]);
      const theirs = parseTweet(text.trim()).weightedLength;
      if (ours !== theirs) apart.push([text.slice(0, -301), ours, theirs]);
    }
    const named = apart.filter(([text]) => TEXTS.includes(text));
    holds(named.length === 0, 'texts count as twitter-text counts them', JSON.stringify(named));
    figure('random texts that count otherwise than by twitter-text', apart.length - named.length, 'of 500', 0);
    if (apart.length) console.log(`   apart: ${JSON.stringify(apart.slice(0, 8))}`);
  } finally {
    await broker.end();
  }
}

async function threads(x) {
  const broker = await house(settings(x.url, 'allow'), KEYS);
  try {
    const [first] = posted(await broker.post('x', ['A post to answer']));
    const parts = [
      'One, which quotes', { text: 'Two, with two pictures', pictures: [picture('a.png', 100, 'a dot'), picture('b.png', 3_000_000, 'Große Reiher 🪶')] },
      { text: 'Three moves', pictures: [{ name: 'c.gif', alt: '', data: Buffer.from('GIF89a and more').toString('base64') }] },
    ];
    const said = await broker.post('x', parts, { in_reply_to: first, quote: first });
    const ids = posted(said);
    const got = ids.map?.((id) => x.posts.find((post) => post.id === id)) ?? [];
    holds(got.length === 3 && got[0].reply === first && got[1].reply === ids[0] && got[2].reply === ids[1], 'a thread answers itself part by part', JSON.stringify(said));
    holds(got[0]?.quote === first && got[1]?.quote === undefined, 'its first part quotes');
    const [small, large] = got[1]?.media ?? [];
    holds(small?.alt === 'a dot' && large?.alt === 'Große Reiher 🪶' && large.bytes.equals(Buffer.from(parts[1].pictures[1].data, 'base64')), 'its pictures are there, byte for byte, with their words');
    holds(large?.pieces.length === 3 && got[2]?.media[0]?.looks === 2, 'a large one in pieces, a moving one once it is made');
    x.faults.push(undefined, '429');
    const broke = await broker.post('x', ['Broken one', 'Broken two', 'Broken three']);
    holds(broke.error?.includes('part 2 of 3 is not out: it answered 429'), 'a limit in the middle is told', JSON.stringify(broke));
    const on = posted(await broker.post('x', ['Broken one', 'Broken two', 'Broken three']));
    holds(on.length === 3 && x.posts.filter((post) => post.text.startsWith('Broken')).length === 3, 'and the thread goes on from there', JSON.stringify(on));
    for (const fault of ['lost', 'cut']) {
      x.faults.push(undefined, fault);
      const texts = [`${fault} one`, `${fault} two`, `${fault} three`];
      const unsure = await broker.post('x', texts);
      holds(unsure.unsure === true && unsure.error.includes('part 2 of 3 may be out'), `${fault}: what nobody knows is told`, JSON.stringify(unsure));
      const asked = await broker.post('x', texts);
      holds(asked.asked !== undefined, `${fault}: the same again is the owner's to say`, JSON.stringify(asked));
      const failed = await broker.answer(asked.asked, 'approve');
      holds(failed.result.includes('duplicate') && x.posts.filter((post) => post.text === texts[1]).length === 1, `${fault}: X itself says that it is out`, failed.result);
    }
  } finally {
    await broker.end();
  }
}

async function kills(x) {
  const between = await Between.start(x.url);
  x.signed = between.url;
  const broker = await house(settings(between.url, 'allow'), KEYS);
  try {
    const times = await killed(broker, between, (name) => {
      const parts = [{ text: `kill ${name} a`, pictures: [picture('k.png', 80, 'k')] }, `kill ${name} b`];
      return {
        first: () => broker.post('x', parts),
        again: async (fell) => {
          const said = await broker.post('x', parts);
          const out = parts.map((part, at) => x.posts.filter((post) => post.text === (at ? part : part.text)).length);
          holds(out.every((count) => count <= 1), `killed at ${name}: no part is out twice`, JSON.stringify(out));
          holds(said.ok || said.asked !== undefined, `killed at ${name}: it goes on, or is the owner's to say`, JSON.stringify(said));
          holds(fell || said.ok, `${name}: whole where nothing fell`, JSON.stringify(said));
        },
      };
    });
    figure('calls at each of which the broker was killed, before and after', times, 'calls');
  } finally {
    between.end();
    await broker.end();
  }
}

export async function x() {
  await counts();
  const server = await X.start();
  try {
    await threads(server);
    await kills(server);
  } finally {
    server.end();
  }
}
