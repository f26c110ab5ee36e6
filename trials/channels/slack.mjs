// Slack before npm's emulate: its Web API, written by others. Socket Mode it has none: words come by the tests' own server.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { holds, rest, root, until } from '../page/told.mjs';
import { Alone } from './alone.mjs';
import { Faithful, free } from './servers.mjs';

const modules = path.join(root, 'target/channels/node_modules');
const ADA = 'xoxp-ada-of-the-trial';
const NARROW = 'xoxb-without-files';
const HELD = ['chat:write', 'im:history', 'app_mentions:read'];
const key = (nth) => nth.toString(16).padStart(32, '0');

/** A workspace with a person and a bot; scopes are held to. */
function seed(token) {
  const bot = { type: 'bot', user_id: 'U000000009', bot_id: 'B000000009', bot_user_id: 'U000000009', app_id: 'A000000009' };
  const app = { client_id: '1.2', client_secret: 'x', name: 'Feral', redirect_uris: [], bot_name: 'feral', scopes: HELD };
  return {
    slack: {
      strict_scopes: true,
      users: [{ name: 'ada' }],
      oauth_apps: [{ ...app, app_id: bot.app_id, bot_id: bot.bot_id, bot_user_id: bot.user_id }],
      tokens: [
        { ...bot, token, scopes: [...HELD, 'files:read', 'files:write'] },
        { ...bot, token: NARROW, scopes: HELD },
        { token: ADA, user: 'ada' },
      ],
    },
  };
}

/** The workspace: emulate, and before it what sends on to the tests' server whatever emulate lacks. */
class Workspace {
  static async start() {
    const all = new Workspace();
    all.asked = {};
    all.faithful = await Faithful.start('slack');
    [all.bot, all.app] = all.faithful.secrets;
    all.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-slack-'));
    const file = path.join(all.folder, 'seed.json');
    fs.writeFileSync(file, JSON.stringify(seed(all.bot)));
    all.between = http.createServer((request, response) => all.pass(request, response));
    await new Promise((done) => all.between.listen(0, '127.0.0.1', done));
    all.url = `http://127.0.0.1:${all.between.address().port}`;
    all.port = await free();
    // emulate needs a node of 22 or later.
    const node = fs.readdirSync(modules).find((name) => name.startsWith('node-linux-'));
    const words = ['start', '-s', 'slack', '--port', String(all.port), '--seed', file, '--base-url', all.url];
    all.child = spawn(path.join(modules, node, 'bin/node'), [path.join(modules, 'emulate/dist/index.js'), ...words], { cwd: all.folder, stdio: 'ignore' });
    await until('emulate', () => all.call(ADA, 'auth.test').then(({ ok }) => ok, () => false));
    const { channel } = await all.call(ADA, 'conversations.open', { users: 'U000000009' });
    const { user_id: ada } = await all.call(ADA, 'auth.test');
    return Object.assign(all, { chat: channel.id, ada });
  }

  /** emulate takes a token that it does not know for its administrator's: such a one gets through without. */
  pass(request, response) {
    const where = request.url.split('?')[0];
    const lacks = where === '/api/apps.connections.open' || where.startsWith('/actions/');
    const token = request.headers.authorization?.replace('Bearer ', '');
    const headers = { ...request.headers };
    if (!lacks && ![this.bot, NARROW, ADA].includes(token)) delete headers.authorization;
    const target = new URL(request.url, lacks ? this.faithful.url : `http://127.0.0.1:${this.port}`);
    const onward = http.request(target, { method: request.method, headers }, (answer) => {
      const name = `${where.split('/').slice(1, 3).join('/')} ${answer.statusCode}`;
      this.asked[name] = (this.asked[name] ?? 0) + 1;
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  async call(token, method, what = {}) {
    const answer = await fetch(`${this.url}/api/${method}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: new URLSearchParams(what) });
    return answer.json();
  }

  /** Ada writes; unless it is silent, an event of what emulate made of it goes out. */
  async say(text, { silent = false } = {}) {
    const { message } = await this.call(ADA, 'chat.postMessage', { channel: this.chat, text });
    if (!silent) await this.tell(message);
    return message;
  }

  /** An event of a message, as the Events API has it. */
  tell(message) {
    const event = { ...message, type: 'message', channel: this.chat, channel_type: 'im', event_ts: message.ts };
    const payload = { type: 'event_callback', team_id: 'T000000001', api_app_id: 'A000000009', event_id: `Ev${message.ts}`, event };
    return this.faithful.does('deliver', { kind: 'events_api', payload });
  }

  async messages() {
    return (await this.call(this.bot, 'conversations.history', { channel: this.chat, limit: '100' })).messages;
  }

  open(keys = {}, bot = this.bot) {
    return Alone.start('slack', { url: this.url, owner: this.ada, ...keys }, { SLACK_BOT_TOKEN: bot, SLACK_APP_TOKEN: this.app });
  }

  end() {
    this.child.kill('SIGKILL');
    this.faithful.end();
    this.between.closeAllConnections();
    this.between.close();
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 50 });
  }
}

async function heard(space) {
  let channel = space.open();
  const [known] = await until('its name', () => channel.all('known').length && channel.all('known'));
  holds(known.known === 'U000000009' && known.name === '@feral at Emulate', 'it knows its name', JSON.stringify(known));
  const hello = await space.say('hello &lt;there&gt;');
  const first = await until('a word', () => channel.all('heard')[0]);
  holds(first.heard.word.text === 'hello <there>' && first.from === space.ada && first.chat === space.chat && first.private, 'whose word it is, and where', JSON.stringify(first));
  holds(first.id === `${space.chat}-${hello.ts}`, 'by the id that emulate gave it', first.id);
  const many = Array.from({ length: 200 }, (_, nth) => `word ${nth}`);
  for (const text of many) await space.say(text);
  await until('200 words', () => channel.words().length >= 201);
  holds(channel.words().slice(1).join() === many.join(), '200 words in order, each once');
  await until('their acknowledgements', async () => (await space.faithful.does('seen')).acknowledged.length === 201);
  // Killed, with more words meanwhile than a page of the history holds.
  const { cursor } = channel.all('cursor').at(-1);
  await channel.kill();
  const meanwhile = Array.from({ length: 250 }, (_, nth) => `meanwhile ${nth}`);
  for (const text of meanwhile) await space.say(text, { silent: true });
  channel = space.open({ after: JSON.stringify(cursor) });
  await until('the words said meanwhile', () => channel.words().length >= meanwhile.length);
  await rest(1_000);
  holds(channel.words().join() === meanwhile.join(), 'after a kill emulate\'s history is read, in order, each once', channel.words().length);
  return channel;
}

async function said(space, channel) {
  const buttons = [{ label: 'Yes', data: 'yes:1' }];
  const sent = await channel.does('send', { chat: space.chat, text: '*yes* &amp; no', buttons, key: key(1) });
  const stands = async () => (await space.messages()).find(({ ts }) => ts === sent.message);
  const message = await stands();
  const [section, actions] = message?.blocks ?? [];
  holds(section?.text.text === '*yes* &amp; no' && section.text.type === 'mrkdwn' && message.text === '*yes* &amp; no', 'a message, its text and how it is formatted', JSON.stringify(message));
  holds(actions?.elements?.[0]?.value === 'yes:1' && actions.elements[0].text.text === 'Yes', 'its button', JSON.stringify(actions));
  const action = { type: 'button', action_id: 'button-0', value: 'yes:1', action_ts: '1.2' };
  const payload = { type: 'block_actions', user: { id: space.ada, username: 'ada' }, channel: { id: space.chat }, message: { ts: sent.message }, response_url: `${space.url}/actions/1`, actions: [action] };
  await space.faithful.does('deliver', { kind: 'interactive', payload });
  const pressed = await until('a press', () => channel.all('heard').find(({ heard: { press } }) => press));
  holds(pressed.heard.press.data === 'yes:1' && pressed.heard.press.message === sent.message && pressed.from === space.ada, 'who pressed which button', JSON.stringify(pressed));
  await channel.does('answer', { data: 'yes:1', message: sent.message, reply: pressed.heard.press.reply, text: 'Thank you' });
  holds((await space.faithful.does('seen')).replies[0]?.text === 'Thank you', 'a press is answered');
  await channel.does('edit', { chat: space.chat, message: sent.message, text: 'Done.', key: key(2) });
  const now = await stands();
  holds(now.blocks.length === 1 && now.blocks[0].text.text === 'Done.', 'a message is edited, its button gone', JSON.stringify(now));
  const long = 'x'.repeat(3_000);
  const whole = await channel.does('send', { chat: space.chat, text: long, key: key(3) });
  holds((await space.messages())[0].blocks[0].text.text === long && whole.message, 'the longest text is taken');
}

async function files(space, channel) {
  const out = await channel.does('send', { chat: space.chat, text: 'the report', file: '../../grüße.txt', bytes: 'the herons nest', key: key(4) });
  const [shared] = await space.messages();
  const file = shared.files?.[0];
  holds(out.message === file?.id && file.size === 15 && shared.text === 'the report', 'a file goes out with its text', JSON.stringify(shared));
  const stored = await fetch(file.url_private, { headers: { authorization: `Bearer ${ADA}` } });
  holds((await stored.text()) === 'the herons nest', 'byte for byte');
  const place = await space.call(ADA, 'files.getUploadURLExternal', { filename: '../../x', length: '7000' });
  await fetch(place.upload_url, { method: 'POST', body: 'herons '.repeat(1_000) });
  await space.call(ADA, 'files.completeUploadExternal', { files: JSON.stringify([{ id: place.file_id }]), channel_id: space.chat });
  const [hers] = await space.messages();
  await space.tell(hers);
  const word = await until('her file', () => channel.all('heard').find(({ heard: { word: one } }) => one?.files.length));
  const [named] = word.heard.word.files;
  holds(named.bytes === 7_000 && named.name.endsWith('x'), 'a file is named with its size', JSON.stringify(named));
  const read = await channel.does('fetch', { place: named.place, most: 7_000 });
  holds(read.bytes === 7_000 && read.text.startsWith('herons'), 'it is read with the token', JSON.stringify(read).slice(0, 200));
  holds(/^Refused/.test((await channel.does('fetch', { place: named.place, most: 6_999 })).trouble), 'but not beyond its bound');
  const elsewhere = { ...named.place, url: named.place.url.replace('127.0.0.1', 'localhost') };
  holds(/^Refused\(.*does not lie at Slack/.test((await channel.does('fetch', { place: elsewhere, most: 7_000 })).trouble), 'nor from anywhere else');
}

async function refusals(space, channel) {
  const refused = async (what, asked, wanted) => {
    const came = await channel.does(asked.do ?? 'send', { chat: space.chat, text: 'x', key: key(9), ...asked });
    holds(wanted.test(came.trouble), what, JSON.stringify(came));
  };
  await refused('a chat that is not there', { chat: 'C0NOPE' }, /^Refused\(.*channel_not_found.*\/invite/);
  await refused('a file to a chat that is not there', { chat: 'D0NOPE', file: 'a.txt', bytes: 'x' }, /^Refused\(.*channel_not_found/);
  await refused('a message that is gone', { do: 'edit', message: '1.0' }, /^Refused\(.*message_not_found/);
  const hers = await space.say('mine', { silent: true });
  await refused('another\'s message', { do: 'edit', message: hers.ts }, /^Refused\(.*cant_update_message/);
  const beside = space.open();
  const [two] = await until('that there are two', () => beside.all('trouble').length && beside.all('trouble'));
  holds(/^Away\(.*words go astray/.test(two.trouble), 'a second program with the same app is told of', JSON.stringify(two));
  await beside.gone;
  await channel.kill();
  const narrow = space.open({}, NARROW);
  await until('a token with fewer scopes', () => narrow.all('known').length);
  const file = await narrow.does('send', { chat: space.chat, text: '', file: 'a.txt', bytes: 'x', key: key(10) });
  holds(/^Refused\(.*lacks the scope files:write/.test(file.trouble), 'a scope that is missing is named', JSON.stringify(file));
  await narrow.kill();
  const unknown = space.open({}, 'xoxb-nobody');
  const [trouble] = await until('that its token is none', () => unknown.all('trouble').length && unknown.all('trouble'));
  holds(/^Revoked\(.*SLACK_BOT_TOKEN \(not_authed\)/.test(trouble.trouble), 'a token that is none is told with its variable', JSON.stringify(trouble));
  await unknown.gone;
}

export async function slack() {
  if (!fs.existsSync(path.join(modules, 'emulate'))) return console.log('   skipped: its server could not be had by npm');
  const space = await Workspace.start();
  try {
    const channel = await heard(space);
    for (const part of [said, files, refusals]) await part(space, channel);
    holds((await space.faithful.does('broken')).length === 0, 'no rule of Socket Mode is broken', JSON.stringify(await space.faithful.does('broken')));
    const missing = Object.keys(space.asked).filter((name) => name.endsWith(' 404'));
    holds(missing.length === 0, 'emulate has all that is asked for but Socket Mode and answers to presses, which the tests\' server gives', missing.join());
    console.log('   not judged here, for emulate has no rules for it: an unknown token, `oldest` of a history, 429, lengths, what blocks may hold');
    console.log(`   asked for: ${JSON.stringify(space.asked)}`);
  } finally {
    space.end();
  }
  return undefined;
}
