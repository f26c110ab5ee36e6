// The mail hand against a real dovecot and exim: every tool, every refusal, and kills at every step, counted by what arrived.
import fs from 'node:fs';
import path from 'node:path';
import { figure, holds, rest, tried, until } from '../page/told.mjs';
import { brokered, each } from './mail/brokered.mjs';
import { Hand, PLACE, letter, program, settings } from './mail/hand.mjs';
import { served } from './served.mjs';
import { Mailbox, Proxy, missing } from './mail/servers.mjs';

/** Scenarios of a server that do not pass, by why: the heading of docs/mail.md that says so. */
const NAMED = [
  [/^tools-call-|^elicitation-|^input-required-|^json-schema|^resources-(read|templates|subscribe|unsubscribe)/, "Tools and resources of the judge's own"],
  [/^prompts-|^completion-|^logging-|^caching$/, 'Prompts, completions and log levels'],
  [/^server-s|^dns-|^http-/, 'A door of HTTP'],
];
const ID = /Message-ID ([0-9a-f]+@example\.test)/;

/** A message of the inbox, by a word of its subject. */
async function found(hand, subject, folder = 'INBOX') {
  return until(`the mail ${subject}`, async () => (await hand.call('search', { subject, folder })).match(PLACE)?.[0]);
}

async function looks(box) {
  const files = path.join(box.folder, 'files');
  fs.mkdirSync(files);
  const hand = await Hand.start(settings(box, box.path('home-looks')), ['--write', files]);
  const tools = (await hand.ask('tools/list')).result.tools;
  holds(tools.length === 10, 'ten tools are listed', tools.map((tool) => tool.name));
  const looking = tools.filter((tool) => tool.annotations.readOnlyHint).map((tool) => tool.name).join();
  holds(looking === 'search,read,thread', 'those that only look say so', looking);
  const html = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n';
  const body = '--b\nContent-Type: text/html; charset=utf-8\n\n<p>Could you start on <b>Monday</b>?</p><a href="https://example.org/brief">brief</a>\n--b\nContent-Type: application/pdf; name="../../brief.pdf"\nContent-Transfer-Encoding: base64\n\nJVBERi0xLjQ=\n--b--';
  await box.receive(letter('=?utf-8?q?Gr=C3=BC=C3=9Fe_one?=', body, html));
  const one = await found(hand, 'Grüße');
  const shown = await hand.call('read', { message: one });
  holds(/Subject: Grüße one/.test(shown) && /Monday/.test(shown) && shown.includes('https://example.org/brief'), 'HTML is read as text, with its links', shown);
  holds(!shown.includes('<p>') && /1\. .*brief\.pdf \(application\/pdf, 8 bytes\)/.test(shown), 'what is attached is named', shown);
  holds((await hand.call('search', { unseen: true })).includes(one), 'what was read stays unread');
  const saved = await hand.call('attachment', { message: one, number: 1 });
  const again = await hand.call('attachment', { message: one, number: 1 });
  const names = fs.readdirSync(files).sort();
  holds(names.length === 2 && names.every((name) => /^_?_?_?.*brief(-1)?\.pdf$/.test(name)), 'an attachment is saved beside what is there', `${saved} ${again} ${names}`);
  holds(fs.readFileSync(path.join(files, names[0]), 'utf8') === '%PDF-1.4', 'byte for byte');
  for (const odd of ['../out.pdf', '/etc/out.pdf', `${files}/../out.pdf`]) {
    const refused = await hand.call('attachment', { message: one, number: 1, path: odd });
    holds(/FAILED.*does not lie in/.test(refused), `nothing is saved as ${odd}`, refused);
  }
  fs.symlinkSync('/etc', path.join(files, 'link'));
  const linked = await hand.call('attachment', { message: one, number: 1, path: 'link/out.pdf' });
  holds(/FAILED.*a link stands/.test(linked), 'nor behind a link', linked);
  fs.symlinkSync('/etc/passwd', path.join(files, 'secret.txt'));
  const stolen = await hand.call('draft', { subject: 'x', text: 'x', attachments: ['secret.txt'] });
  holds(/FAILED.*a link stands/.test(stolen), 'no link is attached', stolen);
  const flagged = await hand.call('flag', { message: one, set: ['seen', 'flagged'] });
  const after = await hand.call('search', { flagged: true });
  holds(after.includes(one) && !after.includes('unread'), 'flags are set', flagged + after);
  await hand.call('flag', { message: one, take: ['flagged'] });
  holds((await hand.call('search', { flagged: true })).includes('0 found'), 'and taken');
  const moved = await hand.call('move', { message: one, folder: 'archive' });
  holds(/was moved to Archive/.test(moved), 'a message is moved', moved);
  await found(hand, 'Grüße', 'Archive');
  holds(/FAILED.*is there no more/.test(await hand.call('read', { message: one })), 'its old id is told to be gone');
  const nowhere = await hand.call('move', { message: one, folder: 'Nowhere' });
  holds(/FAILED/.test(nowhere), 'a folder that is not there is told of', nowhere);
  const odd = await hand.call('search', { folder: 'Nowhere' });
  holds(odd.includes('INBOX') && odd.includes('Entwürfe'), 'with those that are', odd);
  await hand.end();
}

async function writes(box) {
  const files = path.join(box.folder, 'files');
  fs.writeFileSync(path.join(files, 'report.txt'), 'the herons nest\n');
  const hand = await Hand.start(settings(box, box.path('home-writes')), ['--write', files]);
  const draft = await hand.call('draft', { to: ['Ann <ann@example.test>'], bcc: ['eve@example.test'], subject: 'A draft é', text: 'not yet' });
  holds(/kept in Entwürfe as Entwürfe:\d+:\d+; it was not sent/.test(draft), 'a draft is kept where the server keeps drafts', draft);
  const kept = await hand.call('read', { message: draft.match(/Entwürfe:\d+:\d+/)?.[0] });
  holds(kept.includes('draft') && kept.includes('Bcc: eve@example.test'), 'with its Bcc, marked as a draft', kept);
  const sent = await hand.call('send', { to: ['ann@example.test'], bcc: ['eve@example.test'], subject: 'Herons é', text: 'They nest.\n.\n..dots', attachments: ['report.txt'] });
  const id = sent.match(ID)?.[1];
  const arrived = await until('the mail', () => box.arrived(id).length && box.arrived(id));
  holds(arrived.length === 1, 'a mail is sent once', `${sent} ${arrived.length}`);
  holds(!/^bcc:/im.test(arrived[0]) && /Auto-Submitted: auto-generated/.test(arrived[0]), 'without its Bcc, and says that no person wrote it', arrived[0]);
  holds(/Envelope-to: [^:]*eve@example\.test/i.test(arrived[0]), 'to all recipients', arrived[0].slice(0, 300));
  holds(box.copies(id).length === 1, 'a copy lies among the sent mails');
  const same = await hand.call('send', { to: ['ann@example.test'], bcc: ['eve@example.test'], subject: 'Herons é', text: 'They nest.\n.\n..dots', attachments: ['report.txt'] });
  holds(/FAILED.*same mail was sent within the last day/.test(same), 'the same mail is not sent again', same);
  const place = await found(hand, 'Herons');
  const shown = await hand.call('read', { message: place });
  holds(shown.includes('.\n..dots') && shown.includes('report.txt'), 'lines with dots arrive as they were', shown);
  const automatic = await hand.call('reply', { message: place, to: ['ann@example.test'], text: 'x' });
  holds(/FAILED.*no person waits/.test(automatic), 'what no person wrote is not answered', automatic);
  await box.receive(letter('Question', 'When?', 'References: <first@example.test>\nReply-To: ann.other@example.test\n'));
  const asked = await found(hand, 'Question');
  const none = await hand.call('reply', { message: asked, text: 'x' });
  holds(/FAILED/.test(none), 'an answer goes to nobody that is not named', none);
  const replied = await hand.call('reply', { message: asked, to: ['ann.other@example.test'], text: 'On Monday.' });
  const [answer] = await until('the answer', () => box.arrived(replied.match(ID)?.[1]).length && box.arrived(replied.match(ID)[1]));
  const unfolded = answer.replace(/\r?\n[ \t]+/g, ' ');
  holds(unfolded.includes('In-Reply-To: <Question@example.test>') && unfolded.includes('References: <first@example.test> <Question@example.test>') && unfolded.includes('Subject: Re: Question') && unfolded.includes('auto-replied'), 'an answer stands in its conversation', answer);
  const thread = await hand.call('thread', { message: asked });
  holds(thread.indexOf('When?') < thread.indexOf('On Monday.') && thread.split('On Monday.').length === 2, 'a conversation is shown in its order, each message once', thread);
  const forwarded = await hand.call('forward', { message: asked, to: ['carl@example.test'], text: 'See below.' });
  const [copy] = await until('the mail sent on', () => box.arrived(forwarded.match(ID)?.[1]).length && box.arrived(forwarded.match(ID)[1]));
  holds(copy.includes('message/rfc822') && copy.includes('Message-ID: <Question@example.test>'), 'a message is sent on as it came', copy);
  await hand.end();
}

async function refusals(box) {
  const hand = await Hand.start(settings(box, box.path('home-refusals')));
  const before = box.messages().length;
  const send = (to, subject = 'refused') => hand.call('send', { to, subject, text: 'x' });
  holds(/FAILED.*later@example\.test is not taken now, try again later.*451/.test(await send(['later@example.test'])), '451 is told as for now', await send(['later@example.test']));
  holds(/FAILED.*gone@example\.test is refused.*550/.test(await send(['gone@example.test'])), '550 is told as for good');
  holds(/FAILED.*full@example\.test is refused.*552/.test(await send(['full@example.test'])), '552 too');
  const several = await send(['ann@example.test', 'gone@example.test', 'later@example.test']);
  holds(/gone@.*later@.*ann@example\.test would be taken/.test(several) && /nothing was sent/.test(several), 'each recipient is told by name, and none gets it', several);
  const content = await send(['ann@example.test'], 'refuse me');
  holds(/FAILED: nothing was sent: the mail is refused.*554/.test(content), 'a refusal of the mail itself is certain', content);
  const large = await hand.call('send', { to: ['ann@example.test'], subject: 'large', text: 'x'.repeat(150_000) });
  holds(/^sent/.test(large), 'what is within the size goes', large.slice(0, 200));
  for (const to of ['ann', 'ann@example.test, eve@example.test', 'ann@example.test <eve@example.test>', 'ann@example.test\nBcc: eve@example.test', '']) {
    holds(/FAILED/.test(await send([to])), `${JSON.stringify(to)} is no recipient`);
  }
  holds(/FAILED/.test(await send(['ann@example.test'], 'two\r\nBcc: eve@example.test')), 'a subject has one line');
  await until('large', () => box.arrived('Subject: large').length);
  holds(box.messages().length === before + 1, 'of all that was refused nothing arrived', `${before} ${box.messages().length}`);
  await hand.end();
  const stranger = await Hand.start(settings(box, box.path('home-stranger'), { password: 'wrong' }));
  const looked = await stranger.call('search', {});
  holds(/FAILED.*refuses user me@example\.test with this password/.test(looked), 'a wrong password is told of by the mailbox', looked);
  const sent = await stranger.call('send', { to: ['ann@example.test'], subject: 'x', text: 'x' });
  holds(/FAILED: nothing was sent: user me@example\.test with this password.*535/.test(sent), 'and by the server that sends', sent);
  await stranger.end();
}

async function secured(box) {
  const of = (imap, smtp, more = {}) => settings(box, box.path('home-tls'), { env: { MAIL_IMAP: imap, MAIL_SMTP: smtp, SSL_CERT_FILE: box.path('ca.pem'), ...more } });
  for (const [how, imap, smtp] of [
    ['STARTTLS', `imap://localhost:${box.ports.imap}`, `smtp://localhost:${box.ports.smtp}`],
    ['TLS', `imaps://localhost:${box.ports.imaps}`, `smtps://localhost:${box.ports.smtps}`],
  ]) {
    const hand = await Hand.start(of(imap, smtp));
    holds(/in all/.test(await hand.call('search', {})), `${how}: the mailbox is read`, await hand.call('search', {}));
    const sent = await hand.call('send', { to: ['ann@example.test'], subject: `over ${how}`, text: 'x' });
    holds(/^sent/.test(sent), `${how}: a mail is sent`, sent);
    await hand.end();
    const stranger = await Hand.start(of(imap, smtp, { SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt' }));
    const looked = await stranger.call('search', {});
    holds(/FAILED.*localhost is not trusted/.test(looked), `${how}: who cannot prove the name is not trusted`, looked);
    const refused = await stranger.call('send', { to: ['ann@example.test'], subject: 'untrusted', text: 'x' });
    holds(/FAILED: nothing was sent/.test(refused), `${how}: and gets no mail`, refused);
    await stranger.end();
  }
  holds(box.arrived('Subject: untrusted').length === 0, 'nothing goes to a server that is not trusted');
}

/** Steps of a mail's way, by the line of the client at which something happens. */
const STEPS = [
  ['greeting', /^EHLO/, 'stop'], ['login', /^AUTH/, 'stop'], ['sender', /^MAIL/, 'stop'], ['recipient', /^RCPT/, 'stop'],
  ['data', /^DATA/, 'stop'], ['head', /^Subject: step/, 'stop'], ['dot', /^\.$/, 'stop'], ['answer', /^\.$/, 'deaf'], ['after', /^QUIT/, 'stop'],
];

/** One mail with a cut or a kill at a step; what was said, what arrived, and what a new start says and does. */
async function stepped(box, number, [name, pattern, verdict], kills) {
  const [subject, home] = [`step-${number}`, box.path(`home-step-${number}`)];
  let hand;
  const proxy = await Proxy.start(box.ports.smtp, (line) => {
    if (!pattern.test(line)) return undefined;
    if (kills && verdict === 'stop') hand.child.kill('SIGKILL');
    return verdict;
  });
  // With the answer taken but not passed on: the server has the mail, the client does not know.
  proxy.answered = (_, connection) => (kills ? hand.child.kill('SIGKILL') : connection.cut());
  const env = settings(box, home, { env: { MAIL_SMTP: `plain://127.0.0.1:${proxy.port}` } });
  hand = await Hand.start(env);
  const mail = { to: ['ann@example.test'], subject, text: 'once' };
  const said = await hand.call('send', mail);
  if (kills) await hand.gone;
  else await hand.end();
  proxy.end();
  await rest(150);
  const has_left = ['answer', 'after'].includes(name);
  const arrived = () => box.arrived(`Subject: ${subject}`).length;
  if (has_left) await until('the mail', arrived);
  const first = arrived();
  const next = await Hand.start(settings(box, home));
  await until('what was left to be settled', () => {
    const notes = fs.readdirSync(path.join(home, 'outbox')).filter((file) => file.endsWith('.json'));
    const states = notes.map((file) => JSON.parse(fs.readFileSync(path.join(home, 'outbox', file))).state);
    return states.every((state) => !['ready', 'sending', 'taken'].includes(state));
  });
  const told = await next.call('search', {});
  const again = await next.call('send', mail);
  await until('the last of it', () => !/^sent/.test(again) || arrived() > first);
  await next.end();
  const how = `${kills ? 'killed' : 'cut'} at ${name}`;
  const all = `${said} | ${told.split('\n')[0]} | ${again}`;
  holds(first <= 1 && arrived() === 1 - (/^FAILED/.test(again) && !first), `${how}: it arrived once at most`, `${first} ${arrived()} ${all}`);
  if (['greeting', 'login', 'sender', 'recipient', 'data'].includes(name)) {
    holds(first === 0 && /^sent/.test(again), `${how}: nothing had left, so it may be sent, and is`, all);
  } else {
    holds(/^FAILED: the same mail/.test(again), `${how}: it is not sent again by itself or for the same words`, all);
  }
  if (['head', 'dot', 'answer'].includes(name)) {
    holds(/not known whether/.test(kills ? told : said), `${how}: it is told as unknown`, all);
  }
  if (name === 'after') holds(box.copies(`Subject: ${subject}`).length === 1, `${how}: one copy lies among the sent mails`);
  return { arrived: arrived(), unknown: /not known/.test(all) };
}

async function steps(box) {
  let [count, more, lost] = [0, 0, 0];
  for (const kills of [false, true]) {
    for (const step of STEPS) {
      count += 1;
      const { arrived, unknown } = await stepped(box, count, step, kills);
      more += arrived > 1;
      lost += arrived === 0 && !unknown;
    }
  }
  figure('mails with a cut or a kill on their way', count, 'mails');
  figure('mails that arrived twice', more, 'mails', 0);
  figure('mails that were lost without a word', lost, 'mails', 0);
}

/** The server's own copy among the sent mails, and a mailbox that is away. */
async function copies(box) {
  const home = box.path('home-copies');
  const away = { env: { MAIL_IMAP: 'plain://127.0.0.1:1' } };
  const hand = await Hand.start(settings(box, home, away));
  const sent = await hand.call('send', { to: ['ann@example.test'], subject: 'copied later', text: 'x' });
  holds(/^sent.*\n?Note: no copy/s.test(sent), 'a mail is sent though its mailbox is away', sent);
  await hand.end();
  const next = await Hand.start(settings(box, home));
  await until('the copy', () => box.copies('copied later').length);
  await next.end();
  // The copy is there, and its note says that it is due.
  const [note] = fs.readdirSync(path.join(home, 'outbox')).filter((file) => file.endsWith('.json'));
  const file = path.join(home, 'outbox', note);
  fs.writeFileSync(file.replace('.json', '.eml'), box.copies('copied later')[0]);
  fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file)), state: 'taken' }));
  const last = await Hand.start(settings(box, home));
  await until('the note', () => JSON.parse(fs.readFileSync(file)).state === 'sent');
  await last.end();
  holds(box.copies('copied later').length === 1, 'a copy that the server made itself is not doubled');
}

/** Kills while the copy among the sent mails is made: as it begins, in its middle, and when the server has it. */
async function kept(box) {
  for (const [how, pattern, verdict] of [['begin', / APPEND /, 'stop'], ['middle', /^Message-ID/, 'stop'], ['end', /^kept once$/, 'deaf']]) {
    const [subject, home] = [`kept-${how}`, box.path(`home-kept-${how}`)];
    let [hand, is_due] = [undefined, true];
    const proxy = await Proxy.start(box.ports.imap, (line) => {
      if (!is_due || !pattern.test(line)) return undefined;
      if (verdict === 'stop') hand.child.kill('SIGKILL');
      is_due = false;
      return verdict;
    });
    proxy.answered = () => hand.child.kill('SIGKILL');
    hand = await Hand.start(settings(box, home, { env: { MAIL_IMAP: `plain://127.0.0.1:${proxy.port}` } }));
    await hand.call('send', { to: ['ann@example.test'], subject, text: 'kept once' });
    await hand.gone;
    proxy.end();
    const next = await Hand.start(settings(box, home));
    await until('its copy', () => box.copies(`Subject: ${subject}`).length);
    await next.call('search', {});
    await next.end();
    const [arrived, copies] = [box.arrived(`Subject: ${subject}`).length, box.copies(`Subject: ${subject}`).length];
    holds(!is_due && arrived === 1 && copies === 1, `killed at the ${how} of its copy: one mail and one copy`, `${is_due} ${arrived} ${copies}`);
  }
}

async function slow(box) {
  const stuck = await Proxy.start(box.ports.imap, () => 'deaf');
  const hand = await Hand.start(settings(box, box.path('home-slow'), { env: { MAIL_IMAP: `plain://127.0.0.1:${stuck.port}` } }));
  const since = Date.now();
  const late = await hand.call('search', {});
  holds(/FAILED.*does not answer within 30 s/.test(late), 'a mailbox that does not answer is told of', late);
  figure('a mailbox that does not answer is given up after', (Date.now() - since) / 1000, 's', 35);
  await hand.end();
  stuck.end();
}

async function news(box) {
  const proxy = await Proxy.start(box.ports.imap);
  const env = settings(box, box.path('home-news'), { env: { MAIL_IMAP: `plain://127.0.0.1:${proxy.port}` } });
  const hand = await Hand.start(env);
  const listed = await hand.ask('resources/list');
  holds(listed.result?.resources?.[0]?.uri === 'mail://inbox', 'the inbox is a resource', JSON.stringify(listed));
  await hand.ask('resources/subscribe', { uri: 'mail://inbox' });
  await rest(1_500);
  const updates = () => hand.heard.filter((message) => message.method === 'notifications/resources/updated').length;
  const since = Date.now();
  await box.receive(letter('News 1', 'x'));
  await until('the news', updates);
  figure('news of a mail came after', Date.now() - since, 'ms', 5_000);
  const read = await hand.ask('resources/read', { uri: 'mail://inbox' });
  holds(read.result?.contents?.[0]?.text.includes('News 1'), 'and is read there', JSON.stringify(read).slice(0, 300));
  const before = updates();
  proxy.open.forEach((one) => one.destroy());
  await box.receive(letter('News 2', 'x'));
  await until('the news after a lost connection', () => updates() > before);
  holds(true, 'a lost connection is opened again, and what came meanwhile is told');
  await hand.end();
  proxy.end();
}

export async function mail() {
  const why = missing() ?? (fs.existsSync(program) ? undefined : `${program} is not built`);
  if (why) return console.log(`   skipped: ${why}`);
  const box = await Mailbox.start();
  try {
    await tried('mail, judged', () => served('feral-mail', [program], { env: settings(box, box.path('home-judged')) }, NAMED));
    for (const [what, run] of Object.entries({ looks, writes, refusals, secured, copies, kept, news, steps, brokered, each, slow })) {
      await tried(`mail, ${what}`, () => run(box));
    }
  } finally {
    if (!process.env.FERAL_KEEP) box.end();
  }
  return undefined;
}
