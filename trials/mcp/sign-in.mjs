// The owner's sign-in without a browser: the address that the broker prints is opened, and where that leads followed.
import { spawn } from 'node:child_process';
import { program } from './broker.mjs';

/** Signs in at the server of a house; what was said, and whether it is done. */
export async function signIn(broker, name = 'it') {
  const child = spawn(program, ['--house', broker.house, '--sign-in', name], { env: broker.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const ended = new Promise((done) => child.on('exit', done));
  const heard = (bytes) => {
    const before = address(said);
    said += bytes;
    if (!before && address(said)) follow(address(said)).catch((error) => child.kill() && (said += error));
  };
  child.stdout.on('data', heard);
  child.stderr.on('data', heard);
  return { done: (await ended) === 0, said };
}

/** The address that is to be opened, once its whole line was said. */
const address = (said) => said.match(/^ {2}(http\S+)\n/m)?.[1];

/** Goes where the page leads, as a browser of somebody who agrees. */
async function follow(opened) {
  const answer = await fetch(opened, { redirect: 'manual' });
  const back = answer.headers.get('location');
  if (!back) throw new Error(`${opened} answers ${answer.status} and leads nowhere`);
  await fetch(new URL(back, opened));
}
