// Damages every file of a store in turn, or puts something else in its place: a reader must get everything, or
// an error that says what to type. Never less in silence, never a crash, and no file may be deleted that could
// still be read.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

interface Outcome {
  readonly label: string;
  readonly outcome: 'right' | 'wrong' | 'error' | 'other';
  readonly message?: string;
  readonly deleted?: readonly string[];
}

/** The child waits for calls that hang: each takes a thread of the pool for ever. */
const THREADS = '32';
const CHILD = fileURLToPath(new URL('./damaged-stores.js', import.meta.url));
/** The positions that are flipped, and their seed: another one tries others. */
const FLIPS = Number(process.env.DAMAGE_FLIPS ?? 100);
const SEED = process.env.DAMAGE_SEED ?? '1';

async function damage(kind: string, root: string, flips: number) {
  const child = spawn(process.execPath, [CHILD, kind, root, String(flips), SEED], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, UV_THREADPOOL_SIZE: THREADS },
  });
  const outcomes: Outcome[] = [];
  let begun = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const value = JSON.parse(line) as Outcome & { readonly begin?: string };
    if (value.begin === undefined) outcomes.push(value);
    else begun = value.begin;
  }
  return { outcomes, code: await ended, begun };
}

const COMMANDS = /`harvest store check \S+`.*`harvest store repair \S+`/;

export interface DamageTest {
  /** Bits that are changed. */
  readonly flips?: number;
  /** What every error says. Default: the commands to type. */
  readonly says?: RegExp;
  /** Whether the reader may make again what is damaged. Default false. */
  readonly madeAgain?: boolean;
}

/** Tests one kind of store. */
export function testDamage(
  kind: string,
  { flips = FLIPS, says = COMMANDS, madeAgain = false }: DamageTest = {},
): void {
  t.test(`a damaged store tells it: ${kind}`, async (t) => {
    const { outcomes, code, begun } = await damage(kind, await temporaryDirectory(t), flips);
    t.equal(code, 0, `the process survives ${begun}`);
    t.ok(outcomes.length >= flips + 7);
    t.same(
      outcomes.filter(({ outcome }) => outcome === 'wrong' || outcome === 'other'),
      [],
      'all objects, or an error',
    );
    const errors = outcomes.filter(({ outcome }) => outcome === 'error');
    t.ok(madeAgain || errors.length > flips / 4, `${errors.length} of ${outcomes.length} are told`);
    t.same(
      errors.filter(({ message = '' }) => !says.test(message)),
      [],
      `an error says ${says}`,
    );
    t.same(
      errors.filter(({ deleted = [] }) => deleted.length > 0),
      [],
      'an error changes no file',
    );
  });
}
