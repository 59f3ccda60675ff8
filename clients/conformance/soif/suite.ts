// The suite `soif`: one case for each rule.
import { createReadStream } from 'node:fs';
import { UsageError } from '../../../protocols/errors.js';
import { type CaseDescription, type Level, Mismatch, NotApplicable } from '../case.js';
import type { BoundCase, PreparedSuite, Suite } from '../runner.js';
import { checkStream, type StreamReport } from './check-stream.js';
import type { Findings, RuleId } from './findings.js';
import type { StreamKind } from './wrapper-checker.js';

interface RuleCase extends CaseDescription {
  readonly id: RuleId;
}

function ruleCase(
  id: RuleId,
  title: string,
  rules: readonly string[],
  source: string,
  level: Level,
): RuleCase {
  return { id, title, rules, source, level };
}

const EMITTERS = 'template.c; soif.pl; pngmeta; Metadata::SOIF';
const CHOICE = 'project choice';

/** One case for each rule. */
export const STREAM_CASES: readonly RuleCase[] = [
  ruleCase(
    'layout',
    'every object has the layout "@TYPE { URL", "NAME{SIZE}:", tab, value, "}"',
    ['SOIF-2.2', 'SOIF-2.5', 'SOIF-3.1'],
    EMITTERS,
    'MUST',
  ),
  ruleCase(
    'sizes',
    'every value is as long as its size says',
    ['SOIF-2.3'],
    'template.c; SINN03; pngmeta',
    'MUST',
  ),
  ruleCase('line-ends', 'lines end in LF only', ['SOIF-2.6'], 'template.c; soif.pl; pngmeta', 'MUST'),
  ruleCase(
    'names',
    'names and types have no other characters than those in use',
    ['SOIF-2.8'],
    'template.h; manual 1.2; project choice',
    'MUST',
  ),
  ruleCase(
    'url',
    'every object has a URL, without white space, that does not begin with a brace',
    ['SOIF-2.9'],
    'template.c*',
    'MUST',
  ),
  ruleCase(
    'url-encoding',
    'URLs have control characters, braces and bytes above 0x7e percent-encoded',
    ['SOIF-2.9'],
    CHOICE,
    'SHOULD',
  ),
  ruleCase(
    'empty-values',
    'attributes with an empty value are not written',
    ['SOIF-3.2'],
    'template.c; soif.pl',
    'MUST',
  ),
  ruleCase('duplicates', 'no name occurs twice in an object', ['SOIF-5.2', 'SOIF-2.11'], CHOICE, 'MUST'),
  ruleCase(
    'times',
    'times and rates are decimal seconds without sign, padding or line end',
    ['SOIF-6.1', 'SOIF-6.2'],
    'Attributes.html; gatherd NOTES; seed manual',
    'MUST',
  ),
  ruleCase(
    'md5',
    'MD5 is 32 lower-case hex digits',
    ['SOIF-6.4'],
    'Attributes.html; manual 1.2, 1.4; isearch',
    'MUST',
  ),
  ruleCase(
    'required-attributes',
    'every object has the attributes that Brokers require',
    ['SOIF-6.5', 'GATHERD-13.9'],
    'broker NOTES; Harvest-NG',
    'SHOULD',
  ),
  ruleCase('utf-8', 'values are UTF-8', ['SOIF-7.4'], CHOICE, 'SHOULD'),
  ruleCase(
    'wrappers',
    'the stream has the sections @DELETE, @REFRESH and @UPDATE, in this order, each brace as published',
    ['SOIF-8.8', 'GATHERD-4.4'],
    CHOICE,
    'MUST',
  ),
  ruleCase(
    'final-newlines',
    'values of several lines end in LF',
    ['SOIF-4.7'],
    'soif.pl*; inferred',
    'SHOULD',
  ),
  ruleCase(
    'tolerant-reader',
    'a tolerant reader finds every object',
    ['SOIF-4.5', 'SOIF-1.3'],
    'template.c; cksoif.c',
    'MUST',
  ),
];

/** Checks the findings about one rule. @throws Mismatch if it is violated */
function checkRule(id: RuleId, { findings, kind }: StreamReport): void {
  if (id === 'wrappers' && kind === 'objects') throw new NotApplicable('the stream has no wrappers');
  const { checks, violations, examples } = findings.of(id);
  if (violations === 0 && checks === 0)
    throw new NotApplicable('the stream has nothing that this rule applies to');
  if (violations === 0) return;
  throw new Mismatch(`${violations} violations in ${checks} checks`, {
    expected: 'no violation',
    received: examples
      .map(({ offset, url, message }) => `offset ${offset}${url === '' ? '' : ` (${url})`}: ${message}`)
      .join('\n'),
  });
}

function counts({ objects, attributes, bytes }: Findings): string {
  return `${objects} objects, ${attributes} attributes, ${bytes} bytes`;
}

/** Binds the cases to a stream that has been read, so that each case only looks up its findings. */
export function prepareStreamReport(target: string, judgment: StreamReport): PreparedSuite {
  const { findings, kind, compressed } = judgment;
  const about = `${kind}${compressed ? ', gzip' : ''}, ${counts(findings)}`;
  const cases = STREAM_CASES.map(
    (description): BoundCase => ({
      ...description,
      async run(transcript) {
        transcript.note(about);
        checkRule(description.id, judgment);
      },
    }),
  );
  return { suite: suite.name, target: `${target} (${about})`, cases, async [Symbol.asyncDispose]() {} };
}

interface SuiteArguments {
  readonly file: string;
  readonly kind: StreamKind | undefined;
}

/** Reads `[--gatherd-stream | --objects] FILE`. @throws UsageError */
function parseArguments(args: readonly string[]): SuiteArguments {
  let kind: StreamKind | undefined;
  const files: string[] = [];
  for (const word of args) {
    if (word === '--gatherd-stream' || word === '--objects') {
      if (kind !== undefined) throw new UsageError('--gatherd-stream and --objects exclude each other');
      kind = word === '--objects' ? 'objects' : 'gatherd-stream';
    } else if (word.startsWith('-') && word !== '-') throw new UsageError(`unknown option ${word}`);
    else files.push(word);
  }
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw new UsageError('soif checks one file, or - for standard input');
  return { file, kind };
}

/** Checks a SOIF stream in a file or on standard input. */
export const suite: Suite = {
  name: 'soif',
  title: 'a SOIF stream, rule by rule',
  usage: '[--gatherd-stream | --objects] FILE|-',
  cases: STREAM_CASES,
  async prepare(args, { signal }) {
    const { file, kind } = parseArguments(args);
    const abort = signal === undefined ? {} : { signal };
    const source =
      file === '-' ? process.stdin : createReadStream(file, { ...abort, highWaterMark: 1 << 18 });
    try {
      return prepareStreamReport(file === '-' ? 'standard input' : file, await checkStream(source, kind));
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error && 'code' in error)) throw error;
      throw new UsageError(`${file} cannot be read: ${error.message}`, { cause: error });
    }
  },
};
export type { StreamReport } from './check-stream.js';
export type { Finding, Findings, RuleId, Violation } from './findings.js';
export type { StreamKind } from './wrapper-checker.js';
