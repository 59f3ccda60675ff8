// A pair of pipes as one duplex stream.
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { PipePair } from '../../../servers/host/standard-connection.js';

t.test('GATHERD-11.2: a pair of pipes is one stream: backpressure, separate ends, errors', async (t) => {
  const input = new PassThrough();
  const written: string[] = [];
  let release: () => void = () => {};
  const output = new Writable({
    highWaterMark: 4,
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      release = done;
    },
  });
  const pair = new PipePair(input, output, { highWaterMark: 4 });
  t.equal(pair.write('abcdef'), false, 'write returns false while the output is slow');
  const drained = once(pair, 'drain');
  release();
  await drained;
  input.end('xyz');
  const received: string[] = [];
  for await (const chunk of pair.iterator({ destroyOnReturn: false })) received.push(String(chunk));
  t.same(received, ['xyz']);
  t.equal(pair.bytesRead, 3);
  t.equal(pair.writable, true, 'the output stays open after the input ends');
  pair.end('more');
  await new Promise((resolve) => setImmediate(resolve));
  const finished = once(pair, 'finish');
  release();
  await finished;
  t.same(written, ['abcdef', 'more']);

  const broken = new PipePair(new PassThrough(), new PassThrough().destroy(), { highWaterMark: 4 });
  const failed = new Promise((resolve) => broken.once('error', resolve));
  broken.write('x');
  t.match(await failed, { code: 'ERR_STREAM_DESTROYED' });
  t.equal(broken.destroyed, true);
});
