import {
  attemptLine,
  checkSoif,
  countsLine,
  type SoifAttempt,
} from '../../../../clients/soif-tools/check.js';
import { checkAsOriginal } from '../../../../clients/soif-tools/original-check.js';
import { EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { openFile } from '../files.js';

export interface CheckOptions {
  readonly lenient: boolean;
  readonly json: boolean;
  readonly maxObject?: number;
}

/** The action of `harvest cksoif`. */
export async function cksoif(file: string): Promise<void> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  const attempts = checkAsOriginal(openFile(file));
  for (;;) {
    const { done, value } = await attempts.next();
    if (!(await output.write(done ? countsLine(value) : attemptLine(value)))) {
      await attempts.return({ valid: 0, attempts: 0, wrapped: false });
      return;
    }
    if (!done) continue;
    if (value.wrapped) process.stderr.write(WRAPPED_NOTE);
    return;
  }
}

/** SOIF-8.6: explains to users of `gather | cksoif` why valid objects are reported as invalid. */
const WRAPPED_NOTE =
  'cksoif: this is an update stream, whose groups are not SOIF; `harvest soif cat` removes them\n';

/** The action of `harvest soif check`; returns the exit status. */
export async function check(file: string, { lenient, json, maxObject }: CheckOptions): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  const attempts = checkSoif(openFile(file), {
    mode: lenient ? 'lenient' : 'strict',
    maxObjectBytes: maxObject,
  });
  for (;;) {
    const { done, value } = await attempts.next();
    if (done) {
      await output.write(json ? `${JSON.stringify(value)}\n` : countsLine(value));
      return value.valid === value.attempts ? EXIT.ok : EXIT.failure;
    }
    const text = json ? attemptJson(value, lenient) : attemptLine(value) + explanation(value);
    if (!(await output.write(text))) {
      await attempts.return({ valid: 0, attempts: 0, warnings: 0 });
      return EXIT.ok;
    }
  }
}

function explanation({ problem, warnings }: SoifAttempt): string {
  const lines = warnings.map(
    ({ rule, offset, message }) => `    warning ${rule} at byte ${offset}: ${message}\n`,
  );
  if (problem !== undefined) {
    lines.push(`    ${problem.rule} at byte ${problem.offset}: ${problem.message}\n`);
  }
  return lines.join('');
}

function attemptJson(attempt: SoifAttempt, lenient: boolean): string {
  const { number, valid, offset, type, url, problem, warnings } = attempt;
  const shownWarnings = warnings.map(({ rule, offset, message }) => ({ rule, offset, message }));
  const line = {
    attempt: number,
    valid,
    offset,
    type,
    url,
    rule: problem?.rule,
    message: problem?.message,
    ...(lenient ? { warnings: shownWarnings } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}
