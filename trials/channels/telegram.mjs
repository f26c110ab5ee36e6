// Telegram before npm's telegram-test-api: a Bot API that others wrote. What it has no rules for is named at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { holds, rest, root, until } from '../page/told.mjs';
import { Alone } from './alone.mjs';
import { idle } from './idle.mjs';
import { built, free } from './servers.mjs';

const installed = createRequire(path.join(root, 'target/channels/package.json'));
const TOKEN = '4242424242:AAF-a_token_of_tests_and_of_nothing_else';
const env = { TELEGRAM_BOT_TOKEN: TOKEN };

/** Passes all on to the server and counts what is asked for. */
async function counted(target) {
  const asked = {};
  const server = http.createServer((request, response) => {
    const method = request.url.split('?')[0].split('/').at(-1);
    asked[method] = (asked[method] ?? 0) + 1;
    const onward = http.request(new URL(request.url, target), { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { asked, url: `http://127.0.0.1:${server.address().port}`, end: () => (server.closeAllConnections(), server.close()) };
}

export async function telegram() {
  if (!fs.existsSync(path.join(root, 'target/channels/node_modules/telegram-test-api'))) {
    return console.log('   skipped: its server could not be had by npm');
  }
  await judged();
  await waiting();
}

/** What it costs to wait, at a server that holds polls open: the one of the channels' own tests. */
async function waiting() {
  const server = spawn(built('examples/telegram_server'), ['0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await once(readline.createInterface({ input: server.stdout }), 'line');
  const channel = Alone.start('telegram', { url }, env);
  try {
    await until('where it begins', () => channel.all('cursor').length);
    await idle('telegram', channel.child.pid, 60);
  } finally {
    await channel.kill();
    server.kill();
  }
}

async function judged() {
  const TelegramServer = installed('telegram-test-api');
  const server = new TelegramServer({ port: await free(), host: '127.0.0.1', storage: 'RAM', storeTimeout: 600 });
  await server.start();
  const between = await counted(server.config.apiURL);
  const client = server.getClient(TOKEN, { userId: 1001, chatId: 1001, firstName: 'Ada', userName: 'ada' });
  const say = (text) => client.sendMessage(client.makeMessage(text));
  let channel = Alone.start('telegram', { url: between.url }, env);
  try {
    const [known] = await until('its name', () => channel.all('known').length && channel.all('known'));
    holds(known.name.startsWith('@'), 'it knows its name', JSON.stringify(known));
    await until('where it begins', () => channel.all('cursor').length);

    await say('hello');
    await until('a word', () => channel.words().includes('hello'));
    const [first] = channel.all('heard');
    holds(first.from === '1001' && first.chat === '1001', 'whose word it is, and where', JSON.stringify(first));

    const many = Array.from({ length: 200 }, (_, nth) => `word ${nth}`);
    for (const text of many) await say(text);
    await until('200 words', () => channel.words().length >= 201);
    holds(channel.words().slice(1).join() === many.join(), '200 words in order, each once');

    const sent = await channel.does('send', { chat: '1001', text: '<b>yes</b> &amp; no', buttons: [{ label: 'Yes', data: 'yes:1' }] });
    holds(sent.message, 'a message is sent', JSON.stringify(sent));
    const updates = await client.getUpdates();
    const { message } = updates.result.at(-1);
    holds(message.text === '<b>yes</b> &amp; no' && message.parse_mode === 'HTML', 'its text and how it is formatted', JSON.stringify(message));
    const markup = typeof message.reply_markup === 'string' ? JSON.parse(message.reply_markup) : message.reply_markup;
    holds(markup?.inline_keyboard?.[0]?.[0]?.callback_data === 'yes:1', 'its button', JSON.stringify(markup));

    await client.sendCallback(client.makeCallbackQuery('yes:1', { message: { message_id: Number(sent.message) } }));
    const pressed = await until('a press', () => channel.all('heard').find(({ heard }) => heard.press));
    holds(pressed.heard.press.data === 'yes:1', 'what the button carries', JSON.stringify(pressed));
    const edited = await channel.does('edit', { chat: '1001', message: sent.message, text: 'Done.' });
    holds(edited.done === 'edit', 'a message is edited', JSON.stringify(edited));

    // Idle: the server answers polls at once, and is not asked in a circle.
    const before = between.asked.getUpdates;
    await rest(10_000);
    const polls = between.asked.getUpdates - before;
    holds(polls <= 12, 'a server that does not wait is asked once a second at most', polls);

    // Killed, with words said meanwhile: on from the last cursor, none lost and none twice.
    const { cursor } = channel.all('cursor').at(-1);
    await channel.kill();
    for (const text of ['meanwhile 1', 'meanwhile 2']) await say(text);
    channel = Alone.start('telegram', { url: between.url, after: JSON.stringify(cursor) }, env);
    await until('the words said meanwhile', () => channel.words().length >= 2);
    await rest(2_000);
    holds(channel.words().join() === 'meanwhile 1,meanwhile 2', 'after a kill it goes on where it was', channel.words().join());
    console.log(
      '   not judged here, for this server has no rules for it: long poll, limits of length, formatting, 401, 409, 429, files, groups',
    );
    console.log(`   asked for: ${JSON.stringify(between.asked)}`);
  } finally {
    await channel.kill();
    between.end();
    await server.stop();
  }
}
