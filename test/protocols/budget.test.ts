// Units that pieces of work take: never too many, none lost, and a waiting call is served in its turn.
import fc from 'fast-check';
import t from 'tap';
import { Budget } from '../../protocols/budget.js';
import { assertProperty } from '../helpers/property.js';

const TOTAL = 10;

const steps = fc.array(
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('take'),
        key: fc.constantFrom('a', 'b', 'c'),
        amount: fc.integer({ min: 1, max: TOTAL + 2 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('return'), which: fc.nat() }) },
    fc.record({ kind: fc.constant('abort'), which: fc.nat() }),
  ),
  { minLength: 10, maxLength: 80 },
);

/** A call, and what it has. */
interface Call {
  readonly amount: number;
  readonly stop: AbortController;
  state: 'waits' | 'has' | 'over';
  part?: Disposable;
}

t.test('whatever is taken, returned and aborted', async (t) => {
  const done = { waited: 0, aborted: 0 };
  await assertProperty(
    fc.asyncProperty(steps, async (all) => {
      const budget = new Budget<string>(TOTAL);
      const calls: Call[] = [];
      const inState = (state: Call['state']) => calls.filter((call) => call.state === state);
      const check = async () => {
        await new Promise((resolve) => setImmediate(resolve));
        const has = inState('has').map(({ amount }) => amount);
        const sum = has.reduce((total, amount) => total + amount, 0);
        if (budget.used !== sum) throw new Error(`${budget.used} units are counted, not ${sum}`);
        if (sum > TOTAL && has.length > 1) throw new Error(`${sum} units are taken`);
        const waits = inState('waits').map(({ amount }) => amount);
        const canGo = sum === 0 || waits.every((amount) => sum + amount <= TOTAL);
        if (waits.length > 0 && canGo) throw new Error('a call waits for nothing');
      };
      const end = async (call: Call | undefined) => {
        if (call === undefined) return;
        call.part?.[Symbol.dispose]();
        call.part?.[Symbol.dispose]();
        call.state = 'over';
      };
      for (const step of all) {
        if ('key' in step) {
          const { key, amount } = step;
          const call: Call = { amount, stop: new AbortController(), state: 'waits' };
          calls.push(call);
          const taken = budget.take(amount, { key, signal: call.stop.signal });
          taken.then(
            (part) => Object.assign(call, { part, state: 'has' }),
            (reason: unknown) => {
              if (reason === call) done.aborted += 1;
              call.state = 'over';
            },
          );
        } else if (step.kind === 'return') {
          const has = inState('has');
          await end(has[step.which % Math.max(1, has.length)]);
        } else {
          const waits = inState('waits');
          const call = waits[step.which % Math.max(1, waits.length)];
          call?.stop.abort(call);
        }
        await check();
        done.waited += inState('waits').length;
      }
      while (inState('has').length > 0) {
        for (const call of inState('has')) await end(call);
        await check();
      }
      if (inState('waits').length > 0 || budget.used > 0) throw new Error('something is left');
    }),
    { numRuns: 200 },
  );
  t.ok(done.waited > 100 && done.aborted > 20, `${done.waited} waits, ${done.aborted} aborted`);
});

t.test('work that takes units returns them, also when it fails', async (t) => {
  const budget = new Budget(2);
  t.equal(await budget.run(2, () => budget.used), 2);
  await t.rejects(
    budget.run(1, () => {
      throw new Error('it fails');
    }),
    { message: 'it fails' },
  );
  t.equal(budget.used, 0);
  const signal = AbortSignal.abort(new Error('aborted'));
  await t.rejects(
    budget.run(1, () => t.fail('it does not run'), { signal }),
    { message: 'aborted' },
  );
});
