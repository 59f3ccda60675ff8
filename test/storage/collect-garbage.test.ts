// The collection of garbage in all threads of a process.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { collectEverywhere } from '../../storage/files/collect-garbage.js';

const MODULE = new URL('../../storage/files/collect-garbage.js', import.meta.url).href;

/** A thread that reports when what it no longer uses was freed. */
const THREAD = `
  const { parentPort } = require('node:worker_threads');
  const garbage = new FinalizationRegistry(() => parentPort.postMessage('freed'));
  globalThis.registry = garbage;
  parentPort.on('message', () => parentPort.close());
  import(${JSON.stringify(MODULE)}).then(({ collectOnRequest }) => {
    collectOnRequest();
    garbage.register({ large: new Uint8Array(1024) }, 0);
    setImmediate(() => parentPort.postMessage('ready'));
  });
`;

t.test('garbage of this thread and of those that take part is freed, and threads can end', async (t) => {
  const thread = new Worker(THREAD, { eval: true });
  const exited = once(thread, 'exit');
  t.same(await once(thread, 'message'), ['ready']);
  const own = new WeakRef({ large: new Uint8Array(1024) });
  // A reference lasts until the end of the turn that made it.
  await new Promise(setImmediate);
  const freed = once(thread, 'message');
  collectEverywhere();
  t.equal(own.deref(), undefined);
  t.same(await freed, ['freed']);
  thread.postMessage('end');
  t.same(await exited, [0], 'the request for collections keeps no thread running');
});
