// Parses `BrokerQuery.cf`, the templates of a result page (BRK-9.5, 9.6).
import { ConfigError } from '../errors.js';
import { type LineRule, parseLineRules } from './line-rules.js';
import { readLines, wordsOf } from './values.js';

/** BRK-9.6: the definitions with variables, in the order of a page (BRK-9.8). */
const BROKER_QUERY_TEMPLATES = [
  'ResultHeader',
  'ResultSetBegin',
  'PrintObject',
  'ResultSetEnd',
  'TruncateWarning',
  'EndBrokerResults',
  'FailBrokerResults',
  'BrokerDown',
  'ResultTrailer',
] as const;
export type BrokerQueryTemplate = (typeof BROKER_QUERY_TEMPLATES)[number];

/** The position of a variable in the HTML of a definition, which determines the escaping. */
type TemplateContext = 'text' | 'quoted' | 'unquoted';

/** A piece of a definition. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'variable';
      readonly name: string;
      /** As written, `$name` or `${name}`; an unknown variable is replaced by this text. */
      readonly source: string;
      readonly context: TemplateContext;
      /** Whether the variable begins the value of an attribute, as in `HREF="$url"`. */
      readonly beginsValue: boolean;
    };

/** `ObjectNumPrintf`: the text around the number, its minimum width and its padding. */
export interface NumberFormat {
  readonly before: string;
  readonly after: string;
  readonly width: number;
  readonly fill: 'right' | 'left' | 'zeros';
}

/** The definitions of a `BrokerQuery.cf`; a custom file overrides those of the default file (BRK-9.5). */
export interface BrokerQueryConfig {
  readonly templates: Partial<Readonly<Record<BrokerQueryTemplate, readonly TemplatePart[]>>>;
  /** `Timeout`: seconds to wait for the Broker. */
  readonly timeout?: number;
  /** `HarvestUrl`: home page of Harvest (BRK-9.11). */
  readonly harvestUrl?: string;
  readonly objectNumber?: NumberFormat;
  /** `MatchedLineSub`: rules for each matched line, already HTML (BRK-9.9). */
  readonly lineRules?: readonly LineRule[];
}

/** Names of definitions that contain program text, which is never run (BRK-9.9). */
const PROGRAMS = new Set(['InitFunction', 'PerObjectFunction']);

/** The largest `Timeout`, in seconds. */
const MAX_TIMEOUT = 3600;

/** The largest width of an `ObjectNumPrintf`, in characters. */
const MAX_WIDTH = 40;

/**
 * Parses a `BrokerQuery.cf` (BRK-9.5, 9.6). It uses only text, never program text (BRK-9.9). No error is fatal:
 * an unusable definition is skipped and reported, in file order. Of two definitions of a name the later one
 * applies.
 */
export function parseBrokerQueryCf(
  text: string,
  file: string,
): { readonly config: BrokerQueryConfig; readonly warnings: readonly ConfigError[] } {
  const warnings: ConfigError[] = [];
  let config: BrokerQueryConfig = { templates: {} };
  for (const { name, body, line } of readDefinitions(text, file, warnings)) {
    const warn = (problem: string, lineOffset = 0) =>
      warnings.push(new ConfigError(file, line + lineOffset, name, problem));
    config = { ...config, ...readDefinition(name, body, config, warn) };
  }
  // The warnings of `readDefinitions` precede those of the definitions.
  return { config, warnings: warnings.sort((a, b) => a.line - b.line) };
}

/** BRK-9.5: a custom file's definitions replace the default's one by one. */
export function mergeBrokerQueryConfig(
  base: BrokerQueryConfig,
  custom: BrokerQueryConfig,
): BrokerQueryConfig {
  return { ...base, ...custom, templates: { ...base.templates, ...custom.templates } };
}

/** Whether a definition uses a variable. */
export function usesVariable(parts: readonly TemplatePart[] | undefined, name: string): boolean {
  return parts?.some((part) => part.kind === 'variable' && part.name === name) ?? false;
}

/** Formats a number by `ObjectNumPrintf`. */
export function formatNumber(value: number, format: NumberFormat | undefined): string {
  if (format === undefined) return String(value);
  const digits = String(value);
  const { width, fill } = format;
  const padded =
    fill === 'left'
      ? digits.padEnd(width)
      : fill === 'zeros'
        ? digits.padStart(width, '0')
        : digits.padStart(width);
  return `${format.before}${padded}${format.after}`;
}

interface Definition {
  readonly name: string;
  readonly body: string;
  /** Line of its `<Name>`, 1-based. */
  readonly line: number;
}

/** Reads the definitions between `<Name>` and `</Name>` lines, without their last newline (BRK-9.5). */
function readDefinitions(text: string, file: string, warnings: ConfigError[]): Definition[] {
  const found: Definition[] = [];
  const lines = text.replace(/^\ufeff/, '').split('\n');
  const ends = closingLines(lines);
  for (let index = 0; index < lines.length; index++) {
    const content = (lines[index] ?? '').trim();
    if (content === '' || content.startsWith('#')) continue;
    const name = /^<([A-Za-z]\w*)>$/.exec(content)?.[1];
    if (name === undefined) {
      warnings.push(new ConfigError(file, index + 1, '', 'skipped: not within a definition'));
      continue;
    }
    const after = ends.get(name) ?? [];
    while ((after.at(-1) ?? lines.length) <= index) after.pop();
    const end = after.at(-1);
    if (end === undefined) {
      warnings.push(new ConfigError(file, index + 1, name, `skipped: there is no </${name}>`));
      continue;
    }
    const body = lines.slice(index + 1, end).map((line) => line.replace(/\r$/, ''));
    found.push({ name, body: body.join('\n'), line: index + 1 });
    index = end;
  }
  return found;
}

/** The numbers of the lines `</Name>` by name, the first one last, so that a file is read in linear time. */
function closingLines(lines: readonly string[]): Map<string, number[]> {
  const ends = new Map<string, number[]>();
  for (let index = lines.length - 1; index >= 0; index--) {
    const name = /^\s*<\/([A-Za-z]\w*)>\s*$/.exec(lines[index] ?? '')?.[1];
    if (name === undefined) continue;
    const known = ends.get(name);
    if (known === undefined) ends.set(name, [index]);
    else known.push(index);
  }
  return ends;
}

type Warn = (problem: string, lineOffset?: number) => void;

function readDefinition(
  name: string,
  body: string,
  config: BrokerQueryConfig,
  warn: Warn,
): Partial<BrokerQueryConfig> {
  const template = BROKER_QUERY_TEMPLATES.find((known) => known === name);
  if (template !== undefined) return { templates: { ...config.templates, [template]: parseTemplate(body) } };
  switch (name) {
    case 'Timeout': {
      const seconds = /^\s*(\d{1,4})\s*$/.exec(body)?.[1];
      if (seconds !== undefined && Number(seconds) >= 1 && Number(seconds) <= MAX_TIMEOUT)
        return { timeout: Number(seconds) };
      warn(`must be a number of seconds from 1 to ${MAX_TIMEOUT}`);
      return {};
    }
    case 'HarvestUrl':
      return { harvestUrl: plainText(body).trim() };
    case 'ObjectNumPrintf': {
      const objectNumber = parseNumberFormat(plainText(body));
      if (objectNumber !== undefined) return { objectNumber };
      warn(`must have one number in the syntax of printf, such as %3d, at most ${MAX_WIDTH} wide`);
      return {};
    }
    case 'MatchedLineSub': {
      const { rules, problem, line } = parseLineRules(body);
      if (problem !== undefined) warn(problem, line);
      return { lineRules: rules };
    }
    default:
      warn(PROGRAMS.has(name) ? 'not used: it is program text, which is never run' : 'unknown definition');
      return {};
  }
}

/** Returns a definition without variables as text. */
function plainText(body: string): string {
  return body.replace(/\\(?:[\s\S]|$)/g, escapedText);
}

function parseNumberFormat(body: string): NumberFormat | undefined {
  const match = /^((?:[^%]|%%)*)%([-0 ]?)(\d{0,2})[du]((?:[^%]|%%)*)$/s.exec(body);
  if (match === null) return undefined;
  const [, before = '', flag, digits = '', after = ''] = match;
  const width = Number(digits);
  if (width > MAX_WIDTH) return undefined;
  const fill = flag === '-' ? 'left' : flag === '0' ? 'zeros' : 'right';
  return { before: before.replaceAll('%%', '%'), after: after.replaceAll('%%', '%'), width, fill };
}

/** The characters that a backslash and a letter stand for, as in a string of Perl. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/**
 * Returns the text that a backslash and the character after it stand for (BRK-9.5; the manual's example has
 * both): at the end of a line nothing, so that it continues in the next one; `\n` a newline; otherwise the
 * character itself, as in `\$`, `\@` and `\"`.
 */
function escapedText(token: string): string {
  const character = token.slice(1);
  return character === '\n' ? '' : (ESCAPES[character] ?? character);
}

/** Splits a definition at its variables, `$name` and `${name}`. */
function parseTemplate(body: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let state: HtmlState = { inTag: false, quote: '' };
  let text = '';
  const flush = () => {
    if (text !== '') parts.push({ kind: 'text', text });
    text = '';
  };
  // A backslash that ends the definition has no newline after it, because the last newline is dropped.
  for (const [token] of body.matchAll(/\\(?:[\s\S]|$)|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|[\s\S]/g)) {
    if (token.length === 1 || token.startsWith('\\')) {
      const plain = token.startsWith('\\') ? escapedText(token) : token;
      for (const character of plain) state = nextState(state, character);
      text += plain;
      continue;
    }
    const before = text;
    flush();
    const context = !state.inTag ? 'text' : state.quote === '' ? 'unquoted' : 'quoted';
    const name = token.replace(/[${}]/g, '');
    const beginsValue = state.inTag && /=\s*["']?$/.test(before);
    parts.push({ kind: 'variable', name, source: token, context, beginsValue });
  }
  flush();
  return parts;
}

/** The state after a character of HTML: whether it is in a tag, and in which quotes. */
interface HtmlState {
  readonly inTag: boolean;
  readonly quote: string;
}

function nextState(state: HtmlState, character: string): HtmlState {
  if (!state.inTag) return character === '<' ? { inTag: true, quote: '' } : state;
  if (state.quote !== '') return character === state.quote ? { inTag: true, quote: '' } : state;
  if (character === '"' || character === "'") return { inTag: true, quote: character };
  return character === '>' ? { inTag: false, quote: '' } : state;
}

/** A Broker that the page offers. */
export interface ListedBroker {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Parses the file. A line that is not valid is skipped and becomes a warning. */
export function parseBrokersCf(
  text: string,
  file: string,
): { readonly brokers: readonly ListedBroker[]; readonly warnings: readonly ConfigError[] } {
  const brokers: ListedBroker[] = [];
  const warnings: ConfigError[] = [];
  for (const { text: content, line } of readLines(text)) {
    const [name, host, portText = ''] = wordsOf(content);
    const port = /^\d{1,5}$/.test(portText) ? Number(portText) : 0;
    if (name === undefined || host === undefined || port < 1 || port > 65_535) {
      warnings.push(new ConfigError(file, line, '', 'skipped: a line is a name, a host and a port'));
    } else {
      brokers.push({ name, host, port });
    }
  }
  return { brokers, warnings };
}
