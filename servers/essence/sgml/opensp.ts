import type { ProgramSettings } from '../external/limits.js';
import { ScratchDirectory } from '../external/programs.js';
import { runProgram } from '../external/run.js';
import { characterOf, namedCharacter } from './entities.js';
import type { Prolog } from './prolog.js';
import type { SgmlEvents } from './reader.js';

/** The arguments of OpenSP in addition to the document (E-82). */
export interface OpenSpCall {
  /** Name of the document type if the document does not state it. */
  readonly documentType: string;
  /** The catalog that names the DTDs; an absolute path. */
  readonly catalog: string;
  readonly declaration?: string | undefined;
}

/** The output of a run, and the reason of a failure. */
export interface OpenSpResult {
  readonly esis: string;
  /** Errors in the document are not failures: the output is used (E-85). */
  readonly failure?: string;
  /** The parser's messages about the document, for `syntax_check` (E-85). */
  readonly messages: string;
}

/** Names of document types and entities that need no quoting. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9.-]{0,63}$/;

/**
 * Parses a document with `onsgmls` of OpenSP (E-80, E-87). OpenSP opens every file and address that a document
 * names, so the document's prolog is replaced by a document type line (E-84), for which the catalog finds the
 * DTD, and by those of its entities that are plain text.
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
  await using scratch = await ScratchDirectory.open(settings);
  const file = await scratch.write('document.sgml', `${safeProlog(name, prolog)}${text.slice(prolog.end)}`);
  const result = await runProgram(
    {
      program: 'onsgmls',
      arguments: ['-c', call.catalog, ...(call.declaration === undefined ? [] : [call.declaration]), file],
      directory: scratch.directory,
    },
    {
      ...settings,
      environment: { ...settings.environment, SP_CHARSET_FIXED: 'YES', SP_ENCODING: 'UTF-8' },
    },
  );
  const esis = result.output.toString('utf8');
  // Exit status 1 means errors in the document; the output is usable if it has an element.
  const isUsable =
    result.failure === undefined || (/^exit status 1\b/.test(result.failure) && esis.includes('('));
  return {
    esis,
    messages: result.stderr.replaceAll(`${scratch.directory}/`, ''),
    ...(isUsable ? {} : { failure: result.failure ?? 'it failed' }),
  };
}

/**
 * Returns the document type line (E-84) and the entities that are plain text: markup in them could declare
 * anything.
 */
function safeProlog(name: string, prolog: Prolog): string {
  const entities = Array.from(prolog.entities)
    .filter(([entity, value]) => PLAIN_NAME.test(entity) && !/[<>&%"[\]\\]/.test(value))
    .map(([entity, value]) => `<!ENTITY ${entity} CDATA "${value}">\n`);
  return `<!DOCTYPE ${name} SYSTEM${entities.length === 0 ? '' : ` [\n${entities.join('')}]`}>\n`;
}

/**
 * Reads the output of `onsgmls` and `sgmls` (E-80, E-87), line by line: `A` an attribute of the next element,
 * `(` its start, `-` text, `)` its end, `C` at the end of a correct document.
 *
 * @returns true if the output is complete: every element has ended
 */
export function readEsis(output: string, events: SgmlEvents, maxDepth: number): boolean {
  let attributes: [string, string][] = [];
  for (let index = 0; index < output.length && events.depth <= maxDepth; ) {
    let end = output.indexOf('\n', index);
    if (end < 0) end = output.length;
    const rest = output.slice(index + 1, end);
    const kind = output[index];
    if (kind === 'A') {
      const found = /^(\S+) (?:CDATA|TOKEN|ENTITY|NOTATION|ID) (.*)$/s.exec(rest);
      if (found !== null) attributes.push([found[1]!, unescapeData(found[2]!)]);
    } else if (kind === '(') {
      events.open(rest, Object.fromEntries(attributes));
      attributes = [];
    } else if (kind === '-') events.text(unescapeData(rest));
    else if (kind === ')') events.close();
    index = end + 1;
  }
  return events.depth === 0;
}

/** Decodes `\n`, `\\`, `\|` around an SDATA entity, and the character codes `\#120;` and `\177`. */
function unescapeData(data: string): string {
  if (!data.includes('\\')) return data;
  return data.replace(
    /\\(?:\|([^\\|]*)\\\||#(\d{1,7});|([0-7]{3})|(.)|$)/gs,
    (whole, entity?: string, decimal?: string, octal?: string, sign?: string) => {
      if (entity !== undefined) return systemData(entity);
      if (decimal !== undefined) return characterOf(Number(decimal)) ?? '';
      if (octal !== undefined) return characterOf(Number.parseInt(octal, 8)) ?? '';
      if (sign === 'n') return '\n';
      return sign === undefined ? whole : sign;
    },
  );
}

/** The ISO entity sets define `[eacute]` and the like, with blanks before the bracket. */
function systemData(text: string): string {
  const name = /^\[\s*([A-Za-z][\w.-]*)\s*\]$/.exec(text)?.[1];
  return name === undefined ? text : (namedCharacter(name) ?? '');
}
