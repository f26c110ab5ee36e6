// A mailbox for a trial in another language: its places on one line, then each line that comes is a mail.
import readline from 'node:readline';
import { Mailbox, PASSWORD, missing } from './servers.mjs';

const why = missing();
if (why) {
  console.log(JSON.stringify({ missing: why }));
} else {
  const box = await Mailbox.start();
  console.log(JSON.stringify({ ...box.ports, folder: box.folder, password: PASSWORD }));
  for await (const line of readline.createInterface({ input: process.stdin })) await box.receive(JSON.parse(line));
  box.end();
}
