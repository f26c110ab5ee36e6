// The owner's page in a real Chromium: every view, every act, every attack, what it costs, and what becomes of it when killed.
import { by_keyboard } from './acts.mjs';
import { attacks } from './attacks.mjs';
import { launch } from './browser.mjs';
import { falls } from './falls.mjs';
import { figures } from './figures.mjs';
import { make } from './house.mjs';
import { from_another_host } from './other_host.mjs';
import { on_a_phone } from './phone.mjs';
import { Server, end_all } from './server.mjs';
import { talks } from './talk.mjs';
import { end, holds, tried } from './told.mjs';
import { walk } from './walk.mjs';

const PARTS = ['walk', 'acts', 'attacks', 'phone', 'figures', 'falls'];
const words = process.argv.slice(2);
const quick = words.includes('--quick');
const wanted = words.filter((word) => !word.startsWith('--'));
const wrong = wanted.filter((word) => !PARTS.includes(word));
if (wrong.length) {
  console.error(`page: there is no part ${wrong[0]}; there are ${PARTS.join(', ')}`);
  process.exit(2);
}
const is = (name) => wanted.length === 0 || wanted.includes(name);

/** A part with a house, a server and nothing of what came before. */
async function with_house(doing) {
  const house = make('lived');
  const server = await Server.start(house);
  try {
    await doing(house, server);
  } finally {
    await server.kill('SIGTERM');
  }
}

const browser = await launch();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await end_all();
    await browser.close();
    process.exit(130);
  });
}
try {
  console.log(`page: Chromium ${browser.version()}, node ${process.version}`);
  if (is('walk')) await tried('the walk', () => with_house((house, server) => walk(browser, house, server, quick)));
  if (is('acts')) {
    await tried('by keyboard', () => with_house((house, server) => by_keyboard(browser, house, server)));
    await tried('talk', () => with_house((house, server) => talks(browser, house, server)));
  }
  if (is('attacks')) await tried('attacks', () => with_house((house, server) => attacks(browser, house, server)));
  if (is('phone')) {
    await tried('from another host', () => from_another_host());
    await tried('on a phone', () => on_a_phone(make('lived')));
  }
  if (is('figures')) await tried('figures', async () => figures(browser, make('year'), quick));
  if (is('falls')) await tried('falls', () => falls(browser, make('lived')));
} catch (error) {
  holds(false, 'the trial came to its end', error.stack);
} finally {
  await browser.close();
  await end_all();
}
process.exitCode = end() ? 0 : 1;
