// Matrix before Synapse: rooms, words, gaps, keys, presses, files, limits, cuts and kills, counted by ids.
import { figure, holds, rest, tried, until } from '../page/told.mjs';
import { Alone } from './alone.mjs';
import { Home } from './house.mjs';
import { idle } from './idle.mjs';
import { Cable, Synapse, missing } from './synapse.mjs';

const ENCRYPTED = [{ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }];
const key = (nth) => nth.toString(16).padStart(32, '0');

/** A channel of an account; `keys` as its program takes them. */
function open(feral, keys = {}) {
  return Alone.start('matrix', { url: feral.url, ...keys }, { MATRIX_ACCESS_TOKEN: feral.token });
}

const cursor = (alone) => JSON.stringify(alone.all('cursor').at(-1).cursor);
const begun = (alone) => until('where it begins', () => alone.all('cursor').length);
const heard = (alone, text) => until(`the word ${text}`, () => alone.all('heard').find(({ heard: what }) => what.word?.text === text));

async function joined(person, room, id) {
  return until('who comes in', async () => (await person.members(room)).includes(id));
}

async function rooms({ feral, anna, eve }) {
  const alone = open(feral, { owner: anna.id });
  await begun(alone);
  const hers = await eve.room({ invite: [feral.id], is_direct: true });
  const room = await anna.room({ invite: [feral.id], is_direct: true });
  await joined(anna, room, feral.id);
  await anna.say(room, 'hello');
  const word = await heard(alone, 'hello');
  holds(word.from === anna.id && word.chat === room && word.private && !word.bot, 'the owner is followed into her room', JSON.stringify(word));
  holds(!(await eve.members(hers)).includes(feral.id), 'nobody else is');
  await alone.does('welcome', { owner: anna.id, open: true });
  await joined(eve, hers, feral.id);
  holds(true, 'while a code is open, an invitation that stood is followed');
  const hall = await eve.room({ preset: 'public_chat', invite: [feral.id] });
  await anna.say(room, 'after the hall');
  await heard(alone, 'after the hall');
  holds(!(await eve.members(hall)).includes(feral.id), 'but into no public room');
  const three = await anna.room({ invite: [feral.id, eve.id] });
  await joined(anna, three, feral.id);
  await eve.ask('POST', `v3/join/${encodeURIComponent(three)}`, {});
  await anna.say(three, 'in company', { 'm.mentions': { user_ids: [feral.id] } });
  const among = await heard(alone, 'in company');
  holds(!among.private && among.heard.word.addressed, 'a room of three is not private, and a mention addresses', JSON.stringify(among));
  await alone.kill();
  return room;
}

async function talk({ feral, anna }, room) {
  const alone = open(feral, { owner: anna.id });
  await begun(alone);
  const first = await anna.say(room, 'May I?');
  await heard(alone, 'May I?');
  await anna.say(room, '* May I please?', { 'm.new_content': { msgtype: 'm.text', body: 'May I please?' }, 'm.relates_to': { rel_type: 'm.replace', event_id: first } });
  await until('an edit', () => alone.all('heard').find(({ heard: { edited } }) => edited?.message === first && edited.text === 'May I please?'));
  await anna.ask('PUT', `v3/rooms/${encodeURIComponent(room)}/redact/${encodeURIComponent(first)}/r1`, {});
  await until('a deletion', () => alone.all('heard').find(({ heard: { deleted } }) => deleted === first));
  await anna.event(room, 'm.room.message', { msgtype: 'm.notice', body: 'a program' });
  const notice = await heard(alone, 'a program');
  holds(notice.bot, 'a notice is a program\'s');
  await anna.say(room, 'in a thread', { 'm.relates_to': { rel_type: 'm.thread', event_id: notice.id } });
  const threaded = await heard(alone, 'in a thread');
  holds(threaded.thread === notice.id, 'a thread is a chat of its own', JSON.stringify(threaded));
  for (const odd of ['\u202egnp.exe\u202c', '👍🏽👨‍👩‍👧‍👦'.repeat(50), 'x'.repeat(60_000)]) {
    await anna.say(room, odd);
    await heard(alone, odd);
  }
  holds(true, 'edits, deletions, odd and long texts are heard as they are');

  const answered = await alone.does('send', { chat: room, thread: notice.id, text: '<p>Yes &amp; <b>no</b></p>', key: key(1) });
  const [event] = await anna.newest(room, 1);
  holds(event.event_id === answered.message && event.content.body === 'Yes & no' && event.content.formatted_body === '<p>Yes &amp; <b>no</b></p>', 'an answer in HTML and plain', JSON.stringify(event));
  holds(event.content['m.relates_to'].rel_type === 'm.thread' && event.content['m.relates_to'].event_id === notice.id, 'in its thread');
  const again = await alone.does('send', { chat: room, thread: notice.id, text: '<p>Yes &amp; <b>no</b></p>', key: key(1) });
  holds(again.message === answered.message, 'the same key is the same event', JSON.stringify(again));
  for (const text of ['x'.repeat(15_000), '"'.repeat(15_000), '😀'.repeat(3_750), '&lt;'.repeat(3_750)]) {
    const sent = await alone.does('send', { chat: room, text, key: key(100 + text.charCodeAt(0)) });
    const edited = await alone.does('edit', { chat: room, message: sent.message, text, key: key(200 + text.charCodeAt(0)) });
    holds(sent.message && edited.done === 'edit', `the longest text of ${text.slice(0, 4)} is taken, and its edit`, JSON.stringify([sent, edited]).slice(0, 300));
  }
  const nowhere = await alone.does('send', { chat: '!nowhere:trial.test', text: 'x', key: key(3) });
  holds(/^Refused\(.*M_FORBIDDEN/.test(nowhere.trouble), 'a room that it is not in refuses', JSON.stringify(nowhere));
  await alone.does('typing', { chat: room });
  const filter = encodeURIComponent(JSON.stringify({ room: { ephemeral: { types: ['m.typing'] }, rooms: [room] } }));
  const synced = await anna.ask('GET', `v3/sync?timeout=0&filter=${filter}`);
  const typing = synced.rooms.join[room].ephemeral.events.flatMap(({ content }) => content.user_ids);
  holds(typing.includes(feral.id), 'a typing sign is seen', JSON.stringify(typing));
  await alone.kill();
}

async function presses({ feral, anna }, room) {
  const alone = open(feral, { owner: anna.id });
  await begun(alone);
  const buttons = [{ label: 'Yes', data: 'yes-4711' }, { label: 'No', data: 'no-4712' }];
  const asked = await alone.does('send', { chat: room, text: 'May I pay?', buttons, key: key(10) });
  const shown = await anna.newest(room, 3);
  const signs = shown.filter(({ type }) => type === 'm.reaction').map(({ content }) => content['m.relates_to'].key);
  holds(signs.length === 2, 'a button is one touch: its sign stands below', JSON.stringify(signs));
  const react = (sign) => anna.event(room, 'm.reaction', { 'm.relates_to': { rel_type: 'm.annotation', event_id: asked.message, key: sign } });
  await react('2\u20e3');
  const pressed = await until('a press', () => alone.all('heard').find(({ heard: { press } }) => press));
  holds(pressed.heard.press.data === 'no-4712' && pressed.heard.press.message === asked.message && pressed.from === anna.id, 'a reaction presses its button', JSON.stringify(pressed));
  await react('👍');
  await alone.does('edit', { chat: room, message: asked.message, text: 'Done.', key: key(11) });
  await react('1\ufe0f\u20e3');
  await anna.say(room, 'after the presses');
  await heard(alone, 'after the presses');
  const count = alone.all('heard').filter(({ heard: { press } }) => press).length;
  holds(count === 1, 'other reactions do nothing, nor does one after the buttons are gone', count);
  await alone.kill();
}

async function files({ feral, anna }, room) {
  const alone = open(feral, { owner: anna.id });
  await begun(alone);
  const media = await fetch(`${anna.url}/_matrix/media/v3/upload`, { method: 'POST', headers: { authorization: `Bearer ${anna.token}` }, body: 'herons '.repeat(1_000) });
  const { content_uri: url } = await media.json();
  await anna.event(room, 'm.room.message', { msgtype: 'm.file', body: '../../x', filename: '../../x', url, info: { size: 7_000 } });
  const sent = await until('a file', () => alone.all('heard').find(({ heard: { word } }) => word?.files.length));
  const [file] = sent.heard.word.files;
  holds(file.bytes === 7_000, 'a file is named with its size', JSON.stringify(file));
  const read = await alone.does('fetch', { place: file.place, most: 7_000 });
  holds(read.bytes === 7_000 && read.text.startsWith('herons'), 'it is read over the authenticated path', JSON.stringify(read).slice(0, 200));
  const much = await alone.does('fetch', { place: file.place, most: 6_999 });
  holds(/^Refused/.test(much.trouble), 'but not beyond its bound', JSON.stringify(much));
  const out = await alone.does('send', { chat: room, text: 'a caption', file: 'notes.txt', bytes: 'the herons nest', key: key(20) });
  const [event] = await anna.newest(room, 1);
  holds(event.event_id === out.message && event.content.filename === 'notes.txt' && event.content.body === 'a caption', 'a file goes out with its caption', JSON.stringify(event));
  const [server, id] = event.content.url.slice('mxc://'.length).split('/');
  const stored = await fetch(`${anna.url}/_matrix/client/v1/media/download/${server}/${id}`, { headers: { authorization: `Bearer ${anna.token}` } });
  holds((await stored.text()) === 'the herons nest', 'byte for byte');
  const large = await alone.does('send', { chat: room, text: '', file: 'large.bin', bytes: 'x'.repeat(1_100_000), key: key(21) });
  holds(/^Refused\(.*M_TOO_LARGE/.test(large.trouble), 'what the homeserver finds too large is refused', JSON.stringify(large));
  await alone.kill();
}

async function encrypted({ feral, anna }) {
  const alone = open(feral, { owner: anna.id });
  await begun(alone);
  const room = await anna.room({ invite: [feral.id], is_direct: true, initial_state: ENCRYPTED });
  await joined(anna, room, feral.id);
  const told = await until('what cannot be read', () => alone.all('heard').find((one) => one.chat === room && one.heard.unread));
  holds(/encrypted/.test(told.heard.unread) && told.from === anna.id && told.thread === null, 'an encrypted room is told of as it is entered', JSON.stringify(told));
  await anna.event(room, 'm.room.encrypted', { algorithm: 'm.megolm.v1.aes-sha2', ciphertext: 'x', session_id: 'x' });
  await until('another', () => alone.all('heard').filter((one) => one.chat === room && one.heard.unread).length === 2);
  const sent = await alone.does('send', { chat: room, text: told.heard.unread, plain: true, key: key(30) });
  holds(sent.message, 'and can be answered', JSON.stringify(sent));
  await alone.kill();
}

/** Words while nobody listens, a channel that is killed at random, a homeserver that restarts, a wire that is cut. */
async function promises({ synapse, feral, anna }, room, count) {
  let alone = open(feral, { owner: anna.id });
  await begun(alone);
  let after = cursor(alone);
  await alone.kill();
  const words = Array.from({ length: count }, (_, nth) => `word ${nth}`);
  for (let at = 0; at < count; at += 20) {
    // Twenty on their way at once keep no order: each is told by its number.
    for (const text of words.slice(at, at + 20)) await anna.say(room, text);
  }
  const all = [];
  const take = (from) => all.push(...from.all('heard').filter(({ heard: { word } }) => word?.text.startsWith('word ')));
  let kills = 0;
  const since = Date.now();
  const cable = await Cable.start(synapse.port);
  const url = `http://127.0.0.1:${cable.port}`;
  while (new Set(all.map(({ id }) => id)).size < count) {
    alone = open({ ...feral, url }, { owner: anna.id, after });
    const batches = 1 + (kills % 3);
    await until('some of them', () => alone.all('cursor').length >= batches || alone.words().at(-1) === words.at(-1));
    if (kills % 2) cable.cut();
    await alone.kill();
    kills += 1;
    // What came after the last cursor comes once more, with the same id.
    take(alone);
    if (alone.all('cursor').length) after = cursor(alone);
  }
  figure(`${count} words caught up, with ${kills} kills`, (Date.now() - since) / 1_000, 's');
  const once = [...new Map(all.map((one) => [one.id, one.heard.word.text])).values()];
  holds(once.length === count && once.join() === words.join(), 'each was heard once by its id, in order', `${once.length} ${once.find((text, at) => text !== words[at])}`);

  alone = open({ ...feral, url }, { owner: anna.id, after });
  await until('its name', () => alone.all('known').length);
  cable.cut();
  await anna.say(room, 'after a cut');
  await heard(alone, 'after a cut');
  cable.cut(true);
  await anna.say(room, 'while it was cut');
  await until('a trouble', () => alone.all('trouble').length);
  const lost = await alone.does('send', { chat: room, text: 'x', key: key(40) });
  holds(/^Away/.test(lost.trouble), 'without a wire a send is away', JSON.stringify(lost));
  cable.mend();
  await heard(alone, 'while it was cut');
  holds(alone.all('trouble').every(({ trouble }) => /^Away/.test(trouble)), 'a cut wire is told as away', JSON.stringify(alone.all('trouble').at(-1)));
  await synapse.kill();
  await until('a trouble', async () => /^Away/.test((await alone.does('typing', { chat: room })).trouble));
  await synapse.run('{per_second: 1, burst_count: 3}');
  await anna.say(room, 'after a restart');
  await heard(alone, 'after a restart');
  holds(true, 'a cut wire and a homeserver that restarts lose nothing');
  cable.end();
  await alone.kill();
}

async function limits({ synapse, feral, anna }, room) {
  const alone = open(feral, { owner: anna.id });
  await begun(alone);
  let slower;
  for (let nth = 0; nth < 10 && !slower; nth += 1) {
    const sent = await alone.does('send', { chat: room, text: `fast ${nth}`, key: key(50 + nth) });
    if (sent.trouble) slower = sent.trouble;
  }
  const [, seconds, unit] = slower?.match(/^Slower\(([\d.]+)(m?s)\)/) ?? [];
  const pause = Number(seconds) * (unit === 'ms' ? 1 : 1_000);
  holds(pause > 0 && pause <= 5_000, 'too fast is told, with the homeserver\'s own pause', slower);
  await rest(pause + 50);
  const sent = await alone.does('send', { chat: room, text: 'fast enough', key: key(70) });
  holds(sent.message, 'after which it is taken', JSON.stringify(sent));
  await synapse.kill();
  await synapse.run();
  await idle('matrix', alone.child.pid);
  await feral.ask('POST', 'v3/logout', {});
  await until('the end of the token', () => alone.all('trouble').find(({ trouble }) => /^Revoked/.test(trouble)));
  const refused = await alone.does('send', { chat: room, text: 'x', key: key(71) });
  holds(/^Revoked/.test(refused.trouble), 'a token that counts no more is told', JSON.stringify(refused));
  await alone.kill();
}

/** A whole house: paired by a code in a room it was invited to, spoken with, asked by it, killed; strangers beside. */
async function housed({ synapse, anna, eve }) {
  const herald = await synapse.account('herald');
  const home = await Home.start('matrix', { url: synapse.url }, { MATRIX_ACCESS_TOKEN: herald.token });
  try {
    const hers = await eve.room({ invite: [herald.id], is_direct: true });
    const room = await anna.room({ invite: [herald.id], is_direct: true });
    const code = home.code();
    await joined(anna, room, herald.id);
    const newest = async (where, part) => (await anna.newest(where, 20)).find(({ sender, content }) => sender === herald.id && content.body?.includes(part));
    await anna.say(room, code);
    await until('the pairing', () => home.knows(anna.id));
    await anna.say(room, 'hello from a room');
    const word = await home.word('hello from a room');
    holds(word.id.startsWith('matrix:$') && /^matrix-[0-9a-f]{16}$/.test(word.thread), 'a paired owner is heard', JSON.stringify(word));
    home.answers(word.thread, '**Twelve** herons.');
    const told = await until('the answer', () => newest(room, 'Twelve herons.'));
    holds(told.content.formatted_body?.includes('<strong>Twelve</strong>'), 'an answer comes to her room', JSON.stringify(told.content));
    const ledger = home.lines('.self/ledger.jsonl').filter(({ event }) => event === 'channel');
    holds(ledger.length > 0, 'each message is a line of the ledger', ledger.length);

    const digest = home.asks('12', '{"text":"hello"}');
    const asked = await until('the question', async () => (await anna.newest(room, 30)).find(({ content }) => content['io.github.feral.buttons']?.length));
    const nth = asked.content['io.github.feral.buttons'].findIndex(({ label }) => label === 'Yes') + 1;
    const press = (by) => by.event(room, 'm.reaction', { 'm.relates_to': { rel_type: 'm.annotation', event_id: asked.event_id, key: `${nth}\ufe0f\u20e3` } });
    await press(anna);
    await until('her yes', () => home.lines('.self/broker/answers.jsonl').length);
    const [given] = home.lines('.self/broker/answers.jsonl');
    holds(given.answer === 'approve' && given.digest === digest && given.id === '12', 'a touch on its number is a yes for those bytes', JSON.stringify(given));
    await until('that she said so', async () => (await anna.newest(room, 30)).find(({ content }) => content['m.new_content']?.body.includes('You said yes')));

    await eve.say(hers, 'I am the owner');
    await joined(eve, hers, herald.id).catch(() => {});
    const closed = await anna.room({ invite: [herald.id], is_direct: true, initial_state: ENCRYPTED });
    await until('that it cannot read there', () => newest(closed, 'is encrypted'));
    await anna.event(closed, 'm.room.encrypted', { algorithm: 'm.megolm.v1.aes-sha2', ciphertext: 'x', session_id: 'x' });
    await home.kill();
    await anna.say(room, 'while it was killed');
    await home.serve();
    await home.word('while it was killed');
    const inbox = home.lines('.self/inbox.jsonl');
    holds(new Set(inbox.map(({ id }) => id)).size === inbox.length && inbox.every(({ id }) => id.startsWith('matrix:$')), 'each word is heard once', JSON.stringify(inbox.map(({ text }) => text)));
    holds(!JSON.stringify(inbox).includes('I am the owner') && !JSON.stringify(inbox).includes(code), 'neither a stranger nor the code reaches the mind');
    const about = (await anna.newest(closed, 20)).filter(({ sender, content }) => sender === herald.id && content.body?.includes('is encrypted'));
    holds(about.length === 1, 'of an encrypted room it says so once', about.length);
  } catch (error) {
    console.log(home.log.slice(-1_500));
    throw error;
  } finally {
    await home.end();
  }
}

export async function matrix({ is_full } = {}) {
  const why = missing();
  if (why) return console.log(`   skipped: ${why}`);
  const since = Date.now();
  const synapse = await Synapse.start();
  figure('Synapse stands after', (Date.now() - since) / 1_000, 's');
  try {
    const people = { synapse, feral: await synapse.account('feral'), anna: await synapse.account('anna'), eve: await synapse.account('eve') };
    const room = await tried('matrix, rooms', () => rooms(people));
    if (!room) return undefined;
    const parts = { talk, presses, files, encrypted, promises, housed, limits };
    for (const [what, run] of Object.entries(parts)) await tried(`matrix, ${what}`, () => run(people, room, is_full ? 10_000 : 1_000));
  } finally {
    await synapse.end();
  }
  return undefined;
}
