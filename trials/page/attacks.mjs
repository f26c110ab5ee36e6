// What pages of other origins try on an owner's page that is open and signed in: nothing may be read, nothing changed.
import { enter, is_harmless, open } from './browser.mjs';
import { changed, held } from './house.mjs';
import { listen } from './other_origin.mjs';
import { holds, part, rest, tried } from './told.mjs';

const READ = ['/', '/talk', '/asks/4', '/life', '/life.svg?width=800', '/lives/1', '/memory', '/spend', '/search?q=herons', '/stream',
  '/edits', '/more', '/style.css', '/stream.js', '/life.js', '/talk.js', '/favicon.svg?asks=1', '/export/days.svg', '/export/life/1.json', '/export/life/1.html', '/export/span.json', '/export/span.html'];
const ACTS = ['/say', '/asks/4/yes', '/asks/4/no', '/pause', '/resume', '/ladder/1/back', '/link/new', '/memory/paper/self/notes/herons.md', '/sign-in', '/sign-out', '/sessions/end-all', '/invited'];

export async function attacks(browser, house, server) {
  part('from other origins');
  const other = await listen();
  const { context, page } = await enter(browser, server);
  await page.goto(`${server.origin}/talk`);
  const act = await page.locator('form.say input[name=act]').getAttribute('value');
  const name = (await context.cookies())[0]?.name;
  const before = held(house);
  for (const origin of [`http://evil.test:${other.port}`, `http://localhost:${other.port}`, `http://127.0.0.1:${other.port}`]) {
    await tried(`${origin}: what scripts try`, () => scripts(context, server, origin, act));
    await tried(`${origin}: what elements try`, () => elements(context, server, origin));
    await tried(`${origin}: forms`, () => forms(context, server, origin, act, house));
    await tried(`${origin}: frames`, () => frames(context, server, origin));
    await tried(`${origin}: windows`, () => windows(context, server, origin));
  }
  // What the page does by itself, as marks of what was seen, is not an attack's doing: there is none.
  const after = changed(before, held(house));
  holds(after.length === 0, 'no attack from another origin changed a file', after);
  await tried('cookies of another port', () => tossed(context, page, server, other, name));
  const leaked = other.seen.filter((one) => name && one.cookie.includes(name));
  holds(other.seen.every((one) => !one.referer.includes('token')), 'no address with the token is told to others');
  if (leaked.length) console.log(`   to know: a server at another port of the same name was sent the cookie ${leaked.length} times: cookies are not kept apart by port`);
  // Signed in anew, the owner has another session.
  const came = changed(before, held(house)).filter((name) => !(server.enters && /broker\/page\/(sessions|guesses)\.json$/.test(name)));
  holds(came.length === 0, 'nor did what came after', came);
  await context.close();
  other.close();
}

async function hostile_page(context, origin) {
  const page = await open(context);
  await page.goto(`${origin}/`);
  return page;
}

/** fetch, XHR, EventSource, WebSocket and beacons, with cookies and without, to read and to act. */
async function scripts(context, server, origin, act) {
  const page = await hostile_page(context, origin);
  for (const home of new Set([server.origin, `http://localhost:${server.port}`])) {
    const got = await page.evaluate(async ({ home, READ, ACTS, act }) => {
      const got = [];
      const patience = () => AbortSignal.timeout(4000);
      const taken = (what, text) => { if (text) got.push(what + ': ' + text.slice(0, 80)); };
      const tries = [];
      for (const path of READ) for (const credentials of ['include', 'omit']) for (const mode of ['cors', 'no-cors', 'same-origin']) {
        tries.push(fetch(home + path, { credentials, mode, signal: patience() }).then(async (answer) => {
          if (answer.type !== 'opaque' || answer.status !== 0) taken('fetch ' + mode + ' ' + path, answer.status + (await answer.text()));
          else taken('opaque ' + path, await answer.text());
        }, () => {}));
      }
      for (const path of ACTS) for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
        const body = 'words=pwned&text=pwned&answer=approve&digest=0&content=pwned&act=' + (path === '/say' ? act : '0'.repeat(64));
        for (const mode of ['cors', 'no-cors']) tries.push(fetch(home + path, { method: 'POST', credentials: 'include', mode, body, headers: { 'content-type': type }, signal: patience() }).then(async (answer) => taken('post ' + path, await answer.text()), () => {}));
        navigator.sendBeacon(home + path, new Blob([body], { type: type === 'application/json' ? 'text/plain' : type }));
      }
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) tries.push(fetch(home + '/say', { method, credentials: 'include', signal: patience() }).then((answer) => taken(method, String(answer.status)), () => {}));
      tries.push(new Promise((done) => { const asked = new XMLHttpRequest(); asked.open('GET', home + '/'); asked.withCredentials = true; asked.onloadend = () => { taken('xhr', asked.responseText); done(); }; asked.send(); }));
      tries.push(new Promise((done) => { const stream = new EventSource(home + '/stream', { withCredentials: true }); const end = () => { stream.close(); done(); };
        stream.onopen = () => { taken('stream', 'opened'); end(); }; stream.onerror = end; setTimeout(end, 4000); }));
      tries.push(new Promise((done) => { const socket = new WebSocket(home.replace('http', 'ws') + '/stream'); socket.onopen = () => { taken('socket', 'opened'); done(); }; socket.onerror = done; setTimeout(done, 4000); }));
      await Promise.all(tries);
      return got;
    }, { home, READ, ACTS, act });
    holds(got.length === 0, `${origin} reads nothing of ${home} by script`, got.join(' | '));
  }
  await page.close();
}

/** Elements that load from elsewhere: none may load anything but be refused. */
async function elements(context, server, origin) {
  const page = await hostile_page(context, origin);
  const loaded = await page.evaluate(async ({ home }) => {
    const wanted = [['img', 'src', '/life.svg?width=800'], ['img', 'src', '/'], ['script', 'src', '/stream.js'], ['script', 'src', '/life.js'], ['script', 'src', '/talk.js'], ['img', 'src', '/favicon.svg?asks=1'], ['img', 'src', '/export/days.svg'], ['script', 'src', '/export/span.json'],
      ['link', 'href', '/style.css'], ['video', 'src', '/'], ['audio', 'src', '/stream'], ['object', 'data', '/life.svg?width=800'], ['embed', 'src', '/life.svg?width=800'], ['track', 'src', '/']];
    const tries = wanted.map(([tag, name, path]) => new Promise((done) => {
      const one = document.createElement(tag);
      if (tag === 'link') one.rel = 'stylesheet';
      one.onload = () => done(`${tag} ${path}${tag === 'object' || tag === 'embed' ? ' frame' : ''}`);
      one.onerror = () => done('');
      one.setAttribute(name, home + path);
      document.body.append(one);
      setTimeout(() => done(''), 3_000);
    }));
    const sheets = () => [...document.styleSheets].filter((one) => { try { return one.cssRules.length > 0; } catch { return one.href && false; } }).map((one) => one.href);
    return [...(await Promise.all(tries)), ...sheets()].filter((one) => one && !one.endsWith('frame'));
  }, { home: server.origin });
  holds(loaded.length === 0, `${origin} loads nothing into its own page`, loaded.join(', '));
  await no_frame_tells(page, origin);
  await page.close();
}

async function no_frame_tells(page, origin) {
  for (const frame of page.frames().slice(1)) {
    const text = await frame.evaluate(() => document.documentElement.innerText).catch(() => '');
    holds(!/herons|nests|wake|approve/i.test(text), `${origin}: a frame shows nothing of the house`, text.slice(0, 120));
  }
}

/** Real forms, that navigate the whole window, with a token of an act that was stolen, and with none. */
async function forms(context, server, origin, act, house) {
  for (const [path, token] of [['/say', act], ['/say', ''], ['/asks/4/yes', act], ['/link/new', act], ['/ladder/1/back', act], ['/memory/paper/self/notes/herons.md', act]]) {
    for (const [enctype, target] of [['application/x-www-form-urlencoded', '_self'], ['text/plain', '_self'], ['application/x-www-form-urlencoded', 'frame']]) {
      const page = await hostile_page(context, origin);
      const before = held(house);
      await page.evaluate(({ action, token, enctype, target }) => {
        if (target === 'frame') document.body.insertAdjacentHTML('beforeend', '<iframe name=frame></iframe>');
        const form = document.createElement('form');
        Object.assign(form, { action, method: 'post', enctype, target });
        for (const [name, value] of Object.entries({ act: token, words: 'pwned', text: 'pwned', thread: 'main', head: '', digest: '0', content: 'pwned', hash: '' })) {
          const field = document.createElement('input');
          Object.assign(field, { name, value });
          form.append(field);
        }
        document.body.append(form);
        setTimeout(() => form.submit());
      }, { action: server.origin + path, token, enctype, target });
      await page.waitForURL((url) => url.href.startsWith(server.origin), { timeout: 5_000 }).catch(() => {});
      await rest(target === 'frame' ? 150 : 20);
      const after = changed(before, held(house));
      holds(after.length === 0, `${origin}: a form to ${path} (${enctype}, ${target}) changes nothing`, after);
      if (target === '_self') await refused(page, `${origin}: a form to ${path}`);
      await page.close();
    }
  }
}

/** The page that refuses says what to do, and nothing of the house. */
async function refused(page, where) {
  const text = await page.evaluate(() => document.body?.innerText ?? '').catch(() => '');
  holds(/link|feral serve|console serve|load the page|own address/i.test(text) && !/herons|wake |approve/i.test(text), `${where} is refused in plain words`, text.slice(0, 200));
  await is_harmless(page, where);
}

/** Framed, nothing is shown: so nothing can be clicked through another page. */
async function frames(context, server, origin) {
  const page = await hostile_page(context, origin);
  await page.evaluate((views) => {
    for (const view of views) document.body.insertAdjacentHTML('beforeend', `<iframe src="${view}" style="opacity:.01;position:absolute;top:0;left:0;width:100%;height:100%"></iframe>`);
  }, ['/', '/asks/4', '/life.svg?width=800', '/nowhere'].map((path) => server.origin + path));
  await rest(300);
  await no_frame_tells(page, origin);
  const drawn = [];
  for (const frame of page.frames().slice(1)) {
    const forms = await frame.evaluate(() => document.querySelectorAll('form, button, nav').length).catch(() => 0);
    if (forms) drawn.push(frame.url());
  }
  holds(drawn.length === 0, `${origin}: nothing in a frame can be clicked`, drawn.join(', '));
  await page.close();
}

/** A window that was opened is refused, and its opener has no hold on it. */
async function windows(context, server, origin) {
  const page = await hostile_page(context, origin);
  for (const path of ['/', '/asks/4', `/?token=${'0'.repeat(64)}`]) {
    const coming = context.waitForEvent('page');
    const held_on = page.evaluate(async (address) => {
      const opened = globalThis.open(address);
      await new Promise((done) => setTimeout(done, 800));
      try { return `read ${opened.document.body.innerText.slice(0, 40)}`; } catch { /* as it should be */ }
      return opened.closed ? '' : `holds it, ${opened.length} frames`;
    }, server.origin + path);
    const opened = await coming;
    await opened.waitForLoadState().catch(() => {});
    holds(!/^read/.test(await held_on), `${origin}: a window of ${path} cannot be read`, await held_on);
    holds((await held_on) === '', `${origin}: a window of ${path} is out of its opener's hands`, await held_on);
    await refused(opened, `${origin}: a window of ${path}`);
    await opened.close();
  }
  await page.close();
}

/** Another port may set cookies for this name: that may lock the owner out until the link is opened again, no more. */
async function tossed(context, page, server, other, name) {
  const hostile = await open(context);
  await hostile.goto(`http://127.0.0.1:${other.port}/?toss=${name}`);
  await hostile.close();
  for (const path of ['/', '/asks/4']) {
    const answer = await page.goto(server.origin + path);
    const text = await page.evaluate(() => document.body.innerText);
    holds(answer.status() === 200 || /link|sign in/i.test(text), `with cookies of another's ${path} works, or says what to do`, text.slice(0, 100));
  }
  await (server.enters ? server.enters(page) : page.goto(server.link));
  for (const path of ['/', '/asks/4']) {
    const again = await page.goto(server.origin + path);
    holds(again.status() === 200, `the link leads in again, to ${path} too`, again.status());
  }
  await context.clearCookies();
  await page.goto(server.link);
}
