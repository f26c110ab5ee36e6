// Channels judged by servers that others made: a part a platform. Words over kills are `scripts/trials channels kills`.
import { end, part, tried } from '../page/told.mjs';
import { costs } from './costs.mjs';
import { mail } from './mail.mjs';
import { matrix } from './matrix.mjs';
import { slack } from './slack.mjs';
import { telegram } from './telegram.mjs';

const PARTS = { matrix, mail, telegram, slack };
const words = process.argv.slice(2);
if (words[0] === 'idle') {
  part('idle');
  await tried('idle', () => costs(Number(words[1] ?? 3)));
  process.exit(end('channels') ? 0 : 1);
}
const is_full = words.includes('--full');
const wanted = words.filter((word) => word !== '--full');
const wrong = wanted.find((word) => !(word in PARTS));
if (wrong) {
  console.error(`channels: there is no part ${wrong}; there are kills, idle, ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length && !wanted.includes(name)) continue;
  part(name);
  await tried(name, () => run({ is_full }));
}
process.exit(end('channels') ? 0 : 1);
