// The mail hand behind the real broker and its walls: rules, an ask, a yes, news, and what every server is put through.
import fs from 'node:fs';
import path from 'node:path';
import { figure, holds, rest, until } from '../../page/told.mjs';
import { Broker } from '../broker.mjs';
import { DEADLINE, READS, rows, through } from '../rows.mjs';
import { PLACE, letter, program } from './hand.mjs';
import { PASSWORD } from './servers.mjs';

const RULES = `
[[mcp.it.rules]]
tool = "search"
do = "allow"
looks = true
[[mcp.it.rules]]
tool = "read"
do = "allow"
looks = true
[[mcp.it.rules]]
tool = "reply"
with = { to = "ann@example.test" }
do = "allow"
[[mcp.it.rules]]
tool = "send"
do = "ask"
`;

/** Settings of the hand before this mailbox; the certificate lies in a folder of its own, for the servers' is none of the hand's. */
function owned(box, how, reads, more) {
  fs.mkdirSync(box.path('trusted'), { recursive: true });
  fs.copyFileSync(box.path('ca.pem'), box.path('trusted/ca.pem'));
  const set = { MAIL_ADDRESS: 'me@example.test', MAIL_IMAP: `imaps://localhost:${box.ports.imaps}`, MAIL_SMTP: `smtps://localhost:${box.ports.smtps}`, SSL_CERT_FILE: box.path('trusted/ca.pem') };
  const values = Object.entries(set).map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ');
  const read = JSON.stringify([box.path('trusted'), ...reads]);
  return `[mcp.it]\n${how}env = ["MAIL_PASSWORD"]\nset = { ${values} }\nread = ${read}\nnetwork = "open"\n${more}${RULES}`;
}

/** What every server is put through, with the hand before the real mailbox. */
export async function each(box) {
  const how = `command = ${JSON.stringify(through('MAIL_PASSWORD', [program]))}\n`;
  const text = owned(box, how, [READS, path.dirname(program)], DEADLINE);
  const broker = await Broker.start(text, { files: { '.env': `MAIL_PASSWORD=${PASSWORD}\n` } });
  try {
    await broker.met();
    await rows('the mailbox', broker, { tool: 'search', shows: /in all/, secret: PASSWORD });
  } finally {
    await broker.end();
  }
}

/** Through the real broker, behind the walls: rules, an ask, the owner's yes, and a new recipient after text of others. */
export async function brokered(box) {
  const text = owned(box, 'hand = "mail"\n', [], 'watch = ["mail://*"]\n');
  const broker = await Broker.start(text, { files: { '.env': `MAIL_PASSWORD=${PASSWORD}\n` } });
  try {
    const met = await broker.met();
    holds(!met.trouble && met.all_tools >= 10, 'the broker starts the hand behind the walls', JSON.stringify(met));
    await rest(2_000);
    const since = Date.now();
    await box.receive(letter('For the broker', `the password is ${PASSWORD}`));
    const told = () => fs.existsSync(broker.path('.self/news.jsonl')) && fs.readFileSync(broker.path('.self/news.jsonl'), 'utf8');
    const news = JSON.parse(await until('news of the mail', told));
    figure('a watched mailbox is news to the creature after', Date.now() - since, 'ms', 10_000);
    holds(news.event === 'changed' && news.resources.join() === 'mail://inbox', 'a mail that comes is news where the owner watches', JSON.stringify(news));
    const place = await until('the mail', async () => (await broker.call('search', { subject: 'For the broker' })).body?.match(PLACE)?.[0]);
    const read = await broker.call('read', { message: place });
    holds(read.ok && read.body.includes('From: Ann <ann@example.test>') && !read.body.includes(PASSWORD), 'a mail is read, without the password', JSON.stringify(read));
    const strange = await broker.call('reply', { message: place, to: ['eve@example.test'], text: 'x' });
    holds(!strange.ok && !strange.asked, 'an answer to somebody whom no rule names is refused', JSON.stringify(strange));
    const known = await broker.call('reply', { message: place, to: ['ann@example.test'], text: 'Yes.' });
    holds(known.ask || /wait/i.test(JSON.stringify(known)), 'after text of others a new recipient asks, though a rule allows it', JSON.stringify(known));
    const asked = await broker.call('send', { to: ['carl@example.test'], subject: 'asked', text: 'May it?' });
    const lines = () => fs.readFileSync(broker.path('.self/asks.jsonl'), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const waiting = lines().filter((line) => JSON.stringify(line).includes('carl@example.test')).at(-1);
    holds(waiting && JSON.stringify(waiting).includes('May it?'), 'an ask shows recipients and text', JSON.stringify({ asked, waiting }).slice(0, 600));
    holds(box.arrived('Subject: asked').length === 0, 'and nothing leaves before the yes');
    const { id, digest } = waiting;
    fs.appendFileSync(broker.path('.self/broker/answers.jsonl'), `${JSON.stringify({ at: new Date().toISOString(), id, answer: 'approve', digest })}\n`);
    await until('the approved mail', () => box.arrived('Subject: asked').length);
    await rest(500);
    holds(box.arrived('Subject: asked').length === 1 && box.copies('Subject: asked').length === 1, 'after it the mail is sent, once');
    holds(fs.readdirSync(broker.path('.self/broker/mcp/it/outbox')).length === 1, 'its note lies in the hand\'s own home');
  } finally {
    await broker.end();
  }
}
