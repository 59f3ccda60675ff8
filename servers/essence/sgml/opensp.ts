import { type ProgramSettings, runProgram, Workplace } from '../external/index.js';
import type { Prolog } from './prolog.js';

/** What OpenSP needs beside the document (E-82). */
export interface OpenSpCall {
  /** Name of the document type, where the document does not say. */
  readonly documentType: string;
  /** The catalog that names the DTDs; an absolute path. */
  readonly catalog: string;
  readonly declaration?: string;
  readonly signal?: AbortSignal;
}

/** What came of a run: its output, and why it is not complete. */
export interface OpenSpResult {
  readonly esis: string;
  /** Errors in the document are none: what was understood counts (E-85). */
  readonly failure?: string;
  /** The parser's messages about the document, for `syntax_check` (E-85). */
  readonly messages: string;
}

/** Names of document types and entities that can be written down again without a doubt. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9.-]{0,63}$/;

/**
 * Has `onsgmls` of OpenSP read a document (E-80, E-87). OpenSP opens any file and any address that a document names, so the
 * document never speaks for itself: its prolog is replaced by a document type line (E-84) that leaves the DTD to the catalog, and
 * by those of its entities that are plain text.
 */
export async function runOpenSp(
  text: string,
  prolog: Prolog,
  call: OpenSpCall,
  settings: ProgramSettings,
): Promise<OpenSpResult> {
  const name = prolog.documentType ?? call.documentType;
  if (prolog.isForeign || !PLAIN_NAME.test(name)) {
    return { esis: '', failure: 'its prolog needs more than a document type line', messages: '' };
  }
  await using place = await Workplace.open();
  const file = await place.write('document.sgml', `${safeProlog(name, prolog)}${text.slice(prolog.end)}`);
  const result = await runProgram(
    {
      program: 'onsgmls',
      arguments: ['-c', call.catalog, ...(call.declaration === undefined ? [] : [call.declaration]), file],
      directory: place.directory,
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    },
    {
      ...settings,
      environment: { ...settings.environment, SP_CHARSET_FIXED: 'YES', SP_ENCODING: 'UTF-8' },
    },
  );
  const esis = result.output.toString('utf8');
  // Exit status 1 says that the document has errors; without any element there is nothing to go by.
  const isUsable =
    result.failure === undefined || (/^exit status 1\b/.test(result.failure) && esis.includes('('));
  return {
    esis,
    messages: result.complaint.replaceAll(`${place.directory}/`, ''),
    ...(isUsable ? {} : { failure: result.failure ?? 'it failed' }),
  };
}

/** E-84, and the entities that are plain text: markup in them could declare anything. */
function safeProlog(name: string, prolog: Prolog): string {
  const entities = Array.from(prolog.entities)
    .filter(([entity, value]) => PLAIN_NAME.test(entity) && !/[<>&%"[\]\\]/.test(value))
    .map(([entity, value]) => `<!ENTITY ${entity} CDATA "${value}">\n`);
  return `<!DOCTYPE ${name} SYSTEM${entities.length === 0 ? '' : ` [\n${entities.join('')}]`}>\n`;
}
