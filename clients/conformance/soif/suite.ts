// The suite `soif`: one case for each rule.
import { createReadStream } from 'node:fs';
import { UsageError } from '../../../protocols/errors.js';
import { type ConformanceCase, Mismatch, must, NotApplicable, type Procedure, should } from '../case.js';
import type { BoundCase, PreparedSuite, Suite } from '../runner.js';
import { checkStream, type StreamReport } from './check-stream.js';
import type { Findings, RuleId } from './findings.js';
import type { StreamKind } from './wrapper-checker.js';

const EMITTERS = 'template.c; soif.pl; pngmeta; Metadata::SOIF';
const CHOICE = 'project choice';

/** One case for each rule. */
export const STREAM_CASES: readonly ConformanceCase<StreamReport>[] = [
  must('layout', 'SOIF-2.2 SOIF-2.5 SOIF-3.1', EMITTERS)
    .title('every object has the layout "@TYPE { URL", "NAME{SIZE}:", tab, value, "}"')
    .does(follows, 'layout'),
  must('sizes', 'SOIF-2.3', 'template.c; SINN03; pngmeta')
    .title('every value is as long as its size says')
    .does(follows, 'sizes'),
  must('line-ends', 'SOIF-2.6', 'template.c; soif.pl; pngmeta')
    .title('lines end in LF only')
    .does(follows, 'line-ends'),
  must('names', 'SOIF-2.8', 'template.h; manual 1.2; project choice')
    .title('names and types have no other characters than those in use')
    .does(follows, 'names'),
  must('url', 'SOIF-2.9', 'template.c*')
    .title('every object has a URL, without white space, that does not begin with a brace')
    .does(follows, 'url'),
  should('url-encoding', 'SOIF-2.9', CHOICE)
    .title('URLs have control characters, braces and bytes above 0x7e percent-encoded')
    .does(follows, 'url-encoding'),
  must('empty-values', 'SOIF-3.2', 'template.c; soif.pl')
    .title('attributes with an empty value are not written')
    .does(follows, 'empty-values'),
  must('duplicates', 'SOIF-5.2 SOIF-2.11', CHOICE)
    .title('no name occurs twice in an object')
    .does(follows, 'duplicates'),
  must('times', 'SOIF-6.1 SOIF-6.2', 'Attributes.html; gatherd NOTES; seed manual')
    .title('times and rates are decimal seconds without sign, padding or line end')
    .does(follows, 'times'),
  must('md5', 'SOIF-6.4', 'Attributes.html; manual 1.2, 1.4; isearch')
    .title('MD5 is 32 lower-case hex digits')
    .does(follows, 'md5'),
  should('required-attributes', 'SOIF-6.5 GATHERD-13.9', 'broker NOTES; Harvest-NG')
    .title('every object has the attributes that Brokers require')
    .does(follows, 'required-attributes'),
  should('utf-8', 'SOIF-7.4', CHOICE).title('values are UTF-8').does(follows, 'utf-8'),
  must('wrappers', 'SOIF-8.8 GATHERD-4.4', CHOICE)
    .title(
      'the stream has the sections @DELETE, @REFRESH and @UPDATE, in this order, each brace as published',
    )
    .does(follows, 'wrappers'),
  should('final-newlines', 'SOIF-4.7', 'soif.pl*; inferred')
    .title('values of several lines end in LF')
    .does(follows, 'final-newlines'),
  must('tolerant-reader', 'SOIF-4.5 SOIF-1.3', 'template.c; cksoif.c')
    .title('a tolerant reader finds every object')
    .does(follows, 'tolerant-reader'),
];

/** Looks up the findings about one rule. */
function follows(id: RuleId): Procedure<StreamReport> {
  return async (report) => checkRule(id, report);
}

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
    ({ run, ...description }): BoundCase => ({
      ...description,
      run(transcript) {
        transcript.note(about);
        return run(judgment);
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
