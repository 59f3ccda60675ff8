// Tests CloseStack: the order of closing, errors, and moves.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { CloseStack } from '../../protocols/close-stack.js';

/** A resource that writes its name to the log when it is closed. */
function closer(log: string[], name: string): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await setImmediate();
      log.push(name);
    },
  };
}

function close(stack: CloseStack): Promise<void> {
  return stack[Symbol.asyncDispose]();
}

t.test('the latest resource is closed first, each after the one before has closed', async (t) => {
  const log: string[] = [];
  const stack = new CloseStack();
  const resource = closer(log, 'used');
  t.equal(stack.use(resource), resource, 'use returns the resource');
  t.equal(
    stack.adopt('adopted', (name) => log.push(name)),
    'adopted',
    'adopt returns the resource',
  );
  stack.use({ [Symbol.dispose]: () => log.push('synchronous') });
  stack.defer(async () => {
    await setImmediate();
    log.push('deferred');
  });
  t.notOk(stack.disposed);
  await close(stack);
  t.ok(stack.disposed);
  t.same(log, ['deferred', 'synchronous', 'adopted', 'used']);
});

t.test('asyncDispose is preferred to dispose', async (t) => {
  const log: string[] = [];
  const stack = new CloseStack();
  stack.use({
    [Symbol.dispose]: () => log.push('dispose'),
    [Symbol.asyncDispose]: async () => {
      log.push('asyncDispose');
    },
  });
  await close(stack);
  t.same(log, ['asyncDispose']);
});

t.test('every resource is closed when one fails, and a single error is thrown as it is', async (t) => {
  const log: string[] = [];
  const failure = new Error('the second fails');
  const stack = new CloseStack();
  stack.use(closer(log, 'first'));
  stack.defer(() => Promise.reject(failure));
  stack.use(closer(log, 'third'));
  t.equal(await close(stack).catch((error: unknown) => error), failure);
  t.same(log, ['third', 'first']);
});

t.test('several errors are an AggregateError in the order of closing', async (t) => {
  const log: string[] = [];
  const stack = new CloseStack();
  stack.defer(() => Promise.reject(new Error('rejected')));
  stack.use(closer(log, 'between'));
  stack.defer(() => {
    throw new Error('thrown');
  });
  const error = await close(stack).catch((error: unknown) => error);
  t.ok(error instanceof AggregateError);
  t.same(
    (error as AggregateError).errors.map((each: Error) => each.message),
    ['thrown', 'rejected'],
  );
  t.same(log, ['between']);
});

t.test('closing twice closes once and returns the same result', async (t) => {
  const log: string[] = [];
  const stack = new CloseStack();
  stack.use(closer(log, 'once'));
  const first = close(stack);
  t.equal(close(stack), first, 'also while the first is running');
  await first;
  await close(stack);
  t.same(log, ['once']);

  const failing = new CloseStack();
  failing.defer(() => Promise.reject(new Error('no')));
  await t.rejects(close(failing), { message: 'no' });
  await t.rejects(close(failing), { message: 'no' });
});

t.test('an empty stack closes', async (t) => {
  await t.resolves(close(new CloseStack()));
});

t.test('move hands the resources to a new stack', async (t) => {
  const log: string[] = [];
  const stack = new CloseStack();
  stack.use(closer(log, 'a'));
  stack.use(closer(log, 'b'));
  const moved = stack.move();
  t.ok(stack.disposed);
  t.notOk(moved.disposed);
  await close(stack);
  t.same(log, [], 'the old stack closes nothing');
  moved.use(closer(log, 'c'));
  await close(moved);
  t.same(log, ['c', 'b', 'a']);
});

t.test('a closed or moved stack accepts nothing more', async (t) => {
  const closed = new CloseStack();
  await close(closed);
  const moved = new CloseStack();
  moved.move();
  for (const stack of [closed, moved]) {
    t.throws(() => stack.use(closer([], 'late')), { code: 'ERR_STATE' });
    t.throws(() => stack.adopt('late', () => undefined), { code: 'ERR_STATE' });
    t.throws(() => stack.defer(() => undefined), { code: 'ERR_STATE' });
    t.throws(() => stack.move(), { code: 'ERR_STATE' });
  }
});

t.test('an opening that fails half way closes what it had opened', async (t) => {
  const log: string[] = [];
  const open = async (fails: boolean): Promise<CloseStack> => {
    const stack = new CloseStack();
    try {
      stack.use(closer(log, 'store'));
      if (fails) throw new Error('the port is in use');
      stack.use(closer(log, 'server'));
      return stack.move();
    } finally {
      await close(stack);
    }
  };
  await t.rejects(open(true), { message: 'the port is in use' });
  t.same(log, ['store']);
  const service = await open(false);
  t.same(log, ['store']);
  await close(service);
  t.same(log, ['store', 'server', 'store']);
});
